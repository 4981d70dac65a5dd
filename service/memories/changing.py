"""Changing some fields of a stored memory, whatever else is written meanwhile."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from service.access.caller import LOCAL, Caller, own_scopes
from service.access.origins import lowest
from service.drafts.drafts import Draft
from service.drafts.stored_memory import StoredMemory, draft_of_stored
from service.errors import ToldElsewhere
from service.links.change import Change, refuse_times
from service.memories.screening import screen_changes
from service.memories.storing import stored_memory
from service.metadata import KEPT
from service.projects.switched_off import refuse_any_switched_off
from service.records import CONSOLIDATION, DOCUMENT, Memory
from service.sanitise.sanitiser import Sanitiser
from service.store.database import Database
from service.text.titles import MOST_TITLE_CHARACTERS, fit_title, is_too_long
from service.writing.leaving import tier_after
from service.writing.pipeline import Pipeline, commit

# Who changes these says something.
_WORDS: Final = frozenset({"text", "title", "tags", "concepts"})
# What is kept for a project, which may be switched off.
_SAYS: Final = _WORDS | {"scope"}
# What can be set on a summary itself; the rest its sources say.
_OWN_OF_SUMMARY: Final = frozenset({"archived", "pinned", "valid_from", "valid_until"})


async def change_memory(
    pipeline: Pipeline, memory: Memory, changes: Mapping[str, Any], sender: Caller = LOCAL
) -> tuple[str, ...]:
    """Change some fields of a stored memory; `text` of a document's section is refused.

    The others are as they are in the agent's turn: what is set or sent meanwhile stays. Words are
    the sender's from then on, but of no higher origin than they were. Returns what its sender
    should know; raises TextRefused, Forbidden for trust that only an admin gives, and
    InvalidRequest for times between which it never holds. A title that is too long goes into the
    text, as in a push; so of a document it is refused. Words of what is switched off are not
    changed, and nothing is moved there: raises SwitchedOff. Raises MemoryNotFound for one that is
    deleted meanwhile.
    """
    fields = dict(changes)
    _refuse_what_others_tell(memory, fields)
    archived = fields.pop("archived", None)
    one = frozenset({memory.id})
    change = Change(
        memory.agent,
        archive=one if archived is True else frozenset(),
        unarchive=one if archived is False else frozenset(),
    )
    if not _SAYS.isdisjoint(fields):
        await refuse_any_switched_off(pipeline.db, _places_after(memory, fields))
    if not fields:
        if change != Change(memory.agent):
            await commit(pipeline, change)
        return ()
    old = await stored_memory(pipeline.db, memory.agent, memory.id)
    redrafting = _Redrafting(old, fields, sender, pipeline.sanitiser)
    change = replace(
        change, drafts=(redrafting.draft(old),), replaced={old.id: old},
        in_turn=redrafting.in_turn, scopes=own_scopes(),
    )  # fmt: skip
    synced = await commit(pipeline, change)
    return (*redrafting.warnings, *synced.warnings, *_told_anew(memory, changes))


@dataclass(slots=True)
class _Redrafting:
    """Fields on their way into one memory, `old` when it was read; `warnings` is what was screened.

    In the agent's turn the draft is made anew of what is stored then.
    """

    old: StoredMemory
    fields: Mapping[str, Any]
    sender: Caller
    sanitiser: Sanitiser
    warnings: tuple[str, ...] = ()

    def draft(self, old: StoredMemory) -> Draft:
        """Return a memory with the fields; raises Forbidden, InvalidRequest and TextRefused."""
        given = _provenance(old, self.fields, self.sender)
        # Also a scope, which is no words of the memory's, is told with it.
        origin = lowest((old.origin, self.sender.origin))
        fields, self.warnings = screen_changes(self.sanitiser, origin, self.fields)
        # What was told of fields that stay as they are still holds.
        told = [one for one in old.screened if _field_of(one) not in self.fields]
        fields["screened"] = (*told, *self.warnings)
        draft = replace(draft_of_stored(old), **{**given, **_values(fields, old.content)})
        # A decision whose place was taken before it held has such times, by none of its writers.
        refuse_times(draft, self.fields)
        return draft

    async def in_turn(self, db: Database, change: Change) -> Change:
        """Return the change against the memory as it is now; raises MemoryNotFound."""
        now = await stored_memory(db, change.agent, self.old.id)
        return change if now == self.old else replace(change, drafts=(self.draft(now),))


def _told_anew(memory: Memory, changes: Mapping[str, Any]) -> tuple[str, ...]:
    """Return that what a document says of its sections holds until it is read anew."""
    told = sorted(changes.keys() - KEPT - {"archived"})
    if not (_is_read(memory) and told):
        return ()
    again = f"{memory.source.uri} says that again when it is read anew, once it has changed"
    time = "; a time holds on where it tells none" if "occurred_at" in told else ""
    return (f"{', '.join(told)}: {again}{time}.",)


def _is_read(memory: Memory) -> bool:
    # Older versions let a writer call a memory of his own so: what was read has a place.
    return memory.source_kind == DOCUMENT and memory.source.uri is not None


def _field_of(warning: str) -> str:
    return warning.partition(":")[0].split("/")[0]


def _provenance(old: StoredMemory, changes: Mapping[str, Any], sender: Caller) -> dict[str, Any]:
    """Return whose words a memory has once they are changed; raises Forbidden."""
    if "scope" in changes:
        sender.check_scope(changes["scope"])
    if "trust_tier" in changes:
        sender.check_tier(changes["trust_tier"], old.trust_tier)
    if _WORDS.isdisjoint(changes):
        return {}
    origin = lowest((old.origin, sender.origin))
    follows = {} if "trust_tier" in changes else {"trust_tier": tier_after(old, origin)}
    return {**asdict(sender.provenance), "origin": origin, **follows}


def _values(fields: Mapping[str, Any], content: str) -> dict[str, Any]:
    """Return fields of a request as a draft has them."""
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()
    }
    if "text" in values:
        values["content"] = values.pop("text").strip()
    if "title" in values:
        text = values.get("content", content)
        values["title"], values["content"] = fit_title(values["title"] or "", text)
    return values


def _refuse_what_others_tell(memory: Memory, fields: Mapping[str, Any]) -> None:
    if "text" in fields and _is_read(memory):
        msg = f"This memory is read from {memory.source.uri}: change the file and scan again."
        raise ToldElsewhere(msg)
    if is_too_long(fields.get("title") or "") and _is_read(memory):
        msg = (
            f"This memory is read from {memory.source.uri}, so its text cannot take the rest of a "
            f"long title: send at most {MOST_TITLE_CHARACTERS} characters."
        )
        raise ToldElsewhere(msg)
    told = sorted(fields.keys() - _OWN_OF_SUMMARY)
    if told and memory.source_kind == CONSOLIDATION:
        msg = (
            f"This summary is made from other memories, which tell its {', '.join(told)}: change "
            "those, or undo it with POST /consolidate/undo."
        )
        raise ToldElsewhere(msg)


def _places_after(
    memory: Memory, changes: Mapping[str, Any]
) -> list[tuple[str, str | None, str | None]]:
    """Return where something is said by a change: a memory may be moved out of a project."""
    places: list[tuple[str, str | None, str | None]] = []
    places.append((memory.agent, changes.get("scope", memory.scope), None))
    if not _WORDS.isdisjoint(changes):
        places.append((memory.agent, memory.scope, memory.session))
    return places
