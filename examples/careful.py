# A program that survives every fault: it finds a category, adds a pet to it, renames it, places an order, and removes an empty category.
# Needs requests (pip install requests): petstore grade -- python3 examples/careful.py
#
# Report card: passed. not-reached: stale-read, stream-cut, stream-pieces, stream-silent, stream-expired, sunset.
import os
import random
import time
import uuid
from email.utils import mktime_tz, parsedate_tz
from urllib.parse import urlsplit

import requests

API = os.environ["PETSTORE_BASE_URL"]
session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["PETSTORE_API_KEY"]

# No request is sent before this time: a limit, a ban or an outage affects all requests.
not_before = 0
LONGEST_WAIT = 90


def send(method, url, headers={}, body=None):
    """Sends a request with up to five attempts, until it gets a final response."""
    global not_before
    if method == "POST":
        # One key for all attempts, so that a request whose response was lost does not take effect twice.
        headers = {**headers, "Idempotency-Key": str(uuid.uuid4())}
    problem = RuntimeError("The limit is used up.")
    for attempt in range(1, 6):
        if not_before > time.time() + LONGEST_WAIT:
            break
        time.sleep(max(0, not_before - time.time()))
        backoff = 0.1 * 2**attempt * random.uniform(1, 2)
        try:
            response = session.request(method, url, headers=headers, json=body, timeout=20)
            data = response.json() if response.content else None
        except requests.RequestException as error:
            # The connection broke, or the response is late or incomplete.
            problem = error
            time.sleep(backoff)
            continue
        status, fields = response.status_code, response.headers
        if fields.get("X-RateLimit-Remaining") == "0":
            # The clock of the service may differ from this one.
            not_before = int(fields["X-RateLimit-Reset"]) - mktime_tz(parsedate_tz(fields["Date"])) + time.time()
        # The first attempt may have removed it.
        is_gone = method == "DELETE" and status == 404 and attempt > 1
        if response.ok or is_gone or status == 412:
            return response, data
        problem = RuntimeError("%s %s: %d %s" % (method, url, status, response.text))
        is_temporary = data["code"] in ("key_banned", "idempotency_key_in_use")
        # A key may be unknown for a moment, while the service starts.
        is_first_401 = status == 401 and attempt == 1
        if status != 429 and status < 500 and not is_temporary and not is_first_401:
            break
        not_before = max(not_before, time.time(), retry_at(fields.get("Retry-After", "0"))) + backoff
    raise problem


def retry_at(retry_after):
    """`Retry-After` is a number of seconds or a date. Anything else counts as absent."""
    if retry_after.isdigit():
        return time.time() + int(retry_after)
    date = parsedate_tz(retry_after)
    return mktime_tz(date) if date else 0


def every(url):
    """Reads all items of a list: it follows the next page, even after an empty page. Also returns the ETag of the last page."""
    items = []
    while url:
        response, page = send("GET", url)
        items += page
        found = [link["url"] for rel, link in response.links.items() if "next" in rel.split()]
        # Only the query of the link counts, so the key stays at this API.
        link = url.split("?")[0] + "?" + urlsplit(found[0]).query if found else None
        # A link to the same page would never end.
        url = None if link == url else link
    return items, response.headers["ETag"]


categories, _ = every(API + "/categories?limit=5")
categories = {category["name"]: category for category in categories}
if "Reptiles" not in categories:
    _, categories["Reptiles"] = send("POST", API + "/categories", body={"name": "Reptiles"})
print("Reptiles is one of %d categories." % len(categories))

smaug = {"name": "Smaug", "categoryId": categories["Reptiles"]["id"], "status": "pending"}
_, smaug = send("POST", API + "/pets", body=smaug)
print("Smaug is there.")

# A change sends the version that was read. 412 means that the pet has changed: read it again, and decide again. If the change is
# already there, an earlier response was lost: then it is done.
GOLDEN = "Smaug the Golden"
for _ in range(10):
    [pet], etag = every("%s/pets?id=%d" % (API, smaug["id"]))
    if pet["name"] == GOLDEN:
        break
    response, _ = send("PUT", "%s/pets/%d" % (API, pet["id"]), {"If-Match": etag}, {**pet, "name": GOLDEN})
    if response.ok:
        break
else:
    raise RuntimeError("Smaug cannot be renamed.")
print("He is now %s, and %s." % (GOLDEN, pet["status"]))

_, order = send("POST", API + "/store/orders", body={"petId": 13, "quantity": 2})
print("Ordered %d of Nemo." % order["quantity"])

if "Amphibians" in categories:
    send("DELETE", "%s/categories/%d" % (API, categories["Amphibians"]["id"]))
print("Amphibians is gone.")
