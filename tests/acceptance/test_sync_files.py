"""Files that a person edits and the service: both ways, and nothing lost where both changed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.acceptance.test_command import _environment, _serving
from tests.acceptance.test_continuity_commands import Shell


@pytest.fixture
def home(tmp_path: Path) -> Iterator[tuple[httpx.Client, Shell]]:
    own = _environment(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    (work / ".graph-memory.toml").write_text('project = "app"\nfiles = "notes"\n')
    with _serving(own) as (client, _):
        yield client, Shell(own, work)


def _texts(client: httpx.Client, kind: str) -> set[str]:
    listed = client.get("/memories", params={"kinds": kind, "scope": "app"}).json()["memories"]
    return {one["content"] for one in listed}


def test_what_is_new_on_either_side_is_on_both(home: tuple[httpx.Client, Shell]) -> None:
    client, shell = home
    files = shell.folder / "notes"
    assert shell.said("sync-files") == "Nothing has changed.\n"
    shell.said("handoff", "write", "Next: the payment flow.")
    shell.said("working-memory", "set", "Focus: the pipeline.")
    shell.said("decision", "log", "Use an append-only log.", "--tag", "architecture")
    told = shell.said("sync-files")
    assert "handoff.md: written" in told
    assert (files / "handoff.md").read_text() == "# Session Handoff\n\nNext: the payment flow.\n"
    assert (files / "working-memory.md").read_text() == "# Working Memory\n\nFocus: the pipeline.\n"
    decisions = (files / "decisions.md").read_text()
    assert re.search(
        r"^- \[.{16}\] \[architecture\] Use an .* <!-- \w+ -->$", decisions, re.MULTILINE
    )
    assert shell.said("sync-files") == "Nothing has changed.\n"
    # A person edits, adds and writes prose.
    (files / "handoff.md").write_text("# Session Handoff\r\n\r\nNext: the refunds.\r\n")
    (files / "working-memory.md").write_text("Focus: the tests.\n")
    with (files / "decisions.md").open("a") as file:
        file.write("\nWhy so many?\n- [api] Answers are JSON.\n- No tags here.\n")
    (files / "developer-preferences.md").write_text("- Tabs in Makefiles.\n- Short answers.\n")
    (files / "MEMORY.md").write_text("- The crane is ours.\n")
    told = shell.said("sync-files")
    assert "decisions.md: sent 2" in told
    assert shell.said("handoff", "read").endswith("\n\nNext: the refunds.\n")
    assert shell.said("working-memory", "show").endswith("\n\nFocus: the tests.\n")
    assert _texts(client, "decision") == {
        "Use an append-only log.", "Answers are JSON.", "No tags here.",
    }  # fmt: skip
    assert "[api] Answers are JSON." in shell.said("decision", "list")
    assert _texts(client, "preference") == {"Tabs in Makefiles.", "Short answers."}
    assert "Why so many?" in (files / "decisions.md").read_text()
    assert shell.said("sync-files") == "Nothing has changed.\n"
    # The next look back takes in what a person put into MEMORY.md; it never left the file.
    shell.said("reflect", "--execute")
    shell.said("sync-files")
    hot = client.get("/hot-memory", params={"project": "app"}).json()
    assert [one["text"] for one in hot["memories"]] == ["The crane is ours."]
    assert re.search(
        r"^- The crane is ours\. <!-- \w+ -->$", (files / "MEMORY.md").read_text(), re.MULTILINE
    )


def test_where_both_changed_both_are_kept_and_it_is_said(home: tuple[httpx.Client, Shell]) -> None:
    client, shell = home
    files = shell.folder / "notes"
    shell.said("working-memory", "set", "One.")
    shell.said("handoff", "write", "Old.")
    (files).mkdir()
    (files / "developer-preferences.md").write_text("- Tabs.\n- Short answers.\n")
    shell.said("sync-files")
    preferences = files / "developer-preferences.md"
    [tabs] = re.findall(r"Tabs\. <!-- (\w+) -->", preferences.read_text())
    for name, text in (("working-memory.md", "Mine."), ("handoff.md", "My handoff.")):
        (files / name).write_text(text)
    shell.said("working-memory", "set", "Theirs.")
    shell.said("handoff", "write", "Their handoff.")
    preferences.write_text(preferences.read_text().replace("Tabs.", "Tabs, always."))
    client.patch(f"/memories/{tabs}", json={"text": "Spaces."}).raise_for_status()
    told = shell.said("sync-files")
    assert told.count("both") >= 3
    for name, texts in (
        ("working-memory.md", ("Mine.", "Theirs.")), ("handoff.md", ("My h", "Their h")),
        ("developer-preferences.md", ("Tabs, always.", "Spaces.", "Short answers.")),
    ):  # fmt: skip
        assert all(text in (files / name).read_text() for text in texts)
    assert _texts(client, "preference") == {"Spaces.", "Tabs, always.", "Short answers."}
    assert shell.said("sync-files") == "Nothing has changed.\n"


def test_an_edited_decision_supersedes_and_a_removed_line(home: tuple[httpx.Client, Shell]) -> None:
    client, shell = home
    files = shell.folder / "notes"
    shell.said("decision", "log", "Use Redis.")
    shell.said("decision", "log", "Use JSON.")
    files.mkdir()
    (files / "developer-preferences.md").write_text("- Tabs.\n- Short answers.\n")
    shell.said("sync-files")
    decisions, preferences = files / "decisions.md", files / "developer-preferences.md"
    kept = [line for line in decisions.read_text().splitlines() if "JSON" not in line]
    decisions.write_text("\n".join(kept).replace("Use Redis.", "Use Valkey."))
    lines = [line for line in preferences.read_text().splitlines() if "Short" not in line]
    preferences.write_text("\n".join(lines))
    told = shell.said("sync-files")
    assert "decisions are not removed" in told
    assert "whose line was removed" in told
    text = decisions.read_text()
    assert ("Use Valkey." in text, "Use JSON." in text, "Use Redis." in text) == (True, True, False)
    listed = client.get("/decisions", params={"project": "app"}).json()["decisions"]
    assert [one["text"] for one in listed if one["superseded_by"]] == ["Use Redis."]
    assert _texts(client, "preference") == {"Tabs."}
    assert shell.said("sync-files") == "Nothing has changed.\n"


def test_files_that_make_no_sense_are_told_and_nothing_is_lost(
    home: tuple[httpx.Client, Shell],
) -> None:
    _, shell = home
    files = shell.folder / "notes"
    files.mkdir()
    (files / "decisions.md").write_bytes(b"- \xff\xfe\n")
    code, told = shell.run("sync-files")
    assert (code, "decisions.md" in told, told.count("\n")) == (1, True, 1)
    assert (files / "decisions.md").read_bytes() == b"- \xff\xfe\n"
    (files / "decisions.md").write_text(
        "-\n- \n<!-- x -->\n- [ [ ]] odd <!-- nobody-knows-it -->\n"
    )
    (files / ".graph-memory-synced.json").write_text("{")
    code, told = shell.run("sync-files")
    assert (code, ".graph-memory-synced.json" in told) == (1, True)
    (files / ".graph-memory-synced.json").write_text(json.dumps([1]))
    assert "decisions.md: sent 1" in shell.said("sync-files")
    assert "odd" in shell.said("decision", "list")
    assert "<!-- x -->" in (files / "decisions.md").read_text()
    (files / "handoff.md").write_text("x" * 1_000_001)
    assert shell.run("sync-files")[0] == 1
