"""The default fusion over HTTP: context, paths, times, shares and confidence, on both engines."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

# The same answers from RAM and from SurrealDB's own indexes.
ENGINES = ("resident", "database")

Json = dict[str, Any]

BRIDGE = "Blue Harbour"
TURNS = [
    "Anna: Shall we paint the kitchen this weekend?",
    "Ben: Sure, I will bring rollers.",
    "Anna: Which month does the sailing course on the lake begin?",
    "Ben: March, if nothing gets cancelled.",
    "Anna: Wonderful, thanks!",
    "Ben: By the way, my bicycle has a flat tyre.",
]


@pytest.fixture(scope="module")
def notes(client: httpx.Client) -> httpx.Client:
    """Yield the client, with more notes than are direct hits, a conversation, and three lunches."""
    memories: list[Json] = [
        {
            "text": f"Sheet {n} lists all invoices of client {n * 7} and which vendor paid late.",
            "concepts": [],
        }
        for n in range(160)
    ]
    memories += [
        {"text": f"Our vendor of enamel signs moved its workshop to {BRIDGE}."},
        {"title": BRIDGE, "text": "Ferries leave on Mondays; parking costs nine euros."},
    ]
    memories += [
        {"text": turn, "session": "kitchen", "occurred_at": f"2026-02-13T09:0{n}:00Z"}
        for n, turn in enumerate(TURNS)
    ]
    memories += [
        {"text": f"Team lunch in room {month}: soup and bread.", "occurred_at": f"2024-{month}-14"}
        for month in ("03", "06", "09")
    ]
    answer = client.post("/memories/batch", json={"memories": memories})
    assert answer.json()["created"] == len(memories), answer.text
    return client


def _search(client: httpx.Client, query: str, **wish: object) -> Json:
    answer = client.post("/search", json={"query": query, **wish})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_a_note_found_along_the_graph_alone_comes_within_five(notes: httpx.Client) -> None:
    question = "enamel signs vendor workshop"
    direct = _search(notes, question, weights={"graph": 0}, limit=5)["results"]
    assert all(hit["title"] != BRIDGE for hit in direct)
    hits = _search(notes, question)["results"]
    assert hits[0]["content"].startswith("Our vendor of enamel signs")
    [bridge] = [hit for hit in hits if hit["title"] == BRIDGE]
    assert bridge["signals"]["graph"]["path"] == [hits[0]["content"], BRIDGE]
    assert bridge["signals"]["graph"]["share"] > 0


def test_an_answer_is_found_by_what_was_asked_before_it(notes: httpx.Client) -> None:
    hits = _search(notes, "sailing course lake begin")["results"]
    [place] = [n for n, hit in enumerate(hits) if hit["content"] == TURNS[3]]
    assert "text" not in hits[place]["signals"]
    assert hits[place]["signals"]["text_context"]["share"] > 0


def test_a_named_time_lifts_what_happened_then(notes: httpx.Client) -> None:
    for month, name in (("03", "March"), ("06", "June"), ("09", "September")):
        best = _search(notes, f"What was the team lunch in {name} 2024?")["results"][0]
        assert best["occurred_at"].startswith(f"2024-{month}")
        assert best["signals"]["time"]["share"] == pytest.approx(0.6)
    plain = _search(notes, "What was the team lunch?")["results"]
    assert all("time" not in hit["signals"] for hit in plain)


CRANE = "What did we write of the crane last week?"


def _note_cranes(client: httpx.Client, agent: str, newest: datetime) -> None:
    notes = zip(("oiled", "painted", "rented"), (0, 7, 21), strict=True)
    memories = [
        {
            "agent": agent, "text": f"The crane was {deed}.", "kind": "note",
            "occurred_at": (newest - timedelta(days=days)).isoformat(),
        }
        for deed, days in notes
    ]  # fmt: skip
    answer = client.post("/memories/batch", json={"memories": memories})
    assert answer.json()["created"] == len(memories), answer.text


def _of_that_time(client: httpx.Client, agent: str, **wish: object) -> list[str]:
    """Return what counts more because it happened last week, the best first."""
    hits = _search(client, CRANE, agent=agent, **wish)["results"]
    return [hit["content"] for hit in hits if "time" in hit["signals"]]


def test_last_week_in_a_store_left_for_a_month_is_before_its_newest_memory(
    client: httpx.Client,
) -> None:
    now = datetime.now(UTC)
    _note_cranes(client, "left", now - timedelta(days=31))
    best = _search(client, CRANE, agent="left")["results"][0]
    assert best["content"] == "The crane was painted."
    assert best["signals"]["time"]["share"] == pytest.approx(0.6)
    # The newest is of the week after, when last week may still be written about.
    assert _of_that_time(client, "left") == [best["content"], "The crane was oiled."]
    # Seen from a moment that is asked for, or from now since there is something new:
    assert _of_that_time(client, "left", as_of=now.isoformat()) == []
    client.post("/memories", json={"agent": "left", "text": "The crane was sold."})
    assert _of_that_time(client, "left") == ["The crane was sold."]


def test_last_week_in_a_store_in_use_is_before_this_one(client: httpx.Client) -> None:
    _note_cranes(client, "in_use", datetime.now(UTC) - timedelta(days=29))
    assert _search(client, CRANE, agent="in_use")["results"]
    assert _of_that_time(client, "in_use") == []


@pytest.mark.parametrize(
    "query",
    [
        "enamel signs vendor workshop", "team lunch in June 2024", '"flat tyre" of the bicycle',
        "vendor", "who are you", "?!",
    ],
)  # fmt: skip
def test_shares_sum_to_the_score(notes: httpx.Client, query: str) -> None:
    hits = _search(notes, query, limit=100)["results"]
    assert hits or query == "?!"
    for hit in hits:
        shares = [said["share"] for said in hit["signals"].values()]
        assert math.fsum(shares) == pytest.approx(hit["score"], rel=1e-5)
    for name in {name for hit in hits for name in hit["signals"]}:
        assert min(hit["signals"][name]["rank"] for hit in hits if name in hit["signals"]) >= 1


def test_what_is_quoted_comes_first_and_says_so(notes: httpx.Client) -> None:
    best, *others = _search(notes, 'the vendor of "flat tyre" invoices', limit=50)["results"]
    assert best["content"] == TURNS[5]
    # It counts as much as all that speaks for another, however much that is.
    assert best["signals"]["phrase"]["share"] >= max(hit["score"] for hit in others)


def test_a_long_question_without_quotes_quotes_nothing(notes: httpx.Client) -> None:
    pasted = " ".join(f"{turn} {BRIDGE} ferries euros" for turn in TURNS)
    hits = _search(notes, pasted * 3)["results"]
    assert hits
    assert all("phrase" not in hit["signals"] for hit in hits)


def test_weights_are_factors_and_nothing_is_found_with_none(notes: httpx.Client) -> None:
    found = _search(notes, "vendor workshop", weights={"vector": 1, "text": 0, "graph": 0})
    assert found["results"]
    assert all("text" not in hit["signals"] for hit in found["results"])
    both = [
        _search(notes, "vendor workshop", weights={"vector": v, "text": 0, "graph": 0})["results"]
        for v in (1, 2)
    ]
    scores = [[hit["score"] for hit in hits] for hits in both]
    assert scores[1] == pytest.approx([2 * score for score in scores[0]])
    nothing = _search(notes, "vendor workshop", weights={"vector": 0, "text": 0, "graph": 0})
    assert (nothing["results"], nothing["abstained"]) == ([], True)
    assert "vector and text both 0" in nothing["receipt"]["fallback_reason"]
    assert found["receipt"]["fallback_reason"] is None


def test_rank_fusion_knows_nothing_of_it(notes: httpx.Client) -> None:
    weights = {"vector": 1.0, "text": 1.0, "graph": 0.5}
    for query in ("enamel signs vendor workshop", "team lunch in June 2024", '"flat tyre"'):
        hits = _search(notes, query, fusion="rrf", limit=20)["results"]
        assert hits
        for hit in hits:
            assert hit["signals"].keys() <= weights.keys()
            votes = [weights[name] / (60 + s["rank"]) for name, s in hit["signals"].items()]
            assert hit["score"] == pytest.approx(math.fsum(votes))
            assert all(said["share"] is None for said in hit["signals"].values())


@pytest.mark.parametrize("fusion", ["default", "rrf"])
def test_nonsense_is_doubted_and_a_direct_hit_is_not(notes: httpx.Client, fusion: str) -> None:
    nonsense = _search(notes, "quux plugh xyzzy frobnicate", fusion=fusion)["confidence"]
    direct = _search(notes, TURNS[5], fusion=fusion)["confidence"]
    assert nonsense < 0.3
    assert direct > 0.7
    refused = _search(notes, "quux plugh xyzzy frobnicate", fusion=fusion, min_confidence=0.5)
    assert (refused["results"], refused["abstained"]) == ([], True)
    assert refused["receipt"]["certainty"]["coverage"] == 0
    kept = _search(notes, TURNS[5], fusion=fusion, min_confidence=0.5)
    assert (len(kept["results"]), kept["abstained"]) == (5, False)


def test_the_same_question_has_the_same_answer(notes: httpx.Client) -> None:
    answers = [_search(notes, "vendor workshop lunch", limit=50)["results"] for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]


def test_a_question_that_nothing_fits_is_no_fault(notes: httpx.Client) -> None:
    for query in ("?!", "쀍쀎쀏"):
        answer = notes.post("/graph-recall", json={"query": query})
        assert answer.status_code == 200, answer.text
        for hit in answer.json()["results"]:
            assert 0 <= hit["score"] <= 1
    nothing = {"vector": 0, "text": 1, "graph": 1}
    assert _search(notes, "?!", weights=nothing)["results"] == []


def test_one_memory_is_enough(client: httpx.Client) -> None:
    client.post("/memories", json={"text": "The only one.", "agent": "lonely"})
    found = _search(client, "which one", agent="lonely", limit=100)
    assert [hit["content"] for hit in found["results"]] == ["The only one."]
    assert 0 <= found["confidence"] <= 1


@pytest.fixture(scope="module")
def diary(client: httpx.Client) -> httpx.Client:
    """Yield the client, with an entry of each of fifteen days, and notes that say "last week"."""
    memories: list[Json] = [
        {
            "text": f"Day {day}: {work}.",
            "agent": "diary",
            "occurred_at": f"2026-01-{day:02}T10:00:00Z",
        }
        for day, work in enumerate(
            ("the gate got new hinges", "the oak lost a branch", "honey was bottled") * 5, start=5
        )
    ]
    memories += [
        {"text": text, "agent": "diary", "occurred_at": "2026-01-30T10:00:00Z"}
        for text in (
            "What happened in an incident is written down within two days.",
            "On Monday we look at what happened last week and what we did yesterday.",
        )
    ]
    answer = client.post("/memories/batch", json={"memories": memories})
    assert answer.json()["created"] == len(memories), answer.text
    return client


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What happened on Wednesday?", {14}),
        ("what did we do last week?", {5, 6, 7, 8, 9, 10, 11}),
        ("Anything new since Tuesday?", {13, 14, 15}),
        ("What happened on January 9?", {9}),
        ("어제 무슨 일이 있었어?", {14}),
    ],
)
def test_what_asks_for_no_more_than_a_time_is_answered_by_what_happened_then(
    diary: httpx.Client, question: str, days: set[int]
) -> None:
    wish: Json = {"agent": "diary", "as_of": "2026-01-15T12:00:00Z"}
    for weights in ({}, {"vector": 0}):
        found = _search(diary, question, weights=weights, limit=20, **wish)
        first = [hit for hit in found["results"] if "time_alone" in hit["signals"]]
        assert found["results"][: len(first)] == first
        assert {int(hit["content"].split(":")[0][4:]) for hit in first} == days
        if not weights:
            assert found["confidence"] > 0.8


def test_a_time_alone_finds_nothing_where_neither_words_nor_meaning_count(
    diary: httpx.Client,
) -> None:
    wish: Json = {"agent": "diary", "as_of": "2026-01-15T12:00:00Z"}
    found = _search(diary, "What happened on Wednesday?", weights={"vector": 0, "text": 0}, **wish)
    assert found["results"] == []


@pytest.mark.parametrize("wish", [{"kinds": ["decision"]}, {"scope": "other"}])
def test_what_happened_then_passes_the_filters_too(diary: httpx.Client, wish: Json) -> None:
    wish = {"agent": "diary", "as_of": "2026-01-15T12:00:00Z", **wish}
    found = _search(diary, "What happened on Wednesday?", **wish)
    assert all("Day 14" not in hit["content"] for hit in found["results"])


def test_a_statement_or_an_order_is_no_question_of_its_time(diary: httpx.Client) -> None:
    wish: Json = {"agent": "diary", "as_of": "2026-01-15T12:00:00Z"}
    found = _search(diary, "take a note today", **wish)
    assert all("time_alone" not in hit["signals"] for hit in found["results"])


def test_a_time_of_which_nothing_is_known_is_answered_without_confidence(
    diary: httpx.Client,
) -> None:
    wish: Json = {"agent": "diary", "as_of": "2026-02-20T12:00:00Z"}
    found = _search(diary, "What happened yesterday?", **wish)
    assert all("time_alone" not in hit["signals"] for hit in found["results"])
    assert found["confidence"] < 0.2
