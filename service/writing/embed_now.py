"""Embedding what is about to be written, within the time that a write has for it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final

from service.drafts.drafts import Draft
from service.drafts.named import length_of
from service.drafts.stored_memory import is_searched_alike
from service.inference.model import Patience
from service.inference.vectors import Vectors
from service.links.change import Change
from service.plurals import how_many
from service.records import Vector
from service.threads import read_texts

log = logging.getLogger(__name__)

# Without a number: a scan tells equal ones once.
_CUT: Final = (
    "A text is longer than the embedding model reads: by meaning it is found as far as that reads, "
    "by its words whole."
)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors by the key of their draft, and what to say of those that there are not."""

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


async def embed_now(vectors: Vectors, change: Change, *, is_scan: bool = False) -> Embedded:
    """Embed the drafts whose text is new, as many as there is time for.

    `is_scan`: nobody waits for the answer, so that each request has the time, not all together.
    """
    waiting = await read_texts(length_of(change.drafts), _not_embedded, change)
    if not waiting:
        return Embedded()
    seconds = vectors.address.write_seconds
    patience = Patience(seconds, inf if is_scan else seconds)
    texts = [draft.searched_text for draft in waiting]
    made = await vectors.embed_some(texts, patience)
    found = {draft.id: vector for draft, vector in zip(waiting, made.vectors, strict=False)}
    told = (_CUT,) if made.cut else ()
    if made.failure is None:
        return Embedded(found, told)
    left = len(waiting) - len(made.vectors)
    waits = how_many(left, "memory waits for its vector", "memories wait for their vectors")
    log.warning("%s: %s", waits, made.failure.logged)
    stored = how_many(left, "memory is", "memories are")
    return Embedded(found, (*told, f"{stored} stored without vectors yet: {made.failure.detail}"))


def fitting(vectors: Mapping[str, Vector], planned: Change, change: Change) -> Mapping[str, Vector]:
    """Return what was embedded for a planned change without what became another text since.

    That is embedded later.
    """
    embedded = {draft.id: draft.searched_text for draft in planned.drafts if draft.id in vectors}
    others = {
        draft.id
        for draft in change.drafts
        if draft.id in embedded and embedded[draft.id] != draft.searched_text
    }
    return {key: vector for key, vector in vectors.items() if key not in others}


def _not_embedded(change: Change) -> list[Draft]:
    waiting = [
        draft
        for draft in change.drafts
        if draft.id not in change.replaced
        or not change.replaced[draft.id].is_embedded
        or not is_searched_alike(draft, change.replaced[draft.id])
    ]
    # Texts of like length share a batch: padding is wasted work.
    return sorted(waiting, key=lambda draft: (len(draft.searched_text), draft.id))
