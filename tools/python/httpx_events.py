"""Reads events of the stream with httpx-sse."""

import httpx
from given import give, given
from httpx_sse import connect_sse

events = []
with httpx.Client(headers=given["headers"], timeout=20) as client:
    with connect_sse(client, "GET", given["url"]) as source:
        for event in source.iter_sse():
            events.append({"id": event.id, "type": event.event, "data": event.json()})
            if len(events) == given["count"]:
                break
give(events)
