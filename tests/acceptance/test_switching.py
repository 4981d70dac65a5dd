"""A store of the other engine: the start says what to run, and that helps."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.running import free_port, running_service
from tests.stores.open_store import open_store

WAY_OUT = "run `graph-memory switch-engine` while the service is stopped"


async def _write_bytes(folder: Path) -> None:
    async with open_store(folder, "bytes") as opened:
        await opened.push("The heron stands still.", "The otter swims.")


def _refusal(folder: Path, embedding_url: str) -> str:
    """Start the service with the database engine, which must fail; return what it says."""
    own = {"MEMORY_DATA_DIR": str(folder), "MEMORY_SEARCH_ENGINE": "database"}
    own |= {"MEMORY_EMBEDDING_URL": embedding_url, "MEMORY_PORT": str(free_port())}
    ended = subprocess.run(
        [sys.executable, "-m", "service", "serve"], env=os.environ | own, cwd=REPOSITORY,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    return " ".join(ended.stderr.split())


def _switch(folder: Path, engine: str) -> str:
    """Run the command, with no embedding server there; returns its line."""
    own = {"MEMORY_DATA_DIR": str(folder), "MEMORY_SEARCH_ENGINE": engine}
    own["MEMORY_EMBEDDING_URL"] = f"http://127.0.0.1:{free_port()}"
    ended = subprocess.run(
        [sys.executable, "-m", "service", "switch-engine"], env=os.environ | own, cwd=REPOSITORY,
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return ended.stdout


def test_a_store_of_the_other_engine_is_refused_and_switched(tmp_path: Path) -> None:
    asyncio.run(_write_bytes(tmp_path))
    with outer_embeddings() as embeddings:
        settings: dict[str, Any] = {
            "data_dir": tmp_path,
            "embedding_url": embeddings.url,
            "search_engine": "database",
        }
        assert WAY_OUT in _refusal(tmp_path, embeddings.url)
        told = _switch(tmp_path, "database")
        assert re.fullmatch(r"Switched 2 vectors to the database engine in \d+\.\ds\n", told)
        assert _switch(tmp_path, "database") == "The store fits the database engine already\n"
        with running_service(**settings) as service:
            service.client.post("/memories", json={"text": "The heron flies."}).raise_for_status()
            found = service.client.post("/search", json={"query": "The otter swims."}).json()
            assert found["receipt"]["missing_signals"] == []
            assert {"text", "vector"} <= found["results"][0]["signals"].keys()
        # What the database engine has embedded since, as an array, changes its form too.
        told = _switch(tmp_path, "resident")
        assert re.fullmatch(r"Switched 3 vectors to the resident engine in \d+\.\ds\n", told)
        with running_service(**settings | {"search_engine": "resident"}) as service:
            found = service.client.post("/search", json={"query": "The otter swims."}).json()
            assert (found["receipt"]["engine"], found["receipt"]["missing_signals"]) == (
                "resident", [],
            )  # fmt: skip
            assert "vector" in found["results"][0]["signals"]
