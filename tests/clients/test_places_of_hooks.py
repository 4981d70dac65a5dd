"""Where memory is off for a hook: there where commands refuse, and for good."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.commands.here import find_place
from service.errors import InvalidRequest
from tests.clients.conftest import SCRIPTS, Hooks, clients, contents
from tests.conftest import Start

SAID = "Please remember that the merger with Acme closes in March."


def told_of(folder: Path) -> object:
    """Return what a hook tells the service of a folder; None where it says that memory is off."""
    code = (
        "import json, sys, place; found = place.find_place(sys.argv[1]); "
        "print(json.dumps(found and found.told()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True,
        check=False, cwd=SCRIPTS, env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0 or "place.Unsound" in done.stderr, done.stderr
    return json.loads(done.stdout) if done.returncode == 0 else None


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("off = true", 'agent = "work"'),
        ('exclude = ["clients"]', 'project = "acme"'),
        ("off = true", "off = false"),
        ('exclude = "clients"', ""),
        ("of = true", ""),
        ('off = "true"', 'project = "acme"'),
        ("agent =", "off = false"),
        ("", 'project = ""'),
    ],
)
def test_memory_is_off_for_a_hook_where_it_is_for_commands(
    tmp_path: Path, above: str, below: str
) -> None:
    folder = tmp_path / "clients" / "acme"
    folder.mkdir(parents=True)
    (tmp_path / ".graph-memory.toml").write_text(f"{above}\n")
    (folder / ".graph-memory.toml").write_text(f"{below}\n")
    try:
        expected: object = find_place(None, None, folder) or {"project": {"root": str(folder)}}
    except InvalidRequest:
        expected = None
    assert told_of(folder) == expected


@pytest.mark.parametrize(
    "rule",
    [
        "clients", "clients/", "./clients", "/clients", "clients/**", "./clients//", "**/clients",
        "clients/../clients", "{folder}/clients", "cl?ents", "clients*", ".", "**",
    ],
)  # fmt: skip
def test_a_folder_is_excluded_however_that_is_written(tmp_path: Path, rule: str) -> None:
    (tmp_path / "clients" / "acme").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    written = json.dumps(rule.format(folder=tmp_path))
    (tmp_path / ".graph-memory.toml").write_text(f"exclude = [{written}]\n")
    for place in ("clients", "clients/acme"):
        assert told_of(tmp_path / place) is None
        with pytest.raises(InvalidRequest):
            find_place(None, None, tmp_path / place)
    if rule not in {".", "**"}:
        assert told_of(tmp_path / "other") is not None
        find_place(None, None, tmp_path / "other")


def test_brackets_in_a_name_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "[id]").mkdir()
    (tmp_path / ".graph-memory.toml").write_text('exclude = ["[id]"]\n')
    assert told_of(tmp_path / "[id]") is None
    with pytest.raises(InvalidRequest):
        find_place(None, None, tmp_path / "[id]")


def test_a_file_is_read_as_windows_writes_it(tmp_path: Path) -> None:
    file = tmp_path / ".graph-memory.toml"
    file.write_text('agent = "work"\nproject = "acme"\n', "utf-8-sig")
    assert find_place(None, None, tmp_path) == {"agent": "work", "project": "acme"}
    assert told_of(tmp_path) == {"agent": "work", "project": "acme"}


def test_a_worktree_is_the_project_of_its_repository(tmp_path: Path) -> None:
    repository, tree = tmp_path / "repository", tmp_path / "tree"
    git = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@y"]
    repository.mkdir()
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True)
    assert told_of(tree) == find_place(None, None, tree) == told_of(repository)


@pytest.mark.parametrize(
    "said", ["Crane", "git@example.org:ann/crane.git", "/srv/crane", "none"], ids=range(4)
)
def test_a_session_is_told_what_was_kept_of_the_project_that_a_file_names(
    hooks: Hooks, start: Start, said: str
) -> None:
    service = start()
    hooks.connect(service.url)
    (hooks.project / ".graph-memory.toml").write_text(f'project = "{said}"\n')
    where = {} if said == "none" else {"project": said}
    left = {"text": "Next: grease the jib.", **where}
    assert service.client.post("/handoff", json=left).status_code == 201
    hooks.send("Stop", transcript_path=hooks.say("From now on grease the jib each May."))
    told = json.dumps(hooks.send("SessionStart", source="startup", session_id="s2"))
    assert "Next: grease the jib." in told
    assert "From now on grease the jib each May." in told
    assert len(service.client.get("/projects").json()["projects"]) == len(where)
    if where:
        assert service.client.post("/opt-outs", json=where).status_code == 200
        assert hooks.send("SessionStart", source="startup", session_id="s3") == {}


def test_a_file_that_makes_no_sense_is_told_and_nothing_is_kept(hooks: Hooks) -> None:
    hooks.connect("http://127.0.0.1:9")
    (hooks.project / ".graph-memory.toml").write_text('exclude = "clients"\n')
    assert hooks.send("Stop", transcript_path=hooks.say(SAID)) == {}
    assert hooks.waiting == []
    told = (hooks.home / "graph-memory" / "last-failure").read_text()
    assert ".graph-memory.toml makes no sense of exclude: memory is off there" in told


def test_what_was_said_while_memory_was_off_is_never_sent(hooks: Hooks, start: Start) -> None:
    service = start()
    hooks.connect(service.url)
    off = hooks.project / "private"
    off.mkdir()
    (off / ".graph-memory.toml").write_text("off = true\n")
    before, after = "Please remember that gate 1 is red.", "Please remember that gate 2 is red."
    hooks.send("Stop", transcript_path=hooks.say(before))
    hooks.send("Stop", transcript_path=hooks.say(SAID), cwd=str(off))
    hooks.send("Stop", transcript_path=hooks.say(after))
    assert contents(service.client) == [before, after]


@pytest.mark.parametrize("name", ["file_path", "notebook_path"])
def test_nothing_is_told_of_a_file_that_is_excluded(hooks: Hooks, start: Start, name: str) -> None:
    service = start()
    hooks.connect(service.url)
    (hooks.project / ".graph-memory.toml").write_text('exclude = ["clients"]\n')
    (hooks.project / "clients").mkdir()
    (hooks.project / "link").symlink_to("clients")
    where = {"root": str(hooks.project)}
    body = {"text": "tides.ipynb wants its first cell run twice.", "project": where}
    assert service.client.post("/memories", json=body).status_code == 201

    def told_of_file(folder: str) -> str:
        used = {"tool_name": "Edit", "tool_response": {}}
        path = {name: f"{folder}/tides.ipynb"}
        return json.dumps(hooks.send("PostToolUse", tool_input=path, **used))

    for folder in ("clients", "./harbour/../clients", "link", str(hooks.project / "clients")):
        assert told_of_file(folder) == "{}", folder
    assert "first cell" in told_of_file(str(hooks.project / "harbour"))


@pytest.mark.parametrize(
    "used",
    [
        {"tool_input": {"command": "cat clients/acme.md"}, "error": "No such file."},
        {"tool_input": {"command": "grep -rn x ."}, "tool_response": {"stdout": "clients/acme:x"}},
    ],
)
def test_nothing_is_sent_of_a_command_that_had_an_excluded_file(
    hooks: Hooks, start: Start, used: dict[str, object]
) -> None:
    service = start()
    hooks.connect(service.url)
    hooks.send("PostToolUseFailure", tool_name="Bash", **used)
    assert clients(service)["claude-code"]["hooks"] == 1
    (hooks.project / ".graph-memory.toml").write_text('exclude = ["clients"]\n')
    hooks.send("PostToolUseFailure", tool_name="Bash", **used)
    assert clients(service)["claude-code"]["hooks"] == 1
