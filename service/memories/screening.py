"""What a caller pushes, screened before anything else is done with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

from service.access.caller import Caller
from service.access.origins import Origin, origin_of, tier_of
from service.errors import TextRefused
from service.metadata import Metadata
from service.records import QUARANTINED
from service.sanitise.sanitiser import Sanitiser

_SCREENED: Final = (
    "text", "title", "tags", "concepts", "source_ref", "session", "scope", "sensitivity",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pushed(Metadata):
    """A memory as a caller pushes it; None is "not said". `said` is that of a draft."""

    text: str
    agent: str = "main"
    title: str | None = None
    kind: str = "note"
    type: str | None = None
    tags: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    occurred_at: datetime | None = None
    source_ref: str | None = None
    source_kind: str = "push"
    # What it is found again by, where its `source_ref` tells something else.
    known_as: str | None = None
    said: frozenset[str] = frozenset()

    @classmethod
    def by(cls, sender: Caller, **values: Any) -> Self:
        """Return a memory as its sender's: whose words it has, and of which scope and trust.

        Raises Forbidden for a scope of another's, and a trust tier that only an admin gives.
        """
        values["scope"] = sender.own_scope(values.get("scope"))
        told = values.get("trust_tier")
        origin = origin_of(sender.origin, values.get("source_kind", "push"), told)
        values["trust_tier"] = sender.check_tier(told, tier_of(origin))
        told_by = sender.provenance
        return cls(**values, origin=origin, client=told_by.client, key=told_by.key)


def screen_each(sanitiser: Sanitiser, pushed: Sequence[Pushed]) -> list[Pushed | TextRefused]:
    """Return memories as they may be stored, and in the place of what is refused the reason."""
    screened: list[Pushed | TextRefused] = []
    for one in pushed:
        try:
            screened.append(_screened(sanitiser, one))
        except TextRefused as refusal:
            screened.append(refusal)
    return screened


def _screened(sanitiser: Sanitiser, pushed: Pushed) -> Pushed:
    sent = {name: getattr(pushed, name) for name in _SCREENED}
    found = sanitiser.screen(_texts(sent), pushed.origin)
    changed = _changed(sent, found.texts)
    if found.is_quarantined:
        changed["trust_tier"] = QUARANTINED
    return (
        replace(pushed, **changed, screened=found.warnings) if changed or found.warnings else pushed
    )


def screen_changes(
    sanitiser: Sanitiser, origin: Origin, fields: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return changes as they may be stored, and what is told of them; raises TextRefused.

    `origin` is that of the memory with these changes. What is not changed is not looked at: a
    memory that was released stays so.
    """
    sent = {name: fields[name] for name in _SCREENED if name in fields}
    found = sanitiser.screen(_texts(sent), origin)
    changes = {**fields, **_changed(sent, found.texts)}
    if found.is_quarantined:
        changes["trust_tier"] = QUARANTINED
    return changes, found.warnings


def _texts(sent: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of fields by their names, those of a list with their place."""
    texts: dict[str, str] = {}
    for name, value in sent.items():
        if isinstance(value, str):
            texts[name] = value
        elif value:
            texts |= {f"{name}/{place}": one for place, one in enumerate(value)}
    return texts


def _changed(sent: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that screening changed; what is empty then is left out of a list."""
    changed: dict[str, Any] = {}
    for name, value in sent.items():
        if isinstance(value, str):
            now: Any = texts[name] if texts[name] or name == "text" else None
        else:
            every = (texts[f"{name}/{place}"] for place in range(len(value or ())))
            now = type(value)(one for one in every if one) if value else value
        if now != value:
            changed[name] = now
    return changed
