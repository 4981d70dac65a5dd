"""One summary from the memories of a group: title, text, tags and time; pure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service.access.origins import lowest
from service.consolidate.summary.extraction import Extract, best_formed, extract
from service.consolidate.summary.originals import Original
from service.consolidate.summary.refs import is_of_near_duplicates, line_name
from service.drafts.drafts import Draft
from service.drafts.kinds import type_of
from service.kinds import OUTDATED
from service.names.slugs import accented_words, slug_of, with_accents
from service.names.subjects import concept_of_summary
from service.records import CONSOLIDATION, Source
from service.text.titles import title_of
from service.text.words import fold

# As many as a memory may be given.
_MOST_TAGS: Final = 100
_MOST_NAME_CHARACTERS: Final = 160


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary to write, and the lines of its content (from 1) that each source gave."""

    draft: Draft
    lines: dict[str, tuple[int, ...]]


def summarise(
    key: str,
    ref: str,
    originals: Sequence[Original],
    budget_tokens: int,
    names: Mapping[str, str],
) -> Summary | None:
    """Make the summary of a group; None when its memories hold no passage, as a rule alone ("---").

    The same memories give the same bytes, in whichever order they come. `key` is the summary's id,
    `ref` that of refs.py, `names` those of declared concepts by slug.
    """
    ordered = sorted(originals, key=lambda one: one.order)
    best = best_formed(ordered) if is_of_near_duplicates(ref) else None
    text = extract(ordered, budget_tokens, best)
    if not text.content:
        return None
    name = _name(ref, ordered, best, names)
    return Summary(_draft(key, ref, ordered, text, name), dict(text.lines))


def _draft(key: str, ref: str, ordered: Sequence[Original], text: Extract, name: str) -> Draft:
    first, last = ordered[0], ordered[-1]
    slug = concept_of_summary(ref)
    sessions = {one.session for one in ordered}
    return Draft(
        id=key,
        agent=first.agent,
        content=text.content,
        title=f"{name}, {_span(ordered)}",
        kind="summary",
        type=type_of("summary", ""),
        occurred_at=last.occurred_at,
        scope=first.scope,
        tags=_tags(ordered),
        concepts=(name,) if slug else (),
        session=first.session if len(sessions) == 1 else None,
        source=Source(ref=ref),
        source_kind=CONSOLIDATION,
        importance=max(one.importance for one in ordered),
        origin=lowest(one.origin for one in ordered),
        trust_tier=first.trust_tier,
        sensitivity=first.sensitivity,
    )


def _tags(ordered: Sequence[Original]) -> tuple[str, ...]:
    """Return the tags of all; a summary of what holds is not outdated by one that does not."""
    tags = {tag for one in ordered for tag in one.tags}
    if not all(OUTDATED in one.tags for one in ordered):
        tags.discard(OUTDATED)
    return tuple(sorted(tags)[:_MOST_TAGS])


def _name(ref: str, ordered: Sequence[Original], best: str | None, names: Mapping[str, str]) -> str:
    """Name what the group is about: its concept, its best-formed text, or its line of time."""
    slug = concept_of_summary(ref)
    if slug is not None:
        # Of a declared concept texts may use aliases alone.
        name = names.get(slug) or spelling_of(slug, ordered)
    elif best is not None:
        title = next(title_of(one.title, one.content) for one in ordered if one.id == best)
        name = title.rstrip(" .,;:!?。，；：！？")
    else:
        name = line_name(ref)
    return name[:_MOST_NAME_CHARACTERS]


def _span(ordered: Sequence[Original]) -> str:
    days = [f"{one.occurred_at:%Y-%m-%d}" for one in (ordered[0], ordered[-1])]
    return " to ".join(dict.fromkeys(days))


def spelling_of(slug: str, originals: Iterable[Original]) -> str:
    """Return the spelling of a concept that these memories use most; of equal ones the first.

    Those of texts count before those of titles and tags. The name of a learned concept would
    make the summary depend on memories outside of the group: it is that of whoever used it first.
    """
    in_texts: Counter[str] = Counter()
    in_labels: Counter[str] = Counter()
    for one in originals:
        in_texts.update(_spellings(slug, one.content))
        for label in (one.title, *one.tags):
            in_labels.update(_spellings(slug, label))
    counts = in_texts or in_labels
    return min(counts, key=lambda text: (-counts[text], text), default=slug.replace("_", " "))


def _spellings(slug: str, text: str) -> list[str]:
    """Return what spells a concept in a text, as it stands there, once for each place."""
    pattern = r"[\W_]{1,3}".join(map(re.escape, slug.split("_")))
    spellings = re.findall(rf"(?<![^\W_]){pattern}s?(?![^\W_])", fold(text), re.IGNORECASE)
    accents = accented_words(text) if spellings else {}
    return [
        " ".join(with_accents(spelling, accents).split())
        for spelling in spellings
        if slug_of(spelling) == slug
    ]
