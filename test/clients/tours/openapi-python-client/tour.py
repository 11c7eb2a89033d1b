import os
import re
import time
from collections.abc import Iterator
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from petstore_client import AuthenticatedClient
from petstore_client.api.pets import create_pet, get_category, list_pets, update_pet
from petstore_client.api.store import get_order, list_events, place_order, update_order
from petstore_client.models import Error, EventType, NewPet, Order, OrderPatch, PetCreated, PetPatch, PetUpdated
from petstore_client.types import UNSET, Response, Unset

T = TypeVar("T")


def client_of(key: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["PETSTORE_BASE_URL"], token=key)


client = client_of(os.environ["PETSTORE_API_KEY"])


def data(answer: Response[T | Error]) -> T:
    """What a request that succeeded has answered."""
    assert answer.parsed is not None and not isinstance(answer.parsed, Error), answer.content
    return answer.parsed


def told(answer: Response[T]) -> str:
    """The error by which a request was refused."""
    assert isinstance(answer.parsed, Error), answer.content
    return f"{answer.parsed.status} {answer.parsed.code}"


# The same request with the same key adds nothing.
smaug = NewPet(name="Smaug", category_id=4)
created, again = (data(create_pet.sync_detailed(client=client, body=smaug, idempotency_key="tour")) for _ in range(2))
print(f"created {created.id}: {created.name}")
print(f"again {again.id}: {again.name}")


def page_sizes() -> Iterator[str]:
    cursor: str | Unset = UNSET
    while True:
        page = list_pets.sync_detailed(client=client, limit=8, cursor=cursor)
        yield str(len(data(page)))
        more = re.search(r'<([^>]+)>; rel="next"', page.headers.get("Link", ""))
        if more is None:
            return
        cursor = parse_qs(urlsplit(more[1]).query)["cursor"][0]


print("pages of", ", ".join(page_sizes()))

renamed = data(update_pet.sync_detailed(created.id, client=client, body=PetPatch(name="Smaug the Golden")))
print(f"renamed {renamed.id}: {renamed.name}")

order = data(place_order.sync_detailed(client=client, body=Order(pet_id=13, quantity=2)))
print(f"ordered {order.id}: {order.quantity} of {order.pet_id}, complete: {str(order.complete).lower()}")
etag = get_order.sync_detailed(9, client=client).headers["ETag"]
completion = OrderPatch(complete=True)
order = data(update_order.sync_detailed(9, client=client, body=completion, if_match=etag))
print(f"changed {order.id}: {order.quantity} of {order.pet_id}, complete: {str(order.complete).lower()}")

types = [EventType.PET_CREATED, EventType.PET_UPDATED]
for event in data(list_events.sync_detailed(client=client, type_=types)):
    match event:
        case PetCreated(type_=event_type, data=pet):
            print(f"{event_type}: {pet.name}")
        case PetUpdated(type_=event_type, data=pet, previous=previous):
            print(f"{event_type}: {pet.name}, was {previous.name}")


# Errors that it expects, and limits, where a key is given that meets them soon.
if free_key := os.environ.get("PETSTORE_FREE_KEY"):
    print(told(update_order.sync_detailed(9, client=client, body=completion, if_match=etag)))
    print(told(get_category.sync_detailed(4711, client=client)))
    print(told(place_order.sync_detailed(client=client, body=Order(pet_id=13, quantity=1000))))
    print(told(list_pets.sync_detailed(client=client_of("pet_mistyped"))))

    free = client_of(free_key)
    for _ in range(130):
        answer = list_pets.sync_detailed(client=free, limit=1)
        if answer.status_code != 200:
            break
    limit, remaining = answer.headers["X-RateLimit-Limit"], answer.headers["X-RateLimit-Remaining"]
    wait_seconds = max(int(answer.headers["X-RateLimit-Reset"]) - time.time(), int(answer.headers["Retry-After"]))
    waits = "within 60 s" if 0 < wait_seconds <= 60 else f"after {wait_seconds} s"
    print(f"{told(answer)}: limit {limit}, remaining {remaining}, reset and retry {waits}")
