"""store, recall, ask, show and forget from a shell, with the service running and without."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from service.client.answers import RecallAnswer
from service.client.reports import SummaryOfGroup
from service.commands.consolidate import _table
from service.commands.recall import trees_of
from service.commands.terminal import answers
from tests.acceptance.test_command import _environment, _serving
from tests.acceptance.test_continuity_commands import Shell

TURNING = "\u202e"
_BARE = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}


def _plain(tree: Any) -> list[Any]:
    """Return a tree as its words, those below it in a list."""
    return [str(tree.label), *([_plain(child) for child in tree.children])]


def test_a_memory_from_its_first_word_to_its_last(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    shell = Shell(own, tmp_path)
    # Without a service: the command opens the store itself.
    told = shell.said("store", "The code phrase is blue bunny.", "--title", "Code phrase")
    key = told.split()[1].rstrip(",.")
    assert told.startswith(f"Created {key}")
    again = shell.said("store", "The code phrase is blue bunny.", "--title", "Code phrase")
    assert again.startswith(f"Duplicate {key}")
    with _serving(own):
        found = json.loads(shell.said("search", "code phrase", "--json"))
        assert [hit["id"] for hit in found["results"]] == [key]
        shown = shell.said("show", key)
        assert "The code phrase is blue bunny." in shown
        assert key in shown
        assert json.loads(shell.said("show", key, "--json"))["content"].endswith("blue bunny.")
        assert shell.said("forget", "--matching", "bunny").startswith(f"{key}  Code phrase (note")
        code, why = shell.run("forget", key)
        assert (code, "--yes" in why) == (1, True)
        assert shell.said("forget", key, "--yes") == "Forgotten: 1.\n"
        code, why = shell.run("search", "code phrase")
        assert (code, why.splitlines()[-1]) == (3, "Nothing was found.")
        assert shell.run("recall", "code phrase")[0] == 3
    assert shell.run("show", key)[0] == 1
    # Nor does a command that opens the store itself tell of that.
    assert "INFO" not in _ended(shell, own, "ask", "code phrase").stderr


def test_what_goes_with_another_is_forgotten_with_the_rest(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    shell = Shell(own, tmp_path)
    with _serving(own) as (client, _):
        turns = [{"role": "user", "content": "Remember: Wolfram Quist owns the crane."}]
        body = {"session": "s", "client": "generic", "entries": turns, "final": True}
        said = client.post("/observe", json=body).json()["memories"]
        kinds = {client.get(f"/memories/{one}").json()["kind"]: one for one in said}
        last = client.post("/memories", json={"text": "Wolfram Quist likes rye."}).json()["id"]
        # The handoff repeats the fact alone, and goes with it.
        ids = (kinds["fact"], kinds["handoff"], last)
        assert shell.said("forget", *ids, "--yes") == "Forgotten: 3.\n"
        assert {client.get(f"/memories/{one}").status_code for one in ids} == {404}


def test_what_is_asked_is_quoted_with_its_source_or_not_known(
    tmp_path: Path, minilm_url: str
) -> None:
    own = _environment(tmp_path, MEMORY_EMBEDDING_URL=minilm_url)
    shell = Shell(own, tmp_path)
    unknown = ("ask", "which vaccine do llamas need in Peru")
    with _serving(own) as (client, _):
        text = "# 2026-02-14\n\n## 12:00 Code phrase\n\nJR's code phrase is blue bunny.\n"
        body = {"source": "memory/2026-02-14.md", "text": text}
        client.post("/ingest", json=body).raise_for_status()
        said = shell.said("ask", "what is the code phrase of JR")
        assert said.startswith("2026-02-14 › 12:00 Code phrase\nJR's code phrase is blue bunny.\n")
        assert "memory/2026-02-14.md:3" in said
        code, why = shell.run(*unknown)
        assert (code, why.startswith("Nothing is known of that")) == (3, True)
        refused = _ended(shell, own, *unknown, "--json")
        assert (refused.returncode, json.loads(refused.stdout)["abstained"]) == (3, True)


def test_a_question_is_no_answer_to_itself(tmp_path: Path, minilm_url: str) -> None:
    """What a session asked last stands in its automatic handoff, and is found by the same words."""
    own = _environment(tmp_path, MEMORY_EMBEDDING_URL=minilm_url)
    shell = Shell(own, tmp_path)
    question = "Which day do we deploy on?"
    asked = {
        "session": "s", "client": "generic", "final": True,
        "entries": [{"role": "user", "content": question}],
    }  # fmt: skip
    with _serving(own) as (client, _):
        client.post("/observe", json=asked).raise_for_status()
        code, why = shell.run("ask", question)
        assert (code, why.startswith("Nothing is known of that")) == (3, True)
        # Who is to forget what was asked is shown it.
        assert "Automatic handoff" in shell.said("forget", "--matching", question)
        client.post("/decisions", json={"text": "We deploy on Mondays."}).raise_for_status()
        said = shell.said("ask", question)
        assert ("on Mondays" in said, "Last request" in said) == (True, False)
        # One that somebody wrote answers.
        left = {"text": "The yellow crane waits for a new hook from Ines."}
        client.post("/handoff", json=left).raise_for_status()
        crane = "What does the yellow crane wait for?"
        assert "from Ines" in shell.said("ask", crane)
        # Also once that was a session's last request.
        later = {
            **asked, "session": "t", "entries": [{"role": "user", "content": crane}],
        }  # fmt: skip
        client.post("/observe", json=later).raise_for_status()
        said = shell.said("ask", crane)
        assert ("from Ines" in said, "Last request" in said) == (True, False)


def _ended(shell: Shell, own: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service", *words], cwd=shell.folder, capture_output=True, text=True,
        check=False, timeout=60, env=_BARE | own,
    )  # fmt: skip


def test_a_text_comes_through_a_pipe(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "service", "store", "-"], input="Mina takes\nthe ferry.\n",
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60,
        env=_BARE | own,
    )  # fmt: skip
    key = done.stdout.split()[1].rstrip(",.")
    assert "Mina takes\nthe ferry." in Shell(own, tmp_path).said("show", key)


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_what_is_no_text_is_told_so(tmp_path: Path, locale: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "service", "store"], input=b"Mina \xff\xfe takes it.",
        cwd=tmp_path, capture_output=True, check=False, timeout=60,
        env=_BARE | _environment(tmp_path) | {"LC_ALL": locale},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"graph-memory: What comes through the pipe is no text in UTF-8.\n"


def test_what_is_stored_in_a_repository_is_its_projects(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    shell = Shell(own, tmp_path)
    shell.said("store", "The deploy key lies in the vault.", "--project", "git@github.com:ann/app")
    found = json.loads(shell.said("search", "deploy key", "--project", "none", "--json"))
    assert [hit["scope"] for hit in found["results"]] == ["github.com/ann/app"]
    assert shell.run("search", "deploy key", "--project", "git@github.com:ann/other")[0] == 3


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("store", " "), 2, "through a pipe"),
        (("store", "words", "--kind", "weather"), 2, "daily_log"),
        (("search", "words", "--only", "limit=0"), 2, "/limit"),
        (("archive", "--older-than", "soon"), 2, "no span of time"),
        (("doctor", "nobody"), 2, "none of claude-code"),
        (("forget",), 2, "--matching"),
        (("forget", "x", "--matching", "y"), 2, "--matching"),
        (("forget", "nobody", "--yes"), 1, "no memory"),
        (("show", "nobody"), 1, "no memory"),
        (("show", "../stats?x=1#"), 2, "no id"),
        (("show", ""), 2, "'' is no id"),
        (("forget", "", "--yes"), 2, "'' is no id"),
        (("keys", "revoke", ""), 2, "'' is no id"),
        (("keys", "revoke", "nobody"), 1, "`graph-memory keys list` lists"),
    ],
)
def test_wrong_words_are_told_in_one_line(
    tmp_path: Path, words: tuple[str, ...], code: int, told: str
) -> None:
    ended, said = Shell(_environment(tmp_path), tmp_path).run(*words)
    assert (ended, told in said, said.count("\n")) == (code, True, 1), said


def test_one_unknown_id_keeps_all_others(tmp_path: Path) -> None:
    shell = Shell(_environment(tmp_path), tmp_path)
    key = shell.said("store", "Stays.").split()[1].rstrip(",.")
    assert shell.run("forget", key, "nobody", "--yes")[0] == 1
    assert "Stays." in shell.said("show", key)


def test_what_is_hostile_does_not_reach_the_terminal(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    hostile = f"Deploy{TURNING} now\x1b]0;owned\x07 \x1b[31mred\x1b[0m \x9b2J"
    with _serving(own) as (client, _):
        body = {"text": f"Deploy steps {hostile}", "title": hostile, "tags": ["deploy"]}
        key = client.post("/memories", json=body).raise_for_status().json()["id"]
        shell = Shell(own, tmp_path)
        commands = [("recall", "deploy"), ("ask", "deploy", "--sure", "0"), ("show", key)]
        commands += [(*words, "--json") for words in commands]
        commands.append(("forget", "--matching", "deploy"))
        for words in commands:
            said = shell.said(*words)
            assert "Deploy" in said
            assert not {c for c in said if c != "\n" and (ord(c) < 32 or c in f"\x7f\x9b{TURNING}")}


def test_names_of_keys_are_told_whole_and_harmless(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    hostile = f"[/end] {TURNING}day\x1b]0;owned\x07 \x9b2J[red]one"
    with _serving(own) as (client, _):
        body = {"name": hostile, "scopes": ["read", "write", "admin"]}
        key = client.post("/keys", json=body).raise_for_status().json()
        with_key = {"Authorization": f"Bearer {key['key']}"}
        client.post("/memories", json={"text": "A crane."}, headers=with_key).raise_for_status()
    shell = Shell(own, tmp_path)
    for words in (("keys", "list"), ("audit", "--operation", "store_memory")):
        said = shell.said(*words)
        assert "[/end] day" in said
        assert not {c for c in said if c != "\n" and (ord(c) < 32 or c in f"\x7f\x9b{TURNING}")}
        # Through a pipe an id is in one piece.
        assert key["id"] in said


def test_titles_are_told_whole_and_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = f"[/end] {TURNING}day\x1b]0;owned\x07 [red]one"
    group = {"title": hostile, "ref": "likeness:1", "action": "create", "content": ""}
    answers().print(_table([cast("SummaryOfGroup", group | {"sources": []})]))
    assert "[/end] day]0;owned [red]one" in capsys.readouterr().out


def test_ways_are_branches_of_one_tree() -> None:
    def memory(key: str, path: list[dict[str, str]]) -> dict[str, Any]:
        source = {"uri": None, "line_start": None, "line_end": None, "ref": None}
        return {
            "id": key, "title": key.upper(), "score": 0.5, "path": path, "kind": "note",
            "source": source, "occurred_at": "2026-02-14T00:00:00Z", "trust_tier": "trusted",
        }  # fmt: skip

    def step(key: str) -> dict[str, str]:
        # What is on the way is told by its title alone, with whether anybody trusts it.
        trust_tier = "untrusted" if key == "c" else "trusted"
        return {"memory": key, "title": key.upper(), "trust_tier": trust_tier}

    gpu, later = {"edge": "references", "concept": "gpu"}, {"edge": "follows", "direction": "after"}
    answer: Any = {
        "results": [
            memory("a", []),
            memory("b", [step("a"), gpu, step("b")]),
            memory("d", [step("a"), gpu, step("c"), later, step("d")]),
            memory("e", []),
        ]
    }
    known: RecallAnswer = answer
    told = "  0.50  note of 2026-02-14"
    assert [_plain(tree) for tree in trees_of(known)] == [
        [f"A{told}", [f"gpu → B{told}"], ["gpu → C  untrusted", [f"after → D{told}"]]],
        [f"E{told}"],
    ]
