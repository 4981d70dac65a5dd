"""Commands that ask a running service load none of it: they begin in a fraction of a second."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from service.commands.main import COMMANDS
from tests.conftest import REPOSITORY, Start

# They open the store themselves, whatever else is there.
HEAVY: Final = {"serve", "reembed", "switch-engine"}
LOADED_LATE: Final = ("service.app", "service.opening", "surrealdb", "numpy", "fastapi", "aiohttp")


def _python(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=REPOSITORY, capture_output=True, text=True, timeout=60,
        check=False, env={"PATH": os.environ["PATH"], **environment},
    )  # fmt: skip


def test_no_command_that_asks_loads_the_service() -> None:
    light = sorted(set(COMMANDS) - HEAVY)
    code = (
        "import sys; from service.commands import connect, main;"
        f"main.app_of({light}); print([one for one in {LOADED_LATE} if one in sys.modules])"
    )
    done = _python("-c", code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_command_beside_a_running_service_asks_it_at_once(start: Start, tmp_path: Path) -> None:
    service = start()
    service.client.post("/memories", json={"text": "The brass key lies in the mill."})
    environment = {
        "MEMORY_PORT": service.url.rpartition(":")[2], "MEMORY_DATA_DIR": str(tmp_path / "data"),
        "HOME": str(tmp_path),
    }  # fmt: skip
    done = _python("-X", "importtime", "-m", "service", "search", "brass key", **environment)
    assert done.returncode == 0, done.stderr
    assert "brass key" in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert loaded.isdisjoint(LOADED_LATE)
    # Without a service it opens the store, and so loads all of it.
    elsewhere = environment | {"MEMORY_DATA_DIR": str(tmp_path / "elsewhere"), "MEMORY_PORT": "9"}
    alone = _python("-X", "importtime", "-m", "service", "search", "brass key", **elsewhere)
    assert "service.app" in alone.stderr
    assert alone.returncode == 3, alone.stderr
