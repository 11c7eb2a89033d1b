"""Prints what is on sale twice, the second time from what has not changed. Right, but for the mistake that it is told to make."""
import http.client
import json
import os
import random
import re
import sys
import time
import urllib.error
import urllib.request
from email.utils import mktime_tz, parsedate_tz

API = os.environ["PETSTORE_BASE_URL"]
mistake = sys.argv[1] if len(sys.argv) > 1 else "none"
kept = {}


class Redirects(urllib.request.HTTPRedirectHandler):
    """urllib takes the key along to any host."""

    def redirect_request(self, request, *rest):
        following = super().redirect_request(request, *rest)
        if following and following.host != request.host and mistake != "forwards its key":
            following.remove_header("Authorization")
        return following


opener = urllib.request.build_opener(Redirects)


def get(url, attempts=6):
    """The items of a page, and the address of the next one."""
    tag, page = kept.get(url, (None, None))
    attempt = 0
    while True:
        attempt += 1
        wait = min(1.0, 0.1 * 2**attempt) * random.uniform(1, 2)
        if mistake == "never gives up":
            wait = 0.1 * random.uniform(1, 2)
        request = urllib.request.Request(url, headers={"Authorization": "Bearer " + os.environ["PETSTORE_API_KEY"]})
        if tag:
            request.add_header("If-None-Match", tag)
        try:
            with opener.open(request, timeout=None if mistake == "no time limit" else 9) as answer:
                link = re.search(r'<([^<>]*)>[^<]*; *rel="?(?:[^"]* )?next\b', answer.headers.get("Link", ""))
                # Only the query of the link, so that the key stays at the API.
                page = json.loads(answer.read()), link and url.split("?")[0] + "?" + link[1].partition("?")[2]
                kept[url] = answer.headers["ETag"], page
                return page
        except urllib.error.HTTPError as answer:
            if answer.code == 304:
                return page
            text = answer.read()
            told = answer.headers.get("Retry-After", "0")
            date = parsedate_tz(told)
            seconds = float(told) if told.isdigit() else mktime_tz(date) - time.time() if date else 0
            may_pass = answer.code in (408, 429, 500, 502, 503, 504) or b"key_banned" in text or (answer.code == 401 and attempt == 1)
            if not may_pass or seconds > 90 or (attempt == attempts and mistake != "never gives up"):
                raise
            wait += max(0, seconds)
        except (OSError, http.client.HTTPException):
            if attempt == attempts:
                raise
        time.sleep(wait)


def every(target):
    items = []
    for attempt in range(6):
        try:
            url, seen = API + target, set()
            while url and url not in seen:
                seen.add(url)
                page, url = get(url, 1 if mistake == "begins the list anew" else 6)
                items += page
            return items
        except urllib.error.HTTPError as answer:
            if mistake != "begins the list anew" or answer.code != 503:
                raise
            time.sleep(float(answer.headers["Retry-After"]) + 0.2 * 2**attempt)
    raise RuntimeError("There is no list.")


for title in ("Now", "Still"):
    names = {category["id"]: category["name"] for category in every("/categories?limit=4")}
    pets = every("/pets?status=available&limit=6")
    for pet in pets:
        print("%s: %s, of %s" % (title, pet["name"], names[pet["categoryId"]]))
    print("%s: %d in all" % (title, len(pets)))
