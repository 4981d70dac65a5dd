"""Names that are nearly a setting's are found, others' names are left alone."""

from pathlib import Path

import pytest

from service.commands.misspelt import given_names, misspelt
from service.settings import Settings
from tests.conftest import REPOSITORY


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MEMORY_SOURCE", "MEMORY_SOURCES"), ("MEMORY_EMBED_URL", "MEMORY_EMBEDDING_URL"),
        ("MEMORY_DATADIR", "MEMORY_DATA_DIR"), ("MEMORY_APIKEY", "MEMORY_API_KEY"),
        ("MEMORY_EMBEDDINGS_URL", "MEMORY_EMBEDDING_URL"),
    ],
)  # fmt: skip
def test_a_name_that_is_nearly_a_settings_is_told_with_it(name: str, meant: str) -> None:
    assert misspelt([name, meant]) == {name: meant}


def test_names_of_others_are_left_alone() -> None:
    text = (REPOSITORY / "docker.env.example").read_text(encoding="utf-8")
    of_compose = {line.partition("=")[0].strip("# ") for line in text.splitlines() if "=" in line}
    assert {"MEMORY_NOTES_DIR", "MEMORY_UID"} <= of_compose
    settings = {f"MEMORY_{field.upper()}" for field in Settings.model_fields}
    assert misspelt({*of_compose, *settings, "MEMORY", "EMBEDDING_MODEL", "PATH"}) == {}


def test_the_environment_and_the_file_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("memory_sorces=a\n#MEMORY_PORTS=1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORY_LOGLEVEL", "debug")
    assert misspelt(given_names()) == {
        "MEMORY_LOGLEVEL": "MEMORY_LOG_LEVEL", "MEMORY_SORCES": "MEMORY_SOURCES",
    }  # fmt: skip
