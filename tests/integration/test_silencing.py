"""Quarantined memories of older versions are unlearned once, at the first start."""

from pathlib import Path

import pytest

from service.memories.silencing import silence_quarantined
from service.store.queries import Query
from service.store.vector_forms import VectorForm
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio
FORMS: tuple[VectorForm, ...] = ("array", "bytes")


async def _as_before(world: OpenStore, words: str) -> None:
    """Leave a memory as a version of before left one that was quarantined."""
    text = (
        'UPDATE memory SET trust_tier = "quarantined", teaches = NONE WHERE content CONTAINS $words'
    )
    await world.db.run(Query("own", text, frozenset({"words"}), writes=True), words=words)


@pytest.mark.parametrize("form", FORMS)
async def test_what_was_learned_from_them_is_unlearned(tmp_path: Path, form: VectorForm) -> None:
    async with open_store(tmp_path, form) as world:
        await world.push(
            "The Quokkaville Institute (QVI) came.", "The harbour crane.", "QVI again."
        )
        await _as_before(world, "Quokkaville")
        assert await world.memories_of("quokkaville_institute")
        assert await silence_quarantined(world.pipeline) == 1
        assert await world.memories_of("quokkaville_institute") == []
        assert await world.complaints() == []
        # Counted as it was counted: nothing is taken off twice.
        assert await silence_quarantined(world.pipeline) == 0
        assert await world.complaints() == []


async def test_one_that_goes_before_it_is_unlearned_is_counted_as_it_was(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        [key] = await world.push("The [[Quokkaville]] plan.")
        await _as_before(world, "Quokkaville")
        await world.push("The [[Quokkaville]] plan of another.", source_ref="r1")
        await world.read("a.md", "## Crane\n\nThe Quokkaville crane.\n")
        await _as_before(world, "crane")
        await world.read("a.md", "## Crane\n\nGone.\n")
        await silence_quarantined(world.pipeline)
        assert key in await world.ids()
        assert await world.complaints() == []
