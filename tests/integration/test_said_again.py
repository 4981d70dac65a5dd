"""What is pushed word for word again is known again, whatever was changed and deleted between."""

from pathlib import Path
from random import Random

import pytest

from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.records import QUARANTINED
from service.trust.quarantine import set_tiers
from tests.effort import SEED, examples
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio
TEXT = "Mina likes tea."
OTHERS = ("Mina likes coffee.", "Mina likes water.")
DEEDS = ("push", "push", "correct", "delete")


class Play:
    """Says one thing again and again, and does something to what it was stored as in between."""

    def __init__(self, world: OpenStore, agent: str, ref: str | None = None) -> None:
        self.world, self.agent, self.ref = world, agent, ref
        self.made: list[str] = []
        self.told: list[str] = []

    async def texts(self) -> dict[str, str]:
        """Return what stands of that by id."""
        rows = await self.world.ask("SELECT id, content FROM memory WHERE agent = $who",
            who=self.agent)  # fmt: skip
        assert isinstance(rows, list)
        return {row["id"]: row["content"] for row in rows}

    async def push_and_check(self) -> None:
        """Push it: where something stands that this was stored as, and says it, that is known."""
        before = await self.texts()
        known = {key for key, text in before.items() if key in self.made and text == TEXT}
        pushed = Pushed(TEXT, agent=self.agent, source_ref=self.ref)
        [key], synced = await store(self.world.pipeline, [pushed])
        after = await self.texts()
        assert after[key] == TEXT, self.told
        if known:
            assert (key in known, synced.actions, after) == (True, ("duplicate",), before), (
                self.told
            )
        if key not in self.made:
            self.made.append(key)

    async def do_and_check(self, deed: str, number: int) -> None:
        """Do a deed to one of what it was stored as, by its number."""
        self.told.append(f"{deed} {number}")
        standing = [key for key in self.made if key in await self.texts()]
        if deed == "push":
            await self.push_and_check()
        elif standing:
            key = standing[number % len(standing)]
            if deed == "delete":
                await remove(self.world.pipeline, self.agent, key)
            elif deed == "quarantine":
                await set_tiers(self.world.pipeline, {self.agent: [key]}, QUARANTINED)
            else:
                memory = await find(self.world.db, [self.agent], key)
                text = TEXT if deed == "restore" else OTHERS[number % 2]
                await change_memory(self.world.pipeline, memory, {"text": text})


SEQUENCES = [
    "push, correct 0, push, delete 0, push",
    "push, correct 0, push, correct 1, push, delete 0, delete 0, push",
    "push, correct 0, push, correct 1, push, delete 1, push, delete 0, push",
    "push, correct 0, push, restore 0, push, delete 0, push",
    "push, correct 0, push, quarantine 0, push",
    "push, correct 0, quarantine 0, push, push, delete 0, push",
]


@pytest.mark.parametrize("ref", [None, "m-1"])
async def test_no_two_say_the_same_once_a_correction_went(tmp_path: Path, ref: str | None) -> None:
    async with open_store(tmp_path) as world:
        for number, deeds in enumerate(SEQUENCES):
            play = Play(world, f"play{number}", ref)
            for deed in deeds.split(", "):
                name, _, which = deed.partition(" ")
                await play.do_and_check(name, int(which or 0))


async def test_of_plays_at_random_none_makes_two_of_one(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        for number in range(examples(28)):
            drawn = Random(f"{SEED} {number}")
            play = Play(world, f"drawn{number}")
            for _ in range(16):
                await play.do_and_check(drawn.choice(DEEDS), drawn.randrange(6))
