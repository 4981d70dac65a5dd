"""What reads a document's text works beside the event loop, which answers everybody."""

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
    (memory, "index_words"),
    (links, "find_concepts"),
    (links, "proper_names"),
    (links, "link_change"),
    (expansions, "explained"),
)


async def test_no_document_is_read_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[int]] = {}

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*given: Any, **named: Any) -> Any:
            seen.setdefault(name, set()).add(threading.get_ident())
            return function(*given, **named)

        return watching

    async with open_store(tmp_path) as opened:
        for module, name in _READERS:
            monkeypatch.setattr(module, name, watched(name, getattr(module, name)))
        await opened.read("log.md", "# Log\n\nThe Osprey Gateway (OG) restarted.\n\n# B\n\nold\n")
        await opened.read("log.md", "# Log\n\nThe Osprey Gateway (OG) restarted.\n\n# B\n\nnew\n")
        assert await opened.complaints() == []
    assert seen.keys() == {name for _, name in _READERS}
    on_the_loop = {name for name, threads in seen.items() if threading.get_ident() in threads}
    assert on_the_loop == set()
