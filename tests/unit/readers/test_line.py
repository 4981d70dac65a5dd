"""The line to a reader: what it is asked, and when."""

import asyncio
from typing import Any

import pytest

from service.index.resident.agent_index import AgentIndex
from service.readers.line import ReaderLine
from service.readers.messages import Attached

pytestmark = pytest.mark.anyio


async def test_one_that_reads_a_file_is_asked_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    line, indexes = ReaderLine(1), {name: AgentIndex(name) for name in ("main", "other")}
    told: list[Any] = []
    monkeypatch.setattr(ReaderLine, "is_alive", True)
    monkeypatch.setattr(line, "tell", told.append)
    for name, index in indexes.items():
        line.expect(name, index)
        attaching = asyncio.create_task(line.attach(name, "a file"))
        await asyncio.sleep(0)
        assert not any(line.knows(*one) for one in indexes.items())
        line._hear(Attached(name, None))
        assert await attaching
        assert line.knows(name, index)
    # Who waits for it may give up: it reads on.
    attaching = asyncio.create_task(line.attach("main", "a file"))
    await asyncio.sleep(0)
    attaching.cancel()
    await asyncio.gather(attaching, return_exceptions=True)
    assert not line.knows("other", indexes["other"])
    line._hear(Attached("main", None))
    assert line.knows("other", indexes["other"])
