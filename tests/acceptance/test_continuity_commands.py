"""Handoffs, working memory and decisions from a shell: the seed's own lines, per git repository."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.test_command import _environment, _serving

WHEN = r"\d{4}-\d\d-\d\d \d\d:\d\d"


class Shell:
    """A folder to run the command in, and its store."""

    def __init__(self, own: dict[str, str], folder: Path) -> None:
        self._own = own
        self.folder = folder

    def run(self, *words: str) -> tuple[int, str]:
        """Return how it ended and what it printed."""
        inherited = {n: v for n, v in os.environ.items() if not n.startswith("MEMORY_")}
        done = subprocess.run(
            [sys.executable, "-m", "service", *words], cwd=self.folder, capture_output=True,
            text=True, timeout=60, check=False,
            env={**inherited, "PYTHONPATH": os.pathsep.join(sys.path), **self._own},
        )  # fmt: skip
        return done.returncode, done.stdout if done.returncode == 0 else done.stderr

    def said(self, *words: str) -> str:
        """Return what a command that ends well printed."""
        code, told = self.run(*words)
        assert code == 0, told
        return told


def _repository(folder: Path, remote: str | None) -> Path:
    folder.mkdir(parents=True)
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    if remote:
        subprocess.run([*git, "remote", "add", "origin", remote], check=True)
    return folder


def test_the_seeds_own_lines(tmp_path: Path) -> None:
    shell = Shell(_environment(tmp_path), tmp_path)
    text = "Release checklist done. Next: run regression on payment flow."
    assert shell.said("handoff", "read") == "No handoff was written yet.\n"
    assert shell.said("handoff", "write", text) == "Handoff written (61 chars)\n"
    read = shell.said("handoff", "read")
    assert re.fullmatch(rf"# Session Handoff\nUpdated: {WHEN}\n\n{re.escape(text)}\n", read)
    focus = "Current focus: stabilize deployment pipeline."
    assert shell.said("working-memory", "show") == "The working memory is empty.\n"
    assert shell.said("working-memory", "set", focus) == "Working memory set (45 chars)\n"
    more = "Regression tests passed for 3 critical paths."
    assert shell.said("working-memory", "update", more) == "Working memory updated (45 chars)\n"
    shown = shell.said("working-memory", "show")
    form = rf"# Working Memory\nUpdated: {WHEN}\n\n{re.escape(focus)}\n\n## \[{WHEN}\]\n{more}\n"
    assert re.fullmatch(form, shown)
    assert shell.said("working-memory", "clear") == "Working memory cleared\n"
    decision = "Use append-only decision log for governance."
    line = rf"- \[{WHEN}\] \[architecture\] {decision}\n"
    logged = shell.said("decision", "log", decision, "--tag", "architecture")
    assert re.fullmatch(f"Logged: {line}", logged)
    assert re.fullmatch(line, shell.said("decision", "list", "--last", "5"))
    assert shell.said("session-context", "--max-chars", "9") == "Nothing of what is known fits.\n"
    context = shell.said("session-context")
    assert (decision in context, text in context) == (True, True)


def test_a_line_of_untrusted_words_ends_with_that(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    with _serving(own) as (client, _):
        made = client.post("/keys", json={"name": "x", "scopes": ["read", "write", "admin"]})
        client.headers["Authorization"] = f"Bearer {made.json()['key']}"
        other = client.post("/keys", json={"name": "crawler", "origin": "untrusted"}).json()["key"]
        crawler = Shell(own | {"MEMORY_API_KEY": other}, tmp_path)
        shell = Shell(own | {"MEMORY_API_KEY": made.json()["key"]}, tmp_path)
        for by, words in ((crawler, "Fetched words."), (shell, "Own words.")):
            by.said("handoff", "write", words)
            by.said("working-memory", "set", words)
            by.said("decision", "log", words)
            lines = [
                *(shell.said(what, do).splitlines()[1] for what, do in _SHOWN),
                next(one for one in shell.said("decision", "list").splitlines() if words in one),
            ]
            ends = [line.endswith(" (untrusted)") for line in lines]
            assert ends == [by is crawler] * 3, lines
        for command in (("search", "--raw"), ("recall",)):
            told = shell.said(*command, "fetched words").splitlines()
            assert any(line.endswith("  untrusted") for line in told), told
            assert not all(line.endswith("  untrusted") for line in told if "of 20" in line), told


_SHOWN = (("handoff", "read"), ("working-memory", "show"))


def test_each_repository_has_its_own(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    app = _repository(tmp_path / "my 앱's" / "app", "git@github.com:ann/app.git")
    copy = _repository(tmp_path / "copy", "https://ann:s3cret@github.com/ann/app")
    bare = _repository(tmp_path / "bare", None)
    named = tmp_path / "named" / "below"
    named.mkdir(parents=True)
    (named.parent / ".graph-memory.toml").write_text('project = "github.com/ann/app"\n')
    with _serving(own) as (client, _):
        assert Shell(own, app).said("handoff", "write", "Of the app.").startswith("Handoff")
        below = app / "src"
        below.mkdir()
        for folder in (below, copy, named):
            assert "Of the app." in Shell(own, folder).said("handoff", "read")
        for folder in (bare, tmp_path):
            assert "No handoff" in Shell(own, folder).said("handoff", "read")
        for words in (("--project", "github.com/ann/app"), ("--project", str(app))):
            assert "Of the app." in Shell(own, tmp_path).said("handoff", "read", *words)
        assert "No handoff" in Shell(own, app).said("handoff", "read", "--project", "none")
        # A worktree of a repository without a remote is that repository.
        git = ["git", "-C", str(bare), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
        subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "tree")], check=True)
        Shell(own, bare).said("handoff", "write", "Of the bare one.")
        assert "Of the bare one." in Shell(own, tmp_path / "tree").said("handoff", "read")
        # One that gets its remote later is what it was, for a reader too.
        subprocess.run([*git, "remote", "add", "origin", "git@h.org:ann/bare.git"], check=True)
        assert "Of the bare one." in Shell(own, bare).said("handoff", "read")
        assert "s3cret" not in client.get("/projects").text
        assert [one["scope"] for one in client.get("/projects").json()["projects"]] == [
            str(bare),
            "github.com/ann/app",
        ]


@pytest.mark.parametrize(
    "text",
    [
        "agent = ",
        "who = 'me'\n",
        "agent = 7\n",
        "project = ''\n",
        "off = 'yes'\n",
        "exclude = 'clients'\n",
        "exclude = [7]\n",
    ],
)
def test_a_file_that_makes_no_sense_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / ".graph-memory.toml").write_text(text)
    code, told = Shell(_environment(tmp_path), tmp_path).run("handoff", "read")
    assert (code, ".graph-memory.toml" in told, told.count("\n")) == (1, True, 1)


def test_memory_is_off_where_a_file_says_so(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    folders = {name: tmp_path / "work" / name for name in ("open", "clients/acme", "drafts/21")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    file = tmp_path / "work" / ".graph-memory.toml"
    file.write_text('project = "work"\nexclude = ["clients/", "drafts/2*"]\n')
    logs = tmp_path / "logs"
    logs.mkdir()
    for n, (name, folder) in enumerate(folders.items()):
        line = {
            "type": "user", "sessionId": f"s-{n}", "cwd": str(folder),
            "message": {"role": "user", "content": f"From now on use tabs in {name} files."},
        }  # fmt: skip
        (logs / f"{n}.jsonl").write_text(json.dumps(line) + "\n")
    with _serving(own) as (client, _):
        assert Shell(own, folders["open"]).said("handoff", "write", "Next.").startswith("Handoff")
        for name in ("clients/acme", "drafts/21"):
            code, told = Shell(own, folders[name]).run("handoff", "write", "Secret.")
            assert (code, "switched off here" in told) == (1, True)
        observed = Shell(own, tmp_path).run("observe", str(logs))
        assert observed[0] == 0, observed
        texts = [one["content"] for one in client.get("/memories").json()["memories"]]
        assert "From now on use tabs in open files." in texts
        assert not [text for text in texts if "acme" in text or "drafts" in text]
        # A file below speaks of its folder, and does not undo that.
        below = folders["clients/acme"] / ".graph-memory.toml"
        below.write_text('project = "acme"\n')
        assert Shell(own, folders["clients/acme"]).run("handoff", "read")[0] == 1
        below.write_text('project = "acme"\noff = false\n')
        assert "No handoff" in Shell(own, folders["clients/acme"]).said("handoff", "read")
        below.unlink()
        file.write_text("off = true\n")
        assert Shell(own, folders["open"]).run("session-context")[0] == 1
        # A session that the service has switched off is passed over, and said.
        file.unlink()
        assert client.post("/opt-outs", json={"session": "s-1"}).status_code == 200
        assert Shell(own, tmp_path).run("observe", str(logs))[0] == 0
        left = [one["content"] for one in client.get("/memories").json()["memories"]]
        assert [text for text in left if "drafts/21" in text]
        assert not [text for text in left if "acme" in text]


@pytest.mark.parametrize("path", ["clients/acme.md", "./link/acme.md"])
def test_what_was_done_with_an_excluded_file_is_no_part_of_a_transcript(
    tmp_path: Path, path: str
) -> None:
    own, folder = _environment(tmp_path), tmp_path / "work"
    (folder / "clients").mkdir(parents=True)
    (folder / "link").symlink_to("clients")
    (folder / ".graph-memory.toml").write_text('project = "work"\nexclude = ["clients"]\n')
    asked = {"role": "user", "content": "Write it down."}
    lines: list[dict[str, object]] = [{"type": "user", "cwd": str(folder), "message": asked}]
    for call, name in enumerate((path, "open.md", 300 * "x" + "/a", path)):
        used = {"type": "tool_use", "id": f"t{call}", "name": "Edit", "input": {"file_path": name}}
        gave = {"type": "tool_result", "tool_use_id": f"t{call}", "content": "done"}
        lines += [{"type": "assistant", "message": {"content": [used]}}]
        lines += [{"type": "user", "message": {"content": [gave]}}]
    log = tmp_path / "s-1.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with _serving(own) as (client, _):
        assert Shell(own, tmp_path).run("observe", str(log))[0] == 0
        [handoff] = [one["content"] for one in client.get("/memories").json()["memories"]]
        assert "Files touched: open.md, xxx" in handoff
        assert "acme" not in handoff


@pytest.mark.parametrize(
    ("said", "scope"), [('project = "none"\n', None), ('project = "crane"\n', "crane")]
)
def test_a_transcript_is_of_the_project_that_a_file_in_its_folder_names(
    tmp_path: Path, said: str, scope: str | None
) -> None:
    own, work, logs = _environment(tmp_path), tmp_path / "work", tmp_path / "logs"
    for folder in (work, logs):
        folder.mkdir()
    (work / ".graph-memory.toml").write_text(said)
    told = {"role": "user", "content": "From now on use tabs."}
    line = {"type": "user", "sessionId": "a", "cwd": str(work), "message": told}
    (logs / "a.jsonl").write_text(json.dumps(line) + "\n")
    with _serving(own) as (client, _):
        assert Shell(own, tmp_path).run("observe", str(logs))[0] == 0
        kept = client.get("/memories").json()["memories"]
        assert {one["scope"] for one in kept} == {scope}
        assert "Last request" in Shell(own, work).said("handoff", "read")


def test_a_transcript_that_may_not_be_read_stops_no_other(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    logs = tmp_path / "logs"
    logs.mkdir()
    said = {"a": "off = 'yes'\n", "b": 'agent = "work"\n', "c": ""}
    for name, text in said.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / ".graph-memory.toml").write_text(text)
        line = {
            "type": "user", "sessionId": name, "cwd": str(folder),
            "message": {"role": "user", "content": f"From now on use tabs in {name} files."},
        }  # fmt: skip
        (logs / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    with _serving(own) as (client, _):
        made = client.post("/keys", json={"name": "x", "scopes": ["read", "write", "admin"]})
        client.headers["Authorization"] = f"Bearer {made.json()['key']}"
        least = {"name": "y", "scopes": ["read", "write"], "agents": ["main"]}
        key = client.post("/keys", json=least).json()["key"]
        code, told = Shell(own | {"MEMORY_API_KEY": key}, tmp_path).run("observe", str(logs))
        assert (code, "a.jsonl" in told, "b.jsonl" in told) == (1, True, True)
        assert "Passed over, as they could not be read: 2." in told
        texts = [one["content"] for one in client.get("/memories").json()["memories"]]
        assert "From now on use tabs in c files." in texts
        # A key that is wrong is so for all of them.
        wrong = own | {"MEMORY_API_KEY": "gm_000000000000_" + "x" * 43}
        code, told = Shell(wrong, tmp_path).run("observe", str(logs))
        assert (code, "could not be read: 2" in told) == (1, False)
