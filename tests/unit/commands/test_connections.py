"""What is put back of a program's files when it is disconnected."""

from pathlib import Path

import pytest

from service.commands.connections import Connection, restore
from service.commands.programs import CLAUDE_CODE

MADE = ("settings.json", "plugins/installed_plugins.json", "plugins")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a program that had no settings before it was connected."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "installed_plugins.json").write_text('{"version": 2, "plugins": {}}')
    return tmp_path


@pytest.mark.parametrize(
    "own",
    ['{\n  "includeCoAuthoredBy": false\n}\n', '{\n  "cleanupPeriodDays": 0\n}\n',
     '{\n  "apiKeyHelper": ""\n}\n', '{\n  "model": null\n}\n', '{\n  "version": 1\n}\n',
     '{\n  "env": {}\n}\n'],
)  # fmt: skip
def test_settings_that_a_person_made_since_stay_whatever_they_say(home: Path, own: str) -> None:
    (home / "settings.json").write_text(own)
    restore(CLAUDE_CODE, Connection("http://127.0.0.1:8080", made=MADE))
    assert (home / "settings.json").read_text() == own
    assert not (home / "plugins").exists()


def test_settings_that_its_command_left_empty_go(home: Path) -> None:
    (home / "settings.json").write_text('{"enabledPlugins": {}}')
    restore(CLAUDE_CODE, Connection("http://127.0.0.1:8080", made=MADE))
    assert list(home.iterdir()) == []
