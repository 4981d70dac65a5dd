"""What tools did with files for which memory is off stays where it is: nothing of it is sent."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.conftest import Hooks, Machine, contents
from tests.conftest import Start
from tests.servers.real_programs import program
from tests.servers.running import RunningService
from tests.waiting import until

Json = dict[str, Any]
# Neither name nor words of the file may be sent.
PLAN: Final = "The merger with Quillon closes in March."
SECRET: Final = ("Quillon", "plan.md")
# By what names a file in the folder `secret` is called, for the project and the home above it.
NAMES: Final[dict[str, Callable[[Path], str]]] = {
    "relative": lambda _: "secret/plan.md",
    "absolute": lambda project: str(project / "secret" / "plan.md"),
    "dot": lambda _: "./secret/plan.md",
    "up": lambda _: "open/../secret/./plan.md",
    "home": lambda project: f"~/{project.name}/secret/plan.md",
    "slashes": lambda project: f"//{project}//secret//plan.md",
    "link to the folder": lambda _: "link/plan.md",
    "link to the file": lambda _: "notes.md",
}
CLAUDE: Final[dict[str, Callable[[str], tuple[str, Json]]]] = {
    "Read": lambda path: ("Read", {"file_path": path}),
    "Edit": lambda path: ("Edit", {"file_path": path, "old_string": PLAN, "new_string": "x"}),
    "MultiEdit": lambda path: ("MultiEdit", {"file_path": path, "edits": [{"old_string": PLAN}]}),
    "Write": lambda path: ("Write", {"file_path": path, "content": PLAN}),
    "NotebookEdit": lambda path: ("NotebookEdit", {"notebook_path": path, "new_source": PLAN}),
    "Grep": lambda path: ("Grep", {"pattern": "Quillon", "path": path, "output_mode": "content"}),
    "Glob": lambda path: ("Glob", {"pattern": path}),
    "Bash": lambda path: ("Bash", {"command": f"cat {quoted(path)} | head"}),
    "sed": lambda path: ("Bash", {"command": f"sed -n '/Quillon/p' <{quoted(path)}"}),
    "option": lambda path: ("Bash", {"command": f"make --file={quoted(path)} X='Quillon'"}),
    "written": lambda path: ("Bash", {"command": f"cat > {quoted(path)} <<X\nit's Quillon\nX"}),
    "python": lambda path: ("Bash", {"command": f"python -c \"open({path!r}).write('Quillon')\""}),
    "MCP": lambda path: ("mcp__files__read", {"paths": ["a.md", path]}),
}
CODEX: Final[dict[str, Callable[[str], Json]]] = {
    "exec_command": lambda path: {"name": "exec_command", "cmd": f"cat {quoted(path)}"},
    "shell": lambda path: {"name": "shell", "command": ["bash", "-lc", f"cat {quoted(path)}"]},
    "words": lambda path: {"name": "shell", "command": ["grep", "Quillon", path]},
    "view_image": lambda path: {"name": "view_image", "path": path},
    "apply_patch": lambda path: {"name": "apply_patch", "input": patch(path)},
}


def quoted(path: str) -> str:
    """Return a path as people write it to a shell, which knows its home."""
    return path if path.startswith("~") else shlex.quote(path)


def patch(path: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{PLAN}\n+x\n*** End Patch"


@pytest.fixture
def away(hooks: Hooks) -> Hooks:
    """Return hooks whose service is away, in a project with a folder for which memory is off."""
    hooks.connect("http://127.0.0.1:9")
    hooks.project = hooks.project.parent / "crane"
    (hooks.project / "secret").mkdir(parents=True)
    (hooks.project / "open").mkdir()
    (hooks.project / "secret" / "plan.md").write_text(PLAN)
    (hooks.project / "link").symlink_to("secret")
    (hooks.project / "notes.md").symlink_to("secret/plan.md")
    (hooks.project / ".graph-memory.toml").write_text('exclude = ["secret"]\n')
    hooks.more["HOME"] = str(hooks.project.parent)
    return hooks


def claude(name: str, given: Json, answer: object, more: object = None) -> list[Json]:
    """Return a call as Claude Code writes it down, with what came back."""
    block = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    gave = {"type": "tool_result", "tool_use_id": "t1", "content": answer}
    return [
        {"type": "assistant", "message": {"role": "assistant", "content": [block]}},
        {"type": "user", "message": {"content": [gave]}, "toolUseResult": more or answer},
    ]


def codex(name: str, given: Json | str, answer: str, **more: str) -> list[Json]:
    """Return a call as Codex writes it down, with what came back."""
    said = {"arguments": json.dumps(given)} if isinstance(given, dict) else {"input": given}
    kind = "function_call" if isinstance(given, dict) else "custom_tool_call"
    done = {"type": "exec_command_end", "call_id": "c1", "aggregated_output": answer}
    told = {"type": kind, "name": name, "call_id": "c1", **said, **more}
    return [
        {"type": "response_item", "payload": told},
        {"type": "event_msg", "payload": done},
        {"type": "response_item",
         "payload": {"type": f"{kind}_output", "call_id": "c1", "output": answer}},
    ]  # fmt: skip


def sent(hooks: Hooks, *lines: Json, program: str = "claude-code") -> str:
    """Return what is sent of a transcript with these lines: it waits, as the service is away."""
    path = hooks.say()
    with Path(path).open("a") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    hooks.send("Stop", transcript_path=path, program=program)
    items = [json.loads(one.read_text()) for one in hooks.waiting]
    text = "".join(one["text"] for one in items)
    # Places in it are what they are in the transcript.
    assert text.encode().count(b"\n") == Path(path).read_bytes().count(b"\n")
    assert len(text.encode()) == Path(path).stat().st_size
    return text


def check_left_out(text: str) -> None:
    assert not [word for word in SECRET if word in text], text


@pytest.mark.parametrize("named", NAMES)
@pytest.mark.parametrize("tool", CLAUDE)
def test_a_call_of_claude_code_is_left_out(away: Hooks, tool: str, named: str) -> None:
    name, given = CLAUDE[tool](NAMES[named](away.project))
    file = {"type": "text", "file": {"filePath": "x", "content": PLAN}}
    check_left_out(sent(away, *claude(name, given, f"1\t{PLAN}", file)))


@pytest.mark.parametrize("named", NAMES)
@pytest.mark.parametrize("tool", CODEX)
def test_a_call_of_codex_is_left_out(away: Hooks, tool: str, named: str) -> None:
    given = CODEX[tool](NAMES[named](away.project))
    name, told = given.pop("name"), given.get("input", given)
    check_left_out(sent(away, *codex(name, told, PLAN), program="codex"))


# What a search found, a difference told, and what a program wrote down of a file that was named.
FOUND: Final = [
    claude("Grep", {"pattern": "merger"}, f"secret/plan.md:1:{PLAN}"),
    claude("Grep", {"path": "open/.."}, [{"type": "text", "text": "secret/plan.md"}]),
    claude("Bash", {"command": "cd open && grep -rn merger .."}, f"../secret/plan.md:1:{PLAN}"),
    claude("Bash", {"command": "cd open; grep -n merger ../se*/*"}, f"1:{PLAN}"),
    claude("Bash", {"command": "cat 'sec'ret/pl?n.md"}, PLAN),
    claude("Bash", {"command": "cat {secret,open}/p"}, PLAN),
    claude("Bash", {"command": "git show"}, f"--- a/secret/plan.md\n+++ b/secret/plan.md\n+{PLAN}"),
    claude("Bash", {"command": "tail -n 1 */*"}, f"==> secret/plan.md <==\n{PLAN}"),
    claude("Glob", {"pattern": "**/*.md"}, "secret/plan.md", {"filenames": ["secret/plan.md"]}),
    codex("exec_command", {"cmd": "cat plan.md", "workdir": "secret"}, PLAN),
    codex("exec_command", {"cmd": "rg"}, json.dumps({"output": f"a\nsecret/plan.md:1:{PLAN}"})),
    [{"type": "attachment", "attachment": {"type": "file", "filename": "x", "content": PLAN}}],
    [{"type": "api-request-blob", "message": {"role": "user", "content": f"1\t{PLAN}"}}],
    [{"type": "event_msg", "payload": {"type": "x", "last_agent_message": PLAN}}],
    [{"type": "response_item", "payload": {"type": "reasoning", "summary": [{"text": PLAN}]}}],
    [{"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": PLAN}]}}],
    [{"type": "user", "message": {"content": "<bash-input>cat secret/plan.md</bash-input>"}},
     {"type": "user", "message": {"content": f"<bash-stdout>{PLAN}</bash-stdout>"}}],
    [{"type": "user", "message": {"content": [
        {"type": "text", "text": f"<ide_selection>Lines 1 to 2 from secret/plan.md:\n{PLAN}"}]}}],
    [{"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "text", "text": f"# Context from my IDE setup:\nsecret/plan.md\n{PLAN}"}]}}],
    [{"type": "user", "isCompactSummary": True, "message": {"content": PLAN}}],
    [{"type": "user", "isMeta": True, "message": {"content": PLAN}}],
    [{"type": "assistant", "isSidechain": True, "message": {"content": PLAN}}],
    [{"type": "assistant", "cwd": "{project}/secret", "message": {"content": PLAN}}],
]  # fmt: skip


@pytest.mark.parametrize("lines", FOUND, ids=range(len(FOUND)))
def test_what_names_such_a_file_on_its_way_back_is_left_out(away: Hooks, lines: list[Json]) -> None:
    told = json.dumps(lines).replace("{project}", str(away.project))
    check_left_out(sent(away, *json.loads(told)))


def test_what_comes_back_after_a_turn_is_left_out_with_its_call(away: Hooks) -> None:
    call, back = claude("Read", {"file_path": "secret/plan.md"}, PLAN)
    sent(away, call)
    check_left_out(sent(away, back))


def test_what_comes_back_from_no_call_that_is_known_is_left_out(away: Hooks) -> None:
    check_left_out(sent(away, claude("Read", {"file_path": "secret/plan.md"}, PLAN)[1]))


def test_a_folder_that_says_so_itself_is_left_out(away: Hooks) -> None:
    (away.project / ".graph-memory.toml").unlink()
    other = away.project.parent / "elsewhere"
    other.mkdir()
    (other / "plan.md").write_text(PLAN)
    (other / ".graph-memory.toml").write_text("off = tru\n")
    lines = claude("Bash", {"command": f"sh ../elsewhere/plan.md {PLAN}"}, PLAN)
    check_left_out(sent(away, *lines))
    (other / ".graph-memory.toml").write_text("off = false\n")
    (away.project.parent / ".graph-memory.toml").write_text("off = true\n")
    (away.project / ".graph-memory.toml").write_text("off = false\n")
    assert "Quillon" in sent(away, *lines)


def test_nothing_of_it_is_stored_and_what_else_was_done_is(away: Hooks, start: Start) -> None:
    service = start()
    away.connect(service.url)
    failed, passed = claude("Bash", {"command": "make tides"}, "Error: no table"), []
    failed[1]["message"]["content"][0]["is_error"] = True
    for name, given in (
        ("Edit", {"file_path": "secret/plan.md"}),
        ("Edit", {"file_path": "Makefile"}),
        ("Bash", {"command": "echo Quillon > secret/plan.md"}),
        ("Bash", {"command": "make tides"}),
    ):
        passed += claude(name, given, "done")
    path = Path(away.say("Build the tides."))
    path.write_text(path.read_text() + "".join(json.dumps(one) + "\n" for one in failed + passed))
    away.send("Stop", transcript_path=str(path))
    away.send("SessionEnd", transcript_path=str(path))
    until(lambda: len(contents(service.client)) == 2)
    [handoff, fix] = contents(service.client)
    assert "What was done before it passed:\n- changed Makefile\n\n(" in fix
    assert "Files touched: Makefile" in handoff
    check_left_out(fix + handoff)


OPEN: Final = [
    claude("Bash", {"command": "make tides"}, "exit 2"),
    claude("Edit", {"file_path": "a.md", "old_string": "secret/plan.md", "new_string": "x"}, "ok"),
    claude("TodoWrite", {"todos": [{"content": "read secret/plan.md"}]}, "ok"),
    codex("apply_patch", patch("a.md").replace("x", "See secret/plan.md: Quillon"), "ok"),
    claude("Bash", {"command": f"echo {'YQ/' + 300 * 'x'}/b"}, f"{300 * 'x'}/b.c: {400 * 'a/'}"),
    [{"type": "user", "message": {"content": "The plan of Quillon is in secret/plan.md."}}],
    [{"type": "attachment", "attachment": {"type": "queued_command", "prompt": "secret/plan.md"}}],
    [{"role": "user", "content": "See secret/plan.md."}],
    [{"role": "assistant", "tool": "Bash", "command": "make", "call": "1"},
     {"role": "tool", "call": "1", "exit": 2, "content": "secrets: none"}],
]  # fmt: skip


@pytest.mark.parametrize("lines", OPEN, ids=range(len(OPEN)))
def test_all_else_is_sent_as_it_is(away: Hooks, lines: list[Json]) -> None:
    bare = [{name: one for name, one in line.items() if name != "toolUseResult"} for line in lines]
    told = [line for line in sent(away, *lines).split("\n") if line.strip()]
    assert [json.loads(line) for line in told] == [
        one for one in bare if one.get("type") != "event_msg"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_the_real_programs_write_nothing_of_it_that_is_sent(
    machine: Machine, memory: RunningService, client: str
) -> None:
    """What they write down of a file stands in more lines than those of its tool."""
    assert memory.url
    if client == "codex":
        machine.put_codex()
    else:
        machine.put("claude", program("claude"))
    machine.graph_memory("connect", client)
    home = machine.home / (".codex" if client == "codex" else ".claude") / "graph-memory"
    told = json.loads((home / "client.json").read_text())
    (home / "client.json").write_text(json.dumps(told | {"url": "http://127.0.0.1:9"}))
    (machine.project / "secret").mkdir()
    (machine.project / "secret" / "plan.md").write_text(PLAN)
    (machine.project / ".graph-memory.toml").write_text('exclude = ["secret"]\n')
    if client == "codex":
        machine.model.tool = {"name": "exec_command", "input": {"cmd": "cat secret/plan.md"}}
        trust = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        machine.run("codex", "exec", *trust, "Read it.")
    else:
        path = str(machine.project / "secret" / "plan.md")
        machine.model.tool = {"name": "Read", "input": {"file_path": path}}
        machine.claude("Read @secret/plan.md.")
    assert "Quillon" in machine.model.texts()[-1]
    sent = "".join(one.read_text() for one in (home / "spool").glob("*.json"))
    assert "Read " in sent
    assert "Quillon" not in sent
