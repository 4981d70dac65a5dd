"""Notes that look like an agent's, each a function of its number alone, and questions about them.

Sixty words by Zipf's law over English stop words and 20,000 made-up words; sixteen of them from
the note's topic, two of them names of things that the topic's notes share. Ten scopes, 40 tags,
sessions of 20, all kinds, a year of time, a few archived, expired or from doubtful sources.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final

from service.access.origins import origin_of
from service.drafts.drafts import Draft
from service.memories.screening import Pushed
from service.memories.storing import draft_of
from service.names.proper_nouns import proper_names
from service.text.words import STOP_WORDS

# Part of the name of a kept store: a change of what is generated must change it.
RECIPE: Final = 1
SESSION_NOTES: Final = 20
SCOPES: Final = 10
_MADE_WORDS: Final = 20_000
_TAGS: Final = 40
# So a topic has about 250 notes and 50 names at any size: a larger store knows more topics.
_TOPIC_NOTES: Final = 250
_NOTES_FOR_A_NAME: Final = 5
_SYLLABLES: Final = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_YEAR_BEGINS: Final = datetime(2025, 1, 1, tzinfo=UTC)
_KIND_SHARES: Final = {
    "note": 35, "daily_log": 20, "observation": 15, "decision": 10, "fact": 10, "preference": 4,
    "handoff": 2, "entity": 2, "summary": 2,
}  # fmt: skip
# Decisions and facts of the year's second half: one note in ten.
RARE_KINDS: Final = ("decision", "fact")
HALF_OF_THE_YEAR: Final = datetime(2025, 7, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is pushed and stored, and a question that its author might ask for it."""

    pushed: Pushed
    draft: Draft
    archived_at: datetime | None
    question: str


class Notes:
    """A generated store's notes, by number; `texts` take the place of the made-up words.

    Once every text was used they come again, the first half of one with the second of another.
    """

    def __init__(self, count: int, texts: Sequence[str] = ()) -> None:
        self.count = count
        self._texts = texts
        chooser = random.Random(7)
        made = [
            "".join(chooser.choices(_SYLLABLES, k=chooser.randint(2, 4)))
            for _ in range(_MADE_WORDS)
        ]
        self._words = sorted(STOP_WORDS) + made
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))
        self._tags = chooser.sample(sorted(set(made)), _TAGS)
        self._topics = max(1, count // _TOPIC_NOTES)
        self._names = [
            f"{chooser.choice(made).title()} {chooser.choice(made).title()}"
            for _ in range(max(count // _NOTES_FOR_A_NAME, 10))
        ]
        self._topic_words = [chooser.sample(made, 60) for _ in range(self._topics)]

    def note(self, number: int) -> Note:
        """Return one note; equal numbers of equal stores give equal notes."""
        chooser = random.Random(f"note {number}")
        session = number // SESSION_NOTES
        topic = random.Random(f"session {session}").randrange(self._topics)
        names = chooser.sample(self._names[topic :: self._topics], 2)
        text, title = self._text(number, topic, names, chooser)
        at = self._moment(number)
        is_expired = chooser.random() < 0.01
        pushed = Pushed(
            text=text,
            title=title,
            kind=chooser.choices(list(_KIND_SHARES), list(_KIND_SHARES.values()))[0],
            scope=f"scope-{session % SCOPES}",
            tags=(self._tags[(2 * topic + chooser.randrange(2)) % _TAGS],),
            importance=round(chooser.uniform(0.2, 0.9), 2),
            occurred_at=at,
            session=f"session-{session}",
            source_ref=f"note-{number}",
            trust_tier=chooser.choices(["trusted", "untrusted", "quarantined"], [97, 2, 1])[0],
            valid_until=at + timedelta(days=30) if is_expired else None,
        )
        origin = origin_of("agent", pushed.source_kind, pushed.trust_tier)
        pushed = replace(pushed, origin=origin, client="generated")
        archived_at = at + timedelta(days=60) if chooser.random() < 0.01 else None
        # Not when it is told: the same notes come out each time.
        draft = replace(draft_of(pushed), position=number % SESSION_NOTES)
        return Note(pushed, draft, archived_at, self._question(text, names, chooser))

    def questions(self, count: int, seed: int = 8) -> list[Note]:
        """Return notes to ask for, none of which a filter hides from everyone."""
        chooser, found = random.Random(seed), list[Note]()
        while len(found) < count:
            note = self.note(chooser.randrange(self.count))
            draft = note.draft
            is_hidden = note.archived_at or draft.valid_until or draft.trust_tier == "quarantined"
            if not is_hidden:
                found.append(note)
        return found

    def _text(
        self, number: int, topic: int, names: list[str], chooser: random.Random
    ) -> tuple[str, str]:
        if self._texts:
            return self._given_text(number, chooser), ""
        words = chooser.choices(self._words, cum_weights=self._weights, k=40)
        words += chooser.choices(self._topic_words[topic], k=16)
        words += names
        chooser.shuffle(words)
        # One title in five is the note's own and makes a concept; the others name their topic.
        title = f"{names[0]} {number}" if number % 5 == 0 else names[0]
        return " ".join(words), title

    def _given_text(self, number: int, chooser: random.Random) -> str:
        text = self._texts[number % len(self._texts)]
        if number < len(self._texts):
            return text
        first, second = text.split(), chooser.choice(self._texts).split()
        return " ".join([*first[: (len(first) + 1) // 2], *second[len(second) // 2 :]])

    def _question(self, text: str, names: list[str], chooser: random.Random) -> str:
        """Return a name that the note mentions, if it has one, and ten of its words."""
        words = text.split()
        if self._texts:
            names = [name.name for name in proper_names(text).values()]
        asked = chooser.sample(words, min(10, len(words)))
        return " ".join([*names[:1], *asked])[:1000]

    def _moment(self, number: int) -> datetime:
        sessions = max(1, self.count // SESSION_NOTES)
        begin = timedelta(days=365) * (number // SESSION_NOTES) / sessions
        return (_YEAR_BEGINS + begin + timedelta(minutes=number % SESSION_NOTES)).replace(
            microsecond=0
        )
