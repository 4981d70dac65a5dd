"""An engine that remembers its answers: one question is scored again and again with new weights."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from service.index.engine import Engine
from service.index.evidence import Evidence, Question
from service.index.links import Links
from service.records import Filters


class RecordedEngine:
    """An engine as one question's fusion asks it; the same is asked of the engine itself once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._answers: dict[tuple[Any, ...], Any] = {}

    def __getattr__(self, name: str) -> Any:
        """Return whatever is not remembered."""
        return getattr(self._engine, name)

    async def collect_evidence(
        self, question: Question, filters: Filters, keys: Iterable[str], reach: int
    ) -> Evidence:
        """Return the evidence of these memories; question and filters are always the same."""
        asked = ("evidence", *keys)
        if asked not in self._answers:
            found = await self._engine.collect_evidence(question, filters, asked[1:], reach)
            self._answers[asked] = found
        evidence: Evidence = self._answers[asked]
        return evidence

    async def before_and_after(
        self, agents: Sequence[str], keys: Iterable[str]
    ) -> dict[str, tuple[list[str], list[str]]]:
        """Return the neighbours in time."""
        asked = ("neighbours", *keys)
        if asked not in self._answers:
            self._answers[asked] = await self._engine.before_and_after(agents, asked[1:])
        near: dict[str, tuple[list[str], list[str]]] = self._answers[asked]
        return near

    async def linked(
        self, agents: Sequence[str], keys: Iterable[str], caps: Mapping[str, int]
    ) -> Links:
        """Return what concepts lead to, remembered for each memory apart."""
        wanted = list(keys)
        new = [key for key in wanted if ("linked", key) not in self._answers]
        if new:
            found = (await self._engine.linked(agents, new, caps)).by_start()
            self._answers |= {("linked", key): found.get(key, []) for key in new}
        return Links.of({key: self._answers["linked", key] for key in wanted})
