"""Whether a session used what it was given: its id or a run of its words comes back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from service.sessions.given import Session
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
_MOST_UNUSED: Final = 500


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
    characters = sum(len(one.text) for one in said)
    used = await read_texts(characters, _used, rows, said)
    if used:
        now = datetime.now(UTC)
        ids = [record("given", [session.agent, session.name, key]) for key in used]
        await db.run(USED, ids=ids, now=now)


def _used(rows: Sequence[Mapping[str, Any]], said: Sequence[Said]) -> list[str]:
    """Return the ids of the memories that came back in anything that was said after they were."""
    texts = [(one, frozenset(_runs(one.text))) for one in said]
    return [
        row["memory"]
        for row in rows
        if any(
            row["memory"] in one.text or not runs.isdisjoint(_runs(row["content"] or ""))
            for one, runs in texts
            if one.at is None or one.at >= row["first_at"]
        )
    ]


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    text = text.casefold()
    for pattern, length in ((_WORD, _RUN_WORDS), (_LETTER, _RUN_LETTERS)):
        words = pattern.findall(text)
        for start in range(len(words) - length + 1):
            yield tuple(words[start : start + length])
