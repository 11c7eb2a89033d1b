"""Reads events of the stream with sseclient-py and requests."""

import json

import requests
from given import give, given
from sseclient import SSEClient

events = []
with requests.get(given["url"], headers={**given["headers"], "accept": "text/event-stream"}, stream=True, timeout=20) as response:
    for event in SSEClient(response).events():
        events.append({"id": event.id, "type": event.event, "data": json.loads(event.data)})
        if len(events) == given["count"]:
            break
give(events)
