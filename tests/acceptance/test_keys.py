"""Keys over HTTP: who comes in, with what, and until when."""

import asyncio
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.access.operations import NEEDED
from service.app import create_app
from service.errors import CannotStart
from service.settings import Settings
from service.store.keyring import Keyring
from tests.servers.keyed import KeyedService, keyed_service
from tests.servers.running import running_service

ENGINES = ("resident",)
KEY = re.compile(r"gm_[0-9a-f]{12}_[A-Za-z0-9_-]{43}")
NOTE = {"text": "The harbour crane was mended on Tuesday."}


def _status(keyed: KeyedService, key: str, **request: Any) -> int:
    with keyed.client(key) as client:
        return client.request(**{"method": "GET", "url": "/memories", **request}).status_code


def test_without_keys_a_program_of_this_machine_does_everything(
    tmp_path: Path, embedding_url: str
) -> None:
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as service:
        assert service.client.post("/memories", json=NOTE).status_code == 201
        assert service.client.get("/keys").json() == {"keys": [], "next_cursor": None}
        assert service.client.get("/health/ready").json()["checks"]


def test_with_keys_nobody_without_one_sees_more_than_that_the_service_is_there(
    keyed: KeyedService,
) -> None:
    with keyed.client("") as nobody:
        refused = nobody.post("/search", json={"query": "crane"})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == 'Bearer realm="graph-memory"'
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["type"] == "/problems/unauthorized"
        assert nobody.get("/health/live").json() == {"status": "alive"}
        ready = nobody.get("/health/ready").json()
        assert ready == {
            "status": "ready", "checks": {}, "reasons": [], "warnings": [], "index": None,
        }  # fmt: skip
        assert nobody.get("/no-such-path").status_code == 401


def test_a_key_is_shown_once(keyed: KeyedService) -> None:
    key, told = keyed.key(["read"], ["main"])
    assert KEY.fullmatch(told)
    with keyed.client() as admin:
        listed = admin.get("/keys").text
    assert key in listed
    assert told.split("_", 2)[2] not in listed
    assert "hash" not in listed


TAMPERED = {
    "a word": "letmein", "another service's": "sk-proj-1234567890abcdef1234567890",
    "no prefix": "{id}_{secret}", "another prefix": "gn_{id}_{secret}", "id alone": "gm_{id}",
    "no secret": "gm_{id}_", "half a secret": "gm_{id}_{half}", "twice": "gm_{id}_{secret}{secret}",
    "last letter": "gm_{id}_{flipped}", "first letter": "gm_{id}_{first}",
    "other case": "gm_{id}_{swapped}", "prefix in capitals": "GM_{id}_{secret}",
    "another id": "gm_000000000000_{secret}", "id in capitals": "gm_{upper}_{secret}",
    "the hash": "gm_{id}_{hash}", "a blank in it": "gm_{id} _{secret}",
    "a null byte": "gm_{id}_{secret}%00", "padding": "gm_{id}_{secret}=",
    "quoted": '"gm_{id}_{secret}"', "wildcard": "gm_{id}_%", "a list": "gm_{id}_{secret},x",
}  # fmt: skip


@pytest.mark.parametrize("how", TAMPERED)
def test_a_tampered_key_opens_nothing(keyed: KeyedService, how: str) -> None:
    key, told = keyed.key(["read"])
    secret = told[len(f"gm_{key}_") :]
    flipped = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    tampered = TAMPERED[how].format(
        id=key, secret=secret, half=secret[:20], flipped=flipped, upper=key.upper() + "A",
        first=("A" if secret[0] != "A" else "B") + secret[1:], swapped=secret.swapcase(),
        hash="0" * 43,
    )  # fmt: skip
    assert _status(keyed, told) == 200
    assert _status(keyed, "", headers={"Authorization": f"Bearer {tampered}"}) == 401


@pytest.mark.parametrize("header", ["Basic {key}", "{key}", "Token {key}", "Bearer", "Bearer{key}"])
def test_a_key_comes_as_a_bearer(keyed: KeyedService, header: str) -> None:
    told = header.format(key=keyed.admin)
    assert _status(keyed, "", headers={"Authorization": told}) == 401


def test_the_scheme_is_read_in_any_case(keyed: KeyedService) -> None:
    assert _status(keyed, "", headers={"Authorization": f"bEaReR {keyed.admin}"}) == 200


def test_two_authorization_headers_are_none(keyed: KeyedService) -> None:
    headers = [("Authorization", f"Bearer {keyed.admin}")] * 2
    with httpx.Client(base_url=keyed.url) as client:
        assert client.get("/memories", headers=headers).status_code in {400, 401}


def test_a_revoked_key_ends_at_once(keyed: KeyedService) -> None:
    key, told = keyed.key(["read", "write"])
    with keyed.client(told) as client, keyed.client() as admin:
        assert client.post("/memories", json=NOTE).status_code == 201
        assert admin.delete(f"/keys/{key}").status_code == 204
        refused = client.get("/memories")
        assert (refused.status_code, "was revoked" in refused.json()["detail"]) == (401, True)
        assert admin.delete(f"/keys/{key}").status_code == 204
        assert [one["revoked_at"] for one in admin.get("/keys").json()["keys"] if one["id"] == key]


def test_a_rotated_key_has_another_secret_and_the_old_one_ends(keyed: KeyedService) -> None:
    key, told = keyed.key(["read"])
    with keyed.client() as admin:
        again = admin.post(f"/keys/{key}/rotate").json()
    assert again["id"] == key
    assert again["key"] != told
    assert (_status(keyed, told), _status(keyed, again["key"])) == (401, 200)


def test_a_key_that_was_revoked_is_not_rotated(keyed: KeyedService) -> None:
    key, told = keyed.key(["read"])
    with keyed.client() as admin:
        admin.delete(f"/keys/{key}")
        refused = admin.post(f"/keys/{key}/rotate")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/key-ended")
    assert refused.json()["detail"].endswith("was revoked, for good: make another, POST /keys.")
    assert _status(keyed, told) == 401


def test_a_key_ends_with_its_time(keyed: KeyedService) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=4)
    key, told = keyed.key(["read"], expires_at=soon.isoformat())
    assert _status(keyed, told) == 200
    time.sleep((soon - datetime.now(UTC)).total_seconds() + 0.1)
    assert _status(keyed, told) == 401
    with keyed.client() as admin:
        refused = admin.post(f"/keys/{key}/rotate")
    assert (refused.status_code, "is past its time" in refused.json()["detail"]) == (409, True)


def test_a_key_that_would_be_past_its_time_is_not_made(tmp_path: Path, embedding_url: str) -> None:
    """As the first one it would shut out everybody."""
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as service:
        asked = {"name": "x", "scopes": ["admin"], "expires_at": "2020-01-31"}
        refused = service.client.post("/keys", json=asked)
        assert (refused.status_code, "past" in refused.json()["detail"]) == (409, True)
        assert service.client.get("/keys").json()["keys"] == []


def test_a_clock_that_is_set_back_revives_no_key() -> None:
    keyring = Keyring.__new__(Keyring)
    keyring._latest = datetime.now(UTC) + timedelta(days=1)
    assert keyring._now() == keyring._latest


@pytest.mark.parametrize("operation", sorted(NEEDED))
@pytest.mark.parametrize("scope", ["read", "write", "admin"])
def test_an_operation_takes_the_scopes_that_its_line_names(
    keyed: KeyedService, operation: str, scope: str
) -> None:
    with keyed.client() as admin:
        paths = admin.get("/openapi.json").json()["paths"]
    [(path, method)] = [
        (path, method)
        for path, told in paths.items()
        for method, one in told.items()
        if one["operationId"] == operation
    ]
    _, told = keyed.key([scope])
    with keyed.client(told) as client:
        answer = client.request(method, path.replace("{id}", "no-such-id"), json=_body(method))
    is_enough = set(NEEDED[operation]) <= {scope}
    assert (answer.status_code == 403) is not is_enough, answer.text
    assert answer.status_code not in {401, 500}


def _body(method: str) -> dict[str, object] | None:
    # What it lacks is told by 422, to whoever may ask.
    return {"no such field": 1} if method != "get" else None


def test_nobody_makes_a_key_that_is_good_for_more_than_their_own(keyed: KeyedService) -> None:
    _, told = keyed.key(["admin"], ["anna"])
    with keyed.client(told) as anna:
        for body in (
            {"name": "x", "scopes": ["read"], "agents": ["anna"]},
            {"name": "x", "scopes": ["admin"]},
            {"name": "x", "scopes": ["admin"], "agents": ["anna", "bob"]},
        ):
            assert anna.post("/keys", json=body).status_code == 403
        own = {"name": "x", "scopes": ["admin"], "agents": ["anna"]}
        assert anna.post("/keys", json=own).status_code == 201
        assert {tuple(one["agents"]) for one in anna.get("/keys").json()["keys"]} == {("anna",)}
        first = next(one for one in _keys(keyed) if one["name"] == "first")["id"]
        assert anna.delete(f"/keys/{first}").status_code == 403
        refused = anna.post(f"/keys/{first}/rotate")
        assert (refused.status_code, "ask an admin" in refused.json()["detail"]) == (403, True)


def _keys(keyed: KeyedService) -> list[dict[str, object]]:
    with keyed.client() as admin:
        keys: list[dict[str, object]] = admin.get("/keys", params={"limit": 1000}).json()["keys"]
        return keys


def test_keys_are_listed_in_pages(keyed: KeyedService) -> None:
    for _ in range(3):
        keyed.key(["read"])
    every, cursor = [], None
    with keyed.client() as admin:
        while True:
            page = admin.get("/keys", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))
            every += [one["id"] for one in page.json()["keys"]]
            cursor = page.json()["next_cursor"]
            if cursor is None:
                break
        whole = admin.get("/keys", params={"limit": len(every)}).json()
    assert every == [one["id"] for one in _keys(keyed)]
    assert len(set(every)) == len(every)
    # A page that is full and the last one leads nowhere.
    assert (len(whole["keys"]), whole["next_cursor"]) == (len(every), None)


def test_a_key_with_a_rate_says_when_to_ask_again(keyed: KeyedService) -> None:
    _, told = keyed.key(["read"], rate=3)
    assert [_status(keyed, told) for _ in range(4)] == [200, 200, 200, 429]
    with keyed.client(told) as client:
        refused = client.get("/memories")
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert refused.json()["type"] == "/problems/too-many-requests"


def test_keys_and_their_use_survive_a_restart(tmp_path: Path, embedding_url: str) -> None:
    settings: dict[str, Any] = {"data_dir": tmp_path, "embedding_url": embedding_url}
    with keyed_service(**settings) as keyed:
        key, told = keyed.key(["read"], ["main"])
        ended, revoked = keyed.key(["read"])
        with keyed.client() as admin:
            admin.delete(f"/keys/{ended}")
        assert _status(keyed, told) == 200
        first = keyed.admin
    with running_service(**settings) as service:
        again = KeyedService(service, first)
        assert [_status(again, one) for one in ("", told, revoked)] == [401, 200, 401]
        [used] = [one["last_used_at"] for one in _keys(again) if one["id"] == key]
        assert used
        assert (
            b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()).count(
                told.split("_", 2)[2].encode()
            )
            == 0
        )


def test_an_address_for_other_machines_needs_a_key_first(
    tmp_path: Path, embedding_url: str
) -> None:
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path,
        embedding_url=embedding_url,
        host="0.0.0.0",  # noqa: S104 - what is refused
    )

    async def begin() -> None:
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            pass

    with pytest.raises(CannotStart, match="graph-memory keys create --name"):
        asyncio.run(begin())
