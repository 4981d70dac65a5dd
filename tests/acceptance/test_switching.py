"""A store of the other engine: words answer, everything says what to run, and that helps."""

import asyncio
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY
from tests.open_store import open_store
from tests.outer_embeddings import outer_embeddings
from tests.services import free_port, running_service

WAY_OUT = "run `graph-memory switch-engine` while the service is stopped"


async def _write_bytes(folder: Path) -> None:
    async with open_store(folder, "bytes") as opened:
        await opened.push("The heron stands still.", "The otter swims.")


def _switch(folder: Path, engine: str) -> str:
    """Run the command, with no embedding server there; returns its line."""
    own = {"MEMORY_DATA_DIR": str(folder), "MEMORY_SEARCH_ENGINE": engine}
    own["MEMORY_EMBEDDING_URL"] = f"http://127.0.0.1:{free_port()}"
    ended = subprocess.run(
        [sys.executable, "-m", "service", "switch-engine"], env=os.environ | own, cwd=REPOSITORY,
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return ended.stdout


def test_vectors_of_the_other_engine_are_told_and_switched(tmp_path: Path) -> None:
    asyncio.run(_write_bytes(tmp_path))
    with outer_embeddings() as embeddings:
        settings: dict[str, Any] = {
            "data_dir": tmp_path,
            "embedding_url": embeddings.url,
            "search_engine": "database",
        }
        with running_service(wait=False, **settings) as service:
            ready = service.client.get("/health/ready").json()
            assert (ready["status"], ready["checks"]["engine"]["ok"]) == ("degraded", False)
            assert WAY_OUT in ready["checks"]["engine"]["detail"]
            assert [r.partition(":")[0] for r in ready["reasons"]] == ["engine"]
            stored = service.client.post("/memories", json={"text": "The heron flies."}).json()
            assert WAY_OUT in stored["warnings"][0]
            found = service.client.post("/search", json={"query": "heron"}).json()
            assert {hit["content"] for hit in found["results"]} == {
                "The heron stands still.", "The heron flies.",
            }  # fmt: skip
            assert found["receipt"]["missing_signals"] == ["vector"]
            assert WAY_OUT in found["receipt"]["fallback_reason"]
        told = _switch(tmp_path, "database")
        assert re.fullmatch(r"Switched 2 vectors to the database engine in \d+\.\ds\n", told)
        assert _switch(tmp_path, "database") == "The store fits the database engine already\n"
        with running_service(**settings) as service:
            found = service.client.post("/search", json={"query": "The otter swims."}).json()
            assert found["receipt"]["missing_signals"] == []
            assert "vector" in found["results"][0]["signals"]
            end = time.monotonic() + 60
            while service.client.get("/stats").json()["without_vector"]:
                assert time.monotonic() < end
                time.sleep(0.05)
        # What the database engine has embedded since, as an array, changes its form too.
        told = _switch(tmp_path, "resident")
        assert re.fullmatch(r"Switched 3 vectors to the resident engine in \d+\.\ds\n", told)
        with running_service(**settings | {"search_engine": "resident"}) as service:
            found = service.client.post("/search", json={"query": "The otter swims."}).json()
            assert (found["receipt"]["engine"], found["receipt"]["missing_signals"]) == (
                "resident", [],
            )  # fmt: skip
            assert "vector" in found["results"][0]["signals"]
