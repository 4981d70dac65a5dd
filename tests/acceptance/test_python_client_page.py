"""The examples of docs/python-client.md do what they say."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.servers.running import RunningService

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python-client.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def run(example: str, service: RunningService) -> dict[str, Any]:
    """Run an example against the service; returns its variables."""
    lines = example.replace("http://127.0.0.1:8080", service.url).splitlines()
    body = "\n".join(f"    {line}" for line in lines)
    variables: dict[str, Any] = {}
    exec(f"async def main():\n{body}\n    return locals()", variables)  # noqa: S102 - our own page
    found: dict[str, Any] = asyncio.run(variables["main"]())
    return found


def test_the_examples_store_and_find(
    service: RunningService, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting, awaited, naming = EXAMPLES
    run(waiting, service)
    assert "JR's code phrase is blue bunny." in capsys.readouterr().out
    assert run(awaited, service)["answer"]["receipt"]["took_ms"] > 0
    bodies = (
        {"text": "Ask Mina.", "trust_tier": "quarantined"},
        {"text": "Mina was away.", "valid_until": "2020-01-01T00:00:00Z"},
        {"text": "She likes tea.", "source_ref": "people/mina"},
    )
    keys = {service.client.post("/memories", json=body).json()["id"] for body in bodies}
    first = service.client.post("/decisions", json={"text": "Mina leads."}).json()["id"]
    body = {"text": "Bob leads.", "supersedes": first}
    other = service.client.post("/decisions", json=body).json()["id"]
    capsys.readouterr()
    run(naming, service)
    found = capsys.readouterr().out.split()
    assert set(found) >= keys | {first}
    assert other not in found
