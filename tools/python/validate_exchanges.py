"""Sends requests, and lets openapi-core validate each with its response."""

import json

import requests
from given import give, given
from openapi_core import Config, OpenAPI
from openapi_core.contrib.requests import RequestsOpenAPIRequest, RequestsOpenAPIResponse

# It knows no JSON Merge Patch by itself.
config = Config(extra_media_type_deserializers={"application/merge-patch+json": json.loads})
description = OpenAPI.from_dict(given["description"], config=config)
session = requests.Session()
statuses = []
for request in given["requests"]:
    prepared = session.prepare_request(requests.Request(**request))
    response = session.send(prepared)
    exchange = RequestsOpenAPIRequest(prepared)
    description.validate_request(exchange)
    description.validate_response(exchange, RequestsOpenAPIResponse(response))
    statuses.append(response.status_code)
give(statuses)
