"""--json of every command: the service's answer alone, at a running service."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from service.commands.main import COMMANDS
from tests.conftest import REPOSITORY
from tests.servers.keyed import KeyedService, keyed_service

# They serve, or change a program on this machine, and answer nothing.
WITHOUT: Final = {"serve", "mcp", "connect", "disconnect"}
# They open the store themselves, and are asked below.
ALONE: Final = {"reembed", "switch-engine"}
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, embedding_url: str) -> Any:
    """Yield what runs a command and reads its answer, beside a service that has keys."""
    folder = tmp_path_factory.mktemp("json")
    data = folder / "data"
    with keyed_service(data_dir=data, embedding_url=embedding_url, sources=(folder,)) as keyed:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "MEMORY_DATA_DIR": str(data),
            "MEMORY_PORT": keyed.url.rpartition(":")[2], "MEMORY_API_KEY": keyed.admin,
            "MEMORY_EMBEDDING_URL": embedding_url, "PYTHONPATH": str(REPOSITORY),
            "MEMORY_SOURCES": str(folder),
        }  # fmt: skip
        with keyed.client() as admin:
            admin.post("/memories", json={"text": "The brass key lies in the mill."})
        yield lambda *words, status=0: _answer(folder, environment, keyed, words, status)


def _answer(
    folder: Path, environment: dict[str, str], keyed: KeyedService, words: Any, status: int
) -> Any:
    (folder / "old.jsonl").write_text('{"role": "user", "content": "From now on use tabs."}\n')
    with keyed.client() as admin:
        listed = admin.get("/memories").json()["memories"]
    words = [listed[0]["id"] if word == "ID" else word for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "service", *words, "--json"], cwd=folder, env=environment,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == status, (words, done.stdout, done.stderr)
    return json.loads(done.stdout)


ASKED: Final[list[tuple[str, list[str]]]] = [
    ("id", ["store", "The brass key lies in the mill."]),
    ("results", ["search", "brass key"]),
    ("results", ["ask", "where is the brass key", "--sure", "0"]),
    ("results", ["recall", "brass key"]),
    ("content", ["show", "ID"]),
    ("chars", ["handoff", "write", "The mill is done."]),
    ("text", ["handoff", "read"]),
    ("id", ["decision", "log", "The mill stays."]),
    ("decisions", ["decision", "list"]),
    ("text", ["working-memory", "set", "The mill."]),
    ("text", ["working-memory", "update", "Its wheel."]),
    ("text", ["working-memory", "show"]),
    ("text", ["session-context"]),
    ("entries", ["audit"]),
    ("report", ["reflect"]),
    ("edges", ["graph", "report"]),
    ("memories", ["trust", "quarantine", "client=nobody"]),
    ("memories", ["trust", "release", "client=nobody"]),
    ("keys", ["keys", "list"]),
    ("key", ["keys", "create", "--name", "x"]),
    ("scans", ["ingest"]),
    ("plan", ["consolidate"]),
    ("ids", ["archive"]),
    ("told", ["sync-files"]),
    ("stored", ["observe", "old.jsonl"]),
]


@pytest.mark.parametrize(("name", "words"), ASKED, ids=[" ".join(words) for _, words in ASKED])
def test_a_command_answers_json_alone(run: Run, name: str, words: list[str]) -> None:
    assert name in run(*words)


def test_what_answers_nothing_says_so_in_json(run: Run) -> None:
    assert run("working-memory", "clear") == {}
    made = run("keys", "create", "--name", "y")
    assert run("keys", "rotate", made["id"])["key"] != made["key"]
    assert run("keys", "revoke", made["id"]) == {}
    assert run("forget", "--matching", "brass key")["candidates"]
    assert {one["state"] for one in run("doctor", "mcp")} <= {"ok", "look"}
    assert run("observe", "old.jsonl", "--dry-run")["kept"]


def test_every_command_was_tried() -> None:
    tried = {words[0] for _, words in ASKED} | {"forget", "doctor"}
    assert tried | WITHOUT | ALONE == set(COMMANDS)


def test_those_that_open_the_store_themselves(tmp_path: Path, embedding_url: str) -> None:
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "MEMORY_EMBEDDING_URL": embedding_url,
        "MEMORY_DATA_DIR": str(tmp_path / "data"),
    }  # fmt: skip
    for words, told in (("reembed", {"embedded": 0}), ("switch-engine", {"switched": None})):
        done = subprocess.run(
            [sys.executable, "-m", "service", words, "--json"], cwd=REPOSITORY, env=environment,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert told.items() <= json.loads(done.stdout).items(), done.stderr
