"""What reads long texts works beside the event loop, which answers everybody; short ones on it."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.drafts import drafts
from service.links import expansions, links
from service.writing import diff
from service.writing.tables import memory
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio

_READERS = (
    (diff, "parse_markdown"),
    (diff, "document_drafts"),
    (diff, "differs"),
    (drafts, "digest"),
    (memory, "memory_words"),
    (links, "find_concepts"),
    (links, "proper_names"),
    (links, "link_change"),
    (expansions, "explained"),
)


# Longer than what is read on the event loop.
_LOG = "# Log\n\n" + "The Osprey Gateway (OG) restarted. " * 60


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[int]]:
    """Give the threads of each reader, by its name, as they come."""
    threads: dict[str, set[int]] = {}

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*given: Any, **named: Any) -> Any:
            threads.setdefault(name, set()).add(threading.get_ident())
            return function(*given, **named)

        return watching

    for module, name in _READERS:
        monkeypatch.setattr(module, name, watched(name, getattr(module, name)))
    return threads


async def test_no_long_document_is_read_on_the_event_loop(
    tmp_path: Path, seen: dict[str, set[int]]
) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("log.md", _LOG)
        await opened.read("log.md", _LOG.replace("restarted", "stopped"))
        assert await opened.complaints() == []
    assert seen.keys() == {name for _, name in _READERS}
    on_the_loop = {name for name, threads in seen.items() if threading.get_ident() in threads}
    assert on_the_loop == set()


async def test_a_short_memory_is_linked_without_a_thread(
    tmp_path: Path, seen: dict[str, set[int]]
) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("log.md", "# Log\n\nThe Osprey Gateway (OG) restarted.\n")
        assert await opened.complaints() == []
    for name in ("find_concepts", "proper_names", "link_change", "explained", "memory_words"):
        assert seen[name] == {threading.get_ident()}
