"""An engine that remembers its answers: one question is scored again and again with new weights."""

from collections.abc import Mapping, Sequence
from typing import Any

from service.index.evidence import Evidence, Question
from service.index.links import Links
from service.index.numbered import NumberedEngine
from service.records import Filters


class RecordedEngine:
    """An engine as one question's fusion asks it; the same is asked of the engine itself once."""

    def __init__(self, engine: NumberedEngine) -> None:
        self._engine = engine
        self._answers: dict[tuple[Any, ...], Any] = {}

    def __getattr__(self, name: str) -> Any:
        """Return whatever is not remembered."""
        return getattr(self._engine, name)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the memories, by number."""
        return self._engine.ids

    async def collect_evidence(
        self, question: Question, filters: Filters, numbers: Sequence[int], reach: int
    ) -> tuple[list[int], Evidence]:
        """Return the evidence of these memories; question and filters are always the same."""
        asked = ("evidence", *numbers)
        if asked not in self._answers:
            found = await self._engine.collect_evidence(question, filters, numbers, reach)
            self._answers[asked] = found
        told: tuple[list[int], Evidence] = self._answers[asked]
        return told

    async def beside(self, numbers: Sequence[int]) -> list[int]:
        """Return the neighbours in time."""
        asked = ("beside", *numbers)
        if asked not in self._answers:
            self._answers[asked] = await self._engine.beside(numbers)
        near: list[int] = self._answers[asked]
        return near

    async def linked(
        self, numbers: Sequence[int], caps: Mapping[str, int]
    ) -> tuple[list[int], Links]:
        """Return what concepts lead to, remembered for each memory apart."""
        wanted = [(self._engine.ids[number], number) for number in numbers]
        new = [(key, number) for key, number in wanted if ("linked", key) not in self._answers]
        if new:
            _, links = await self._engine.linked([number for _, number in new], caps)
            found = links.by_start()
            self._answers |= {("linked", key): found.get(key, []) for key, _ in new}
        links = Links.of({key: self._answers["linked", key] for key, _ in wanted})
        return self._engine.numbers_of(links.keys), links
