"""Fills a shop by four workers at once with aiohttp. Right, but for the mistake that it is told to make."""
import asyncio
import json
import os
import random
import sys
import time
import uuid
from email.utils import mktime_tz, parsedate_tz

import aiohttp

API = os.environ["PETSTORE_BASE_URL"]
mistake = sys.argv[1] if len(sys.argv) > 1 else "none"
TEMPORARY = {408, 429, 500, 502, 503, 504}
MAY_PASS = {"key_banned", "idempotency_key_in_use"}
ATTEMPTS = 6
paused_until = 0.0


class Refused(Exception):
    pass


def seconds_of(told):
    if told is None or told.isdigit():
        return float(told or 0)
    date = parsedate_tz(told)
    return mktime_tz(date) - time.time() if date else 0


async def send(session, method, target, body=None):
    global paused_until
    headers = {}
    if method == "POST" and mistake != "no key":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    url = target if target.startswith("http") else API + target
    for attempt in range(1, ATTEMPTS + 1):
        wait = 0.2 * 2**attempt * random.uniform(0.5, 1)
        # All workers wait for the limit of the key.
        while time.monotonic() < paused_until:
            await asyncio.sleep(paused_until - time.monotonic())
        try:
            async with session.request(method, url, json=body, headers=headers) as answer:
                text = await answer.text()
                if answer.ok:
                    return answer, json.loads(text) if text else None
                if method == "DELETE" and answer.status == 404 and attempt > 1:
                    return answer, None
                code = json.loads(text).get("code") if "json" in answer.content_type else None
                may_pass = answer.status in TEMPORARY or code in MAY_PASS or (answer.status == 401 and attempt == 1)
                seconds = seconds_of(answer.headers.get("Retry-After"))
                if not may_pass or seconds > 90 or attempt == ATTEMPTS:
                    raise Refused(f"{method} {target}: {answer.status} {text[:80]}")
                if mistake != "ignores Retry-After":
                    wait = max(wait, seconds + 0.05)
                    if answer.status in (403, 429):
                        paused_until = max(paused_until, time.monotonic() + seconds + 0.05)
        except (aiohttp.ClientError, asyncio.TimeoutError):
            if attempt == ATTEMPTS:
                raise
        await asyncio.sleep(wait)


async def main():
    limit = aiohttp.ClientTimeout(total=None if mistake == "no time limit" else 8)
    auth = {"Authorization": "Bearer " + os.environ["PETSTORE_API_KEY"]}
    async with aiohttp.ClientSession(headers=auth, timeout=limit) as session:
        _, category = await send(session, "POST", "/categories", {"name": "Dragons"})
        names = iter([f"Dragon {number}" for number in range(1, 9)])

        async def worker():
            for name in names:
                _, pet = await send(session, "POST", "/pets", {"name": name, "categoryId": category["id"]})
                await send(session, "PATCH", f"/inventory/{pet['id']}", {"quantity": 3})
                print(name, "is there")

        await asyncio.gather(*[worker() for _ in range(4)])
        target, seen, pets = "/pets?limit=10", set(), []
        while target and target not in seen:
            seen.add(target)
            answer, page = await send(session, "GET", target)
            pets += page
            # Only the query of the link, so that the key stays at the API.
            found = [link["url"] for rel, link in answer.links.items() if "next" in rel.split()]
            target = "/pets?" + found[0].raw_query_string if found else None
        dragons = sorted(pet["name"] for pet in pets if pet["name"].startswith("Dragon"))
        print("listed:", ", ".join(dragons))


asyncio.run(main())
