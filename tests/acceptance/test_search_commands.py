"""Search, read and archive from a shell: an index first, then one memory whole."""

import re
from pathlib import Path

import pytest

from tests.acceptance.test_command import _environment, _serving
from tests.acceptance.test_continuity_commands import Shell

OLD = {"kind": "daily_log", "occurred_at": "2025-12-01T09:00:00Z"}


def test_an_index_first_then_one_memory_whole(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    shell = Shell(own, tmp_path)
    code, why = shell.run("search", "rollback path", "--index", "--raw")
    assert (code, why.splitlines()[-1]) == (3, "Nothing was found.")
    with _serving(own) as (client, _):
        text = "The fastest rollback path is feature flags plus append-only audit logs.\n\nMore."
        client.post(
            "/ingest",
            json={"source": "memory/2026-02-15.md", "text": f"# Day\n\n## Learning\n\n{text}\n"},
        ).raise_for_status()
        shown = shell.said("search", "rollback path", "--index")
        first = re.match(
            r"1\. \[\d\.\d{4}\] memory/2026-02-15\.md:\d+\n   id: (\S+)\n   (.*)\n", shown
        )
        assert first, shown
        assert "More." not in shown
        whole = shell.said("search", "--detail", first[1])
        place = f"Source: memory/2026-02-15.md:3\nID: {first[1]}\n\n"
        assert whole.startswith(f"{place}Day › Learning\n\n")
        assert text in whole
        assert first[2] == "Day › Learning"
        said = shell.said("search", "rollback path")
        assert f"   id: {first[1]}\n   Day › Learning\n\n{text}" in said
        assert first[1] in shell.said("search", "rollback", "--only", "kinds=daily_log,note")
        assert shell.run("search", "rollback path", "--only", "since=2031-01-01")[0] == 3


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("search",), 2, "--detail"),
        (("search", "words", "--detail", "x"), 2, "--detail"),
        (("search", "--detail", "nobody"), 1, "no memory"),
        (("search", "--detail", "../../stats?x=1#"), 2, "no id"),
        (("search", "words", "--only", "limit=many"), 2, "limit"),
        (("search", "words", "--only", "limit"), 2, "NAME=VALUE"),
        (("search", "words", "--only", "agent=me"), 2, "NAME=VALUE"),
        (("archive", "--older-than", "soon"), 2, "30d"),
        (("archive", "--older-than", "٣d"), 2, "30d"),
        (("archive", "--kind", "weather"), 2, "daily_log"),
    ],
)
def test_wrong_words_are_told_in_one_line(
    tmp_path: Path, words: tuple[str, ...], code: int, told: str
) -> None:
    ended, said = Shell(_environment(tmp_path), tmp_path).run(*words)
    assert (ended, told in said, said.count("\n")) == (code, True, 1), said


def test_what_is_hostile_does_not_reach_the_terminal(tmp_path: Path) -> None:
    """A title that colours, rings, sets the window's title and turns its line around."""
    own = _environment(tmp_path)
    with _serving(own) as (client, _):
        hostile = "Deploy\u202e now\x1b]0;owned\x07 \x1b[31mred\x1b[0m \x9b2J"
        body = {"text": f"Deploy steps {hostile}", "title": hostile, **OLD}
        assert client.post("/memories", json=body).status_code == 201
        shell = Shell(own, tmp_path)
        for words in (("search", "deploy", "--index"), ("search", "deploy"), ("archive",)):
            said = shell.said(*words)
            assert "Deploy" in said
            assert not {c for c in said if c != "\n" and (ord(c) < 32 or c in "\x7f\x9b\u202e")}


def test_old_days_are_archived_and_still_found(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    shell = Shell(own, tmp_path)
    with _serving(own) as (client, _):
        for body in (
            {"text": "The crane stood still.", **OLD},
            {"text": "The crane is pinned.", "pinned": True, **OLD},
            {"text": "The crane was bought.", "occurred_at": OLD["occurred_at"]},
            {"text": "The crane ran today.", "kind": "daily_log"},
        ):
            client.post("/memories", json=body).raise_for_status()
        told = shell.said("archive")
        assert told.startswith("Found 1 memory older than 30d:\n  2025-12-01 [daily_log]")
        assert told.endswith("\nDry run. Use --execute to archive them.\n")
        assert "stood still" in shell.said("search", "crane still")
        assert shell.said("archive", "--execute").endswith("Archived 1.\n")
        assert shell.said("archive", "--execute").endswith("Archived 0.\n")
        assert "stood still" not in shell.said("search", "crane still")
        found = shell.said("search", "crane still", "--only", "include_archived=true")
        assert "stood still" in found
        assert "pinned" in found
        assert shell.said("archive", "--kind", "note").startswith("Found 1 ")
