"""What nobody wrote crowds out no answer: a session that ends leaves what repeats its question."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.servers.keyed import KeyedService, keyed_service

ENGINES = ("resident", "database")
APP = "github.com/ann/app"
QUESTION = "Where does the crane keep its state?"
SAID = "We decided: the crane keeps its state in Postgres."
DECIDED = datetime.now(UTC) - timedelta(days=60)

Json = dict[str, Any]


@pytest.fixture(scope="module", params=ENGINES)
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedding_url: str
) -> Iterator[httpx.Client]:
    """Yield a client of a service where one session decided and sixty asked what it was."""
    folder = tmp_path_factory.mktemp("handoffs")
    with keyed_service(
        data_dir=folder / "data", embedding_url=embedding_url, search_engine=request.param
    ) as running:
        keyed: KeyedService = running
        with keyed.client() as one:
            _end(one, "decides", SAID, DECIDED)
            for number in range(60):
                _end(one, f"s{number}", QUESTION, DECIDED + timedelta(days=number, hours=1))
            yield one


def _end(client: httpx.Client, session: str, said: str, at: datetime) -> None:
    body = {
        "session": session, "client": "generic", "project": APP, "final": True,
        "entries": [{"role": "user", "text": said, "at": at.isoformat()}],
    }  # fmt: skip
    client.post("/observe", json=body).raise_for_status()


def _asked(client: httpx.Client, path: str, **more: object) -> Json:
    body = {"project": APP} | more
    if path != "/context/pack":
        body = {"query": QUESTION, "limit": 20} | body
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def _kinds(told: Json) -> set[str]:
    return {hit["kind"] for hit in told["results"]}


def test_no_question_is_answered_by_itself(client: httpx.Client) -> None:
    for path in ("/search", "/graph-recall", "/cascade"):
        assert _kinds(_asked(client, path)) == {"decision"}, path
    assert _kinds(_asked(client, "/search", fusion="rrf")) == {"decision"}
    given = {"q": QUESTION, "project": APP}
    assert _kinds(client.get("/search", params=given).json()) == {"decision"}
    messages = [{"role": "user", "content": QUESTION}]
    packed = _asked(client, "/context/pack", messages=messages, max_tokens=9000)
    assert ("Postgres" in packed["memories"]["text"], len(packed["memories"]["ids"])) == (True, 1)


def test_who_asks_for_them_finds_them(client: httpx.Client) -> None:
    for asked in (
        {"kinds": ["handoff"]}, {"kinds": ["handoff", "decision"]}, {"tags": ["automatic"]},
        {"include_automatic": True},
    ):  # fmt: skip
        for path in ("/search", "/graph-recall"):
            assert "handoff" in _kinds(_asked(client, path, **asked)), (path, asked)
    # As what was done on a day.
    day = (DECIDED + timedelta(days=7, hours=1)).date().isoformat()
    told = _asked(client, "/search", kinds=["handoff"], since=day, until=day)["results"]
    assert [(one["session"], one["tags"]) for one in told] == [("s7", ["automatic"])]
    page = client.get("/memories", params={"kinds": "handoff", "limit": 1000}).json()
    assert len(page["memories"]) == 61


def test_one_that_is_named_by_its_id_is_where_a_walk_begins(client: httpx.Client) -> None:
    left = client.get("/handoff", params={"project": APP}).json()["id"]
    walked = client.post("/graph-recall", json={"seed_ids": [left], "project": APP}).json()
    assert walked["seeds"] == [left]


def test_the_next_session_is_told_the_last_one_as_before(client: httpx.Client) -> None:
    told = client.get("/handoff", params={"project": APP, "history": 100}).json()
    assert (told["session"], len(told["history"])) == ("s59", 60)
    start = client.post("/session-context", json={"project": APP}).json()
    [section] = [one for one in start["sections"] if one["name"] == "handoff"]
    assert section["ids"] == [told["id"]]


def test_one_that_somebody_wrote_or_took_the_tag_from_is_an_answer(client: httpx.Client) -> None:
    wrote = {"text": "Next: move the state of the crane to Mars.", "project": "mars"}
    client.post("/handoff", json=wrote).raise_for_status()
    assert _kinds(_asked(client, "/search", project="mars")) == {"handoff"}
    _end(client, "kept", "Paint the lighthouse of Ystad.", datetime.now(UTC))
    asked = {"query": "Who paints the lighthouse of Ystad?", "limit": 1}
    assert _kinds(_asked(client, "/search", **asked)) == {"decision"}
    [found] = _asked(client, "/search", **asked, include_automatic=True)["results"]
    client.patch(f"/memories/{found['id']}", json={"tags": []}).raise_for_status()
    assert _asked(client, "/search", **asked)["results"][0]["id"] == found["id"]
    client.delete(f"/memories/{found['id']}").raise_for_status()


def test_a_store_where_sessions_leave_no_more_is_not_left_alone(client: httpx.Client) -> None:
    """Its "last week" is the one before this week, not the one before its last decision."""
    week_before = str(DECIDED - timedelta(days=7))
    painted = {"text": "The ferry was painted.", "scope": APP, "occurred_at": week_before}
    client.post("/memories", json=painted).raise_for_status()
    told = _asked(client, "/search", query="Which ferry was painted last week?")["results"]
    assert (told[0]["content"], "time" in told[0]["signals"]) == ("The ferry was painted.", False)
