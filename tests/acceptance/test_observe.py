"""Transcripts come in by stretches; what mattered is known in the next session."""

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.test_command import _environment, _serving
from tests.effort import amount
from tests.servers.keyed import KeyedService
from tests.servers.running import running_service
from tests.unit.test_transcripts import SESSION

ENGINES = ("resident", "database")
CLIENTS = tuple(SESSION)
APP = {"origin": "git@github.com:ann/app.git"}

Json = dict[str, Any]


@pytest.fixture
def client(keyed: KeyedService) -> Iterator[httpx.Client]:
    with keyed.client() as one:
        yield one


def _observe(ask: httpx.Client, agent: str, **more: object) -> Json:
    body = {"session": "s1", "client": "generic", "project": APP, "agent": agent, **more}
    answer = ask.post("/observe", json=body)
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def _memories(client: httpx.Client, agent: str) -> list[Json]:
    listed = client.get("/memories", params={"agent": agent, "limit": 1000})
    assert listed.status_code == 200, listed.text
    memories: list[Json] = listed.json()["memories"]
    return memories


def _told(memories: list[Json]) -> list[tuple[str, str]]:
    return sorted((one["kind"], one["content"].partition("\n\n(")[0]) for one in memories)


def _lines(program: str) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in SESSION[program])  # type: ignore[index]


def _fix(client: httpx.Client, agent: str, output: str, **more: object) -> Json:
    body = {"output": output, "agent": agent, "project": APP, **more}
    answer = client.post("/fixes/lookup", json=body)
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


@pytest.mark.parametrize("program", CLIENTS)
def test_a_session_is_kept_once_whatever_comes_again(
    client: httpx.Client, agent: str, program: str
) -> None:
    text = _lines(program)
    size = len(text.encode())
    first = _observe(client, agent, client=program, text=text, offset=0)
    assert (first["stored"], first["duplicates"], first["offset"]) == (3, 0, size)
    assert len(first["memories"]) == 3
    assert sum(first["ignored"].values()) >= 1
    stored = _memories(client, agent)
    assert [one["kind"] for one in stored] != []
    assert {(one["scope"], one["session"]) for one in stored} == {("github.com/ann/app", "s1")}
    # The whole again, and from other places on: nothing more.
    for offset in (0, 7, size):
        raw = text.encode()[offset:].decode()
        again = _observe(client, agent, client=program, text=raw, offset=offset)
        assert (again["stored"], again["duplicates"], again["offset"]) == (0, 0, size)
    # In another session the same words are the same memory; its tasks are its own.
    other = _observe(client, agent, client=program, entries=SESSION[program], session="s2")  # type: ignore[index]
    assert other["memories"][:2] == first["memories"][:2]
    both = _memories(client, agent)
    assert set(_told(both)) == set(_told(stored))
    assert {one["session"] for one in both if "tasks" in one["tags"]} == {"s1", "s2"}


def test_any_pieces_give_the_same_memories(client: httpx.Client, agent: str) -> None:
    text = _lines("claude-code").encode()
    chance = random.Random(1)
    for trial in range(4):
        own, offset = f"{agent}-{trial}", 0
        cuts = sorted(chance.sample(range(1, len(text)), 5)) if trial else []
        for cut in (*cuts, len(text)):
            piece = text[offset:cut].decode("utf-8", "ignore")
            done = _observe(client, own, client="claude-code", text=piece, offset=offset)
            offset = done["offset"]
        assert offset == len(text)
        assert _told(_memories(client, own)) == _told(_memories(client, f"{agent}-0"))
    assert len(_memories(client, f"{agent}-0")) == 3


def test_a_gap_is_told_and_without_an_offset_it_goes_on(client: httpx.Client, agent: str) -> None:
    lines: list[Json] = [{"role": "user", "text": f"From now on rule {n} holds."} for n in range(3)]
    assert _observe(client, agent, entries=lines[:1])["offset"] == 1
    assert _observe(client, agent, entries=lines[1:2])["offset"] == 2
    gap = _observe(client, agent, entries=lines[2:], offset=5)
    assert (gap["offset"], gap["stored"]) == (6, 1)
    assert "3 entries before this delta were never sent" in gap["warnings"][0]
    assert len(_memories(client, agent)) == 3


@pytest.mark.parametrize("form", ["entries", "text"])
def test_lines_before_a_place_that_was_wrong_are_not_lost_unsaid(
    client: httpx.Client, agent: str, form: str
) -> None:
    lines: list[Json] = [{"role": "user", "text": f"From now on rule {n} holds."} for n in range(3)]

    def delta(which: slice) -> Json:
        text = "".join(f"{json.dumps(line)}\n" for line in lines[which])
        return {"entries": lines[which]} if form == "entries" else {"text": text}

    wrong = _observe(client, agent, **delta(slice(1)), offset=10**15 - 1000)
    assert "passed over if they come later" in wrong["warnings"][0]
    lost = _observe(client, agent, **delta(slice(1, 3)), offset=0)
    assert (lost["stored"], lost["offset"]) == (0, wrong["offset"])
    assert "Nothing of this delta was read" in lost["warnings"][0]
    again = _observe(client, agent, **delta(slice(1, 3)))
    assert (again["stored"], again["warnings"]) == (2, [])
    # Whose answer was lost sends the same again.
    place = lost["offset"]
    resent = _observe(client, agent, **delta(slice(1, 3)), offset=place)
    assert (resent["stored"], resent["offset"], resent["warnings"]) == (0, again["offset"], [])
    # Asked how far it was read, it has nothing to warn of.
    empty: Json = {"entries": []} if form == "entries" else {"text": ""}
    assert _observe(client, agent, **empty, offset=0)["warnings"] == []


def test_a_fix_is_found_after_its_memory_went_into_a_summary(
    client: httpx.Client, agent: str
) -> None:
    outputs = ("Error: Cannot find module 'left-pad'", "TypeError: crane is not a function")
    proven = [
        _observe(
            client, agent, session=f"s{n}", entries=[
                {"role": "assistant", "command": "npm test", "call": "1"},
                {"role": "tool", "call": "1", "exit": 1, "content": output},
                {"role": "assistant", "command": f"npm install crane-{n}", "call": "2"},
                {"role": "tool", "call": "2", "exit": 0, "content": "added"},
                {"role": "assistant", "command": "npm test", "call": "3"},
                {"role": "tool", "call": "3", "exit": 0, "content": "ok"},
            ],
        )["memories"]
        for n, output in enumerate(outputs)
    ]  # fmt: skip
    keys = [key for keys in proven for key in keys]
    body: Json = {"agent": agent, "older_than_days": 0, "dry_run": False}
    done = client.post("/consolidate", json=body).json()
    assert done["counts"]["memories"] >= 2
    for output in outputs:
        told = _fix(client, agent, output)
        assert told["found"] is True, output
        assert told["fix"]["id"] in keys
    # What somebody archived, moved or ended is told no more.
    ends: tuple[Json, ...] = (
        {"archived": True}, {"scope": "elsewhere"}, {"valid_until": "2026-01-01T00:00:00Z"},
    )  # fmt: skip
    client.post("/consolidate/undo", json={"agent": agent, "run": done["run"]}).raise_for_status()
    params = {"agent": agent}
    first = _fix(client, agent, outputs[0])["fix"]["id"]
    back: Json = {"archived": False, "scope": "github.com/ann/app", "valid_until": None}
    for end in ends:
        client.patch(f"/memories/{first}", params=params, json=end).raise_for_status()
        assert _fix(client, agent, outputs[0])["found"] is False, end
        client.patch(f"/memories/{first}", params=params, json=back).raise_for_status()
        assert _fix(client, agent, outputs[0])["found"] is True, end


def test_a_fix_is_found_by_what_the_error_says(client: httpx.Client, agent: str) -> None:
    assert _fix(client, agent, "Error: Cannot find module 'left-pad'")["found"] is False
    _observe(client, agent, client="openclaw", entries=SESSION["openclaw"])
    for output in (
        "Error: Cannot find module 'left-pad'",
        "\x1b[31mError: Cannot find module 'left-pad'\x1b[0m\n    at /other/place/x.js:99:7",
        "12 failed, 3 passed\nError: Cannot find module 'left-pad'\nexit code 1",
    ):
        told = _fix(client, agent, output, command="npm test")
        assert told["found"] is True
        assert "changed /a/b.js" in told["fix"]["text"]
        assert (told["fix"]["command"], told["fix"]["session"]) == ("npm test", "s1")
    for output in ("Error: Cannot find module 'right-pad'", "all is well", ""):
        assert _fix(client, agent, output)["found"] is False
    # It is no other project's, and no other agent's.
    elsewhere = {"origin": "git@github.com:ann/other.git"}
    assert not _fix(client, agent, "Error: Cannot find module 'left-pad'", project=elsewhere)[
        "found"
    ]
    client.post("/memories", json={"agent": f"{agent}-2", "text": "A note."}).raise_for_status()
    assert not _fix(client, f"{agent}-2", "Error: Cannot find module 'left-pad'")["found"]
    # What a tool printed is nobody's own word: not in what a session is told, gone with quarantine.
    key = told["fix"]["id"]
    memory = client.get(f"/memories/{key}", params={"agent": agent}).json()
    assert (memory["origin"], memory["type"]) == ("untrusted", "procedural")
    started = client.post("/session-context", json={"agent": agent, "project": APP}).json()
    assert "left-pad" not in started["text"]
    assert "use tabs" in started["text"]
    where = {"agent": agent, "session": "s1", "dry_run": False}
    client.post("/trust/quarantine", json=where).raise_for_status()
    assert _fix(client, agent, "Error: Cannot find module 'left-pad'")["found"] is False


def _said(program: str, role: str, text: str) -> Json:
    """Return a line of a program in which somebody says something."""
    block = [{"type": "text", "text": text}]
    lines: dict[str, Json] = {
        "claude-code": {"type": role, "message": {"role": role, "content": block}},
        "codex": {"type": "response_item",
                  "payload": {"type": "message", "role": role, "content": block}},
        "openclaw": {"type": "message", "message": {"role": role, "content": block}},
        "generic": {"role": role, "text": text},
    }  # fmt: skip
    return lines[program]


@pytest.mark.soak
@pytest.mark.parametrize("program", CLIENTS)
def test_what_was_given_does_not_come_back(client: httpx.Client, agent: str, program: str) -> None:
    _observe(client, agent, client=program, entries=SESSION[program])  # type: ignore[index]
    before = _told(_memories(client, agent))
    own: Json = {"agent": agent, "project": APP, "session": "s9"}
    first = client.post("/session-context", json=own).json()["text"]
    pack: Json = own | {"messages": [{"role": "user", "content": "Which tabs, and npm test?"}]}
    for turn in range(amount("echoes")):
        block = client.post("/session-context", json=own).json()["text"]
        assert block == first
        memories = client.post("/context/pack", json=pack).json()["memories"]["text"]
        assert "tabs" in memories
        block = f"{block}\n{memories}"
        entries = [
            _said(program, "user", f"{block}\nGo on with {turn}."),
            _said(program, "assistant", f"{block}\nDone."),
        ]
        done = _observe(client, agent, client=program, session="s9", entries=entries)
        assert done["stored"] == 0
    assert _told(_memories(client, agent)) == before


def test_who_ends_without_a_handoff_leaves_one(client: httpx.Client, agent: str) -> None:
    own: Json = {"agent": agent, "project": APP}
    _observe(client, agent, entries=SESSION["generic"][:4], final=True)
    params: Json = {"agent": agent, "project": "github.com/ann/app", "history": 5}
    told = client.get("/handoff", params=params).json()
    assert told["text"].startswith("Automatic handoff, as nobody wrote one.")
    assert "Last failing command: `npm test`" in told["text"]
    # It goes on and ends again: the same handoff, brought up to date.
    _observe(client, agent, entries=SESSION["generic"][4:], final=True)
    again = client.get("/handoff", params=params).json()
    assert (again["id"], again["history"]) == (told["id"], [])
    assert ("Last failing" in again["text"], "- [ ] write it down" in again["text"]) == (
        False,
        True,
    )
    # Where somebody wrote one there is no other.
    written = {**own, "text": "Mine.", "session": "s2"}
    client.post("/handoff", json=written).raise_for_status()
    _observe(client, agent, session="s2", entries=SESSION["generic"], final=True)
    assert client.get("/handoff", params=params).json()["text"] == "Mine."


def _day(day: int, *texts: str) -> list[Json]:
    """Return lines of a session of a day."""
    at = f"2026-02-{day:02}T10:00:00Z"
    return [{"role": "user", "text": text, "at": at} for text in texts]


@pytest.mark.parametrize(
    "last", [{"text": ""}, {"client": "claude-code", "entries": [{"type": "summary"}]}]
)
def test_who_ends_a_session_in_another_form_takes_no_handoff_away(
    client: httpx.Client, agent: str, last: Json
) -> None:
    said = [{"role": "user", "text": "Write the parser."}]
    _observe(client, agent, entries=said, final=True)
    _observe(client, agent, final=True, **last)
    told = client.get("/handoff", params={"agent": agent, "project": APP["origin"]}).json()
    assert "Last request: Write the parser." in (told["text"] or "")


def test_a_handoff_by_hand_of_no_session_counts_while_one_goes_on(
    client: httpx.Client, agent: str
) -> None:
    own: Json = {"agent": agent, "project": APP}
    params: Json = {"agent": agent, "project": "github.com/ann/app", "history": 5}
    _observe(client, agent, entries=[{"role": "user", "text": "Mend the login."}])
    # As `graph-memory handoff write` leaves it, which knows no session.
    client.post("/handoff", json={**own, "text": "By hand."}).raise_for_status()
    _observe(client, agent, entries=[{"role": "user", "text": "And now?"}], final=True)
    told = client.get("/handoff", params=params).json()
    assert (told["text"], told["history"]) == ("By hand.", [])
    # It is none of another project's, nor of a session that was over long before.
    _observe(client, agent, session="s2", project="other", entries=_day(20, "Look."), final=True)
    other = client.get("/handoff", params={**params, "project": "other"}).json()["text"]
    assert "Last request: Look." in other
    _observe(client, agent, session="s3", entries=_day(21, "Look."), final=True)
    told = client.get("/handoff", params=params).json()
    assert (told["text"], len(told["history"])) == ("By hand.", 1)


def test_a_question_in_between_displaces_no_handoff_by_hand(
    client: httpx.Client, agent: str
) -> None:
    own: Json = {"agent": agent, "project": APP}
    client.post("/handoff", json={**own, "text": "Next: the refunds."}).raise_for_status()
    later = datetime.now(UTC) + timedelta(seconds=1)
    asked = [{"role": "user", "text": "What time is it in Ystad?", "at": later.isoformat()}]
    _observe(client, agent, session="s2", entries=asked, final=True)
    told = client.post("/session-context", json=own).json()["text"]
    assert re.search(
        r"## Handoff \(.{16}\)\nAutomatic handoff, as nobody wrote one\.\n\n"
        r"Last request: What time is it in Ystad\?\n"
        r"### Before, by hand \(.{16}\)\nNext: the refunds\.\n",
        told,
    ), told


def test_the_last_handoff_is_that_of_the_last_session_in_whatever_order_they_are_read(
    client: httpx.Client, agent: str
) -> None:
    for session, day in (("b", 12), ("a", 11)):
        lines = _day(day, f"Mend crane {day}.")
        _observe(client, agent, session=session, entries=lines, final=True)
    params: Json = {"agent": agent, "project": "github.com/ann/app", "history": 5}
    for _ in range(2):
        told = client.get("/handoff", params=params).json()
        assert "crane 12" in told["text"]
        assert (told["at"][:10], len(told["history"])) == ("2026-02-12", 1)
        # Read again, an old one is as old as it was.
        _observe(client, agent, session="a", entries=[], final=True)


def test_no_clock_puts_anything_ahead(client: httpx.Client, agent: str) -> None:
    moments = (
        "9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+14:00", "2126-01-01T00:00:00Z",
        "2026-02-02T10:00:00Z", "2026-02-01T10:00:00Z",
    )  # fmt: skip
    lines = [
        {"role": "user", "text": f"From now on rule {n} holds.", "at": at}
        for n, at in enumerate(moments)
    ]
    assert _observe(client, agent, entries=lines, final=True)["stored"] == 6
    found = {one["content"][-8:]: one["occurred_at"] for one in _memories(client, agent)}
    assert max(found.values()) < "2100"
    assert found["3 holds."][:10] == "2026-02-02"
    assert found["4 holds."][:10] == "2026-02-01"


def test_a_session_whose_clock_was_ahead_is_no_newer_when_it_is_read_again(
    client: httpx.Client, agent: str
) -> None:
    lines = [{"role": "user", "text": "Mend the crane, please.", "at": "2126-01-01T00:00:00Z"}]
    _observe(client, agent, entries=lines, final=True)
    client.post("/handoff", json={"agent": agent, "text": "Next: the lift."}).raise_for_status()
    again = _observe(client, agent, entries=lines, offset=0, final=True)
    assert (again["stored"], again["duplicates"]) == (0, 1)
    left = client.get("/handoff", params={"agent": agent}).json()
    assert left["text"] == "Next: the lift."


def test_a_statement_leads_to_its_line(client: httpx.Client, agent: str) -> None:
    text = _lines("generic")
    _observe(client, agent, text=text)
    [rule] = [one for one in _memories(client, agent) if one["kind"] == "preference"]
    place = len(text.encode().split(b"\n", 1)[0]) + 1
    assert rule["source"]["ref"] == f"generic:s1#{place}"
    [fix] = [one for one in _memories(client, agent) if "fix" in one["tags"]]
    assert fix["source"]["ref"].startswith("generic:s1#")


def test_what_is_said_in_passing_is_kept_and_told_last(client: httpx.Client, agent: str) -> None:
    said = ("From now on sign commits.", "squash merges only, we like a linear history")
    for text in said:
        _observe(client, agent, entries=[{"role": "user", "content": text}])
    tags = {one["content"]: one["tags"] for one in _memories(client, agent)}
    assert tags == {said[0]: [], said[1]: ["in-passing"]}
    place = {"agent": agent, "project": APP}
    told = client.post("/session-context", json=place).json()["text"]
    assert 0 < told.index("sign commits") < told.index("squash merges")


def test_bytes_and_entries_are_counted_apart(client: httpx.Client, agent: str) -> None:
    _observe(client, agent, entries=SESSION["generic"])
    text = _lines("generic")
    assert _observe(client, agent, text=text, offset=0)["offset"] == len(text.encode())
    assert len(_memories(client, agent)) == 3


def test_what_is_no_transcript_is_refused_and_what_is_odd_is_counted(
    client: httpx.Client, agent: str
) -> None:
    own: Json = {"agent": agent, "session": "s", "client": "generic"}
    for wrong in (
        own, own | {"entries": None}, own | {"text": "", "client": "word"},
        own | {"text": "x", "offset": -1}, own | {"text": "x", "path": "/etc/passwd"},
        own | {"text": "x", "entries": []},
    ):  # fmt: skip
        assert client.post("/observe", json=wrong).status_code == 422
    odd = 'half\n[]\n{"role":"user","text":"\\u0000Never mind."}\n{"role": 7}\n{"role":"user"'
    done = _observe(client, agent, text=odd)
    assert done["ignored"] == {"no JSON": 1, "not an object": 1, "unknown type": 1}
    assert done["offset"] == odd.rindex("\n") + 1
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLF"
    said = [{"role": "user", "text": f"Remember that the key is {secret}."}]
    kept = _observe(client, agent, session="t", entries=said)
    assert kept["warnings"]
    assert secret not in str(_memories(client, agent))


def test_a_fix_goes_with_its_memory(client: httpx.Client, agent: str) -> None:
    _observe(client, agent, entries=SESSION["generic"])
    key = _fix(client, agent, "Error: Cannot find module 'left-pad'")["fix"]["id"]
    client.delete(f"/memories/{key}", params={"agent": agent}).raise_for_status()
    assert _fix(client, agent, "Error: Cannot find module 'left-pad'")["found"] is False


def test_no_secret_and_nothing_private_is_kept_of_a_transcript(
    tmp_path: Path, embedding_url: str
) -> None:
    secret, hidden = "AKIA" + "IOSFODNN7" + "EXAMPLF", "zebrafinch"
    lines: list[Json] = [
        {"role": "user",
         "text": f"<private>\nFrom now on {hidden} holds.\n</private> Use {secret}."},
        {"role": "assistant", "command": f"deploy --key {secret}", "call": "1"},
        {"role": "tool", "call": "1", "exit": 1, "text": f"Error: {secret} was refused"},
        {"role": "assistant", "tool": "edit", "file_path": f"/a/{secret}.c", "call": "2",
         "text": f"- [ ] hide {secret}"},
        {"role": "assistant", "command": f"deploy --key {secret}", "call": "3"},
        {"role": "tool", "call": "3", "exit": 0, "text": "ok"},
    ]  # fmt: skip
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as running:
        # In two stretches: what is stored between them finds the same command again.
        _observe(running.client, "main", entries=lines[:3])
        done = _observe(running.client, "main", entries=lines[3:], final=True)
        assert done["stored"] == 3
        told = str(_memories(running.client, "main"))
        assert ("What was done" in told, "Last request" in told) == (True, True)
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        kept = file.read_bytes()
        assert secret.encode() not in kept, file
        assert hidden.encode() not in kept, file


def test_a_day_two_sessions_and_a_kill_between(tmp_path: Path, embedding_url: str) -> None:
    own = _environment(tmp_path, MEMORY_EMBEDDING_URL=embedding_url)
    with _serving(own) as (ask, process):
        started = ask.post("/session-context", json={"project": APP, "session": "s1"})
        assert started.json()["text"] == ""
        decided = {"text": "Use an append-only log.", "project": APP, "session": "s1"}
        ask.post("/decisions", json=decided).raise_for_status()
        _observe(ask, "main", client="claude-code", text=_lines("claude-code"), final=True)
        process.kill()
        process.wait(timeout=30)
    with _serving(own) as (ask, _):
        told = ask.post("/session-context", json={"project": APP, "session": "s2"}).json()["text"]
        for part in (
            "Last request: From now on use tabs.", "Files touched: /a/b.js", "- [ ] write it down",
            "Use an append-only log.",
        ):  # fmt: skip
            assert part in told
        # The preference stands in the handoff: it is not said twice.
        assert told.count("From now on use tabs.") == 1
        found = _fix(ask, "main", "Error: Cannot find module 'left-pad'\n  at /z.js:1")
        assert "changed /a/b.js" in found["fix"]["text"]
        # What the session was told at its start no search tells it again.
        body = {"query": "tabs and logs", "session": "s2", "new_only": True, "project": APP}
        hits = ask.post("/search", json=body).json()["results"]
        assert not any("append-only" in hit["content"] for hit in hits)


def _run(folder: Path, own: dict[str, str], *words: str) -> tuple[int, str, str]:
    inherited = {n: v for n, v in os.environ.items() if not n.startswith("MEMORY_")}
    done = subprocess.run(
        [sys.executable, "-m", "service", *words], cwd=folder, capture_output=True, text=True,
        timeout=120, check=False,
        env={**inherited, "PYTHONPATH": os.pathsep.join(sys.path), **own},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_command_reads_files_where_it_runs(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    folder = tmp_path / "transcripts"
    folder.mkdir()
    for program in ("claude-code", "codex", "openclaw"):
        (folder / f"{program}.jsonl").write_text(_lines(program))
    old = folder / "old.jsonl"
    old.write_text(_lines("generic"))
    os.utime(old, (1_700_000_000, 1_700_000_000))
    # What is called so and is no file.
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.jsonl")
    code, out, _ = _run(tmp_path, own, "observe", str(folder), "--since", "24h", "--dry-run")
    assert code == 0
    assert out.count("[preference] From now on use tabs.") == 3
    assert out.count("[fix] `npm test` failed") == 3
    assert "nothing was stored" in out
    with _serving(own) as (client, _):
        assert client.get("/memories").json()["memories"] == []
        done = _run(tmp_path, own, "observe", str(folder), "--since", "24h")
        assert done[0] == 0, done
        assert re.fullmatch(r"\d+ stored, \d+ were known\.\n", done[1])
        kinds = [one["kind"] for one in client.get("/memories?limit=100").json()["memories"]]
        assert {*kinds} == {"preference", "observation", "handoff"}
        # Codex and OpenClaw were in one folder, Claude Code in none that is known.
        scopes = [one["scope"] for one in client.get("/projects").json()["projects"]]
        assert scopes == ["/a"]
        again = _run(tmp_path, own, "observe", str(folder), "--since", "24h")
        assert len(client.get("/memories?limit=100").json()["memories"]) == len(kinds)
        assert again[1].startswith("0 stored, ")
        # What came since is sent, and nothing of what was read.
        with (folder / "codex.jsonl").open("a") as file:
            file.write(json.dumps(_said("codex", "user", "Always run make first.")) + "\n")
        code, out, err = _run(tmp_path, own, "observe", str(folder / "codex.jsonl"))
        assert (code, out.startswith("2 stored"), "never sent" in err) == (0, True, False)
        (folder / "codex.jsonl").write_text(_lines("codex")[:300])
        assert "is shorter than what was read" in _run(tmp_path, own, "observe", str(folder))[2]
    wrong = (1, ("nowhere",), "no such file"), (2, (str(folder), "--since", "soon"), "24h")
    for status, words, why in wrong:
        code, _, err = _run(tmp_path, own, "observe", *words)
        assert (code, why in err) == (status, True)


def test_a_file_that_cannot_be_read_keeps_no_other_from_being_read(tmp_path: Path) -> None:
    (tmp_path / "codex.jsonl").write_text(_lines("codex"))
    (tmp_path / "odd.jsonl").symlink_to("/proc/self/mem")
    code, out, err = _run(tmp_path, _environment(tmp_path), "observe", str(tmp_path), "--dry-run")
    assert (code, "[preference] From now on use tabs." in out) == (1, True)
    assert "odd.jsonl: cannot be read: " in err
    assert "codex.jsonl: " not in err


def test_a_file_that_is_no_transcript_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nFrom now on use tabs.\n")
    (tmp_path / "empty.jsonl").touch()
    files = [str(tmp_path / name) for name in ("notes.md", "empty.jsonl")]
    code, out, err = _run(tmp_path, _environment(tmp_path), "observe", *files, "--dry-run")
    assert (code, out) == (0, "Dry run: nothing was stored.\n")
    assert "notes.md: no transcript: " in err
    assert "empty.jsonl: " not in err


def test_a_large_transcript_is_sent_in_stretches(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    line = json.dumps({"role": "user", "text": "Some talk about nothing. " * 40})
    rule = json.dumps({"role": "user", "text": "From now on the last line counts."})
    file = tmp_path / "large.jsonl"
    file.write_text(f"{line}\n" * 6000 + f"{rule}\n")
    assert file.stat().st_size > 6_000_000
    with _serving(own) as (client, _):
        assert _run(tmp_path, own, "observe", str(file))[0] == 0
        told = [one["content"] for one in client.get("/memories").json()["memories"]]
        assert "From now on the last line counts." in told
