"""A change: what one agent's turn to write brings, before it is linked; pure."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Final, Self

from service.access.errors import Forbidden
from service.access.origins import UNKNOWN, Provenance, lower_tier, lowest
from service.drafts.drafts import Draft
from service.drafts.stored_memory import StoredMemory, differs, keep_time, says_more
from service.errors import FieldError, InvalidRequest
from service.links.merges import NOTHING_REGROUPED, Regroup, Regrouped
from service.metadata import KEPT, NEVER_HOLDS, holds_never
from service.records import CONSOLIDATION, DOCUMENT
from service.store.database import Database
from service.store.queries import Fragment
from service.text.lines import LineRange

Edge = tuple[str, str]
# What a change means to another room's tables: returns the change with that in it. Reads only.
Step = Callable[[Database, "Change"], Awaitable["Change"]]
# What follows from a text and from other memories is compared with these alone.
_DERIVED: Final = (DOCUMENT, CONSOLIDATION)
# Whatever the links of a memory follow from, besides what the dictionary knows: all of `Written`.
_LINKED_BY: Final = attrgetter(
    "heading_path", "title", "content", "tags", "concepts", "trust_tier", "teaches"
)
TIMES: Final = frozenset({"valid_from", "valid_until"})
OF_ANOTHER_SCOPE: Final = (
    "What is stored under this name is of a scope that your key is not for: send it under another "
    "name (`source_ref`, or `source` of a document)."
)


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as it is stored: without the lines that are `withheld`, see writing/tombstones.py.

    `sections` counts its memories; `drafts` are all sections that it was cut into.
    """

    uri: str
    text: str
    text_hash: str
    sections: int
    folder: str | None = None
    sender: Provenance = UNKNOWN
    drafts: tuple[Draft, ...] = ()
    withheld: tuple[LineRange, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user's concept file says: rows to write and edges between concepts.

    Pairs of `related` are in ascending order, those of `isa` read (narrower, broader). `taken` are
    spellings that were merged into a concept (its slug first) and are declared now.
    """

    concepts: tuple[Mapping[str, Any], ...] = ()
    related: tuple[Edge, ...] = ()
    isa: tuple[Edge, ...] = ()
    gone_related: tuple[Edge, ...] = ()
    gone_isa: tuple[Edge, ...] = ()
    taken: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def flags(self) -> dict[str, bool]:
        """Whether each concept of the rows is declared from now on, by slug."""
        return {row["id"].id[1]: row["is_declared"] for row in self.concepts}


NOTHING_DECLARED: Final = Declared()


@dataclass(frozen=True, slots=True)
class Change:
    """What one agent's turn writes, in one transaction; a step of the pipeline may add to it.

    `drafts` are written and `gone` removed; `replaced` are the drafts' stored versions by id, and
    `relink` names stored memories whose links are found anew as the dictionary changed; more may
    mention the names `unlinked`: the next transactions link those. `archive` and `unarchive` name
    memories that leave the answers, or come back. `fresh` names chains that have no memory yet:
    nothing to query for. `regroup` is worked out in the turn, from what is stored then, and gives
    `regrouped`. `in_turn` says from what is stored then what else it is.
    `audit` is why memories are removed; if for good, their `tombstones` stay, and `cut_documents`
    lose their text. What another room writes besides comes as `fragments`. `scopes` are those whose
    memories it may write over or remove; None for all.
    """

    agent: str
    drafts: tuple[Draft, ...] = ()
    gone: tuple[StoredMemory, ...] = ()
    replaced: Mapping[str, StoredMemory] = field(default_factory=dict)
    relink: frozenset[str] = frozenset()
    unlinked: tuple[str, ...] = ()
    archive: frozenset[str] = frozenset()
    unarchive: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()
    documents: tuple[DocumentRow, ...] = ()
    gone_documents: tuple[str, ...] = ()
    cut_documents: tuple[DocumentRow, ...] = ()
    tombstones: tuple[str, ...] = ()
    declared: Declared = NOTHING_DECLARED
    regroup: Regroup | None = None
    regrouped: Regrouped = NOTHING_REGROUPED
    in_turn: Step | None = None
    audit: str | None = None
    fragments: tuple[Fragment, ...] = ()
    scopes: frozenset[str] | None = None

    @property
    def moved(self) -> frozenset[str]:
        """The sections of documents that say what they said: their names and links stay."""
        sections = (draft for draft in self.drafts if draft.source_kind == DOCUMENT)
        known = ((draft, self.replaced.get(draft.id)) for draft in sections)
        same = {draft.id for draft, old in known if old and _LINKED_BY(draft) == _LINKED_BY(old)}
        return frozenset(same - self.relink - self.regrouped.relink)

    def compared(self, now: Mapping[str, StoredMemory]) -> Self:
        """Return the change against what is stored `now`, by id: what is gone need not go.

        Nor need a push be written that somebody else's equal one was before. Drafts of a change
        that says in its turn what it is are of now already. Raises Forbidden for memories of other
        scopes than it may write over or remove, InvalidRequest for what would hold at no time.
        """
        gone = tuple(now[memory.id] for memory in self.gone if memory.id in now)
        replaced = {draft.id: now[draft.id] for draft in self.drafts if draft.id in now}
        for memory in (*gone, *replaced.values()):
            if self.scopes is not None and memory.scope not in self.scopes:
                raise Forbidden(OF_ANOTHER_SCOPE)
        drafts = self.drafts
        if self.in_turn is None:
            drafts = tuple(self._against(replaced))
            replaced = {draft.id: now[draft.id] for draft in drafts if draft.id in now}
        return replace(self, drafts=drafts, gone=gone, replaced=replaced)

    def _against(self, now: Mapping[str, StoredMemory]) -> Iterator[Draft]:
        for draft in self.drafts:
            old, known = now.get(draft.id), self.replaced.get(draft.id)
            if old is None:
                yield draft
            elif draft.source_kind in _DERIVED or old == known or says_more(draft, old):
                yield _over(draft, old, known)

    def with_fragment(self, fragment: Fragment) -> Self:
        """Return the change with more to write; to a fragment of the same query its lists join."""
        others = [one for one in self.fragments if one.query is not fragment.query]
        for one in self.fragments:
            if one.query is fragment.query:
                params = {name: [*one.params[name], *fragment.params[name]] for name in one.params}
                fragment = Fragment(fragment.query, params)
        return replace(self, fragments=(*others, fragment))


def _over(draft: Draft, old: StoredMemory, known: StoredMemory | None) -> Draft:
    """Return a draft as it takes the place of what is stored now.

    Of a document its diff says so, against what was `known` then: what was set since stays. What is
    pushed again keeps what it does not say, and has no higher origin and tier than before; words
    that are the same stay whose they were.
    """
    if draft.source_kind in _DERIVED:
        if known is None or known == old:
            return draft
        since = {name for name in KEPT if getattr(old, name) != getattr(known, name)}
        return replace(draft, **{name: getattr(old, name) for name in since})
    kept = {name: getattr(old, name) for name in KEPT if name not in draft.said}
    is_same = not differs(draft, old)
    if not is_same or "trust_tier" in draft.said:
        kept["trust_tier"] = lower_tier(draft.trust_tier, old.trust_tier)
    kept["position"] = old.position
    kept["origin"] = old.origin if is_same else lowest((draft.origin, old.origin))
    kept |= {"client": old.client, "key": old.key} if is_same else {}
    made = keep_time(replace(draft, **kept), old.occurred_at)
    if not holds_never(old):
        refuse_times(made, draft.said)
    return made


def refuse_times(draft: Draft, named: Iterable[str]) -> None:
    """Raise InvalidRequest where a memory would hold at no time by what was named of it."""
    if (times := sorted(TIMES.intersection(named))) and holds_never(draft):
        detail = f"{NEVER_HOLDS}."
        raise InvalidRequest(detail, tuple(FieldError(f"/{name}", detail) for name in times))
