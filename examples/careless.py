# The task of careful.py, as it is often written. It works until something goes wrong. Needs requests (pip install requests):
# petstore grade -- python3 examples/careless.py
#
# Report card: failed.
# did-it-twice: gateway-timeout, no-answer, lost-answer, small-pages, empty-page.
# failed: stall, truncated, new-fields, sunset.
# hung: retry-after-odd.
# not-reached: key-in-use, stale-connection, next-away, stale-read, stream-cut, stream-pieces, stream-silent,
# stream-expired.
# failed checks: backoff.grows, time-limit.exists, failures.retried, idempotency.no-blind-post-retry, limits.foreseen,
# pages.to-the-end, if-match.sent, updates.not-lost, deprecated.not-called, connections.reused.
import os
from dataclasses import dataclass

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

API = os.environ["PETSTORE_BASE_URL"]


@dataclass
class Pet:
    id: int
    name: str
    categoryId: int
    status: str


def send(method, path, body=None):
    # Wrong: it retries every method, also POST without an Idempotency-Key.
    retry = Retry(total=3, status_forcelist=[429, 500, 502, 503, 504], allowed_methods=None)
    with requests.Session() as session:
        session.mount(API, HTTPAdapter(max_retries=retry))
        session.headers["Authorization"] = "Bearer " + os.environ["PETSTORE_API_KEY"]
        response = session.request(method, API + path, json=body)
        response.raise_for_status()
        return response.json() if response.content else None


# Wrong: it assumes that the first page has all categories.
categories = {category["name"]: category["id"] for category in send("GET", "/categories")}
if "Reptiles" not in categories:
    categories["Reptiles"] = send("POST", "/categories", {"name": "Reptiles"})["id"]
print("Reptiles is one of %d categories." % len(categories))

smaug = {"name": "Smaug", "categoryId": categories["Reptiles"], "status": "pending"}
smaug = Pet(**send("POST", "/pets", smaug))
print("Smaug is there.")

# Wrong: it assumes that nobody else changes him in between.
pet = Pet(**send("GET", "/pets/%d" % smaug.id))
change = {"name": "Smaug the Golden", "categoryId": pet.categoryId, "status": pet.status}
pet = Pet(**send("PUT", "/pets/%d" % pet.id, change))
print("He is now %s, and %s." % (pet.name, pet.status))

order = send("POST", "/store/orders", {"petId": 13, "quantity": 2})
print("Ordered %d of Nemo." % order["quantity"])

# Wrong: it ignores failures of this request.
if "Amphibians" in categories:
    try:
        send("DELETE", "/categories/%d" % categories["Amphibians"])
    except requests.RequestException:
        pass
print("Amphibians is gone.")
