"""A writer that looks for each of its writes at once, and remembers what was acknowledged."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

# Letters that no stemmer takes for an ending.
_LETTERS: Final = "bcdfghjkmpqtvwxz"
_MOST_AT_ONCE: Final = 16
_WORDS_ONLY: Final = {"vector": 0, "graph": 0}
_MEANING_ONLY: Final = {"text": 0, "graph": 0}
# Of ten writes the eighth is a batch, the ninth replaces an earlier one, the tenth removes one.
_BATCH, _UPDATE, _DELETE = 7, 8, 9
_BATCH_MEMORIES: Final = 5


@dataclass(frozen=True, slots=True)
class Written:
    """A write that was acknowledged: the memory, its own word, its text."""

    id: str
    ref: str
    word: str
    text: str


@dataclass(frozen=True, slots=True)
class WriteOrder:
    """What to write, where: notes of these texts, so many a second for so long.

    Each `looks_every`-th write is looked for as soon as it is answered, 0 for none: prime to ten,
    so that every kind of write has its turn.
    """

    url: str
    texts: tuple[str, ...]
    seconds: float
    rate: float
    name: str
    looks_every: int = 1


@dataclass(slots=True)
class WriteReport:
    """What became of the writes; `wrong` tells in words what was not as it must be."""

    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    memories: int = 0
    searches: int = 0
    wrong: list[str] = field(default_factory=list)
    alive: list[Written] = field(default_factory=list)
    removed: list[Written] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The writes a second that were reached."""
        return len(self.milliseconds) / self.seconds if self.seconds else 0.0


def write(order: WriteOrder) -> WriteReport:
    """Write at the ordered pace until the time is over or the service is gone."""
    return asyncio.run(_Writer(order).write())


class _Writer:
    def __init__(self, order: WriteOrder) -> None:
        self.order = order
        self.report = WriteReport()
        self.chooser = random.Random(order.name)
        self.client = httpx.AsyncClient(base_url=order.url, timeout=120)
        self.places = asyncio.Semaphore(_MOST_AT_ONCE)
        self.is_cut = False

    async def write(self) -> WriteReport:
        order, started = self.order, time.perf_counter()
        async with self.client, asyncio.TaskGroup() as tasks:
            for tick in range(int(order.rate * order.seconds)):
                ahead = started + tick / order.rate - time.perf_counter()
                await asyncio.sleep(max(0.0, ahead))
                await self.places.acquire()
                if self.is_cut or time.perf_counter() - started > order.seconds:
                    break
                tasks.create_task(self._act(tick))
        self.report.seconds = time.perf_counter() - started
        return self.report

    async def _act(self, tick: int) -> None:
        """Do one write; its memory is nobody else's until it is acknowledged."""
        alive = self.report.alive
        kind = tick % 10 if alive else 0
        old = alive.pop(self.chooser.randrange(len(alive))) if kind in {_UPDATE, _DELETE} else None
        looks = self.order.looks_every > 0 and tick % self.order.looks_every == 0
        try:
            if old is not None and kind == _DELETE:
                await self._delete(old, looks=looks)
            else:
                await self._store(tick, old, looks=looks)
        except httpx.TransportError as error:
            self.is_cut = True
            if self.order.looks_every:
                self.report.wrong.append(f"the connection was lost: {error!r}")
        finally:
            self.places.release()

    async def _store(self, tick: int, old: Written | None, *, looks: bool) -> None:
        """Push one memory, or a small batch, or another text for an old one."""
        count = _BATCH_MEMORIES if tick % 10 == _BATCH else 1
        refs = [old.ref] if old else [f"{self.order.name}-{tick}-{n}" for n in range(count)]
        words = [unique_word(f"{self.order.name} {tick} {n}") for n in range(count)]
        texts = [f"{self.chooser.choice(self.order.texts)} {word}" for word in words]
        session = f"{self.order.name}-{tick // 20}"
        bodies = [
            {"text": text, "source_ref": ref, "session": session}
            for text, ref in zip(texts, refs, strict=True)
        ]
        batch = {"memories": bodies}
        answer = (
            await self._timed("POST", "/memories", bodies[0])
            if count == 1
            else await self._timed("POST", "/memories/batch", batch)
        )
        if answer.status_code not in {200, 201}:
            self.report.wrong.append(f"a write was answered {answer.status_code}: {answer.text}")
            return
        told = answer.json()
        ids = [told["id"]] if count == 1 else told["ids"]
        new = [Written(*one) for one in zip(ids, refs, words, texts, strict=True)]
        self.report.memories += len(new)
        if looks:
            await self._look_for(new[-1])
            if old:
                await self._expect(old, "a replaced text", query=old.word, weights=_WORDS_ONLY)
        self.report.alive += new

    async def _look_for(self, new: Written) -> None:
        ways = {"words": (new.word, _WORDS_ONLY), "meaning": (new.text, _MEANING_ONLY)}
        for way, (query, weights) in ways.items():
            if new.id not in await self._found(query, weights):
                self.report.wrong.append(f"{new.ref} not found by {way}")

    async def _delete(self, old: Written, *, looks: bool) -> None:
        answer = await self._timed("DELETE", f"/memories/{old.id}", None)
        if answer.status_code != 204:
            self.report.wrong.append(f"a removal was answered {answer.status_code}: {answer.text}")
            return
        if looks:
            await self._expect(old, "a removed memory", query=old.text, weights={})
        self.report.removed.append(old)

    async def _expect(self, gone: Written, what: str, *, query: str, weights: Any) -> None:
        if gone.id in await self._found(query, weights):
            self.report.wrong.append(f"{what} was found: {gone.ref}")

    async def _timed(self, method: str, path: str, body: Any) -> httpx.Response:
        started = time.perf_counter()
        answer = await self.client.request(method, path, json=body)
        self.report.milliseconds.append((time.perf_counter() - started) * 1000)
        return answer

    async def _found(self, query: str, weights: Any) -> set[str]:
        self.report.searches += 1
        # A text stands in many notes here: near-duplicates of a better hit would be hidden, and
        # names and times that it tells put a dozen others before it.
        body = {
            "query": query, "limit": 100, "weights": weights, "detail": "index",
            "duplicates": "show",
        }  # fmt: skip
        answer = await self.client.post("/search", json=body)
        if answer.status_code != 200:
            self.report.wrong.append(f"a search was answered {answer.status_code}: {answer.text}")
            return set()
        return {hit["id"] for hit in answer.json()["results"]}


def unique_word(name: str) -> str:
    """Return a word that stands for a name alone: consonants, one for each half byte."""
    return "q" + "".join(_LETTERS[n >> 4] + _LETTERS[n & 15] for n in name.encode()) + "x"
