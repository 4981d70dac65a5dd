"""What is put back of a program's files when it is disconnected."""

from pathlib import Path

import pytest

from service.commands.connections import Connection, restore
from service.commands.programs import CLAUDE_CODE, CODEX

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


@pytest.mark.parametrize(
    "now",
    ['model = "a"\n# model = "b" was too slow\n', 'model = "a" # b was too slow\n',
     '# mine\nmodel = "a"\n\n[tools]\n# none\n'],
)  # fmt: skip
def test_what_a_person_noted_in_comments_since_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: str
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    before = '# mine\nmodel   =   "a"\n' + ("[tools]\n" if "tools" in now else "")
    (tmp_path / "config.toml").write_text(now)
    restore(CODEX, Connection("http://127.0.0.1:8080", settings=before))
    assert (tmp_path / "config.toml").read_text() == now


def test_a_file_of_nothing_but_a_persons_notes_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text("# try model b\n")
    restore(CODEX, Connection("http://127.0.0.1:8080", made=("config.toml",)))
    assert (tmp_path / "config.toml").read_text() == "# try model b\n"


def test_comments_that_were_there_before_come_back_with_the_old_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    before = b'# mine\r\nmodel   =   "a"  # best\r\n'
    (tmp_path / "config.toml").write_bytes(b'model = "a"\n# mine\n')
    restore(CODEX, Connection("http://127.0.0.1:8080", settings=before.decode()))
    assert (tmp_path / "config.toml").read_bytes() == before
