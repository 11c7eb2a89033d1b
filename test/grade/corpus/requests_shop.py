"""A shop's evening with requests and urllib3's Retry. Right, but for the mistake that it is told to make."""
import os
import sys
import time
import uuid

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

API = os.environ["PETSTORE_BASE_URL"]
mistake = sys.argv[1] if len(sys.argv) > 1 else "none"
methods = ["GET", "PUT", "PATCH", "DELETE", "POST"]


class BriefRetry(Retry):
    """urllib3 waits for hours, too, if it is told to."""

    def get_retry_after(self, response):
        try:
            seconds = super().get_retry_after(response)
        except InvalidHeader:
            return None
        if seconds is not None and seconds > 90:
            raise RuntimeError("It asks to wait for %d s." % seconds)
        return seconds


retry = BriefRetry(
    total=5,
    backoff_factor=0.2,
    backoff_jitter=0.1,
    status_forcelist=[408, 429, 500, 502, 503, 504] + ([404, 409, 422] if mistake == "retries refusals" else []),
    allowed_methods=methods[:-1] if mistake == "skips what fails" else methods,
    respect_retry_after_header=mistake != "ignores Retry-After",
    raise_on_status=False,
)
session = requests.Session()
session.mount("http://", HTTPAdapter(max_retries=retry))
session.headers["Authorization"] = "Bearer " + os.environ["PETSTORE_API_KEY"]


def send(method, target, **options):
    headers = options.pop("headers", {})
    if method == "POST" and mistake != "no key":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    url = target if target.startswith("http") else API + target
    last = None
    # urllib3 does not read the body again when it ends too soon, and knows nothing of bans.
    for attempt in range(5):
        if attempt and mistake == "a key for each attempt" and "Idempotency-Key" in headers:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        try:
            answer = session.request(method, url, headers=headers, timeout=None if mistake == "no time limit" else 12, **options)
        except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ConnectionError, requests.exceptions.Timeout) as error:
            last = error
            time.sleep(0.2 * 2**attempt)
            continue
        if answer.ok or answer.status_code in (404, 412):
            return answer
        wait = float(answer.headers.get("Retry-After", "nan")) if answer.headers.get("Retry-After", "").isdigit() else None
        code = answer.json().get("code") if "json" in answer.headers.get("Content-Type", "") else None
        last = RuntimeError("%s %s: %d %s" % (method, target, answer.status_code, answer.text[:80]))
        if answer.status_code == 401 and attempt == 0:
            continue
        if code in ("key_banned", "idempotency_key_in_use") and wait is not None and wait < 90:
            time.sleep(wait + 0.1)
            continue
        raise last
    raise last


def every(target):
    seen = set()
    while target and target not in seen:
        seen.add(target)
        answer = send("GET", target)
        for item in answer.json():
            yield item
        # Only the query of the link, so that the key stays at the API.
        found = [link["url"] for rel, link in answer.links.items() if "next" in rel.split()]
        target = target.split("?")[0] + "?" + found[0].partition("?")[2] if found else None


def must(answer):
    if not answer.ok:
        raise RuntimeError("%d %s" % (answer.status_code, answer.text[:80]))
    return answer


pets = list(every("/pets?limit=6"))
print("TOTAL", len(pets))
dragons = must(send("POST", "/categories", json={"name": "Dragons"})).json()
added = []
for name in ["Smaug", "Fafnir", "Norbert"]:
    try:
        added.append(must(send("POST", "/pets", json={"name": name, "categoryId": dragons["id"]})).json())
    except RuntimeError:
        if mistake == "skips what fails":
            continue
        raise
    print(name, "is there")
for pet in added[:2]:
    wanted = pet["name"] + " the Great"
    for _ in range(8):
        answer = must(send("GET", "/pets?id=%d" % pet["id"]))
        [now] = answer.json()
        if wanted in now["name"]:
            break
        changed = send("PATCH", "/pets/%d" % pet["id"], headers={"If-Match": answer.headers["ETag"]}, json={"name": now["name"] + " the Great"})
        if must(changed) if changed.status_code != 412 else False:
            break
for pet in added:
    must(send("PATCH", "/inventory/%d" % pet["id"], json={"quantity": 4}))
    order = must(send("POST", "/store/orders", json={"petId": pet["id"], "quantity": 1})).json()
    must(send("PATCH", "/store/orders/%d" % order["id"], json={"complete": True}))
print("sold", len(added))
removed = send("DELETE", "/pets/%d" % added[-1]["id"])
if mistake == "takes its own removal for a failure":
    must(removed)
print("done")
