"""OpenClaw without our plugin: its own search has its vectors from our embedding server."""

import json
from typing import Final

import pytest

from tests.servers.openclaw import VERSIONS, OpenClaw, commands
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("version", VERSIONS)]

TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."


def test_its_own_search_has_its_vectors_from_our_embedding_server(
    claw: OpenClaw, embedding_url: str
) -> None:
    claw.write({})
    del claw.settings["plugins"]
    claw.save()
    [[*command, name, value, strict]] = commands("Or only the embeddings", claw.version)
    search = json.loads(value)
    search["model"] = "hashing-256"
    search["remote"]["baseUrl"] = f"{embedding_url}/v1/"
    if claw.version == VERSIONS[0]:
        name, search["provider"] = "agents.defaults.memorySearch", "openai"
        del search["queryInputType"], search["documentInputType"]
    claw.run(*command, name, json.dumps(search), strict)
    (claw.workspace / "memory").mkdir()
    (claw.workspace / "memory" / "2026-02-13.md").write_text(f"# Friday\n\n{TOLD}\n", "utf-8")
    with claw.gateway():
        until(lambda: claw.invoke("memory_search", query=TOLD).get("results"))
        found = claw.invoke("memory_search", query=TOLD)
    assert found["model"] == "hashing-256", found
    assert "blue bunny" in found["results"][0]["snippet"]
