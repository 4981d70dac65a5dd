"""What a status says does not hold any more: below what holds, told as that, on both engines."""

from typing import Any

import httpx
import pytest

ENGINES = ("resident", "database")
Json = dict[str, Any]

OLD = """---
status: {status}
---
# 0001 Payments by Stripe

## Context

Guests of the marina pay in advance by card.

## Decision

Stripe Checkout is the payment provider: least work.
"""
NEW = """# 0004 Payments by Adyen

Status: accepted. Supersedes 0001.

## Decision

Adyen is our provider for payments, with webhooks.
"""
ASKED = "Which payment provider do we use?"


def _ingest(client: httpx.Client, agent: str, source: str, text: str) -> Json:
    answer = client.post("/ingest", json={"source": source, "text": text, "agent": agent})
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def _found(client: httpx.Client, agent: str, query: str = ASKED, **wish: object) -> list[Json]:
    answer = client.post("/search", json={"query": query, "agent": agent, "explain": True, **wish})
    assert answer.status_code == 200, answer.text
    results: list[Json] = answer.json()["results"]
    return results


def _of(results: list[Json], source: str) -> list[Json]:
    return [one for one in results if one["source"]["uri"] == source]


def test_a_record_that_was_superseded_stands_below_the_one_that_holds(
    client: httpx.Client, agent: str
) -> None:
    old, new = "decisions/0001.md", "decisions/0004.md"
    _ingest(client, agent, new, NEW)
    _ingest(client, agent, old, OLD.format(status="accepted"))
    held = _found(client, agent)
    assert held[0] in _of(held, old)
    assert not any("outdated" in one["signals"] or one["tags"] for one in held)

    _ingest(client, agent, old, OLD.format(status="superseded by 0004"))
    told = _found(client, agent)
    assert told[0] in _of(told, new)
    # Nothing is lost: it is found, and says what it is.
    assert {one["title"] for one in _of(told, old)} == {
        "0001 Payments by Stripe (superseded)", "Context (superseded)",
    }  # fmt: skip
    for one in told:
        is_old = one in _of(told, old)
        assert one["tags"] == (["outdated"] if is_old else [])
        shares = {name: signal["share"] for name, signal in one["signals"].items()}
        assert ("outdated" in shares) == is_old
        assert sum(shares.values()) == pytest.approx(one["score"], rel=1e-5)
        if is_old:
            assert shares["outdated"] == pytest.approx(-0.3 * (one["score"] - shares["outdated"]))
    assert {one["id"] for one in _found(client, agent, tags=["outdated"])} == {
        one["id"] for one in _of(told, old)
    }

    _ingest(client, agent, old, OLD.format(status="accepted"))
    assert [one["id"] for one in _found(client, agent)] == [one["id"] for one in held]


def test_a_session_is_told_nothing_that_does_not_hold(client: httpx.Client, agent: str) -> None:
    told = {}
    for status in ("accepted", "superseded by 0004"):
        _ingest(client, agent, "decisions/0001.md", OLD.format(status=status))
        answer = client.post("/session-context", json={"agent": agent, "session": status[:3]})
        assert answer.status_code == 200, answer.text
        told[status] = answer.text
    assert "Stripe" in told["accepted"]
    assert "Stripe" not in told["superseded by 0004"]


def test_the_tag_of_a_memory_counts_as_the_status_of_a_file(
    client: httpx.Client, agent: str
) -> None:
    notes = [
        {"text": "The door code of our office is 4711.", "tags": ["outdated"], "agent": agent},
        {"text": "The door code of our office is 2718 now.", "agent": agent},
    ]
    assert client.post("/memories/batch", json={"memories": notes}).json()["errors"] == []
    first, second = _found(client, agent, "What is the door code of our office?")
    assert (first["tags"], second["tags"]) == ([], ["outdated"])


def test_what_is_outdated_is_no_name_that_links(client: httpx.Client, agent: str) -> None:
    for number in (1, 2):
        text = OLD.format(status="deprecated").replace("0001", f"000{number}")
        _ingest(client, agent, f"decisions/000{number}.md", text)
    concepts = client.get("/concepts", params={"agent": agent, "limit": 100}).json()["concepts"]
    assert not [one for one in concepts if "outdated" in one["id"] or "deprecated" in one["id"]]
    assert "0001_payments_by_stripe" in {one["id"] for one in concepts}
