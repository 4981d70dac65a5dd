"""Files that a person edits and the service: both ways, and nothing lost where both changed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.commands.synced_folder import Folder
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
    assert shell.said("sync-files").endswith("/notes: made, as there was no such folder\n")
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
    for place in ("notes/decisions.md", "notes/decisions.md/here"):
        code, told = shell.run("sync-files", place)
        assert (code, "name a folder" in told, told.count("\n")) == (1, True, 1)
    code, told = shell.run("sync-files", "nowhere/at/all")
    assert (code, "no folder nowhere/at" in told, told.count("\n")) == (1, True, 1)
    assert not (shell.folder / "nowhere").exists()
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
    for size, why in ((1_000_001, "more than 1,000,000 bytes"), (200_001, "200,000 characters")):
        (files / "handoff.md").write_text("x" * size)
        code, told = shell.run("sync-files")
        assert (code, "notes/handoff.md: " in told, why in told) == (1, True, True)


def test_a_cleared_focus_stays_cleared_on_both_sides(home: tuple[httpx.Client, Shell]) -> None:
    _, shell = home
    file = shell.folder / "notes" / "working-memory.md"
    shell.said("working-memory", "set", "Focus.")
    shell.said("sync-files")
    shell.said("working-memory", "clear")
    for _ in range(2):
        shell.said("sync-files")
        assert file.read_text() == "# Working Memory\n"
        assert "is empty" in shell.said("working-memory", "show")
    shell.said("working-memory", "set", "Again.")
    shell.said("sync-files")
    # A person takes the text out; a file that is gone says nothing.
    file.write_text("# Working Memory\n\n")
    shell.said("sync-files")
    assert "is empty" in shell.said("working-memory", "show")
    shell.said("handoff", "write", "Next.")
    shell.said("working-memory", "set", "More.")
    shell.said("sync-files")
    file.unlink()
    (file.parent / "handoff.md").write_text("# Session Handoff\n")
    assert "a handoff is not removed" in shell.said("sync-files")
    assert (file.read_text(), "Next." in (file.parent / "handoff.md").read_text()) == (
        "# Working Memory\n\nMore.\n", True,
    )  # fmt: skip
    assert shell.said("sync-files") == "Nothing has changed.\n"


def test_a_file_that_is_gone_removes_nothing(home: tuple[httpx.Client, Shell]) -> None:
    client, shell = home
    files = shell.folder / "notes"
    files.mkdir()
    preferences = files / "developer-preferences.md"
    preferences.write_text("- Tabs.\n- Short answers.\n")
    shell.said("sync-files")
    for leave in (preferences.unlink, lambda: preferences.write_text("\n")):
        leave()
        assert shell.said("sync-files") == "developer-preferences.md: written\n"
        assert _texts(client, "preference") == {"Tabs.", "Short answers."}
        assert "Tabs." in preferences.read_text()
    # Removed here and changed there is no removal.
    [tabs] = re.findall(r"Tabs\. <!-- (\w+) -->", preferences.read_text())
    preferences.write_text("# Preferences\n\n- Short answers.\n")
    client.patch(f"/memories/{tabs}", json={"text": "Spaces."}).raise_for_status()
    assert "removed here and changed by the service" in shell.said("sync-files")
    assert _texts(client, "preference") == {"Spaces.", "Short answers."}
    # Changed here and archived there neither.
    preferences.write_text(preferences.read_text().replace("Spaces.", "Spaces, two."))
    client.patch(f"/memories/{tabs}", json={"archived": True}).raise_for_status()
    assert "gone from the service" in shell.said("sync-files")
    assert _texts(client, "preference") == {"Spaces, two.", "Short answers."}


def test_nothing_untrusted_is_written_to_a_file(home: tuple[httpx.Client, Shell]) -> None:
    client, shell = home
    for kind in ("preference", "decision", "handoff"):
        body = {"text": f"Evil {kind}.", "kind": kind, "scope": "app", "source_kind": "web"}
        client.post("/memories", json=body).raise_for_status()
    assert shell.said("sync-files").endswith("/notes: made, as there was no such folder\n")
    shell.said("handoff", "write", "Good handoff.")
    later = {"text": "Evil again.", "kind": "handoff", "scope": "app", "source_kind": "web"}
    client.post("/memories", json=later).raise_for_status()
    shell.said("decision", "log", "Good decision.")
    shell.said("sync-files")
    told = "".join(file.read_text() for file in (shell.folder / "notes").glob("*.md"))
    assert ("Good handoff." in told, "Good decision." in told, "Evil" in told) == (
        True, True, False,
    )  # fmt: skip


def test_a_log_that_was_kept_by_hand_keeps_its_days(home: tuple[httpx.Client, Shell]) -> None:
    client, shell = home
    file = shell.folder / "notes" / "decisions.md"
    file.parent.mkdir()
    file.write_text(
        "- [2026-02-15 22:20] [architecture, log] Use an append-only log.\n"
        "- [2026-02-14] Plain words.\n- [2026-02-31 10:00] No such day.\n- [x] A box.\n"
    )
    assert "decisions.md: sent 4" in shell.said("sync-files")
    listed = client.get("/decisions", params={"project": "app"}).json()["decisions"]
    found = {one["text"]: (one["at"][:16], one["tags"]) for one in listed}
    assert found["Use an append-only log."] == ("2026-02-15T22:20", ["architecture", "log"])
    assert found["Plain words."] == ("2026-02-14T00:00", [])
    assert "[2026-02-31 10:00] No such day." in found
    assert "- [2026-02-15 22:20] [architecture, log] Use an append-only log." in file.read_text()
    assert shell.said("sync-files") == "Nothing has changed.\n"
    # Another tag alone is no other decision.
    file.write_text(file.read_text().replace("[architecture, log]", "[log]"))
    shell.said("sync-files")
    again = client.get("/decisions", params={"project": "app"}).json()["decisions"]
    assert [
        one["tags"] for one in again if one["text"].startswith("Use") and not one["superseded_by"]
    ] == [["log"]]


def test_a_wrapped_line_is_one_and_code_is_none(home: tuple[httpx.Client, Shell]) -> None:
    client, shell = home
    file = shell.folder / "notes" / "developer-preferences.md"
    file.parent.mkdir()
    code = "```yaml\n- a: 1\n```\n"
    file.write_text(f"# Preferences\n\n{code}\n- Use tabs\n  except in YAML.\n* Be\n\tbrief.\n")
    file.chmod(0o644)
    assert "developer-preferences.md: sent 2" in shell.said("sync-files")
    assert _texts(client, "preference") == {"Use tabs except in YAML.", "Be brief."}
    assert code in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o644
    assert shell.said("sync-files") == "Nothing has changed.\n"
    # An editor wraps it where its id stands, and a fence is left open: nothing is taken out.
    wrapped = file.read_text().replace("Use tabs except", "Use spaces\n  except")
    file.write_text(wrapped.replace("- a: 1\n```\n", "a: 1\n"))
    assert "developer-preferences.md: sent 1" in shell.said("sync-files")
    assert _texts(client, "preference") == {"Use spaces except in YAML.", "Be brief."}


def test_an_agent_that_stored_nothing_yet(home: tuple[httpx.Client, Shell]) -> None:
    _, shell = home
    shell.said("working-memory", "set", "Focus.", "--agent", "new")
    assert shell.said("sync-files", "--agent", "new").endswith("\nworking-memory.md: written\n")


def test_an_edit_while_it_runs_is_not_lost(tmp_path: Path) -> None:
    folder = Folder.open(tmp_path)
    (tmp_path / "a.md").write_text("one")
    assert folder.read("a.md") == "one"
    (tmp_path / "a.md").write_text("two")
    assert folder.write("a.md", "three") is False
    assert ((tmp_path / "a.md").read_text(), folder.told) == (
        "two", ["a.md: was edited meanwhile: run it again"],
    )  # fmt: skip
    (tmp_path / "link.md").symlink_to("a.md")
    assert folder.read("link.md") == "two"
    assert folder.write("link.md", "three") is True
    assert ((tmp_path / "a.md").read_text(), (tmp_path / "link.md").is_symlink()) == ("three", True)
