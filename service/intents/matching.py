"""Whether what an intent waits for comes up in a text; pure."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from service.names.slugs import slug_of
from service.text.terms import TERMS
from service.text.words import index_words, query_words

USUAL: Final = timedelta(days=90)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Intent:
    """When any of these words come up, or it is due, say this; so often, and not soon again.

    `when` are words or names of concepts; the words of one must all come up. `fired` counts how
    often it was said, `fires` is how often it may be.
    """

    id: str
    when: tuple[str, ...]
    text: str
    scope: str | None
    due: datetime | None
    cooldown_hours: float
    fires: int
    fired: int
    fired_at: datetime | None
    expires_at: datetime | None
    created_at: datetime
    origin: str
    trust_tier: str

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "Intent":
        """Read a row of table intent."""
        values: dict[str, Any] = {name: row.get(name) for name in cls.__dataclass_fields__}
        values["when"] = tuple(row["when"])
        return cls(**values)

    def is_due(self, now: datetime) -> bool:
        """Return whether its date has come."""
        return self.due is not None and self.due <= now

    def is_open(self, now: datetime) -> bool:
        """Return whether it may be said again, at once or later."""
        return self.fired < self.fires and (self.expires_at is None or self.expires_at > now)

    @property
    def usual_end(self) -> datetime:
        """When it ends if its sender names no end."""
        begins = max(self.due or self.created_at, self.created_at)
        return min(begins, _LAST - USUAL) + USUAL


def never_said(intent: Intent) -> Iterator[str]:
    """Yield why an intent is never said, and which of its phrases never come up."""
    if intent.trust_tier != "trusted":
        yield (
            f"trust_tier: it is never said, as it is {intent.trust_tier}: what nobody asks for is "
            "told of trusted words alone."
        )
    begins = max(intent.created_at, intent.due or intent.created_at)
    if intent.expires_at is not None and intent.expires_at <= begins:
        yield (
            f"expires_at: it is never said, as it ends before {begins:%Y-%m-%d %H:%M} UTC, from "
            "when on it may be. Delete it, and send it with a later end."
        )
    for place, phrase in enumerate(intent.when):
        if not (query_words(phrase) or slug_of(phrase)):
            yield f"when/{place}: it holds no word that could come up."


def coming_up(
    intents: Iterable[Intent], text: str, concepts: Collection[str], now: datetime
) -> list[Intent]:
    """Return the intents whose words or concepts (slugs) come up in a text, in their order.

    One that is due only from a later moment on waits for that too.
    """
    # Whole: a prompt may be long, and say it at its end.
    said = {TERMS[word] for word in index_words(text).split()}
    return [
        intent
        for intent in intents
        if (intent.due is None or intent.is_due(now))
        and any(_comes_up(phrase, said, concepts) for phrase in intent.when)
    ]


def _comes_up(phrase: str, said: Collection[int], concepts: Collection[str]) -> bool:
    terms = [TERMS[word] for word in query_words(phrase).split()]
    is_said = bool(terms) and all(term in said for term in terms)
    return is_said or slug_of(phrase) in concepts
