"""What stands in a chain around a moment: the nearest before and after it, however far away."""

from datetime import timedelta
from pathlib import Path

import pytest

from service.links.stored import chain_spans
from service.memories.screening import Pushed
from service.memories.storing import store
from tests.stores.open_store import START, open_store

pytestmark = pytest.mark.anyio

SECOND = timedelta(seconds=1)
# Both sides of each step back: a minute, an hour, a day, a month, ever; and twice a moment.
AGES = [
    timedelta(), SECOND, 59 * SECOND, 61 * SECOND, timedelta(minutes=59), timedelta(minutes=61),
    timedelta(hours=23), timedelta(hours=25), timedelta(days=29), timedelta(days=31),
    timedelta(days=4000), timedelta(days=4000),
]  # fmt: skip


async def test_the_nearest_moments_of_a_chain_are_found(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        pushed = [
            Pushed(text=f"Note {n}.", session="s", occurred_at=START - age)
            for n, age in enumerate(AGES)
        ]
        keys, _ = await store(opened.pipeline, pushed)
        await opened.push("Of another session.", session="t")
        at = {key: START - age for key, age in zip(keys, AGES, strict=True)}
        for age in AGES:
            for moment in (START - age - SECOND / 2, START - age, START - age + SECOND / 2):
                spans = await chain_spans(
                    opened.db,
                    "main",
                    {"session:s": (moment, moment), "session:none": (START, START)},
                )
                earlier = max((one for one in at.values() if one < moment), default=None)
                later = min((one for one in at.values() if one > moment), default=None)
                near = {key for key, one in at.items() if one in {earlier, moment, later}}
                assert {link.key for link in spans["session:s"]} == near
                assert spans["session:none"] == set()


async def test_all_between_two_moments_belongs_to_a_span(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        pushed = [
            Pushed(text=f"Note {n}.", session="s", occurred_at=START + n * SECOND) for n in range(8)
        ]
        keys, _ = await store(opened.pipeline, pushed)
        span = (START + 2 * SECOND, START + 4 * SECOND)
        spans = await chain_spans(opened.db, "main", {"session:s": span})
        found = sorted(spans["session:s"], key=lambda link: link.position)
        assert [(one.occurred_at, one.key) for one in found] == [
            (START + n * SECOND, keys[n]) for n in range(1, 6)
        ]


async def test_a_document_that_goes_mends_only_the_steps_of_others(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        whole = "".join(f"\n## Part {n}\n\nWords number {n}.\n" for n in range(20))
        await opened.read("log.md", f"# Log\n{whole}")
        await opened.db.apply(
            "DEFINE EVENT counted ON follows WHEN $event = 'UPDATE' THEN { CREATE counted }"
        )
        kept = "".join(f"\n## Part {n}\n\nWords number {n}.\n" for n in (0, 1, 18, 19))
        await opened.read("log.md", f"# Log\n{kept}")
        assert len(await opened.ids()) == 4
        assert await opened.complaints() == []
        counted = await opened.ask("SELECT VALUE id FROM counted")
        # Both ends of the gap: what it lost, and what it got.
        assert isinstance(counted, list)
        assert len(counted) <= 4
        await opened.read("log.md", "")
        assert await opened.ask("SELECT VALUE id FROM follows") == []
        assert await opened.ask("SELECT VALUE id FROM counted") == counted
        assert await opened.complaints() == []
