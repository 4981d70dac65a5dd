"""POST /ingest and /ingest/scan: documents become memories, and follow their documents."""

import os
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Start

Json = dict[str, Any]

LOG = """# 2026-02-13

Calm day.

## 09:15 Gateway

The WhatsApp Gateway restarted twice. See [[Runbooks]] #ops

## 14:30 Notes

We lowered the batch size.

## Notes

A second section of that name.
"""
COUNTS = ("created", "updated", "unchanged", "removed", "embedded")


def _ingest(client: httpx.Client, text: str, agent: str, **more: object) -> Json:
    body = {"source": "memory/2026-02-13.md", "text": text, "agent": agent, **more}
    answer = client.post("/ingest", json=body)
    assert answer.status_code == 200, answer.text
    counts: Json = answer.json()
    return counts


def _counts(answer: Json) -> tuple[int, ...]:
    return tuple(answer[name] for name in COUNTS)


def _memories(client: httpx.Client, agent: str) -> list[Json]:
    """Return an agent's memories in the order of their lines."""
    page = client.get("/memories", params={"agent": agent, "limit": 1000}).json()
    return sorted(page["memories"], key=lambda m: (m["source"]["uri"], m["source"]["line_start"]))


def test_a_document_is_told_in_counts(client: httpx.Client) -> None:
    answer = _ingest(client, LOG, "counts")
    assert answer.keys() >= {*COUNTS, "source", "concepts_linked", "warnings", "took_ms"}
    assert answer["source"] == "memory/2026-02-13.md"
    assert _counts(answer) == (4, 0, 0, 0, 4)
    assert answer["concepts_linked"] > 0
    assert answer["warnings"] == []


def test_the_same_document_again_costs_nothing(client: httpx.Client) -> None:
    _ingest(client, LOG, "same")
    before = _memories(client, "same")
    answer = _ingest(client, LOG, "same")
    assert _counts(answer) == (0, 0, 4, 0, 0)
    assert answer["concepts_linked"] == 0
    assert _memories(client, "same") == before


def test_an_edited_section_is_the_only_one_that_changes(client: httpx.Client) -> None:
    _ingest(client, LOG, "edit")
    before = _memories(client, "edit")
    answer = _ingest(client, LOG.replace("restarted twice", "restarted thrice"), "edit")
    assert _counts(answer) == (0, 1, 3, 0, 1)
    after = _memories(client, "edit")
    assert [m["id"] for m in after] == [m["id"] for m in before]
    assert [m["content"] != n["content"] for m, n in zip(after, before, strict=True)] == [
        False, True, False, False,
    ]  # fmt: skip
    assert "thrice" in after[1]["content"]


def test_sections_that_move_keep_their_ids_and_vectors(client: httpx.Client) -> None:
    _ingest(client, LOG, "move")
    before = {m["id"]: m["source"]["line_start"] for m in _memories(client, "move")}
    answer = _ingest(client, LOG.replace("Calm day.", "Calm day.\n\n\n"), "move")
    assert (answer["created"], answer["removed"], answer["embedded"]) == (0, 0, 0)
    after = {m["id"]: m["source"]["line_start"] for m in _memories(client, "move")}
    assert after.keys() == before.keys()
    assert sorted(after[key] - before[key] for key in after) == [0, 3, 3, 3]


def test_a_removed_section_is_removed(client: httpx.Client) -> None:
    _ingest(client, LOG, "remove")
    answer = _ingest(client, LOG.split("## 14:30", maxsplit=1)[0], "remove")
    assert _counts(answer) == (0, 0, 2, 2, 0)
    found = client.post("/search", json={"query": "batch size", "agent": "remove"}).json()
    assert not any("batch size" in hit["content"] for hit in found["results"])
    assert len(_memories(client, "remove")) == 2


@pytest.mark.parametrize("nothing", ["", "\n\n", "---\ntags: [a]\n---\n"])
def test_a_document_that_shrinks_to_nothing_leaves_nothing(
    client: httpx.Client, nothing: str
) -> None:
    agent = f"nothing-{len(nothing)}"
    _ingest(client, LOG, agent)
    assert _counts(_ingest(client, nothing, agent)) == (0, 0, 0, 4, 0)
    stats = client.get("/stats", params={"agent": agent}).json()
    assert (stats["memories"], stats["references"], stats["follows"]) == (0, 0, 0)
    assert _counts(_ingest(client, LOG, agent)) == (4, 0, 0, 0, 4)


def test_equal_titles_are_kept_apart(client: httpx.Client) -> None:
    text = "# Log\n\n## Fix\n\nfirst\n\n## Fix\n\nsecond\n\n## Fix\n\nthird\n"
    _ingest(client, text, "equal")
    before = _memories(client, "equal")
    assert [m["title"] for m in before] == ["Fix"] * 3
    answer = _ingest(client, text.replace("second", "changed"), "equal")
    assert _counts(answer) == (0, 1, 2, 0, 1)
    assert [m["id"] for m in _memories(client, "equal")] == [m["id"] for m in before]


def test_what_was_set_on_a_section_stays_with_its_words(client: httpx.Client) -> None:
    """Another section with the same headings above it takes neither its pin nor its quarantine."""
    agent = {"agent": "words"}
    _ingest(client, "# Log\n\n## Fix\n\nbad advice\n\n## Fix\n\ngood advice\n", "words")
    bad, good = _memories(client, "words")
    for key, fields in ((bad["id"], {"trust_tier": "quarantined"}), (good["id"], {"pinned": True})):
        assert client.patch(f"/memories/{key}", params=agent, json=fields).status_code == 200
    more = "# Log\n\n## Fix\n\nnew\n\n## Fix\n\ngood advice\n\n## Fix\n\nbad advice\n"
    assert _counts(_ingest(client, more, "words")) == (1, 0, 2, 0, 1)
    new, other = _memories(client, "words")
    assert (new["content"], new["pinned"], other["id"]) == ("new", False, good["id"])
    assert other["pinned"]
    assert new["id"] not in {bad["id"], good["id"]}
    again = _ingest(client, more.replace("## Fix\n\nnew\n\n", ""), "words")
    assert _counts(again) == (0, 0, 2, 1, 0)
    assert [one["id"] for one in _memories(client, "words")] == [good["id"]]


def test_a_title_that_was_set_is_not_what_a_section_says(client: httpx.Client) -> None:
    agent = {"agent": "titled"}
    _ingest(client, "# Log\n\n## Fix\n\nbad advice\n", "titled")
    [bad] = _memories(client, "titled")
    fields = {"trust_tier": "quarantined", "title": "Doubtful"}
    assert client.patch(f"/memories/{bad['id']}", params=agent, json=fields).status_code == 200
    _ingest(client, "# Log\n\n## Fix\n\nnew\n\n## Fix\n\nbad advice\n", "titled")
    assert [one["content"] for one in _memories(client, "titled")] == ["new"]


def test_what_was_set_on_a_section_outlives_the_title_of_its_document(client: httpx.Client) -> None:
    text = "# Log\n\n## Fix\n\nbad advice\n\n## Other\n\ngood advice\n\n## Third\n\nmore\n"
    _ingest(client, text, "title")
    bad, good, _ = _memories(client, "title")
    for key, fields in ((bad["id"], {"trust_tier": "quarantined"}), (good["id"], {"pinned": True})):
        answer = client.patch(f"/memories/{key}", params={"agent": "title"}, json=fields)
        assert answer.status_code == 200
    _ingest(client, text.replace("# Log", "# Log of May", 1), "title")
    assert [(one["content"], one["pinned"]) for one in _memories(client, "title")] == [
        ("good advice", True), ("more", False),
    ]  # fmt: skip
    _ingest(client, text.replace("bad advice", "other words"), "title")
    assert [one["pinned"] for one in _memories(client, "title")] == [False, True, False]


@pytest.mark.parametrize("quarantined", [0, 1])
def test_of_two_that_say_the_same_a_quarantine_outlives_the_title(
    client: httpx.Client, quarantined: int
) -> None:
    agent = f"twins-{quarantined}"
    text = "# Log\n\n" + "## Fix\n\nbad advice\n\n" * 2
    _ingest(client, text, agent)
    for place, one in enumerate(_memories(client, agent)):
        fields = {"trust_tier": "quarantined"} if place == quarantined else {"pinned": True}
        answer = client.patch(f"/memories/{one['id']}", params={"agent": agent}, json=fields)
        assert answer.status_code == 200
    _ingest(client, text.replace("# Log", "# Log of May", 1), agent)
    assert _memories(client, agent) == []


def test_sections_know_their_lines_headings_and_times(client: httpx.Client) -> None:
    _ingest(client, LOG, "facts")
    preamble, gateway, notes, more = _memories(client, "facts")
    assert [m["source"]["line_start"] for m in (preamble, gateway, notes, more)] == [1, 5, 9, 13]
    assert gateway["heading_path"] == ["2026-02-13", "09:15 Gateway"]
    assert gateway["occurred_at"] == "2026-02-13T09:15:00Z"
    assert notes["occurred_at"] == "2026-02-13T14:30:00Z"
    assert preamble["occurred_at"] == "2026-02-13T00:00:00Z"
    assert {m["kind"] for m in (preamble, gateway)} == {"daily_log"}
    assert "ops" in gateway["tags"]
    detail = client.get(f"/memories/{gateway['id']}", params={"agent": "facts"}).json()
    assert {"ops", "runbooks"} <= {concept["id"] for concept in detail["concepts"]}
    assert more["occurred_at"] >= preamble["occurred_at"]


@pytest.mark.parametrize(
    ("source", "kind", "type_"),
    [
        ("memory/2026-02-13.md", "daily_log", "episodic"), ("decisions.md", "decision", "semantic"),
        ("people/jr.md", "entity", "semantic"), ("MEMORY.md", "fact", "semantic"),
        ("handoffs/monday.md", "handoff", "episodic"), ("runbooks/gpu.md", "note", "procedural"),
        ("projects/any.md", "note", "semantic"),
    ],
)  # fmt: skip
def test_the_kind_follows_the_place(
    client: httpx.Client, source: str, kind: str, type_: str
) -> None:
    _ingest(client, "# A\n\nwords\n", "places", source=source)
    memory = next(m for m in _memories(client, "places") if m["source"]["uri"] == source)
    assert (memory["kind"], memory["type"]) == (kind, type_)
    _ingest(client, "# A\n\nwords\n", "places", source=source, kind="summary", scope="s")
    memory = next(m for m in _memories(client, "places") if m["source"]["uri"] == source)
    assert (memory["kind"], memory["scope"]) == ("summary", "s")


@pytest.mark.parametrize(
    ("source", "text", "at"),
    [
        ("2026-02-13-1530.md", "words", "2026-02-13T15:30:00Z"),
        ("notes.md", "---\ndate: 2026-01-05\n---\nwords", "2026-01-05T00:00:00Z"),
        ("memory/2026-02-13.md", "---\ndate: 2026-01-05T08:00:00Z\n---\nw", "2026-01-05T08:00:00Z"),
    ],
)
def test_the_time_is_told_by_front_matter_or_name(
    client: httpx.Client, source: str, text: str, at: str
) -> None:
    _ingest(client, text, f"times-{len(source)}", source=source)
    [memory] = _memories(client, f"times-{len(source)}")
    assert memory["occurred_at"] == at


def test_the_same_text_with_something_else_said_of_it_is_an_update(
    client: httpx.Client, agent: str
) -> None:
    """What is left out goes back to what text and name say; a time that was told stays."""
    text = "# Cranes\n\nThe harbour has three.\n\n## Quay\n\nThe quay is long.\n"

    def pushed(**more: object) -> tuple[tuple[int, ...], set[tuple[str, ...]]]:
        counts = _counts(_ingest(client, text, agent, source="cranes.md", **more))
        names = ("occurred_at", "kind", "scope")
        return counts, {tuple(one[name] for name in names) for one in _memories(client, agent)}

    assert pushed()[0] == (2, 0, 0, 0, 2)
    day, other = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    for more, wanted in (
        ({"occurred_at": day}, (day, "note", None)),
        ({"occurred_at": other}, (other, "note", None)),
        ({"kind": "decision"}, (other, "decision", None)),
        ({"scope": "harbour"}, (other, "note", "harbour")),
    ):
        assert pushed(**more) == ((0, 2, 0, 0, 0), {wanted})
        assert pushed(**more) == ((0, 0, 2, 0, 0), {wanted})


def test_days_follow_each_other(client: httpx.Client) -> None:
    for day in (15, 13, 14):
        text = f"# 2026-02-{day}\n\nday {day}\n"
        _ingest(client, text, "days", source=f"memory/2026-02-{day}.md")
    first, second, third = _memories(client, "days")
    middle = client.get(f"/memories/{second['id']}", params={"agent": "days"}).json()
    assert [near["id"] for near in middle["before"]] == [first["id"]]
    assert [near["id"] for near in middle["after"]] == [third["id"]]


def test_code_is_never_split_and_line_ends_do_not_matter(client: httpx.Client) -> None:
    text = "# Code\n\n```sh\n## not a heading\necho hi\n```\n\n## Next\n\nwords\n"
    assert _ingest(client, text, "code")["created"] == 2
    windows = "\ufeff" + text.replace("\n", "\r\n")
    assert _counts(_ingest(client, windows, "code")) == (0, 0, 2, 0, 0)


def _finish(client: httpx.Client, job: str) -> Json:
    for _ in range(400):
        status: Json = client.get(f"/ingest/jobs/{job}").json()
        if status["state"] in {"done", "failed"}:
            return status
        time.sleep(0.05)
    raise TimeoutError(job)


def test_a_scan_brings_the_store_in_line_with_its_folder(start: Start, tmp_path: Path) -> None:
    notes = tmp_path / "notes" / "memory"
    notes.mkdir(parents=True)
    (notes / "2026-02-13.md").write_text(LOG, encoding="utf-8")
    (notes / "2026-02-14.md").write_text("# 2026-02-14\n\nNothing.\n", encoding="utf-8")
    client = start(sources=(tmp_path / "notes",)).client
    answer = client.post("/ingest/scan", json={}).json()
    assert answer.keys() >= {*COUNTS, "files", "failed", "took_ms"}
    assert (answer["files"], _counts(answer)) == (2, (5, 0, 0, 0, 5))
    assert _counts(client.post("/ingest/scan").json()) == (0, 0, 5, 0, 0)
    (notes / "2026-02-14.md").unlink()
    only = client.post("/ingest/scan", json={"paths": ["memory/2026-02-13.md"]}).json()
    assert (only["files"], only["removed"]) == (1, 0)
    accepted = client.post("/ingest/scan", json={"wait": False})
    assert accepted.status_code == 202
    job = _finish(client, accepted.json()["job"])
    assert (job["state"], job["removed"], job["unchanged"]) == ("done", 1, 4)
    assert accepted.headers["location"] == f"/ingest/jobs/{accepted.json()['job']}"


def test_of_very_many_failures_the_first_are_told_and_the_others_counted(
    start: Start, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(1_003):
        (notes / f"picture-{number:04}.md").write_bytes(b"\0")
    client = start(sources=(notes,)).client
    answer = client.post("/ingest/scan", json={}).json()
    job = _finish(client, client.post("/ingest/scan", json={"wait": False}).json()["job"])
    for told in (answer, job):
        assert (told["files"], len(told["failed"]), told["left_out"]) == (1_003, 1_000, 3)
    assert answer["failed"][-1]["source"] == "picture-0999.md"


def test_no_agent_gets_the_folders_of_another(start: Start, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("## Alarm\n\nThe code is 4711.\n", encoding="utf-8")
    client = start(sources=(tmp_path / "notes",)).client
    for wait in (True, False):
        answer = client.post("/ingest/scan", json={"agent": "bob", "wait": wait})
        assert answer.status_code == 403
        assert "leave `agent` out" in answer.json()["detail"]
    assert client.get("/stats", params={"agent": "bob"}).status_code == 404
    assert client.post("/ingest/scan", json={"agent": "main"}).json()["created"] == 1


def test_a_file_with_an_odd_time_or_several_names_fails_no_scan(
    start: Start, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("ancient", "distant", "plain", "doubled"):
        (notes / f"{name}.md").write_text(f"## {name}\n\nWords.\n", encoding="utf-8")
    os.utime(notes / "ancient.md", (0, -70_000_000_000))
    os.utime(notes / "distant.md", (0, 300_000_000_000))
    (tmp_path / "elsewhere.md").hardlink_to(notes / "doubled.md")
    answer = start(sources=(notes,)).client.post("/ingest/scan", json={}).json()
    assert (answer["files"], answer["created"]) == (4, 3)
    [failure] = answer["failed"]
    assert failure["source"] == "doubled.md"
    assert "2 names (hard links)" in failure["detail"]
    assert "MEMORY_READ_HARD_LINKS" in failure["detail"]


def test_a_scan_without_folders_says_what_to_set(client: httpx.Client) -> None:
    answer = client.post("/ingest/scan")
    assert answer.status_code == 409
    assert "MEMORY_SOURCES" in answer.json()["detail"]
    assert client.get("/ingest/jobs/none").status_code == 404
