"""What goes with the memories of a document, and with them alone."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from service.store.queries import checked
from service.store.vector_forms import VectorForm
from service.writing.tables import memory
from tests.stores.open_store import open_store
from tests.stores.template import SCHEMA

pytestmark = pytest.mark.anyio

_EVENT = re.compile(r"^DEFINE EVENT (?:OVERWRITE|IF NOT EXISTS) (\w+) ON memory ", re.MULTILINE)
# What stands beside a memory, with its key: of one that goes and of one that stays.
BESIDE = """
FOR $key IN [$going, $staying] {
    CREATE fix CONTENT { agent: "main", scope: "", signature: "E1", command: "make", memory: $key,
        in_session: "s", proven_at: time::now() };
    CREATE recurrence CONTENT { agent: "main", scope: "", kind: "statement", key: $key,
        text: "Again.", sessions: ["s"], first_at: time::now(), last_at: time::now() };
    UPSERT type::record("unembedded", ["main", $key]) SET memory = type::record("memory", $key);
};
LET $one = type::record("memory", $staying);
LET $other = type::record("memory", $going);
RELATE $one->supersedes->$other;
RELATE $other->derived_from->$one;
"""
LEFT = """
RETURN { fixes: (SELECT VALUE memory FROM fix), recurrences: (SELECT VALUE key FROM recurrence),
    waiting: (SELECT VALUE record::id(id)[1] FROM unembedded),
    mentions: (SELECT VALUE record::id(id) FROM references),
    edges: array::concat((SELECT VALUE id FROM supersedes), (SELECT VALUE id FROM derived_from)),
    by_source: (SELECT VALUE id FROM memory WHERE agent = "main" AND source.uri = "log.md"),
    by_time: (SELECT VALUE record::id(id) FROM memory
        WHERE agent = "main" AND occurred_micros > 0),
    events: (SELECT VALUE id FROM counted) }
"""


@pytest.mark.parametrize("form", ["bytes", "array"])
@pytest.mark.parametrize("is_shared", [False, True])
async def test_what_goes_with_memories_goes_at_once_and_no_event_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm, is_shared: bool
) -> None:
    """As of a server, whose feed is told: there each event is asked, and finds nothing left."""
    async with open_store(tmp_path, form) as opened:
        if is_shared:
            text = checked(memory.QUERY.text)
            monkeypatch.setattr(memory, "QUERY", replace(memory.QUERY, text=text))
        await opened.read("stays.md", "# Stays\n\nThe Osprey stays.\n")
        [staying] = await opened.ids()
        await opened.read("log.md", "# Log\n\nThe Osprey goes.\n\n## Two\n\nA crane goes.\n")
        [going, _] = [key for key in await opened.ids() if key != staying]
        await opened.db.apply(
            "DEFINE TABLE counted;"
            "DEFINE EVENT counted ON memory WHEN $event = 'DELETE' THEN { CREATE counted }"
        )
        await opened.ask(BESIDE, going=going, staying=staying)
        await opened.read("log.md", "")
        left = await opened.ask(LEFT)
        assert isinstance(left, dict)
        assert len(left.pop("events")) == (2 if is_shared else 0)
        assert left.pop("edges") == left.pop("by_source") == []
        assert set(map(str, left.values())) == {str([staying])}
        assert await opened.engine.holding("main", ["goes"], 10) == {"goes": set()}


def test_what_each_event_takes_along_the_writing_takes_along_by_itself() -> None:
    """An embedded store asks no event: a new one does in vain what memory.surql does not do."""
    assert _EVENT.findall(SCHEMA) == ["gone", "gone_fix", "gone_recurrence"]
