"""The links of a whole generated store at once: what the pipeline finds change by change."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.progress import track

from scripts.generated.notes import Notes
from service.drafts.named import names_in
from service.links.links import find_concepts
from service.names.dictionary import Dictionary
from service.names.names import Name
from service.names.proper_nouns import proper_names
from service.names.relations import Pair, pairs
from service.writing.tables.concept import concept_row

AGENT: Final = "main"


@dataclass(frozen=True, slots=True)
class StoreLinks:
    """The rows of table `concept`, the slugs that each note mentions (by number), the pairs.

    `candidates` are the names that one note alone has used: (slug, name) by its number.
    """

    concepts: Sequence[Mapping[str, Any]]
    slugs_of: Sequence[tuple[str, ...]]
    weights: Mapping[Pair, int]
    candidates: Mapping[int, Sequence[tuple[str, str]]]


def find_store_links(notes: Notes) -> StoreLinks:
    """Find the concepts of all notes, and which note mentions which.

    A name that is given on purpose (a title, a tag) is one at once, a proper noun from its
    second user on; proper nouns that a longer name always covers are none.
    """
    names, users, first_user = _find_names(notes)
    dictionary = Dictionary()
    candidates: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for slug, name in names.items():
        if users[slug] == 1:
            candidates[first_user[slug]].append((slug, name.name))
        else:
            dictionary.add(name)
    counts: Counter[str] = Counter()
    weights: Counter[Pair] = Counter()
    found: list[list[str]] = []
    for number in track(range(notes.count), "mentions", transient=True):
        draft = notes.note(number).draft
        slugs = sorted(find_concepts(dictionary, draft))
        found.append(slugs)
        if draft.teaches:
            counts.update(slugs)
            weights.update(pairs(slugs))
    slugs_of = [tuple(slug for slug in slugs if slug in counts) for slugs in found]
    concepts = [concept_row(AGENT, names[slug]) | {"memories": counts[slug]} for slug in counts]
    return StoreLinks(concepts, slugs_of, weights, candidates)


def _find_names(notes: Notes) -> tuple[dict[str, Name], Counter[str], dict[str, int]]:
    """Return every name by slug, and how many notes use it, the first of them by its number.

    A name that was given on purpose has no number of users.
    """
    given: dict[str, Name] = {}
    proper: dict[str, Name] = {}
    users: Counter[str] = Counter()
    first_user: dict[str, int] = {}
    for number in track(range(notes.count), "names", transient=True):
        draft = notes.note(number).draft
        if not draft.teaches:
            continue
        for name in names_in(draft):
            given.setdefault(name.slug, name)
        for slug, name in proper_names(draft.content).items():
            proper.setdefault(slug, name)
            first_user.setdefault(slug, number)
            users[slug] += 1
    for slug in given:
        del users[slug]
    return proper | given, users, first_user
