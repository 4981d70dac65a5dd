"""Stdin, stdout and stderr as scripts have them: closed, or in an encoding that has not all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Start

WORDS = ("recall", "ferry")
TEXT = "민아 takes the ferry ⛴."


@pytest.fixture
def environment(start: Start, tmp_path: Path) -> dict[str, str]:
    """Return what leads a command to a service that knows one memory."""
    service = start()
    service.client.post("/memories", json={"text": TEXT}).raise_for_status()
    return {
        "MEMORY_PORT": service.url.rpartition(":")[2], "MEMORY_DATA_DIR": str(tmp_path / "data"),
        "HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY),
    }  # fmt: skip


def _run(
    words: tuple[str, ...], environment: dict[str, str], closed: str = ""
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "service", *words],
        env=environment, cwd=environment["HOME"], capture_output=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("ascii", TEXT.encode()),
        ("latin-1", rb"\ubbfc\uc544 takes the ferry \u26f4."),
        ("euc-kr", "민아 takes the ferry \\u26f4.".encode("euc-kr")),
    ],
)
def test_an_encoding_that_has_not_every_character(
    environment: dict[str, str], encoding: str, told: bytes
) -> None:
    environment |= {"PYTHONIOENCODING": encoding}
    done = _run(WORDS, environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert told in done.stdout
    # An escape of Python's would be no JSON.
    answer = json.loads(_run((*WORDS, "--json"), environment).stdout)
    assert [one["content"] for one in answer["results"]] == [TEXT]


def test_a_stream_that_is_closed_is_as_one_that_leads_nowhere(environment: dict[str, str]) -> None:
    for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
        for words in (WORDS, (*WORDS, "--json"), ("store", "The mill.")):
            done = _run(words, environment, closed)
            assert (done.returncode, done.stderr) == (0, b""), (closed, words)
            assert bool(done.stdout) == (closed == "2>&-")


def test_ctrl_c_ends_without_a_traceback_while_a_room_is_loaded(tmp_path: Path) -> None:
    code = (
        "import signal, sys; from service.commands import main;"
        "main.app_of = lambda names: signal.raise_signal(signal.SIGINT); sys.argv[1:] = ['ask'];"
        "main.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False, cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
