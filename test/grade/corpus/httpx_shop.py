"""A shop's evening with httpx, which has no retries of its own. Right, but for the mistake that it is told to make."""
import os
import random
import sys
import time
import uuid
from email.utils import mktime_tz, parsedate_tz

import httpx

mistake = sys.argv[1] if len(sys.argv) > 1 else "none"
client = httpx.Client(
    base_url=os.environ["PETSTORE_BASE_URL"],
    headers={"Authorization": "Bearer " + os.environ["PETSTORE_API_KEY"]},
    timeout=None if mistake == "no time limit" else 8,
    follow_redirects=True,
)
TEMPORARY = {408, 429, 500, 502, 503, 504}
MAY_PASS = {"key_banned", "idempotency_key_in_use"}


class Refused(Exception):
    pass


def send(method, target, json=None, headers=None, attempts=6):
    headers = dict(headers or {})
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    for attempt in range(1, attempts + 1):
        if method == "POST" and mistake == "a key for each attempt":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        wait = 0.2 * 2**attempt * random.uniform(0.5, 1)
        try:
            answer = client.request(method, target, json=json, headers=headers)
            if answer.is_success or answer.status_code == 412:
                return answer
            if method == "DELETE" and answer.status_code == 404 and attempt > 1:
                return answer
            is_json = "json" in answer.headers.get("Content-Type", "")
            code = answer.json().get("code") if is_json else None
            may_pass = answer.status_code in TEMPORARY or code in MAY_PASS or (answer.status_code == 401 and attempt == 1)
            told = answer.headers.get("Retry-After", "")
            seconds = float(told) if told.isdigit() else 0
            if told and not told.isdigit():
                date = parsedate_tz(told)
                seconds = mktime_tz(date) - time.time() if date else 0
            if not may_pass or seconds > 90 or attempt == attempts:
                raise Refused("%s %s: %d %s" % (method, target, answer.status_code, answer.text[:80]))
            wait = max(wait, seconds + 0.05)
        except httpx.TransportError:
            if attempt == attempts:
                raise
        time.sleep(wait)


def every(target):
    seen = set()
    while target and target not in seen:
        seen.add(target)
        answer = send("GET", target)
        yield from answer.json()
        if mistake == "reads the first page":
            return
        # Only the query of the link, so that the key stays at the API.
        found = [link["url"] for rel, link in answer.links.items() if "next" in rel.split()]
        target = (target.split("?")[0] + "?" + found[0].partition("?")[2]).rstrip("?") if found else None


categories = list(every("/categories"))
reptiles = next(category for category in categories if category["name"] == "Reptiles")
print(len(categories), "categories")
added = []
for name in ["Smaug", "Fafnir", "Norbert"]:
    pet = send("POST", "/pets", json={"name": name, "categoryId": reptiles["id"]}).json()
    send("PATCH", "/inventory/%d" % pet["id"], json={"quantity": 4})
    order = send("POST", "/store/orders", json={"petId": pet["id"], "quantity": 1}).json()
    send("PATCH", "/store/orders/%d" % order["id"], json={"complete": True})
    added.append(pet)
    print(name, "sold once")
for _ in range(8):
    answer = send("GET", "/pets?id=%d" % added[0]["id"])
    [smaug] = answer.json()
    if smaug["name"] == "Smaug the Golden":
        break
    changed = send("PATCH", "/pets/%d" % smaug["id"], json={"name": "Smaug the Golden"}, headers={"If-Match": answer.headers["ETag"]})
    if changed.status_code != 412:
        break
print(len([pet for pet in every("/pets?limit=9") if pet["id"] in [one["id"] for one in added]]), "of them are listed")
send("DELETE", "/pets/%d" % added[2]["id"])
print("done")
