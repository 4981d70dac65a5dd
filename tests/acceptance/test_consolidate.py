"""Old logs become summaries, through HTTP: the plan, what is done, what comes back."""

import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Start
from tests.servers.outer_embeddings import Answer, outer_embeddings

ENGINES = ("resident", "database")

Json = dict[str, Any]

NUMBERS = itertools.count()
LOGS = (
    (
        "2026-02-09",
        "Decided to use Osprey-2 instead of Heron for the harbour cameras: 11.2 GB less.",
    ),
    ("2026-02-10", "The Osprey-2 stopped at 03:30 with E1234. It was fixed by a restart."),
    ("2026-02-11", "Osprey-2 runs since Monday. Nothing else to tell."),
)


def _push(client: httpx.Client, agent: str, *logs: tuple[str, str], **fields: object) -> list[str]:
    memories = [
        {"text": text, "agent": agent, "kind": "daily_log", "occurred_at": f"{day}T10:00:00Z",
         "source_ref": f"log-{next(NUMBERS)}"} | fields
        for day, text in logs
    ]  # fmt: skip
    answer = client.post("/memories/batch", json={"memories": memories})
    assert (answer.status_code, answer.json()["errors"]) == (200, []), answer.text
    return [str(key) for key in answer.json()["ids"]]


def _consolidate(client: httpx.Client, agent: str, **request: object) -> Json:
    answer = client.post("/consolidate", json={"agent": agent, **request})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def _undo(client: httpx.Client, agent: str, **request: object) -> Json:
    answer = client.post("/consolidate/undo", json={"agent": agent, **request})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def _read(client: httpx.Client, agent: str, key: str) -> Json:
    found: Json = client.get(f"/memories/{key}", params={"agent": agent}).json()
    return found


def _every(client: httpx.Client, agent: str) -> dict[str, Json]:
    answer = client.get(
        "/memories", params={"agent": agent, "include_archived": True, "limit": 1000}
    )
    return {memory["id"]: memory for memory in answer.json()["memories"]}


@pytest.fixture
def agent() -> str:
    """Return an agent of the test's own."""
    return f"keeper-{next(NUMBERS)}"


def test_a_dry_run_changes_nothing_and_is_carried_out_as_it_was_shown(
    client: httpx.Client, agent: str
) -> None:
    keys = _push(client, agent, *LOGS)
    before = _every(client, agent)
    shown = _consolidate(client, agent)
    assert _every(client, agent) == before
    assert (shown["dry_run"], shown["run"], shown["counts"]["memories"]) == (True, None, 3)
    assert _consolidate(client, agent)["plan"] == shown["plan"]
    done = _consolidate(client, agent, plan=shown["plan"], dry_run=False)
    assert (done["plan"], done["groups"]) == (shown["plan"], shown["groups"])
    [group] = done["groups"]
    summary = _read(client, agent, group["id"])
    assert summary["content"] == group["content"]
    assert (summary["kind"], summary["source_kind"]) == ("summary", "consolidation")
    assert (summary["title"], summary["occurred_at"]) == (
        "Osprey-2, 2026-02-09 to 2026-02-11", "2026-02-11T10:00:00Z",
    )  # fmt: skip
    assert [source["id"] for source in summary["derived_from"]] == keys
    for key in keys:
        original = _read(client, agent, key)
        assert original["consolidated_into"] == group["id"]
        assert original["archived_at"]
        assert original["history"][-1]["action"] == "consolidated"


def test_each_line_is_traced_to_the_memory_that_says_it(client: httpx.Client, agent: str) -> None:
    keys = _push(client, agent, *LOGS)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    lines = group["content"].split("\n")
    told = {source["id"]: source["lines"] for source in group["sources"]}
    assert list(told) == keys
    assert sorted(line for lines in told.values() for line in lines) == [
        n + 1 for n in range(len(lines))
    ]
    for (day, text), key in zip(LOGS, keys, strict=True):
        for line in told[key]:
            assert lines[line - 1].removeprefix(f"- {day}:").strip() in text
    # Every number, name and identifier of the decision is there.
    for fact in ("Osprey-2", "Heron", "11.2 GB"):
        assert fact in group["content"]


def test_summaries_are_found_and_their_sources_only_if_asked_for(
    client: httpx.Client, agent: str
) -> None:
    keys = _push(client, agent, *LOGS)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    query: Json = {"query": "why did the Osprey-2 stop?", "agent": agent}
    hits = client.post("/search", json=query).json()["results"]
    assert [hit["id"] for hit in hits] == [group["id"]]
    hits = client.post("/search", json=query | {"include_archived": True}).json()["results"]
    assert {hit["id"] for hit in hits} == {group["id"], *keys}
    walked = client.post("/graph-recall", json=query).json()["results"]
    assert [hit["id"] for hit in walked] == [group["id"]]


def test_what_a_summary_leaves_out_still_leads_to_it(client: httpx.Client, agent: str) -> None:
    dull = " ".join(f"we looked at the weather of day {n} and wrote it down." for n in range(60))
    birds = "we looked at the grebes that were nesting and wrote it down."
    logs = ("2026-02-09", f"{dull} {birds}"), ("2026-02-10", f"{dull} and it rained.")
    _push(client, agent, *logs, session="s1")
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    assert "grebes" not in group["content"]
    query: Json = {"query": "nesting grebes", "agent": agent, "weights": {"vector": 0}}
    for fusion in ("default", "rrf"):
        [hit] = client.post("/search", json=query | {"fusion": fusion}).json()["results"]
        assert (hit["id"], "text" in hit["signals"]) == (group["id"], True)
    # Of the kind that was asked for are only archived ones.
    logs_only: Json = query | {"kinds": ["daily_log"]}
    assert client.post("/search", json=logs_only).json()["results"] == []


def test_the_second_run_finds_nothing_to_do(client: httpx.Client, agent: str) -> None:
    _push(client, agent, *LOGS, ("2026-02-12", "a lonely thought"))
    first = _consolidate(client, agent, dry_run=False)
    after = _every(client, agent)
    second = _consolidate(client, agent, dry_run=False)
    assert (first["counts"]["alone"], second["counts"]["alone"]) == (1, 1)
    assert (second["plan"], second["run"], second["counts"]["groups"]) == (None, None, 0)
    assert _every(client, agent) == after


def test_new_logs_join_the_summary_of_their_group(client: httpx.Client, agent: str) -> None:
    old = _push(client, agent, *LOGS)
    first = _consolidate(client, agent, dry_run=False)
    new = _push(client, agent, ("2026-02-12", "Osprey-2: decided to keep 8 of 12 films."))
    second = _consolidate(client, agent, dry_run=False)
    [group] = second["groups"]
    assert (group["action"], group["id"]) == ("revise", first["groups"][0]["id"])
    assert second["counts"] | {"revised": 1, "created": 0, "memories": 1} == second["counts"]
    assert [(source["id"], source["joins"]) for source in group["sources"]] == [
        *((key, False) for key in old), (new[0], True),
    ]  # fmt: skip
    assert "8 of 12 films" in group["content"]
    assert "11.2 GB" in group["content"]
    # Taken back, the summary is again what the first run wrote.
    undone = _undo(client, agent, run=second["run"])
    assert (undone["restored"], undone["removed"]) == (new, [])
    assert _read(client, agent, group["id"])["content"] == first["groups"][0]["content"]


def test_an_undone_run_leaves_everything_as_it_was(client: httpx.Client, agent: str) -> None:
    _push(client, agent, *LOGS)
    _push(client, agent, ("2026-02-09", "Mail: none."), ("2026-02-10", "Mail: none today."))
    before = _every(client, agent)
    concepts = client.get("/concepts", params={"agent": agent}).json()
    done = _consolidate(client, agent, dry_run=False)
    undone = _undo(client, agent, run=done["run"])
    assert undone["restored"] == sorted(before)
    assert undone["removed"] == sorted(group["id"] for group in done["groups"])
    assert _every(client, agent) == before
    assert client.get("/concepts", params={"agent": agent}).json() == concepts
    again = client.post("/consolidate/undo", json={"agent": agent, "run": done["run"]})
    assert (again.status_code, again.json()["type"]) == (404, "/problems/run-not-found")
    # The heartbeat would do it again, unless what came back is pinned.
    second = _consolidate(client, agent, dry_run=False)
    assert second["groups"] == done["groups"]
    _undo(client, agent, run=second["run"], pin=True)
    assert all(memory["pinned"] for memory in _every(client, agent).values())
    assert _consolidate(client, agent)["plan"] is None


def test_one_summary_can_be_taken_back_or_deleted(client: httpx.Client, agent: str) -> None:
    keys = _push(client, agent, *LOGS)
    for is_deleted in (False, True):
        [group] = _consolidate(client, agent, dry_run=False)["groups"]
        if is_deleted:
            client.delete(f"/memories/{group['id']}", params={"agent": agent})
        else:
            assert _undo(client, agent, summary=group["id"])["removed"] == [group["id"]]
        every = _every(client, agent)
        assert sorted(every) == sorted(keys)
        assert not any(m["archived_at"] or m["consolidated_into"] for m in every.values())
    refused = client.post("/consolidate/undo", json={"agent": agent, "summary": keys[0]})
    assert refused.status_code == 404


def test_nobody_takes_back_what_is_of_another_agent(client: httpx.Client, agent: str) -> None:
    _push(client, agent, *LOGS)
    done = _consolidate(client, agent, dry_run=False)
    [group], before = done["groups"], _every(client, agent)
    other = f"{agent}-2"
    _push(client, other, *LOGS[:1])
    for asked in (
        {"agent": other, "summary": group["id"]}, {"agent": other, "run": done["run"]},
        {"agent": agent, "summary": "0" * 32}, {"agent": agent, "run": "0" * 32},
    ):  # fmt: skip
        assert client.post("/consolidate/undo", json=asked).status_code == 404, asked
    assert _every(client, agent) == before


def test_a_memory_taken_out_of_the_archive_leaves_its_summary(
    client: httpx.Client, agent: str
) -> None:
    keys = _push(client, agent, *LOGS)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    fields = {"archived": False, "pinned": True}
    back = client.patch(f"/memories/{keys[1]}", params={"agent": agent}, json=fields).json()
    assert (back["archived_at"], back["consolidated_into"], back["pinned"]) == (None, None, True)
    assert "E1234" not in _read(client, agent, group["id"])["content"]
    assert _consolidate(client, agent)["plan"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"archived": True},
        {"valid_until": "2026-02-20T00:00:00Z"},
        {"valid_from": "2026-02-20T00:00:00Z"},
    ],
    ids=str,
)
def test_a_summary_that_was_put_away_takes_no_new_logs_along(
    client: httpx.Client, agent: str, change: Json
) -> None:
    """They make one of their own: nobody archived or ended what they say."""
    _push(client, agent, *LOGS)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    path = f"/memories/{group['id']}"
    assert client.patch(path, params={"agent": agent}, json=change).status_code == 200
    later = [
        ("2026-02-12", "Osprey-2 got a heater, part Q77."),
        ("2026-02-13", "Osprey-2: Q77 hums."),
    ]
    keys = _push(client, agent, *later)
    [made] = _consolidate(client, agent, dry_run=False)["groups"]
    assert (made["action"], made["id"] == group["id"]) == ("create", False)
    assert {source["id"] for source in made["sources"]} == set(keys)
    found = client.post("/search", json={"query": "Q77 heater", "agent": agent}).json()["results"]
    assert found[0]["id"] == made["id"]


def test_a_deleted_memory_takes_its_sentences_along(client: httpx.Client, agent: str) -> None:
    keys = _push(client, agent, *LOGS)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    client.delete(f"/memories/{keys[1]}", params={"agent": agent})
    summary = _read(client, agent, group["id"])
    assert "E1234" not in summary["content"]
    assert "11.2 GB" in summary["content"]
    assert [source["id"] for source in summary["derived_from"]] == [keys[0], keys[2]]
    client.delete(f"/memories/{keys[0]}", params={"agent": agent})
    client.delete(f"/memories/{keys[2]}", params={"agent": agent})
    assert _every(client, agent) == {}


def test_a_changed_memory_is_told_as_it_is_now(client: httpx.Client, agent: str) -> None:
    keys = _push(client, agent, *LOGS)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    text = "The Osprey-2 stopped at 04:45 with E5678."
    answer = client.patch(f"/memories/{keys[1]}", params={"agent": agent}, json={"text": text})
    assert answer.json()["consolidated_into"] == group["id"]
    content = _read(client, agent, group["id"])["content"]
    assert "E5678" in content
    assert "E1234" not in content


@pytest.mark.parametrize(
    "fields",
    [
        {"trust_tier": "quarantined"}, {"scope": "harbour"}, {"sensitivity": "secret"},
        {"valid_until": "2026-02-12T00:00:00Z"}, {"valid_from": "2026-02-12T00:00:00Z"},
        {"kind": "decision"},
    ],
)  # fmt: skip
def test_a_memory_that_may_not_mix_any_more_leaves_the_summary(
    client: httpx.Client, agent: str, fields: Json
) -> None:
    keys = _push(client, agent, *LOGS)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    client.patch(f"/memories/{keys[1]}", params={"agent": agent}, json=fields)
    assert "E1234" not in _read(client, agent, group["id"])["content"]
    back = _read(client, agent, keys[1])
    assert (back["archived_at"], back["consolidated_into"]) == (None, None)


def test_a_summary_is_changed_through_its_sources(client: httpx.Client, agent: str) -> None:
    _push(client, agent, *LOGS)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    path = f"/memories/{group['id']}"
    refused = client.patch(path, params={"agent": agent}, json={"text": "x y", "tags": ["a"]})
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/told-elsewhere")
    assert "tags, text" in refused.json()["detail"]
    pinned = client.patch(path, params={"agent": agent}, json={"pinned": True})
    assert pinned.json()["pinned"]
    # A pinned summary takes nothing more: one new log has nobody to join.
    _push(client, agent, ("2026-02-12", "Osprey-2 hums."))
    assert _consolidate(client, agent)["counts"]["alone"] == 1


def test_what_differs_in_scope_trust_or_sensitivity_never_mixes(
    client: httpx.Client, agent: str
) -> None:
    walls: tuple[Json, ...] = (
        {}, {"scope": "harbour"}, {"trust_tier": "untrusted"}, {"sensitivity": "secret"},
    )  # fmt: skip
    for wall in walls:
        _push(client, agent, *LOGS[:2], **wall)
    _push(client, agent, *LOGS[:2], trust_tier="quarantined")
    shown = _consolidate(client, agent, dry_run=False)
    every = _every(client, agent)
    assert shown["counts"]["groups"] == 4
    for group in shown["groups"]:
        summary = every[group["id"]]
        for source in group["sources"]:
            for name in ("scope", "trust_tier", "sensitivity", "agent"):
                assert every[source["id"]][name] == summary[name]
    filters = {"agent": agent, "trust": "quarantined"}
    quarantined = client.get("/memories", params=filters).json()["memories"]
    assert [memory["archived_at"] for memory in quarantined] == [None, None]
    only = _consolidate(client, agent, scope="attic")
    assert only["counts"]["memories"] == 0


def test_what_is_kept_is_never_consolidated(client: httpx.Client, agent: str) -> None:
    future = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%d")
    kept = _push(client, agent, LOGS[0], pinned=True)
    kept += _push(client, agent, LOGS[1], kind="decision")
    kept += _push(client, agent, LOGS[1], kind="note")
    kept += _push(client, agent, LOGS[2], valid_until="2030-01-01")
    kept += _push(client, agent, (future, LOGS[1][1]))
    archived = _push(client, agent, LOGS[2])
    client.patch(f"/memories/{archived[0]}", params={"agent": agent}, json={"archived": True})
    joined = _push(client, agent, *LOGS, kind="observation")
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    assert [source["id"] for source in group["sources"]] == joined
    every = _every(client, agent)
    assert all(every[key]["archived_at"] is None for key in kept)
    assert every[archived[0]]["consolidated_into"] is None
    assert _consolidate(client, agent, older_than_days=0)["counts"]["memories"] == 0


def test_a_plan_is_stale_once_a_summary_that_it_adds_to_was_put_away(
    client: httpx.Client, agent: str
) -> None:
    """What joined it would be found no more."""
    changes: dict[str, Json] = {
        "was archived": {"archived": True},
        "was pinned": {"pinned": True},
        "was given a time to expire": {"valid_until": "2026-02-20"},
    }
    for said, fields in changes.items():
        owner = f"{agent}-{next(NUMBERS)}"
        _push(client, owner, *LOGS)
        [group] = _consolidate(client, owner, dry_run=False)["groups"]
        _push(client, owner, ("2026-02-12", "Osprey-2 got a heater, part Q77."))
        shown = _consolidate(client, owner)
        assert [one["id"] for one in shown["groups"]] == [group["id"]]
        client.patch(f"/memories/{group['id']}", params={"agent": owner}, json=fields)
        asked = {"agent": owner, "plan": shown["plan"], "dry_run": False}
        answer = client.post("/consolidate", json=asked)
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/plan-stale")
        assert answer.json()["errors"][0]["detail"] == f"memory {group['id']} {said}"
        found = client.post("/search", json={"query": "Q77", "agent": owner}).json()["results"]
        assert found[0]["kind"] == "daily_log"


def test_a_stale_plan_is_refused_with_what_changed(client: httpx.Client, agent: str) -> None:
    changes: dict[str, Json] = {
        "was changed": {"text": "The Osprey-2 was sold."},
        "was archived": {"archived": True},
        "was pinned": {"pinned": True},
        "is quarantined": {"trust_tier": "quarantined"},
        "is of kind note now": {"kind": "note"},
        "was given a time to expire": {"valid_until": "2030-01-01"},
    }
    for said, fields in changes.items():
        owner = f"{agent}-{next(NUMBERS)}"
        keys = _push(client, owner, *LOGS)
        plan = _consolidate(client, owner)["plan"]
        client.patch(f"/memories/{keys[1]}", params={"agent": owner}, json=fields)
        before = _every(client, owner)
        answer = client.post("/consolidate", json={"agent": owner, "plan": plan, "dry_run": False})
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/plan-stale")
        assert [error["detail"] for error in answer.json()["errors"]] == [
            f"memory {keys[1]} {said}"
        ]
        assert _every(client, owner) == before
    keys = _push(client, agent, *LOGS)
    plan = _consolidate(client, agent)["plan"]
    client.delete(f"/memories/{keys[2]}", params={"agent": agent})
    answer = client.post("/consolidate", json={"agent": agent, "plan": plan, "dry_run": False})
    assert answer.json()["errors"][0]["detail"] == f"memory {keys[2]} is gone"


def test_a_plan_does_not_grow_while_it_waits(client: httpx.Client, agent: str) -> None:
    keys = _push(client, agent, *LOGS)
    plan = _consolidate(client, agent)["plan"]
    late = _push(client, agent, ("2026-02-12", "Osprey-2: late."))
    done = _consolidate(client, agent, plan=plan, dry_run=False)
    assert [source["id"] for source in done["groups"][0]["sources"]] == keys
    assert _read(client, agent, late[0])["archived_at"] is None
    # Carried out once, it is stale.
    again = client.post("/consolidate", json={"agent": agent, "plan": plan, "dry_run": False})
    assert again.status_code == 409
    assert "was consolidated" in again.json()["errors"][0]["detail"]
    other = client.post("/consolidate", json={"agent": "main", "plan": plan, "dry_run": False})
    assert (other.status_code, other.json()["type"]) == (404, "/problems/plan-not-found")


def test_the_concept_less_go_by_their_line_of_time_and_week(
    client: httpx.Client, agent: str
) -> None:
    days = ("2026-02-09", "2026-02-10", "2026-02-16", "2026-02-17")
    words = ("rain at noon", "a walk along the river", "soup and bread", "slept late, then wrote")
    _push(client, agent, *zip(days, words, strict=True), session="s1")
    _push(client, agent, ("2026-02-09", "the lamp is broken"), session="s2")
    shown = _consolidate(client, agent)
    assert {group["ref"]: len(group["sources"]) for group in shown["groups"]} == {
        "week:session:s1:2026-W07": 2, "week:session:s1:2026-W08": 2,
    }  # fmt: skip
    assert shown["counts"]["alone"] == 1
    assert shown["groups"][0]["title"] == "s1, 2026-02-09 to 2026-02-10"


def test_near_duplicates_become_the_best_formed_of_them(client: httpx.Client, agent: str) -> None:
    texts = ("mail checked, nothing new", "Mail checked, nothing new.", "mail checked: nothing new")
    days = ("2026-01-05", "2026-01-13", "2026-01-21", "2026-01-29")
    _push(client, agent, *zip(days[:3], texts, strict=True))
    # Three are no cluster; and they are of three weeks and name nothing.
    assert (
        _consolidate(client, agent)["counts"] | {"groups": 0, "alone": 3}
        == _consolidate(client, agent)["counts"]
    )
    [fourth] = _push(client, agent, (days[3], "Mail checked: nothing new"))
    done = _consolidate(client, agent, dry_run=False)
    [group] = done["groups"]
    assert group["ref"].startswith("likeness:")
    assert group["content"] == "- 2026-01-13: Mail checked, nothing new."
    assert len(group["sources"]) == 4
    # A fifth joins; the words of the best stay.
    _push(client, agent, ("2026-02-06", "mail checked; nothing new"))
    [again] = _consolidate(client, agent, dry_run=False)["groups"]
    assert (again["id"], again["action"], len(again["sources"])) == (group["id"], "revise", 5)
    assert again["content"] == group["content"]
    assert fourth in {source["id"] for source in again["sources"]}


def test_tags_are_merged_and_the_highest_importance_stays(client: httpx.Client, agent: str) -> None:
    _push(client, agent, LOGS[0], tags=["films", "harbour"], importance=0.4)
    _push(client, agent, LOGS[1], tags=["harbour", "cameras"], importance=0.9)
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    assert (group["tags"], group["importance"]) == (["cameras", "films", "harbour"], 0.9)


def test_the_same_logs_in_another_order_give_the_same_summaries(client: httpx.Client) -> None:
    days = [f"2026-01-{day:02}" for day in range(1, 25)]
    names = ("Osprey-2", "Heron", "Juan Diaz", "VRAM", "gateway.py")
    logs = [
        (day, f"Checked {names[n % 5]} and {names[n % 3]}. Decided to keep {n} of {n + 3} films.")
        for n, day in enumerate(days)
    ]
    told = []
    for order in (logs, logs[::-1], logs[7:] + logs[:7]):
        owner = f"order-{next(NUMBERS)}"
        for start in range(0, len(order), 5):
            _push(client, owner, *order[start : start + 5])
        groups = _consolidate(client, owner, dry_run=False)["groups"]
        names_of = ("ref", "title", "content", "tags", "importance", "occurred_at")
        told.append(sorted([str(group[name]) for name in names_of] for group in groups))
    assert told[0] == told[1] == told[2]
    assert len(told[0]) > 2


def test_pages_of_a_plan(client: httpx.Client, agent: str) -> None:
    for n in range(7):
        name = f"Osprey-{n + 10}"
        _push(client, agent, ("2026-01-05", f"{name} came."), ("2026-01-06", f"{name} went."))
    whole = _consolidate(client, agent)
    assert (len(whole["groups"]), whole["next_cursor"]) == (7, None)
    groups, cursor, last = [], None, ""
    for _ in range(3):
        page = _consolidate(client, agent, limit=3, **({"cursor": cursor} if cursor else {}))
        assert page["counts"] == whole["counts"]
        groups += page["groups"]
        last = cursor or last
        cursor = page["next_cursor"]
    assert (groups, cursor) == (whole["groups"], None)
    # Whatever its numbers are, it ends.
    plan, *numbers = last.split("~")
    page = _consolidate(client, agent, cursor="~".join([plan, *["9" * 18 for _ in numbers]]))
    assert (page["groups"], page["next_cursor"]) == ([], None)


def test_pages_of_a_run(client: httpx.Client, agent: str) -> None:
    for n in range(7):
        name = f"Osprey-{n + 10}"
        _push(client, agent, ("2026-01-05", f"{name} came."), ("2026-01-06", f"{name} went."))
    shown = _consolidate(client, agent)
    page = done = _consolidate(client, agent, plan=shown["plan"], dry_run=False, limit=3)
    groups = page["groups"]
    while page["next_cursor"]:
        page = _consolidate(client, agent, cursor=page["next_cursor"], limit=3)
        assert {n: page[n] for n in ("plan", "run", "dry_run", "counts", "before")} == {
            n: done[n] for n in ("plan", "run", "dry_run", "counts", "before")
        }
        groups += page["groups"]
    assert groups == shown["groups"]
    # What was taken back meanwhile is not told.
    undone = {"agent": agent, "summary": groups[-1]["id"]}
    assert client.post("/consolidate/undo", json=undone).status_code == 200
    cursor, told = done["next_cursor"], []
    while cursor:
        page = _consolidate(client, agent, cursor=cursor, limit=2)
        cursor = page["next_cursor"]
        told += page["groups"]
    assert told == shown["groups"][3:-1]
    client.post("/consolidate/undo", json={"agent": agent, "run": done["run"]})
    body = {"agent": agent, "cursor": done["next_cursor"]}
    gone = client.post("/consolidate", json=body)
    assert (gone.status_code, gone.json()["type"]) == (404, "/problems/run-not-found")


@pytest.mark.parametrize(
    "text",
    [
        "One sentence.",
        "```python\ndef restart(gateway):\n    return gateway.stop() and gateway.start()\n```",
        "🚀🚀🚀 ✅ 🎉",
        "게이트웨이를 다시 시작했다. 오스프리로 바꾸기로 결정했다! 오류는 없다.",
        "今天重启了网关。决定改用新的相机。没有错误！",
        "أعدنا تشغيل البوابة اليوم. قررنا استخدام الكاميرا الجديدة.",
        "- [x] cameras cleaned\n- [ ] films copied\n  1. first reel, v2.3.1\n\n| a |\n|---|\n| 1 |",
        "x" * 100_000,
        "\r\n\r\n#\r\n---\r\n",
    ],
    ids=["sentence", "code", "emoji", "korean", "chinese", "arabic", "lists", "one word", "marks"],
)
def test_any_text_is_summarised_or_left(client: httpx.Client, agent: str, text: str) -> None:
    keys = _push(client, agent, ("2026-02-09", text), ("2026-02-10", text), session="s")
    done = _consolidate(client, agent, dry_run=False)
    every = _every(client, agent)
    if done["counts"]["silent"]:
        assert all(every[key]["archived_at"] is None for key in keys)
        assert text.strip(" \r\n#-") == ""
    else:
        [group] = done["groups"]
        assert group["content"].startswith("- 2026-02-")
        assert all(every[key]["consolidated_into"] == group["id"] for key in keys)
    assert _undo(client, agent, run=done["run"])["restored"] if done["run"] else True


def test_a_log_of_very_many_sentences(client: httpx.Client, agent: str) -> None:
    long = " ".join(f"Camera {n} is fine." for n in range(9_000))
    _push(client, agent, ("2026-02-09", long), ("2026-02-10", "Camera 7 is fine."), session="s")
    [group] = _consolidate(client, agent, dry_run=False)["groups"]
    assert len(group["content"]) < 3000


def test_wishes_that_make_no_sense_are_refused(client: httpx.Client, agent: str) -> None:
    for path, body in (
        ("/consolidate", {"older_than_days": -1}),
        ("/consolidate", {"older_than_days": 1e9}),
        ("/consolidate", {"older_than_day": 3}),
        ("/consolidate", {"plan": "x", "scope": "y"}),
        ("/consolidate", {"cursor": "x", "dry_run": False}),
        ("/consolidate", {"cursor": "not ours"}),
        ("/consolidate/undo", {}),
        ("/consolidate/undo", {"run": "a", "summary": "b"}),
    ):
        answer = client.post(path, json=body)
        assert (answer.status_code, answer.json()["errors"] != []) == (422, True), answer.text
    unknown = client.post("/consolidate", json={"agent": agent})
    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/agent-unknown")


def test_without_an_embedder_summaries_wait_and_the_logs_stay(start: Start) -> None:
    with outer_embeddings() as embeddings:
        client = start(embedding_url=embeddings.url).client
        _push(client, "main", *LOGS)
        before = _every(client, "main")
        embeddings.next_answers.extend([Answer({"error": "away"}, status=503)] * 20)
        done = _consolidate(client, "main", dry_run=False)
        assert (done["run"], done["counts"]["waiting"], done["counts"]["groups"]) == (None, 1, 0)
        assert "wait for the embedding server" in done["warnings"][0]
        assert _every(client, "main") == before
        embeddings.next_answers.clear()
        [group] = _consolidate(client, "main", dry_run=False)["groups"]
        assert client.get("/stats").json()["without_vector"] == 0
        assert len(group["sources"]) == 3


def test_concepts_that_are_the_same_become_one_and_can_be_parted(
    client: httpx.Client, agent: str
) -> None:
    for text in ("Moved the harbour cameras.", "The harbour camera fell.", "It was wet."):
        tags = ["harbour cameras"] if "cameras" in text else ["harbour camera"]
        client.post("/memories", json={"text": text, "agent": agent, "tags": tags})
    concepts = client.get("/concepts", params={"agent": agent}).json()["concepts"]
    assert {concept["id"] for concept in concepts} == {"harbour_camera", "harbour_cameras"}
    shown = _consolidate(client, agent)
    assert shown["concepts"] == [{"id": "harbour_camera", "merged": ["harbour_cameras"]}]
    assert client.get("/concepts", params={"agent": agent}).json()["concepts"] == concepts
    done = _consolidate(client, agent, plan=shown["plan"], dry_run=False)
    assert (done["counts"]["concepts"], done["counts"]["groups"]) == (1, 0)
    [one] = client.get("/concepts", params={"agent": agent}).json()["concepts"]
    assert (one["id"], one["memories"], one["aliases"]) == (
        "harbour_camera",
        3,
        ["harbour cameras"],
    )
    assert _consolidate(client, agent, dry_run=False)["run"] is None
    assert _undo(client, agent, run=done["run"])["parted"] == ["harbour_cameras"]
    assert client.get("/concepts", params={"agent": agent}).json()["concepts"] == concepts
    # What was parted by hand stays apart.
    assert _consolidate(client, agent)["plan"] is None
    refused = client.post("/consolidate/undo", json={"agent": agent, "concept": "harbour_camera"})
    assert (refused.status_code, refused.json()["type"]) == (404, "/problems/concept-not-found")


def test_memories_are_grouped_by_what_their_concepts_become(
    client: httpx.Client, agent: str
) -> None:
    for day, tag in (("2026-02-09", "harbour camera"), ("2026-02-12", "harbour cameras")):
        _push(client, agent, (day, f"It was wet on the {day[-2:]}th."), tags=[tag], session=day)
    done = _consolidate(client, agent, dry_run=False)
    [group] = done["groups"]
    assert (group["ref"], len(group["sources"])) == ("concept:harbour_camera", 2)
    _undo(client, agent, concept="harbour_cameras")
    assert _consolidate(client, agent, dry_run=False)["plan"] is None


@pytest.mark.parametrize("fusion", ["default", "rrf"])
def test_what_is_not_archived_is_found_behind_hundreds_of_sources(
    client: httpx.Client, agent: str, fusion: str
) -> None:
    logs = [
        (f"2026-02-{1 + number // 8:02}", f"The Osprey-2 of pier {number} has {number * 7} mm.")
        for number in range(200)
    ]
    _push(client, agent, *logs)
    notes = ["The Osprey-2 needs a licence.", "The vendor of the Osprey-2 is in Bergen."]
    for text in notes:
        client.post("/memories", json={"text": text, "agent": agent}).raise_for_status()
    assert _consolidate(client, agent, dry_run=False)["counts"]["memories"] == len(logs)
    summaries = client.get("/memories", params={"agent": agent, "kinds": "summary"}).json()
    asked: Json = {"query": "Osprey-2 pier mm", "agent": agent, "limit": 20, "fusion": fusion}
    found = client.post("/search", json=asked).json()["results"]
    assert {one["id"] for one in summaries["memories"]} <= {hit["id"] for hit in found}
    assert {*notes} <= {hit["content"] for hit in found}


def test_a_summary_is_called_as_the_user_calls_its_concept(start: Start, tmp_path: Path) -> None:
    declared = tmp_path / "concepts.toml"
    declared.write_text('[[concept]]\nname = "Kubernetes"\naliases = ["k8s", "cluster"]\n')
    client = start(concepts_file=declared).client
    logs = [
        ("2026-02-09", "The k8s nodes ran out of disk, as logs filled them."),
        ("2026-02-10", "We upgraded k8s to 1.31 in staging."),
    ]
    _, leaving = _push(client, "main", *logs)
    [group] = _consolidate(client, "main", dry_run=False)["groups"]
    assert (group["title"], group["ref"]) == (
        "Kubernetes, 2026-02-09 to 2026-02-10", "concept:kubernetes",
    )  # fmt: skip
    assert client.delete(f"/memories/{leaving}", params={"agent": "main"}).status_code == 204
    title = _read(client, "main", group["id"])["title"]
    assert title == "Kubernetes, 2026-02-09"
