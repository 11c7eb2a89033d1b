"""Sends requests with the client that aiopenapi3 makes from a description while it runs."""

import httpx2
from aiopenapi3 import OpenAPI
from aiopenapi3.errors import HTTPClientError
from given import give, given

api = OpenAPI.load_sync(given["document"], session_factory=httpx2.Client)
api.authenticate(bearerAuth=given["key"])
call = api._
pet = call.createPet(data={"name": "Ada", "categoryId": 1})
pets = call.listPets(parameters={"id": [1, pet.id]})
events = call.listEvents(parameters={"type": ["pet.created"]})
try:
    call.getOrder(parameters={"orderId": 9999})
except HTTPClientError as error:
    code = error.data.code
give({
    "names": [pet.name for pet in pets],
    "events": [[event.root.type, event.root.data.name] for event in events],
    "code": code,
})
