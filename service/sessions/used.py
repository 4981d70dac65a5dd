"""Whether a session used what it was given: its id or a run of its words comes back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final

from service.sessions.ledgers import Session
from service.store.database import Database, record
from service.store.queries import load_query
from service.text.cjk import HAN, HIRAGANA, KATAKANA
from service.threads import read_texts

UNUSED: Final = load_query(__package__, "unused")
USED: Final = load_query(__package__, "used")

# So many words in a row are not said by chance; of Han and Kana, that write no blanks, letters.
_RUN_WORDS: Final = 6
_RUN_LETTERS: Final = 12
_LETTERS: Final = f"{HAN}{HIRAGANA}{KATAKANA}"
_WORD: Final = re.compile(rf"[^\W{_LETTERS}]+")
_LETTER: Final = re.compile(f"[{_LETTERS}]")
# Wherever it stands, also in a longer word.
_ID: Final = re.compile(r"(?=([0-9a-f]{32}))")
_MOST_UNUSED: Final = 500
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
# What was said at no known moment may have been said after anything.
_NOT_KNOWN: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """What an assistant said, and when; None where that is not known."""

    text: str
    at: datetime | None


async def note_used(db: Database, session: Session, said: Sequence[Said]) -> None:
    """Note which of the memories that a session was given it used in what it said since."""
    if not said:
        return
    rows = await db.run(UNUSED, agent=session.agent, in_session=session.name, limit=_MOST_UNUSED)
    if not rows:
        return
    characters = sum(len(one.text) for one in said) + sum(len(row["content"] or "") for row in rows)
    used = await read_texts(characters, used_of, rows, said)
    if used:
        now = datetime.now(UTC)
        ids = [record("given", [session.agent, session.name, key]) for key in used]
        await db.run(USED, ids=ids, now=now)


def used_of(rows: Sequence[Mapping[str, Any]], said: Sequence[Said]) -> list[str]:
    """Return the ids of the memories that came back in anything that was said after they were.

    Each text is read once, however many there are of the other kind; pure.
    """
    # When each sign of any of them was said last.
    last: dict[tuple[str, ...], datetime] = {}
    for row in rows:
        last.update(dict.fromkeys(_signs(row), _NEVER))
    for one in said:
        at = one.at or _NOT_KNOWN
        for sign in chain(((found[1],) for found in _ID.finditer(one.text)), _runs(one.text)):
            if last.get(sign, _NOT_KNOWN) < at:
                last[sign] = at
    return [
        row["memory"] for row in rows if any(last[sign] >= row["first_at"] for sign in _signs(row))
    ]


def _signs(row: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield what tells that a memory was used: its id, and each run of its words."""
    yield (row["memory"],)
    yield from _runs(row["content"] or "")


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    text = text.casefold()
    for pattern, length in ((_WORD, _RUN_WORDS), (_LETTER, _RUN_LETTERS)):
        words = pattern.findall(text)
        for start in range(len(words) - length + 1):
            yield tuple(words[start : start + length])
