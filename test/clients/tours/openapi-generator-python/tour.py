import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import parse_qs, urlsplit

from urllib3 import HTTPHeaderDict

from petstore import (
    ApiClient,
    ApiException,
    Configuration,
    Error,
    EventType,
    NewPet,
    Order,
    OrderPatch,
    PetCreated,
    PetPatch,
    PetsApi,
    PetUpdated,
    StoreApi,
)


def client(key: str, retries: int | None = None) -> ApiClient:
    return ApiClient(Configuration(host=os.environ["PETSTORE_BASE_URL"], access_token=key, retries=retries))


api = client(os.environ["PETSTORE_API_KEY"])
pets, store = PetsApi(api), StoreApi(api)


def refusal(request: Callable[[], object]) -> tuple[Error, Mapping[str, str]]:
    """The error by which a request is refused, and the header fields of the answer."""
    try:
        request()
    except ApiException as refused:
        assert isinstance(refused.data, Error) and refused.headers is not None
        return refused.data, refused.headers
    raise AssertionError("The request was not refused.")


def told(refused: tuple[Error, Mapping[str, str]]) -> str:
    error, _ = refused
    return f"{error.status} {error.code}"


# The same request with the same key adds nothing.
created, again = (pets.create_pet(NewPet(name="Smaug", categoryId=4), "tour") for _ in range(2))
print(f"created {created.id}: {created.name}")
print(f"again {again.id}: {again.name}")


def page_sizes() -> Iterator[str]:
    cursor: str | None = None
    while True:
        page = pets.list_pets_with_http_info(limit=8, cursor=cursor)
        yield str(len(page.data))
        # `headers` is a plain dictionary, and the case of names is not certain.
        more = re.search(r'<([^>]+)>; rel="next"', HTTPHeaderDict(page.headers).get("Link", ""))
        if more is None:
            return
        cursor = parse_qs(urlsplit(more[1]).query)["cursor"][0]


print("pages of", ", ".join(page_sizes()))

renamed = pets.update_pet(created.id, PetPatch(name="Smaug the Golden"))
print(f"renamed {renamed.id}: {renamed.name}")

order = store.place_order(Order(petId=13, quantity=2))
print(f"ordered {order.id}: {order.quantity} of {order.pet_id}, complete: {str(order.complete).lower()}")
etag = HTTPHeaderDict(store.get_order_with_http_info(9).headers)["ETag"]
order = store.update_order(9, OrderPatch(complete=True), if_match=etag)
print(f"changed {order.id}: {order.quantity} of {order.pet_id}, complete: {str(order.complete).lower()}")

for event in store.list_events(type=[EventType.PET_DOT_CREATED, EventType.PET_DOT_UPDATED]):
    match event.actual_instance:
        case PetCreated(type=event_type, data=pet):
            print(f"{event_type}: {pet.name}")
        case PetUpdated(type=event_type, data=pet, previous=previous):
            print(f"{event_type}: {pet.name}, was {previous.name}")


def ask_until_refused(free: PetsApi) -> None:
    for _ in range(130):
        free.list_pets(limit=1)


# Errors that it expects, and limits, where a key is given that meets them soon.
if free_key := os.environ.get("PETSTORE_FREE_KEY"):
    print(told(refusal(lambda: store.update_order(9, OrderPatch(complete=True), if_match=etag))))
    print(told(refusal(lambda: pets.get_category(4711))))
    print(told(refusal(lambda: store.place_order(Order(petId=13, quantity=1000)))))
    print(told(refusal(lambda: PetsApi(client("pet_mistyped")).list_pets())))

    # Else urllib3 waits for Retry-After by itself, and this program would, too.
    free = PetsApi(client(free_key, retries=0))
    refused = refusal(lambda: ask_until_refused(free))
    _, headers = refused
    limit, remaining = headers["X-RateLimit-Limit"], headers["X-RateLimit-Remaining"]
    wait_seconds = max(int(headers["X-RateLimit-Reset"]) - time.time(), int(headers["Retry-After"]))
    waits = "within 60 s" if 0 < wait_seconds <= 60 else f"after {wait_seconds} s"
    print(f"{told(refused)}: limit {limit}, remaining {remaining}, reset and retry {waits}")
