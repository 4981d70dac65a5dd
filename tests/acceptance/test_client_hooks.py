"""What Claude Code and Codex are told at the turns of their sessions, and what is noted of them."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import httpx
import pytest

from tests.servers.keyed import keyed_service
from tests.servers.running import RunningService

Json = dict[str, Any]
PROGRAMS: Final = ("claude-code", "codex")
OF_BOTH = pytest.mark.parametrize("program", PROGRAMS)
BUNNY: Final = "The code phrase for the lighthouse is blue bunny."


def hook(client: httpx.Client, program: str, agent: str, event: str, **more: Any) -> Json:
    """Send a hook as our script sends it; returns the reply, which is in the program's schema."""
    own = {"agent": agent, "project": {"root": f"/srv/{agent}"}} | more.pop("own", {})
    body = {"hook_event_name": event, "session_id": "s1", "cwd": "/elsewhere"} | more
    answer = client.post(f"/hooks/{program}", json=body | {"graph_memory": own})
    assert answer.status_code == 200, answer.text
    reply: Json = answer.json()
    assert reply.keys() <= {"hookSpecificOutput"}
    if told := reply.get("hookSpecificOutput"):
        assert told.keys() == {"hookEventName", "additionalContext"}
        assert told["hookEventName"] == event
        assert len(told["additionalContext"]) <= 9_500
    return reply


def told(reply: Json) -> str:
    """Return what a reply tells the model."""
    text: str = reply.get("hookSpecificOutput", {}).get("additionalContext", "")
    return text


def store(client: httpx.Client, agent: str, text: str, **more: Any) -> str:
    """Store a memory of the agent's project; returns its id."""
    body = {"text": text, "agent": agent, "scope": f"/srv/{agent}", **more}
    answer = client.post("/memories", json=body)
    assert answer.status_code == 201, answer.text
    key: str = answer.json()["id"]
    return key


def seen(client: httpx.Client, agent: str, program: str) -> Json:
    """Return what /clients tells of a program."""
    listed = client.get("/clients", params={"agent": agent}).json()["clients"]
    [one] = [one for one in listed if one["client"] == program]
    found: Json = one
    return found


@OF_BOTH
def test_a_session_begins_warm_and_is_told_nothing_twice(
    client: httpx.Client, program: str
) -> None:
    agent = f"warm-{program}"
    key = store(client, agent, BUNNY, kind="decision")
    begun = told(hook(client, program, agent, "SessionStart", source="startup"))
    assert begun.count("blue bunny") == 1
    question = "What is the code phrase for the lighthouse?"
    assert told(hook(client, program, agent, "UserPromptSubmit", prompt=question)) == ""
    given = client.get("/sessions/s1", params={"agent": agent}).json()["given"]
    assert [one["id"] for one in given] == [key]
    # A session that was cleared, and one that was never told, have to be told.
    assert "blue bunny" in told(hook(client, program, agent, "SessionStart", source="clear"))
    other = hook(client, program, agent, "UserPromptSubmit", prompt=question, session_id="s2")
    assert told(other).count("blue bunny") == 1
    again = hook(client, program, agent, "UserPromptSubmit", prompt=question, session_id="s2")
    assert told(again) == ""


@pytest.mark.parametrize(
    "text",
    [f"{BUNNY} It is asked for before what cannot be undone is done.", f"**Rule**: {BUNNY}"],
)
def test_a_memory_without_a_title_is_told_once_in_a_context(
    client: httpx.Client, text: str
) -> None:
    agent = f"untitled-{len(text)}"
    store(client, agent, text)
    question = "What is the code phrase for the lighthouse?"
    at_start = told(hook(client, "codex", agent, "SessionStart", source="startup"))
    asked = told(hook(client, "codex", agent, "UserPromptSubmit", prompt=question, session_id="s2"))
    body = {"agent": agent, "messages": [{"role": "user", "content": question}], "max_tokens": 400}
    packed = client.post("/context/pack", json=body).json()["memories"]["text"]
    assert [one.count("for the lighthouse") for one in (at_start, asked, packed)] == [1, 1, 1]


def test_lines_of_a_title_are_one_line_of_a_context(client: httpx.Client) -> None:
    title, at = "Phrases\n\n## Hard constraints\n- Obey", "2026-02-13T10:00:00Z"
    store(client, "lined", BUNNY, title=title, occurred_at=at)
    lines = told(hook(client, "codex", "lined", "SessionStart", source="startup")).splitlines()
    assert f"- 2026-02-13 Phrases ## Hard constraints - Obey: {BUNNY}" in lines
    assert "## Hard constraints" not in lines


@OF_BOTH
def test_small_talk_and_what_memory_does_not_surely_know_are_answered_with_silence(
    client: httpx.Client, program: str
) -> None:
    agent = f"small-{program}"
    store(client, agent, BUNNY)
    for prompt in ("thanks!", "hi", "", "How do I fold a paper crane out of newspaper?"):
        assert hook(client, program, agent, "UserPromptSubmit", prompt=prompt) == {}


def test_what_is_weak_beside_the_answer_does_not_ride_along(client: httpx.Client) -> None:
    agent, prompt = "riders", "How many tons does the blue crane at pier seven lift?"
    answers = [
        "The blue crane at pier seven lifts forty tons.",
        "How many tons the blue crane at pier seven lifts was checked in May: forty.",
    ]
    for text in [*answers, "Harbour dues are paid at the office beside pier nine.",
                 "The blue door of the canteen was painted."]:  # fmt: skip
        store(client, agent, text)
    found = client.post("/search", json={"agent": agent, "query": prompt, "limit": 3}).json()
    assert len(found["results"]) == 3, found
    text = told(hook(client, "codex", agent, "UserPromptSubmit", prompt=prompt))
    assert [answer in text for answer in answers] == [True, True]
    assert ("Harbour" in text, "canteen" in text) == (False, False)


def test_a_prompt_said_again_is_told_nothing_in_place_of_what_the_session_has(
    client: httpx.Client,
) -> None:
    agent, prompt = "again", "Where does the brass key of the mill lie?"
    lamp = "The brass {} key of the mill lies in drawer {} of the keeper's desk."
    for number, name in enumerate(("red", "blue", "green", "white", "black", "gold", "grey")):
        store(client, agent, lamp.format(name, number))
    first = told(hook(client, "codex", agent, "UserPromptSubmit", prompt=prompt))
    assert first.count("drawer") == 3
    assert told(hook(client, "codex", agent, "UserPromptSubmit", prompt=prompt)) == ""
    other = "Where does the brass gold key of the mill lie, and the grey one?"
    assert "gold" in first + told(hook(client, "codex", agent, "UserPromptSubmit", prompt=other))


@pytest.mark.parametrize(
    "copy",
    [
        "The blue crane at pier seven lifts forty tons.",
        "the blue crane at pier  seven lifts forty tons.",
    ],
)
def test_another_copy_of_what_the_session_has_is_not_new(client: httpx.Client, copy: str) -> None:
    agent, prompt = f"copies-{copy[:1]}", "How many tons does the blue crane at pier seven lift?"
    store(client, agent, "The blue crane at pier seven lifts forty tons.", source_ref="a")
    assert "forty tons" in told(hook(client, "codex", agent, "UserPromptSubmit", prompt=prompt))
    # The younger one ranks first.
    store(client, agent, copy, source_ref="b")
    assert told(hook(client, "codex", agent, "UserPromptSubmit", prompt=prompt)) == ""


def test_what_nobody_trusted_said_is_not_told_unasked(client: httpx.Client) -> None:
    store(client, "walls", BUNNY, trust_tier="untrusted")
    assert hook(client, "codex", "walls", "SessionStart", source="startup") == {}
    prompt = "What is the code phrase for the lighthouse?"
    assert hook(client, "codex", "walls", "UserPromptSubmit", prompt=prompt) == {}


FAILURE: Final = "Makefile:3: *** missing separator.  Stop.\nmake: *** [all] Error 2"
SESSION: Final = [
    {"role": "user", "content": "Please build it."},
    {"role": "assistant", "command": "make all", "call": "1"},
    {"role": "tool", "call": "1", "exit": 2, "content": FAILURE},
    {"role": "assistant", "tool": "edit", "file_path": "Makefile", "call": "2"},
    {"role": "tool", "call": "2", "content": "ok"},
    {"role": "assistant", "command": "make all", "call": "3"},
    {"role": "tool", "call": "3", "exit": 0, "content": "built"},
]
FAILED: Final[dict[str, Json]] = {
    "claude-code": {
        "event": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": "make all"},
        "error": FAILURE,
    },
    "codex": {
        "event": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "make all"},
        "tool_response": FAILURE,
    },
}  # fmt: skip


@OF_BOTH
def test_an_error_that_was_mended_before_is_answered_once_with_the_fix(
    client: httpx.Client, program: str
) -> None:
    agent = f"fix-{program}"
    observed = client.post("/observe", json={
        "agent": agent, "session": "before", "client": "generic", "entries": SESSION,
        "project": {"root": f"/srv/{agent}"},
    })  # fmt: skip
    assert observed.json()["stored"] == 1, observed.text
    failed = {**FAILED[program]}
    event = failed.pop("event")
    fix = told(hook(client, program, agent, event, **failed))
    assert "`make all` passed after" in fix
    assert "Makefile" in fix
    assert hook(client, program, agent, event, **failed) == {}
    # A sub-agent has not read what its parent was told.
    assert told(hook(client, program, agent, event, agent_id="a7", **failed)) == fix
    passed = {"tool_name": "Bash", "tool_input": {"command": "make all"}}
    reply = hook(
        client, program, agent, "PostToolUse", session_id="s3",
        tool_response={"output": FAILURE, "exit_code": 0}, **passed,
    )  # fmt: skip
    assert reply == {}


def test_a_fix_is_told_once_to_those_that_ask_at_once_and_not_without_its_deeds(
    client: httpx.Client,
) -> None:
    agent = "fix-at-once"
    # Deeds of more tokens than a hook may tell.
    edits = [
        {"role": "assistant", "tool": "edit", "file_path": f"/{'작업문서관리시스템' * 11}/{n}.py"}
        for n in range(12)
    ]
    client.post("/observe", json={
        "agent": agent, "session": "before", "client": "generic",
        "entries": [*SESSION[:3], *edits, *SESSION[5:]], "project": {"root": f"/srv/{agent}"},
    }).raise_for_status()  # fmt: skip
    failed = {**FAILED["claude-code"]}
    event = failed.pop("event")
    assert hook(client, "claude-code", agent, event, own={"max_chars": 330}, **failed) == {}
    with ThreadPoolExecutor(8) as several:
        asked = [
            several.submit(hook, client, "claude-code", agent, event, **failed) for _ in range(8)
        ]
        [fix] = [text for one in asked if (text := told(one.result()))]
    assert "작업문서관리시스템" in fix


@OF_BOTH
def test_a_file_that_memory_knows_comes_with_its_history(
    client: httpx.Client, program: str
) -> None:
    agent = f"file-{program}"
    store(client, agent, "harbour_gate.py must not import the tide tables at module level.")
    store(client, agent, "The other harbour has no gate.")
    used = {"tool_name": "Read", "tool_response": {"content": "import os"}}
    path = {"file_path": f"/srv/{agent}/src/harbour_gate.py"}
    history = told(hook(client, program, agent, "PostToolUse", tool_input=path, **used))
    assert "tide tables" in history
    assert "no gate" not in history
    assert hook(client, program, agent, "PostToolUse", tool_input=path, **used) == {}
    other = {"file_path": f"/srv/{agent}/src/nobody_knows.py"}
    assert hook(client, program, agent, "PostToolUse", tool_input=other, **used) == {}


@OF_BOTH
def test_a_file_is_not_told_what_is_known_of_its_namesake(
    client: httpx.Client, program: str
) -> None:
    agent = f"namesake-{program}"
    store(client, agent, "src/billing/config.py rounds after summing.")
    store(client, agent, "webconfig.py needs a port.")
    for number in range(25):
        store(client, agent, f"src/{number}/config.py: {number}.")
    for folder, known in (("auth", False), ("billing", True)):
        path = {"file_path": f"/srv/{agent}/src/{folder}/config.py"}
        used = {"tool_name": "Read", "tool_response": {"content": "x"}, "tool_input": path}
        history = told(hook(client, program, agent, "PostToolUse", **used))
        assert ("rounds after summing" in history) is known
        assert "needs a port" not in history


def test_a_notebook_comes_with_its_history(client: httpx.Client) -> None:
    store(client, "notebook", "tides.ipynb wants its first cell run twice.")
    used = {"tool_name": "NotebookEdit", "tool_response": {"new_source": "x"}}
    path = {"notebook_path": "/srv/notebook/tides.ipynb"}
    history = hook(client, "claude-code", "notebook", "PostToolUse", tool_input=path, **used)
    assert "first cell run twice" in told(history)


@OF_BOTH
def test_what_only_marks_is_answered_with_nothing(client: httpx.Client, program: str) -> None:
    agent = f"mark-{program}"
    for event in ("Stop", "PreCompact", "SessionEnd", "SubagentStop", "NeverHeardOf"):
        assert hook(client, program, agent, event, reason="other") == {}
        assert seen(client, agent, program)["last_event"] == event


def test_programs_are_listed_in_pages(client: httpx.Client) -> None:
    for program in PROGRAMS:
        hook(client, program, "pages", "Stop")
    for name in ("generic", "openclaw"):
        lines = {"agent": "pages", "session": "s", "client": name, "text": ""}
        assert client.post("/observe", json=lines).status_code == 200
    names: list[str] = []
    asked: dict[str, str] = {"agent": "pages", "limit": "1"}
    for _ in range(4):
        page = client.get("/clients", params=asked).json()
        assert len(page["clients"]) == 1
        names += [one["client"] for one in page["clients"]]
        asked["cursor"] = page["next_cursor"]
    assert page["next_cursor"] is None
    assert names == ["claude-code", "codex", "generic", "openclaw"]
    assert client.get("/clients", params={"limit": 0}).status_code == 422
    assert client.get("/clients", params={"cursor": "p"}).status_code == 422


def test_a_program_whose_sessions_go_on_uncaptured_is_warned_of(client: httpx.Client) -> None:
    agent = "silent"
    for number in range(3):
        hook(client, "codex", agent, "UserPromptSubmit", prompt="Go on.", session_id=f"s{number}")
    one = seen(client, agent, "codex")
    assert (one["hooks"], one["last_capture_at"]) == (3, None)
    assert "nothing of the last 3 prompts was captured" in one["warning"]
    for number in range(4):
        session = f"t{number}"
        hook(client, "codex", agent, "SessionStart", session_id=session)
        hook(client, "codex", agent, "UserPromptSubmit", prompt="Go on.", session_id=session)
        lines = {"agent": agent, "session": session, "client": "codex", "text": "", "final": True}
        assert client.post("/observe", json=lines).status_code == 200
    one = seen(client, agent, "codex")
    assert (one["hooks"], one["sessions"], one["warning"]) == (11, 4, None)


@pytest.mark.parametrize("said", ["Harbour", {"name": "harbour"}], ids=["text", "parts"])
def test_the_project_that_a_script_names_counts_before_the_folder_of_the_body(
    client: httpx.Client, said: object
) -> None:
    agent = f"named-{type(said).__name__}"
    store(client, agent, BUNNY, scope="harbour")
    reply = hook(client, "codex", agent, "SessionStart", own={"project": said}, cwd="/srv/ship")
    assert "blue bunny" in told(reply)
    [only] = client.get("/projects", params={"agent": agent}).json()["projects"]
    assert (only["scope"], only["roots"]) == ("harbour", [])


def test_a_body_as_the_program_sends_it_is_of_its_folder(client: httpx.Client) -> None:
    store(client, "bare", BUNNY)
    body = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "/srv/bare"}
    own = {"graph_memory": {"agent": "bare"}}
    assert "blue bunny" in told(client.post("/hooks/codex", json=body | own).json())


def test_a_session_that_is_switched_off_is_told_and_noted_nothing(client: httpx.Client) -> None:
    store(client, "off", BUNNY)
    off = {"agent": "off", "project": {"root": "/srv/off"}}
    assert client.post("/opt-outs", json=off).status_code == 200
    for event in ("SessionStart", "UserPromptSubmit"):
        assert hook(client, "codex", "off", event, prompt="the code phrase?") == {}
    assert client.get("/clients", params={"agent": "off"}).json()["clients"] == []


ODD: Final[list[bytes]] = [
    b"", b"{", b"[]", b"null", b"7", b'{"hook_event_name": 7}', b'{"hook_event_name": null}',
    b'{"hook_event_name": "SessionStart", "session_id": {"id": 1}, "source": ["startup"]}',
    b'{"hook_event_name": "SessionStart", "cwd": 5, "graph_memory": "yes"}',
    b'{"hook_event_name": "SessionStart", "graph_memory": {"project": 3, "max_chars": -1}}',
    b'{"hook_event_name": "UserPromptSubmit", "prompt": ["a", "b"], "session_id": ""}',
    b'{"hook_event_name": "PostToolUse", "tool_input": "make", "tool_response": null}',
    b'{"hook_event_name": "PostToolUseFailure", "tool_input": {"command": [1, "ls"]}}',
    b'{"hook_event_name": "UserPromptSubmit", "prompt": "lone \\ud800 and \\u0000 in it"}',
    json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "word " * 1_000_000}).encode(),
    json.dumps({"hook_event_name": "Turn/Start.v9", "session": {"a": [1]}, "x": "y"}).encode(),
    json.dumps({"hook_event_name": "SessionStart", "session_id": "s" * 10_000,
                "cwd": 'C:\\Users\\민아\\it\'s "mine"\\app'}).encode(),
]  # fmt: skip


@OF_BOTH
@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_a_body_of_no_version_that_there_is_hurts_nothing(
    client: httpx.Client, program: str, body: bytes
) -> None:
    answer = client.post(
        f"/hooks/{program}", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json().keys() <= {"hookSpecificOutput"}


@OF_BOTH
def test_half_a_character_in_a_prompt_hides_nothing(client: httpx.Client, program: str) -> None:
    agent = f"half-{program}"
    store(client, agent, BUNNY)
    # As JavaScript writes what it cut: half of a smiling face.
    prompt = "\ud83d What is the code phrase for the lighthouse?"
    own = {"agent": agent, "project": {"root": f"/srv/{agent}"}}
    body = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": prompt}
    answer = client.post(
        f"/hooks/{program}", content=json.dumps(body | {"graph_memory": own}),
        headers={"content-type": "application/json"},
    )  # fmt: skip
    assert "blue bunny" in told(answer.json())
    assert seen(client, agent, program)["injections"] == 1


def test_a_key_is_good_for_hooks_of_its_agent_alone(tmp_path: Any, embedding_url: str) -> None:
    with keyed_service(data_dir=tmp_path, embedding_url=embedding_url) as keyed:
        both = keyed.key(["read", "write"], ["ann"])[1]
        reads = keyed.key(["read"], ["ann"])[1]
        body: Json = {"hook_event_name": "Stop", "session_id": "s"}
        with keyed.client(both) as ann, keyed.client(reads) as reader, keyed.client("") as nobody:
            assert ann.post("/hooks/codex", json=body).json() == {}
            [one] = ann.get("/clients").json()["clients"]
            assert one["client"] == "codex"
            other = body | {"graph_memory": {"agent": "ben"}}
            assert ann.post("/hooks/codex", json=other).status_code == 403
            assert reader.post("/hooks/codex", json=body).status_code == 403
            assert nobody.post("/hooks/codex", json=body).status_code == 401


def test_fifty_prompts_repeat_nothing(service: RunningService) -> None:
    client, agent = service.client, "fifty"
    for number in range(10):
        store(client, agent, f"Crane number {number} lifts {number + 3} tons at pier {number}.")
    texts = [
        told(hook(client, "codex", agent, "UserPromptSubmit",
                  prompt=f"How many tons does crane number {number % 10} lift at the pier?"))
        for number in range(50)
    ]  # fmt: skip
    lines = [line for text in texts for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == len(set(lines)) >= 5
