"""OpenClaw without our plugin: a hook of its own wakes the service, its search has our vectors."""

import json
import re
import time
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import REPOSITORY
from tests.servers.openclaw import VERSIONS, OpenClaw, commands
from tests.servers.running import running_service

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("version", VERSIONS)]

TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."


def test_the_two_files_of_the_readme_have_notes_read_as_a_session_begins(
    claw: OpenClaw, tmp_path: Path, embedding_url: str
) -> None:
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    [hook] = re.findall(r"`HOOK.md`:\n\n```yaml\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    [code] = re.findall(r"`handler.js`:\n\n```js\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    folder = claw.state / "hooks" / "graph-memory"
    folder.mkdir(parents=True)
    notes = claw.workspace / "memory"
    notes.mkdir()
    data = tmp_path / "data"
    with running_service(data_dir=data, embedding_url=embedding_url, sources=[notes]) as service:
        (folder / "HOOK.md").write_text(hook, "utf-8")
        at = code.replace("http://127.0.0.1:8080", service.url)
        assert at != code
        (folder / "handler.js").write_text(at, "utf-8")
        claw.write({})
        del claw.settings["plugins"]
        claw.settings["hooks"] = {"internal": {"enabled": True}}
        claw.save()
        with claw.gateway():
            (notes / "2026-02-13.md").write_text(f"# Friday\n\n{TOLD}\n", "utf-8")
            claw.say("Is there anything new?")
            claw.say("/new")
            end = time.monotonic() + 30
            while "blue bunny" not in service.client.get("/memories").text:
                assert time.monotonic() < end
                time.sleep(0.2)


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
        end = time.monotonic() + 30
        while True:
            found = claw.invoke("memory_search", query=TOLD)
            if found.get("results") or time.monotonic() > end:
                break
            time.sleep(1)
    assert found["model"] == "hashing-256", found
    assert "blue bunny" in found["results"][0]["snippet"]
