"""What a search does after fusion: duplicates, recency, diversity, reranking, small talk."""

import itertools
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import Start
from tests.servers.outer_embeddings import Answer, outer_embeddings
from tests.servers.outer_reranker import OuterReranker, outer_reranker

# The same answers from RAM and from SurrealDB's own indexes.
ENGINES = ("resident", "database")

Json = dict[str, Any]

WORDS_ONLY = {"vector": 0, "graph": 0}
NUMBERS = itertools.count()
STATUS = "The nightly backup of the harbour cameras ended well and all films were copied"
WISH: Json = {"agent": "twice", "weights": WORDS_ONLY}


def _search(client: httpx.Client, query: str, **request: object) -> Json:
    answer = client.post("/search", json={"query": query, **request})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def _texts(found: Json) -> list[str]:
    return [hit["content"] for hit in found["results"]]


def _store(client: httpx.Client, agent: str, *texts: str, **fields: object) -> None:
    memories = [
        {"text": text, "agent": agent, "source_ref": f"told-{next(NUMBERS)}"} | fields
        for text in texts
    ]
    answer = client.post("/memories/batch", json={"memories": memories})
    assert answer.json()["created"] == len(texts), answer.text


@pytest.fixture(scope="module")
def twice(client: httpx.Client) -> httpx.Client:
    """Yield the client, with an agent that was told the same again and again."""
    copies = [f"{STATUS}." for _ in range(12)]
    others = [f"Harbour cameras: the backup of films failed in night {night}." for night in (7, 8)]
    _store(client, "twice", *copies, *others, "A camera of the harbour was cleaned.")
    return client


def test_what_says_the_same_is_told_once_and_counted(twice: httpx.Client) -> None:
    found = _search(twice, "backup harbour cameras films", limit=4, **WISH)
    texts = _texts(found)
    assert len(texts) == 4
    assert texts.count(f"{STATUS}.") == 1
    assert found["receipt"]["counts"]["duplicates"] == 11
    assert "refine" in found["receipt"]["stages_ms"]
    shown = _search(twice, "backup harbour cameras films", limit=4, duplicates="show", **WISH)
    assert shown["receipt"]["counts"]["duplicates"] == 0
    # The one that stays is the one that was ranked highest.
    ids = [hit["id"] for hit in shown["results"]]
    assert next(h["id"] for h in found["results"] if h["content"] == f"{STATUS}.") in ids


def test_duplicates_make_room_for_the_next_however_many_there_are(twice: httpx.Client) -> None:
    shown = _search(twice, "backup harbour cameras films", limit=3, duplicates="show", **WISH)
    assert len(shown["results"]) == 3
    for limit in (1, 2, 3, 4, 100):
        found = _search(twice, "backup harbour cameras films", limit=limit, **WISH)
        assert len(found["results"]) == min(limit, 4)


def test_more_copies_than_are_ranked_at_once_make_room_too(client: httpx.Client) -> None:
    others = [f"Camera {number} of the harbour was cleaned." for number in range(3)]
    _store(client, "often", *[f"{STATUS}."] * 120, *others)
    for fusion in ("default", "rrf"):
        wish: Json = {"agent": "often", "weights": WORDS_ONLY, "fusion": fusion, "limit": 4}
        found = _search(client, "backup harbour cameras films", **wish)
        assert sorted(_texts(found)) == sorted([f"{STATUS}.", *others])
    assert len(_texts(_search(client, "backup harbour", **wish | {"duplicates": "show"}))) == 4


def test_the_get_twin_takes_every_choice(twice: httpx.Client) -> None:
    asked: Json = {
        "agent": "twice", "limit": 3, "duplicates": "show", "diversity": 0.4, "recency": 0.5,
        "rerank": False, "skip_small_talk": True, "as_of": "2126-01-01T00:00:00Z",
    }  # fmt: skip
    answer = twice.get("/search", params={"q": "harbour backup", **asked})
    assert answer.status_code == 200, answer.text
    assert answer.json()["results"] == _search(twice, "harbour backup", **asked)["results"]


@pytest.mark.parametrize(
    "wrong", [{"duplicates": "drop"}, {"diversity": 1.1}, {"recency": -0.1}, {"rerank": "maybe"}]
)
def test_a_choice_that_does_not_exist_is_refused(twice: httpx.Client, wrong: Json) -> None:
    answer = twice.post("/search", json={"query": "harbour", **wrong})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/{next(iter(wrong))}"


def test_diversity_brings_something_else_forward(client: httpx.Client) -> None:
    _store(
        client,
        "mixed",
        "The printer has a paper jam in tray one again.",
        "The printer has a paper jam in tray two again.",
        "The printer has a paper jam in tray three again.",
        "The printer is out of toner, and an order went to Northmoor.",
    )
    asked: Json = {"agent": "mixed", "weights": WORDS_ONLY, "limit": 4}
    plain = _search(client, "printer paper jam", **asked)
    varied = _search(client, "printer paper jam", diversity=0.6, **asked)
    assert "toner" in _texts(plain)[3]
    assert "toner" in _texts(varied)[1]
    assert _texts(varied)[0] == _texts(plain)[0]
    assert sorted(_texts(varied)) == sorted(_texts(plain))


def test_recency_prefers_the_younger_as_seen_at_the_moment_asked_for(
    client: httpx.Client,
) -> None:
    for moment in ("2024-03-01", "2025-03-01"):
        _store(
            client, "ages", f"The port of Osprey is open since spring {moment[:4]}.",
            occurred_at=f"{moment}T09:00:00Z", kind="note",
        )  # fmt: skip
    asked: Json = {"agent": "ages", "weights": WORDS_ONLY}
    plain = _search(client, "port of Osprey", **asked)
    young = _search(client, "port of Osprey", recency=1, as_of="2025-03-02T00:00:00Z", **asked)
    assert "2025" in _texts(young)[0]
    scores = {hit["id"]: hit["score"] for hit in plain["results"]}
    for hit in young["results"]:
        assert 0.8 <= hit["score"] / scores[hit["id"]] <= 1.2
    best, other = young["results"]
    assert best["score"] / scores[best["id"]] == pytest.approx(1.2, abs=0.01)
    assert other["score"] / scores[other["id"]] == pytest.approx(0.8, abs=0.001)


@pytest.fixture(scope="module")
def talk(client: httpx.Client) -> httpx.Client:
    """Yield the client, with an agent that was told small talk."""
    _store(client, "talk", "Thanks! ok go on 네, 알겠습니다 好的谢谢 thumbs up")
    return client


@pytest.mark.parametrize("text", ["Thanks!", "ok go on", "네, 알겠습니다", "好的谢谢", "👍"])
def test_small_talk_has_an_empty_answer(talk: httpx.Client, text: str) -> None:
    found = _search(talk, text, agent="talk", skip_small_talk=True)
    assert (found["results"], found["abstained"], found["confidence"]) == ([], True, 0.0)
    assert "small talk" in found["receipt"]["skipped"]
    assert found["receipt"]["stages_ms"] == {}
    asked = _search(talk, text, agent="talk")
    assert asked["results"]
    assert asked["receipt"]["skipped"] is None
    real = _search(talk, f"{text} thumbs", agent="talk", skip_small_talk=True)
    assert real["results"]
    assert real["receipt"]["skipped"] is None


def test_small_talk_does_not_wake_the_embedder(start: Start) -> None:
    with outer_embeddings() as outer:
        client = start(embedding_url=outer.url).client
        asked = len(outer.requests)
        for query in ("thanks", "ok"):
            _search(client, query, skip_small_talk=True)
        assert len(outer.requests) == asked


# Reranking, with a fake rerank server at the outer edge.

ABOUT_LAMPS = (
    "The lamp of the lighthouse: lamp, lamp and lamp again, says the lamp keeper.",
    "A lamp shop is in the lighthouse street, with one lamp more.",
    "The keeper is called Orla, and the lighthouse is hers.",
)
# A whole answer would bring the third of them forward.
ORLA_FIRST = [{"index": n, "relevance_score": score} for n, score in enumerate((0.1, 0.2, 0.9))]


@pytest.fixture
def outer() -> Iterator[OuterReranker]:
    with outer_reranker() as server:
        yield server


def _begin(start: Start, outer: OuterReranker, **settings: Any) -> httpx.Client:
    client = start(rerank_url=outer.url, rerank_model="cross-1", **settings).client
    _store(client, "main", *ABOUT_LAMPS)
    return client


def _prefers(word: str) -> Any:
    return lambda _, document: 0.99 if word in document else 0.01


def test_a_reranker_reorders_and_is_one_more_signal(start: Start, outer: OuterReranker) -> None:
    outer.score = _prefers("Orla")
    client = _begin(start, outer)
    plain = _search(client, "lighthouse lamp", weights=WORDS_ONLY, rerank=False)
    assert "Orla" in _texts(plain)[2]
    assert outer.requests == []
    found = _search(client, "lighthouse lamp", weights=WORDS_ONLY)
    assert "Orla" in _texts(found)[0]
    assert sorted(_texts(found)) == sorted(_texts(plain))
    assert found["results"][0]["signals"]["rerank"] == {
        "rank": 1, "score": 0.99, "path": None, "share": None,
    }  # fmt: skip
    assert found["receipt"]["counts"]["reranked"] == 3
    assert found["receipt"]["stages_ms"]["rerank"] > 0
    assert found["receipt"]["missing_signals"] == []
    [asked] = outer.requests
    assert asked.body["model"] == "cross-1"
    assert asked.body["query"] == "lighthouse lamp"
    day = plain["results"][0]["occurred_at"][:10]
    assert asked.body["documents"] == [f"{day} \n{text}" for text in _texts(plain)]


def test_a_reranker_of_text_embeddings_inference_does_too(start: Start) -> None:
    with outer_reranker(speaks_tei=True, score=_prefers("Orla")) as outer:
        client = _begin(start, outer)
        assert "Orla" in _texts(_search(client, "lighthouse lamp", weights=WORDS_ONLY))[0]


def test_what_only_the_graph_found_keeps_its_place(start: Start, outer: OuterReranker) -> None:
    client = start(rerank_url=outer.url).client
    told = [
        ("The zeppelin landed at Tarn Field.", ["Tarn Field"]),
        ("Cows graze there since the mast was taken down.", ["Tarn Field"]),
        ("A zeppelin is filled with helium.", []),
    ]
    memories = [{"text": text, "concepts": concepts} for text, concepts in told]
    assert client.post("/memories/batch", json={"memories": memories}).json()["created"] == 3
    asked: Json = {"weights": {"vector": 0, "graph": 1}}
    plain = _search(client, "zeppelin", rerank=False, **asked)
    place = next(n for n, text in enumerate(_texts(plain)) if "Cows" in text)
    for word in ("Cows", "helium", "Field", "nothing"):
        outer.score = _prefers(word)
        found = _search(client, "zeppelin", **asked)
        assert found["receipt"]["counts"]["reranked"] == 3
        assert "Cows" in _texts(found)[place]
        assert sorted(_texts(found)) == sorted(_texts(plain))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer({"error": {"message": "busy"}}, 503), "answered 503: busy"),
        (Answer({"results": [{"index": 9, "relevance_score": 1.0}]}), "each `index`"),
        (Answer(b'{"results": [{"index": 0, "relevance_score": NaN}]}'), "not JSON"),
        (Answer({"results": []}), "each `index`"),
        (Answer({"results": ORLA_FIRST}, breaks_off=True), "broke off"),
    ],
)
def test_a_bad_reranker_leaves_the_fused_order_and_is_left_alone(
    start: Start, outer: OuterReranker, answer: Answer, reason: str
) -> None:
    client = _begin(start, outer)
    plain = _search(client, "lighthouse lamp", rerank=False)
    outer.next_answers.append(answer)
    for _ in range(5):
        found = _search(client, "lighthouse lamp")
        assert found["results"] == plain["results"]
        assert found["receipt"]["missing_signals"] == ["rerank"]
        assert reason in found["receipt"]["fallback_reason"]
        assert "reranked" not in found["receipt"]["counts"]
    assert len(outer.requests) == 1
    assert _search(client, "lighthouse", rerank=False)["receipt"]["missing_signals"] == []


def test_a_slow_reranker_costs_no_more_than_its_limit(start: Start, outer: OuterReranker) -> None:
    outer.before_answering = lambda: time.sleep(4)
    client = _begin(start, outer, rerank_timeout_seconds=0.2)
    started = time.monotonic()
    found = _search(client, "lighthouse lamp")
    assert time.monotonic() - started < 3.5
    assert found["receipt"]["missing_signals"] == ["rerank"]
    assert "within 0.2 s" in found["receipt"]["fallback_reason"]
    assert len(found["results"]) == 3


def test_no_vector_and_no_reranker_are_both_told(start: Start, outer: OuterReranker) -> None:
    with outer_embeddings() as embeddings:
        client = _begin(start, outer, embedding_url=embeddings.url)
        bad = Answer({"error": {"message": "no model"}}, 400)
        embeddings.next_answers.append(bad)
        outer.next_answers.append(bad)
        receipt = _search(client, "lighthouse lamp")["receipt"]
    assert receipt["missing_signals"] == ["vector", "rerank"]
    assert receipt["fallback_reason"].count("no model") == 2


def test_duplicates_are_not_reranked_and_the_budget_is_packed_last(
    start: Start, outer: OuterReranker
) -> None:
    outer.score = _prefers("Orla")
    client = _begin(start, outer)
    _store(client, "main", *[f"{ABOUT_LAMPS[0]} {ABOUT_LAMPS[1]}"] * 3)
    found = _search(client, "lighthouse lamp", weights=WORDS_ONLY, max_tokens=15)
    assert _texts(found) == [ABOUT_LAMPS[2]]
    assert len(outer.requests[0].body["documents"]) == len(set(outer.requests[0].body["documents"]))
    assert found["receipt"]["counts"]["duplicates"] >= 2


def test_recall_asks_no_reranker(start: Start, outer: OuterReranker) -> None:
    client = _begin(start, outer)
    answer = client.post("/graph-recall", json={"query": "lighthouse lamp"})
    assert answer.status_code == 200
    assert outer.requests == []


def test_every_choice_is_described_with_an_example(client: httpx.Client) -> None:
    description = client.get("/openapi.json").json()
    body = description["components"]["schemas"]["SearchRequest"]["properties"]
    given = {p["name"]: p for p in description["paths"]["/search"]["get"]["parameters"]}
    for name in ("duplicates", "diversity", "recency", "rerank", "skip_small_talk"):
        assert body[name]["description"], name
        assert body[name]["examples"], name
        assert given[name]["description"] == body[name]["description"]
