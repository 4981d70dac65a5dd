"""One summary from the memories of a group: title, text, tags and time; pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from service.consolidate.grouping import Wall
from service.consolidate.summary.distilling import Distilled, Told, best_formed, distil
from service.consolidate.summary.originals import Original
from service.names.slugs import slug_of
from service.names.subjects import concept_of_summary
from service.records import CONSOLIDATION, Source
from service.text.words import fold
from service.web.fields import title_of
from service.writing.drafts import Draft
from service.writing.kinds import type_of

# As many as a memory may be given.
_MOST_TAGS: Final = 100
_MOST_NAME_CHARACTERS: Final = 160


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary to write, and the lines of its content (from 1) that each source gave."""

    draft: Draft
    lines: dict[str, tuple[int, ...]]


def summarise(
    key: str, ref: str, originals: Sequence[Original], budget_tokens: int
) -> Summary | None:
    """Make the summary of a group; None when its memories say nothing that can be told.

    The same memories give the same bytes, in whichever order they come. `ref` is the group's
    (see grouping.Place).
    """
    ordered = sorted(originals, key=lambda one: one.order)
    told = [
        Told(one.id, one.occurred_at, one.content, one.title, (one.uri, one.line_start))
        for one in ordered
    ]
    best = best_formed(told) if ref.startswith("likeness:") else None
    distilled = distil(told, budget_tokens, best)
    if not distilled.content:
        return None
    return Summary(_draft(key, ref, ordered, distilled, best), dict(distilled.lines))


def _draft(
    key: str, ref: str, ordered: Sequence[Original], distilled: Distilled, best: str | None
) -> Draft:
    first, last = ordered[0], ordered[-1]
    wall = Wall(first.scope, first.trust_tier, first.sensitivity)
    name = _name(ref, ordered, best)
    slug = concept_of_summary(ref)
    sessions = {one.session for one in ordered}
    return Draft(
        key=key,
        agent=first.agent,
        content=distilled.content,
        title=f"{name}, {_span(ordered)}",
        kind="summary",
        type=type_of("summary", ""),
        occurred_at=last.occurred_at,
        scope=wall.scope,
        tags=tuple(sorted({tag for one in ordered for tag in one.tags})[:_MOST_TAGS]),
        concepts=(name,) if slug else (),
        session=first.session if len(sessions) == 1 else None,
        source=Source(ref=ref),
        source_kind=CONSOLIDATION,
        importance=max(one.importance for one in ordered),
        trust_tier=wall.trust_tier,
        sensitivity=wall.sensitivity,
    )


def _name(ref: str, ordered: Sequence[Original], best: str | None) -> str:
    """Name what the group is about: its concept, its commonest text, or its line of time."""
    slug = concept_of_summary(ref)
    if slug is not None:
        name = spelling_of(slug, ordered)
    elif best is not None:
        text = next(title_of(one.title, one.content) for one in ordered if one.id == best)
        name = text.rstrip(" .,;:!?。，；：！？")
    else:
        name = ref.removeprefix("week:").rpartition(":")[0].partition(":")[2] or "log"
    return name[:_MOST_NAME_CHARACTERS]


def _span(ordered: Sequence[Original]) -> str:
    days = [f"{one.occurred_at:%Y-%m-%d}" for one in (ordered[0], ordered[-1])]
    return " to ".join(dict.fromkeys(days))


def spelling_of(slug: str, originals: Iterable[Original]) -> str:
    """Return the spelling of a concept that these memories use most; of equal ones the first.

    The name of the concept itself would depend on who used it first.
    """
    inside: Counter[str] = Counter()
    beside: Counter[str] = Counter()
    for one in originals:
        inside.update(_spellings(slug, one.content))
        for text in (one.title, *one.tags):
            beside.update(_spellings(slug, text))
    found = inside or beside
    return min(found, key=lambda text: (-found[text], text), default=slug.replace("_", " "))


def _spellings(slug: str, text: str) -> list[str]:
    """Return the places of a text that spell a concept, as they stand there."""
    pattern = r"[\W_]{1,3}".join(map(re.escape, slug.split("_")))
    found = re.findall(rf"(?<![^\W_]){pattern}s?(?![^\W_])", fold(text), re.IGNORECASE)
    return [" ".join(spelling.split()) for spelling in found if slug_of(spelling) == slug]
