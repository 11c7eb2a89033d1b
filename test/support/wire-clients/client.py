# Sends the requests of its second argument one after the other, and prints what came of each as JSON.
import json
import sys

import requests

origin, wanted = sys.argv[1:]
session = requests.Session()
results = []
for request in json.loads(wanted):
    timeout = request.pop("timeoutMs") / 1000
    url = origin + request.pop("path")
    try:
        response = session.request(url=url, data=request.pop("body", None), timeout=timeout, **request)
        # Older versions do not count.
        if len(response.content) < int(response.headers.get("Content-Length", 0)):
            raise requests.exceptions.ChunkedEncodingError("too short")
        replayed = " replayed" if "Idempotency-Replayed" in response.headers else ""
        results.append(f"{response.status_code}{replayed}")
    except requests.RequestException as error:
        results.append(type(error).__name__)
print(json.dumps(results))
