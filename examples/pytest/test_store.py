import pytest


@pytest.mark.parametrize("run", [1, 2])
def test_each_test_begins_with_a_new_store(send, run):
    status, _, order = send("POST", "/store/orders", {"petId": 1, "quantity": 2})
    assert (status, order["id"]) == (201, 9)


def test_a_used_up_limit_ends_with_the_minute(petstore, send):
    for _ in range(60):
        send("GET", "/pets")
    status, headers, _ = send("GET", "/pets")
    assert status == 429
    petstore.advance(int(headers["Retry-After"]) * 1000)
    assert send("GET", "/pets")[0] == 200


def test_an_invalid_duration_is_refused(petstore):
    with pytest.raises(ValueError, match="A duration is"):
        petstore.advance("soon")
