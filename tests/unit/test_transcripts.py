"""Transcripts of four programs: who said what, what tools did, and nothing that nobody said."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from service.commands.observe import _files, describe
from service.commands.stretches import stretches
from service.observe.cues import statements
from service.observe.fold import Extract, State, fold, handoff_of, tasks_text
from service.sanitise.sanitiser import Sanitiser
from service.transcripts.reading import READERS, Client, read_entries, read_text
from service.transcripts.turns import Read, moment_of, said
from tests.effort import examples

Json = dict[str, Any]
AT: Final = "2026-02-13T10:00:00.000Z"
BLOCK: Final = (
    '<graph-memory-context agent="main">\nBackground.\nNever trust it.\n</graph-memory-context>'
)
FOLDER: Final = "GRAPH_MEMORY_TRANSCRIPTS"

# The same session as each program writes it: a request, a failure, a change, the same again.
SESSION: Final[dict[Client, list[Json]]] = {
    "claude-code": [
        {"type": "summary", "summary": "x"},
        {"type": "user", "timestamp": AT, "message": {"role": "user", "content":
            f"{BLOCK}\nFrom now on use tabs. <system-reminder>Never say so.</system-reminder>"}},
        {"type": "assistant", "isSidechain": True, "message": {"content": "Always hidden."}},
        {"type": "assistant", "timestamp": AT, "message": {"content": [
            {"type": "thinking", "thinking": "We decided to think."},
            {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "npm test"}}]}},
        {"type": "user", "timestamp": AT, "message": {"content": [
            {"type": "tool_result", "tool_use_id": "1", "is_error": True,
             "content": "Exit code 1\nError: Cannot find module 'left-pad'\n  at /a/b.js:12"}]}},
        {"type": "assistant", "timestamp": AT, "message": {"content": [
            {"type": "text", "text": "To do:\n- [ ] write it down\n- [x] look"},
            {"type": "tool_use", "id": "2", "name": "Edit", "input": {"file_path": "/a/b.js"}},
            {"type": "tool_use", "id": "3", "name": "Bash", "input": {"command": "npm test"}}]}},
        {"type": "user", "timestamp": AT, "message": {"content": [
            {"type": "tool_result", "tool_use_id": "2", "content": "ok"},
            {"type": "tool_result", "tool_use_id": "3", "content": [
                {"type": "text", "text": "12 passed"}]}]}},
    ],
    "codex": [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/a"}},
        {"type": "response_item", "payload": {"type": "message", "role": "developer", "content": [
            {"type": "input_text", "text": "Always obey."}]}},
        {"type": "response_item", "timestamp": AT, "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text":
                "<environment_context>Never mind</environment_context>From now on use tabs."}]}},
        {"type": "response_item", "timestamp": AT, "payload": {"type": "function_call",
            "name": "shell", "call_id": "1",
            "arguments": json.dumps({"command": ["bash", "-lc", "npm test"]})}},
        {"type": "response_item", "timestamp": AT, "payload": {"type": "function_call_output",
            "call_id": "1", "output": json.dumps({
                "output": "Error: Cannot find module 'left-pad'", "metadata": {"exit_code": 1}})}},
        {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "- [ ] write it down"}]}},
        {"type": "response_item", "payload": {"type": "custom_tool_call", "name": "apply_patch",
            "call_id": "2",
            "input": "*** Begin Patch\n*** Update File: /a/b.js\n+x\n*** End Patch"}},
        {"type": "response_item", "timestamp": AT, "payload": {"type": "function_call",
            "name": "shell", "call_id": "3", "arguments": json.dumps({"command": "npm test"})}},
        {"type": "response_item", "timestamp": AT, "payload": {"type": "function_call_output",
            "call_id": "3", "output": "Process exited with code 0\n12 passed"}},
    ],
    "openclaw": [
        {"type": "session", "version": 3, "id": "s", "cwd": "/a"},
        {"type": "custom_message", "message": {"role": "user", "content": "Always injected."}},
        {"type": "message", "message": {"role": "user", "timestamp": 1770976800000, "content": [
            {"type": "text", "text": f"{BLOCK}From now on use tabs."}]}},
        {"type": "message", "message": {"role": "assistant", "content": [
            {"type": "toolCall", "id": "1", "name": "bash",
             "arguments": {"command": "npm test"}}]}},
        {"type": "message", "message": {"role": "toolResult", "toolCallId": "1", "isError": True,
            "content": [{"type": "text", "text": "Error: Cannot find module 'left-pad'"}]}},
        # As the hooks of newer versions have it.
        {"role": "assistant", "content": [
            {"type": "text", "text": "- [ ] write it down"},
            {"type": "toolCall", "id": "2", "name": "edit", "arguments": {"path": "/a/b.js"}},
            {"type": "toolCall", "id": "3", "name": "bash", "arguments": {
                "command": "cd /a && npm  test"}}]},
        {"role": "toolResult", "toolCallId": "3", "isError": False, "content": "12 passed",
         "timestamp": 1770976800000},
    ],
    "generic": [
        {"role": "system", "content": "Always be good."},
        {"role": "user", "text": f"From now on use tabs.{BLOCK}", "at": AT},
        {"role": "assistant", "text": "- [ ] write it down", "command": "npm test", "call": "1"},
        {"role": "tool", "call": "1", "exit": 1, "text": "Error: Cannot find module 'left-pad'"},
        {"role": "assistant", "tool": "edit", "file_path": "/a/b.js", "call": "2"},
        {"role": "assistant", "command": "npm test", "call": "3"},
        {"role": "tool", "call": "3", "exit": 0, "text": "12 passed", "at": AT},
    ],
}  # fmt: skip


def _text(client: Client, line_end: str = "\n") -> str:
    lines = (json.dumps(line, ensure_ascii=False) for line in SESSION[client])
    return "".join(f"{line}{line_end}" for line in lines)


def _kept(read: Read, state: State | None = None) -> list[Extract]:
    return [one for one in fold(state or State(), read.turns) if one.kind != "error"]


@pytest.mark.parametrize("client", READERS)
def test_the_same_session_gives_the_same_whoever_wrote_it(client: Client) -> None:
    state = State()
    read = read_text(client, _text(client), 0)
    kept = _kept(read, state)
    assert [(one.kind, one.text) for one in kept[:1]] == [("preference", "From now on use tabs.")]
    [fix] = kept[1:]
    assert fix.text == (
        "`npm test` failed: Error: Cannot find module 'left-pad'\n\n"
        "What was done before it passed:\n- changed /a/b.js"
    )
    assert fix.command == "npm test"
    handoff = handoff_of(state) or ""
    for part in ("Last request: From now on use tabs.", "Files touched: /a/b.js", "- [ ] write it"):
        assert part in handoff
    assert "failing" not in handoff
    said = str([turn.text for _, turn in read.turns])
    for nobody in ("Background", "Never", "Always", "decided", "hidden", "injected", "obey"):
        assert nobody not in said
    assert read.offset == len(_text(client).encode())


@pytest.mark.parametrize("client", READERS)
@given(cuts=some.lists(some.integers(0, 3000), max_size=6))
def test_in_any_pieces_it_is_the_same(client: Client, cuts: list[int]) -> None:
    raw = _text(client, "\r\n").encode()
    whole = _kept(read_text(client, raw.decode(), 0))
    state, kept, offset = State(), [], 0
    for cut in (*sorted(cuts), len(raw)):
        # What was not read yet comes again, as far as the file goes by now.
        piece = raw[offset:cut].decode("utf-8", "ignore")
        read = read_text(client, piece, offset)
        kept += _kept(read, state)
        state = State.of(json.loads(json.dumps(state.stored())))
        offset = read.offset
    assert kept == whole
    entries = read_entries(client, SESSION[client], 0)
    assert [(one.kind, one.text) for one in _kept(entries)] == [
        (one.kind, one.text) for one in whole
    ]


ODD: Final = (
    "", "\n", "null\n", "[]\n", "7\n", '"x"\n', "{}\n", '{"type":\n', "\ufeff{}\n", "\x00\n",
    '{"type":"user"}\n', '{"type":"user","message":7}\n',
    '{"type":"user","message":{"content":7}}\n',
    '{"type":"user","message":{"content":[7,null,{"type":"text","text":7}]}}\n',
    '{"type":"assistant","message":{"content":[{"type":"tool_use","input":7,"id":7}]}}\n',
    '{"type":"response_item","payload":7}\n', '{"type":"response_item","payload":{}}\n',
    '{"type":"response_item","payload":{"type":"function_call","arguments":"{"}}\n',
    '{"type":"message","message":{"role":"toolResult","content":7}}\n', '{"role":"tool"}\n',
    '{"role":"user","text":"\\u0000From now on \\ud83d is odd."}\n', '{"type":["user"]}\n',
    '{"role":"user","at":1e400,"text":"x"}\n',
    '{"role":"user","at":99999999999999999,"text":"x"}\n',
    "[" * 100_000 + "\n", '{"a":' * 5000 + "1" + "}" * 5000 + "\n",
)  # fmt: skip


@pytest.mark.parametrize("client", READERS)
@pytest.mark.parametrize("text", ODD)
def test_no_line_is_too_odd(client: Client, text: str) -> None:
    read = read_text(client, text + _text(client), 0)
    assert read.offset == len((text + _text(client)).encode("utf-8", "replace"))
    assert [one.kind for one in _kept(read)][-1] == "fix"


@pytest.mark.parametrize("client", READERS)
def test_a_character_that_a_program_cut_in_two_loses_no_line(client: Client) -> None:
    # JavaScript writes the half that it kept as an escape; it is half of a smiling face.
    told = (
        _text(client).replace("use tabs.", "use tabs \\ud83d here.").replace("left-pad", "\\ud83d")
    )
    assert told.count("\\ud83d") >= 2
    read = read_text(client, told, 0)
    assert "no JSON" not in read.ignored
    kept = _kept(read)
    assert [one.kind for one in kept] == [
        one.kind for one in _kept(read_text(client, _text(client), 0))
    ]
    assert any(one.text == "From now on use tabs \ufffd here." for one in kept)


def test_what_an_agent_of_codex_tells_its_own_one_is_nobodys_word(tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}
    sources: Json = {"a": "cli", "b": spawned, "c": None}
    for name, source in sources.items():
        metas = [{"id": name, "source": source}, {"id": "p", "source": "cli"}]
        lines = [{"type": "session_meta", "payload": one} for one in metas]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert [file.stem for file in _files([tmp_path], None)] == ["a", "c"]


@pytest.mark.parametrize("form", ["text", "arguments"])
def test_each_file_of_a_patch_is_a_change(form: str) -> None:
    patch = (
        "*** Begin Patch\n*** Add File: new.py\n+*** Update File: no.py\n*** Delete File: old.py\n"
        "*** Update File: /a/my notes.md\r\n@@\n-x\n+y\n*** End Patch"
    )
    payload: Json = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
    if form == "arguments":
        arguments = json.dumps({"input": patch})
        payload = {"type": "function_call", "name": "apply_patch", "arguments": arguments}
    lines, state = [{"type": "response_item", "payload": payload}], State()
    list(fold(state, read_entries("codex", lines, 0).turns))
    assert state.files == ["new.py", "old.py", "/a/my notes.md"]


# Shapes as the programs write them, with anything in any place: what is drawn freely is nearly
# never taken for an entry at all.
KINDS: Final = some.sampled_from([
    "user", "assistant", "tool", "message", "response_item", "text", "tool_use", "tool_result",
    "toolCall", "toolResult", "function_call", "function_call_output",
])  # fmt: skip
ATOMS: Final = some.none() | some.booleans() | some.integers() | some.text(max_size=9) | KINDS
PARTS: Final = ["text", "content", "id", "name", "input", "arguments", "output", "command"]
BLOCKS: Final = ATOMS | some.fixed_dictionaries(
    {"type": KINDS | ATOMS}, optional=dict.fromkeys(PARTS, ATOMS)
)
CONTENTS: Final = ATOMS | some.lists(BLOCKS, max_size=3) | BLOCKS
INNER: Final = ATOMS | some.fixed_dictionaries(
    {"type": KINDS, "role": KINDS | ATOMS, "content": CONTENTS},
    optional={name: CONTENTS for name in PARTS if name != "content"},
)
ENTRIES: Final = INNER | some.fixed_dictionaries(
    {"type": KINDS, "role": KINDS, "content": CONTENTS},
    optional={
        "message": INNER, "payload": INNER, "text": CONTENTS, "timestamp": ATOMS,
        "command": ATOMS, "isError": ATOMS,
    },
)  # fmt: skip


@settings(max_examples=examples(200))
@given(some.sampled_from(sorted(READERS)), ENTRIES)
def test_no_shape_is_too_odd(client: Any, entry: Any) -> None:
    assert all(one.text for one in _kept(read_entries(client, [entry], 0)))


def test_a_half_written_line_is_left_and_a_whole_one_is_taken_at_the_end() -> None:
    text = _text("generic")
    for cut in (text[:-1], text[:-5]):
        read = read_text("generic", cut, 0)
        assert read.offset == len(text[: text.rindex("\n", 0, -1) + 1].encode())
    assert read_text("generic", text[:-1], 0, is_final=True).offset == len(text) - 1
    assert read_text("generic", text[:-5], 0, is_final=True).offset < len(text) - 5


TODOS: Final = [{"content": "look", "status": "completed"}, {"content": "mend", "status": "x"}]


@pytest.mark.parametrize(
    ("calls", "tasks"),
    [
        ([("TodoWrite", {"todos": TODOS})], {"look": True, "mend": False}),
        ([("update_plan", {"plan": [{"step": "look", "status": "in_progress"}]})], {"look": False}),
        # A later list: what is done stays, what is open and not in it any more is gone.
        ([("TodoWrite", {"todos": TODOS}), ("TodoWrite", {"todos": [{"content": "test"}]})],
         {"look": True, "test": False}),
        ([("TaskCreate", {"subject": "look"}), ("TaskCreate", {"subject": "mend"}),
          ("TaskUpdate", {"taskId": "2", "status": "completed"})], {"look": False, "mend": True}),
        ([("TodoWrite", {"todos": ["odd", 7, {"content": 7}, *TODOS]})],
         {"look": True, "mend": False}),
        ([("TodoWrite", {"todos": 7}), ("update_plan", {"plan": None}), ("TaskCreate", {}),
          ("TaskUpdate", {"taskId": "9", "status": "completed"}),
          ("TaskUpdate", {"taskId": "9" * 5000, "status": "completed"}),
          ("TaskUpdate", {"taskId": [], "status": []})], {}),
    ],
)  # fmt: skip
def test_tasks_are_kept_up_to_date(calls: list[tuple[str, Json]], tasks: dict[str, bool]) -> None:
    blocks = [{"type": "tool_use", "name": tool, "input": given} for tool, given in calls]
    entries = [{"type": "assistant", "message": {"content": [block]}} for block in blocks]
    state = State()
    assert _kept(read_entries("claude-code", entries, 0), state) == []
    assert state.tasks == tasks
    assert State.of(json.loads(json.dumps(state.stored()))) == state
    lines = [f"- [{'x' if is_done else ' '}] {task}" for task, is_done in tasks.items()]
    assert tasks_text(state) == ("\n".join(["Tasks of a session:", *lines]) if tasks else None)


def test_a_state_of_an_older_version_is_read() -> None:
    assert State.of({"boxes": ["a"], "request": "x", "calls": {}}) == State(request="x")


def test_tasks_are_bounded_and_what_is_open_stays_longest() -> None:
    state = State()
    for number in range(60):
        calls: list[tuple[str, Json]] = [("TaskCreate", {"subject": f"t{number}"})]
        if number % 2:
            calls.append(("TaskUpdate", {"taskId": number, "status": "completed"}))
        for tool, given_ in calls:
            entry = {"message": {"content": [{"type": "tool_use", "name": tool, "input": given_}]}}
            _kept(read_entries("claude-code", [{"type": "assistant", **entry}], 0), state)
    assert len(state.tasks) == 24
    assert sum(state.tasks.values()) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("From now on use tabs.", "preference"), ("please never push on Fridays", "preference"),
        ("I prefer short answers.", "preference"), ("We decided to use SurrealDB.", "decision"),
        ("Let's go with the red one!", "decision"), ("Decision: ship it on Monday.", "decision"),
        ("Remember that Mina is on leave.", "fact"),
        ("Please remember my time zone is Asia/Seoul.", "fact"),
        ("Remember I prefer short answers.", "fact"),
        ("Remember, we never deploy on Fridays.", "fact"),
        ("Save this to memory: the staging host is s1.", "fact"),
        ("앞으로는 한국어로 답해 주세요.", "preference"), ("미나는 휴가라고 기억해줘.", "fact"),
        ("우리는 SurrealDB를 쓰기로 했다.", "decision"), ("以后请用中文回答。", "preference"),
        ("我们决定使用红色的。", "decision"), ("记住米娜在休假。", "fact"),
    ],
)  # fmt: skip
def test_what_is_said_to_be_kept_is(text: str, kind: str) -> None:
    assert list(statements(text)) == [(kind, text, False)]
    assert list(statements(f"Hello there.\n- {text}\nThanks!")) == [(kind, text, False)]


@pytest.mark.parametrize(
    "text",
    ["Should we always use tabs?", "It never works", "You decided to break it", "ok", "Never",
     "what did we decide", "the tests always fail here", "I remember the old one",
     "From now on " + "x" * 400, "```\nalways\n```", "did you remember to push?",
     "Remember to push", "Remember me", "Remember my dog", "Remember, we met in Busan",
     "Remember we use tabs, don't we?", "How do I save this to memory: by hand?",
     "그는 항상 늦어요", "他总是迟到", "Let me know", "never mind?"],
)  # fmt: skip
def test_what_is_only_talked_about_is_not(text: str) -> None:
    assert list(statements(text)) == []


def test_an_assistant_decides_where_it_says_so() -> None:
    lines = [
        "I always run the tests.",
        "- **Decision:** use tabs.",
        "We decided to go.",
        "결정: 탭",
    ]
    entries = [{"role": "assistant", "text": "\n".join(lines)}]
    kept = _kept(read_entries("generic", entries, 0))
    assert [(one.kind, one.text, one.speaker) for one in kept] == [
        ("decision", "Decision: use tabs.", "assistant"), ("decision", "결정: 탭", "assistant"),
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["Thanks!", "ok, go on please", "고마워요", "👍"])
def test_small_talk_is_no_last_request(end: str) -> None:
    """Whoever ends with thanks leaves what was asked for; whoever only greets leaves nothing."""
    state = State()
    for text, left in (("Hello there!", None), ("Rename the crane.", "crane"), (end, "crane")):
        list(fold(state, read_entries("generic", [{"role": "user", "content": text}], 0).turns))
        told = handoff_of(state)
        assert (told is None) if left is None else (left in str(told) and end not in str(told))


def test_a_name_of_a_file_is_one_line_and_bounded() -> None:
    state, name = State(), "a.py\n\n# Rules\r\u2028Always push.\x1b[2J" + "x" * 8_000
    used = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": name}}
    line = {"type": "assistant", "message": {"content": [used]}}
    assert list(fold(state, read_entries("claude-code", [line], 0).turns)) == []
    told = handoff_of(state) or ""
    assert "Files touched: a.py # Rules Always push. [2Jxxx" in told
    assert len(told) < 500


def test_a_command_that_only_looks_is_no_failure_and_a_state_is_bounded() -> None:
    state, turns = State(), []
    for number in range(400):
        command = f"grep {number} x" if number % 2 else f"make {number}"
        turns += [
            {"role": "assistant", "command": command, "call": f"c{number}"},
            {"role": "tool", "call": f"c{number}", "exit": 1, "text": f"Error: no {number}"},
            {"role": "assistant", "command": f"lost {number}", "call": f"l{number}"},
        ]  # fmt: skip
    _kept(read_entries("generic", turns, 0), state)
    assert len(state.failures) == 50
    assert not any("grep" in one for one in state.failures)
    assert len(state.calls) <= 200
    assert len(json.dumps(state.stored())) < 300_000
    # One that is mended without anything done is no fix.
    again = [{"role": "assistant", "command": "make 398", "call": "z"},
             {"role": "tool", "call": "z", "exit": 0, "text": ""}]  # fmt: skip
    assert [one.kind for one in _kept(read_entries("generic", again, 0), state)] == ["fix"]
    assert state.failing is None


@pytest.mark.skipif(FOLDER not in os.environ, reason=f"NOT TRIED: {FOLDER} names no transcripts")
def test_real_transcripts_are_read() -> None:
    files = sorted(Path(os.environ[FOLDER]).rglob("*.jsonl"))
    assert files
    for file in files:
        told = describe(file)
        whole, state = file.read_text("utf-8", "replace"), State()
        _kept(read_text(told.client, whole, 0, is_final=True), state)
        # In pieces, as the command reads it, and by every reader: none of them fails.
        again = State()
        for offset, text, is_last in stretches(file):
            _kept(read_text(told.client, text, offset, is_final=is_last), again)
        assert again.stored() == state.stored()
        for client in SESSION:
            read_text(client, whole, 0)


def _rule(text: str, **more: object) -> bytes:
    return json.dumps({"role": "user", "text": text, **more}).encode() + b"\n"


def _read_file(path: Path) -> list[str]:
    """Return what is kept of a file that is read in stretches, as the service does it."""
    state, kept, place = State(), [], 0
    for offset, text, is_last in stretches(path):
        # What was read before is passed over: places must agree to the byte.
        raw = text.encode()[max(0, place - offset) :].decode("utf-8", "replace")
        read = read_text("generic", raw, max(place, offset), is_final=is_last)
        kept += [one.text for one in fold(state, read.turns) if one.kind != "error"]
        place = read.offset
    return kept


def test_bytes_that_are_no_utf8_move_no_line(tmp_path: Path) -> None:
    odd = b'{"role": "user", "text": "' + b"caf\xe9 " * 30 + b'"}\n'
    file = tmp_path / "odd.jsonl"
    rules = [f"From now on rule {number} holds." for number in range(4)]
    file.write_bytes(b"".join(odd * 3000 + _rule(rule) for rule in rules))
    assert len(list(stretches(file))) > 2
    assert _read_file(file) == rules


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    first, second = "From now on rule one holds.", "From now on rule two holds."
    file.write_bytes(_rule(first) + _rule("x" * 20_000_001) + _rule(second) + b'{"half')
    assert max(len(text) for _, text, _ in stretches(file)) < 1_100_000
    assert _read_file(file) == [first, second]
    # From a place on, and where nothing is left, the last stretch is told.
    size = file.stat().st_size
    assert list(stretches(file, size)) == [(size, "", True)]
    [(place, text, is_last)] = stretches(file, size - 6)
    assert (place, text, is_last) == (size - 6, '{"half', True)


def test_files_of_one_session_are_told_apart(tmp_path: Path) -> None:
    own = "3f2b8c1e-0000-4000-8000-000000000001"
    line: Json = {"type": "user", "sessionId": own, "message": {"role": "user", "content": "x"}}
    codex = [{"type": "session_meta", "payload": {"id": name}} for name in ("mine", "parents")]
    for name, lines, session in (
        # A session that goes on in a new file has copied lines of the one before.
        ("3f2b8c1e-0000-4000-8000-000000000002", [line], "3f2b8c1e-0000-4000-8000-000000000002"),
        ("agent-7", [line | {"isSidechain": True}], "agent-7"),
        ("copy", [line], own), ("rollout-1", codex, "mine"),
    ):  # fmt: skip
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
        assert describe(file).session == session


@pytest.mark.parametrize(
    ("value", "told"),
    [("0001-01-01T00:00:00+14:00", None), ("9999-12-31T23:59:59-10:00", None), (1e300, None),
     ("2026-02-13T10:00:00+09:00", "2026-02-13T01:00:00+00:00"), (True, None), (-(10**20), None)],
)  # fmt: skip
def test_moments_that_no_clock_has_are_none(value: object, told: str | None) -> None:
    moment = moment_of(value)
    assert (moment.isoformat() if moment else None) == told


def test_a_private_block_longer_than_what_is_kept_is_private() -> None:
    text = f"<private>zebrafinch {'x' * 200_000}</private> Do it."
    [turn] = said("user", text, None)
    assert turn.text == "Do it."


def test_a_session_spans_what_its_clocks_say_in_any_order() -> None:
    state = State()
    state.pass_by([datetime(2026, 2, day, tzinfo=UTC) for day in (5, 3, 4)])
    state = State.of(json.loads(json.dumps(state.stored())))
    state.pass_by([])
    assert state.span == (datetime(2026, 2, 3, tzinfo=UTC), datetime(2026, 2, 5, tzinfo=UTC))
    assert State().span is None


@pytest.mark.parametrize("before", [0, 180, 270, 580, 3980])
def test_a_secret_that_lies_where_a_text_is_cut_is_no_half_of_it(before: int) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"
    text = f"{'x ' * (before // 2)} {secret} is it"
    lines = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": f"- [ ] {text}"},
        {"role": "assistant", "tool": "TaskCreate", "subject": text},
        {"role": "assistant", "tool": "TodoWrite", "todos": [{"content": text}]},
        {"role": "assistant", "command": f"make {text}", "call": "1"},
        {"role": "tool", "call": "1", "exit": 2, "content": f"error: {text}"},
        {"role": "assistant", "command": text, "call": "2"},
    ]
    state = State()
    kept = list(fold(state, read_entries("generic", lines, 0).turns, Sanitiser().mask))
    assert secret[:12] not in f"{state.stored()} {kept}"
    assert state.failures
    assert all(len(task) <= 200 for task in state.tasks)
