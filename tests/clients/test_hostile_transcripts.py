"""Transcripts that no program should write: nothing is lost or comes twice, and no hook fails."""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.conftest import Hooks, contents
from tests.conftest import Start
from tests.waiting import until

Json = dict[str, Any]
SAID: Final = [f"Please remember that gate {number} is red." for number in range(3)]
DEEP: Final = "[" * 100_000 + "]" * 100_000


def call(given: object, call_id: object = "t1", name: object = "Bash") -> Json:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": given}
    return {"type": "assistant", "message": {"content": [block]}}


def back(content: object, call_id: object = "t1") -> Json:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {"type": "user", "message": {"content": [block]}}


ODD: Final[list[Json]] = [
    {"type": ["user"]}, {"type": {"a": 1}, "cwd": "/nowhere\0"}, {"type": "x" * 100_000},
    {"type": "user", "message": [1]}, {"type": "user", "message": {"content": [[1], None, 7]}},
    {"type": "response_item", "payload": {"type": ["message"], "call_id": 7, "output": {}}},
    call([1, {"x": None}], 7, {"a": 1}), call({"file_path": "a\0b"}, "t2", "\0"),
    call({"command": "cat \ud83d \0 ' ~nobody/x /*/*/* **/** $(", "path": "\ud83d"}),
    call({"command": "x" * 500_000 + " 'y" * 100_000}), call("{" * 5_000),
    back({"a": [1]}, ["t1"]), back("\ud83d \0/a\x1b[2J"), back('{"a":' * 3_000 + "1" + "}" * 3_000),
]  # fmt: skip
RAW: Final = [
    b"\0\0\0\x1b[2J\r", b"\xef\xbb\xbf", b"{", DEEP.encode(),
    bytes(range(256)).replace(b"\n", b"") * 900,
    b'{"type":"user","message":{"content":' + DEEP.encode() + b"}}",
]  # fmt: skip


def failure(hooks: Hooks) -> str:
    path = hooks.home / "graph-memory" / "last-failure"
    return path.read_text() if path.exists() else ""


def test_no_line_keeps_another_from_arriving(hooks: Hooks, start: Start) -> None:
    service = start()
    hooks.connect(service.url)
    path = Path(hooks.say(SAID[0]))
    with path.open("ab") as file:
        for line in (*(json.dumps(one).encode() for one in ODD), *RAW):
            file.write(line + b"\n")
    hooks.say(SAID[1])
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":{"content":"half')
    hooks.send("Stop", transcript_path=str(path))
    assert contents(service.client) == SAID[:2]
    with path.open("ab") as file:
        file.write(b' a line"}}\n')
    hooks.send("Stop", transcript_path=hooks.say(SAID[2]))
    assert contents(service.client) == SAID
    assert failure(hooks) == ""


def test_a_line_of_fifty_megabytes_takes_no_room_of_what_waits(hooks: Hooks, start: Start) -> None:
    hooks.connect("http://127.0.0.1:9")
    path = Path(hooks.say(SAID[0]))
    with path.open("ab") as file:
        file.write(b'"' + b"x" * 50_000_000)
    hooks.send("Stop", transcript_path=str(path))
    with path.open("ab") as file:
        file.write(b'"\n')
    hooks.send("Stop", transcript_path=hooks.say(SAID[1]))
    assert sum(one.stat().st_size for one in hooks.waiting) < 10_000
    service = start()
    hooks.connect(service.url)
    hooks.send("Stop", transcript_path=hooks.say(SAID[2]))
    assert contents(service.client) == SAID


def test_what_a_session_ends_with_is_kept_though_there_is_no_time(
    hooks: Hooks, start: Start
) -> None:
    service = start()
    hooks.connect(service.url)
    path = Path(hooks.say(SAID[0]))
    with path.open("a") as file:
        for number in range(1_000):
            found = "\n".join(f"src/{number}/{line}.py:{line}: x" for line in range(600))
            file.write(json.dumps(call({"command": "ls"}, f"t{number}")) + "\n")
            file.write(json.dumps(back(found, f"t{number}")) + "\n")
    hooks.send("SessionEnd", transcript_path=hooks.say(SAID[1]))
    until(lambda: len(contents(service.client)) == 3)
    assert {one for one in contents(service.client) if "Automatic" not in one} == set(SAID[:2])


@pytest.mark.parametrize("kind", ["fifo", "folder", "/dev/zero", "/nowhere", "a\0b", 7, None, [1]])
def test_what_is_no_file_is_no_transcript(hooks: Hooks, tmp_path: Path, kind: object) -> None:
    hooks.connect("http://127.0.0.1:9")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    path = str(tmp_path / str(kind)) if kind in ("fifo", "folder") else kind
    assert hooks.send("Stop", transcript_path=path) == {}
    assert hooks.waiting == []


def test_a_transcript_that_was_cut_is_said(hooks: Hooks) -> None:
    hooks.connect("http://127.0.0.1:9")
    path = Path(hooks.say(*SAID))
    hooks.send("Stop", transcript_path=str(path))
    path.write_bytes(path.read_bytes()[:100])
    hooks.send("Stop", transcript_path=str(path))
    assert "is shorter than what was read of it" in failure(hooks)
