"""Daily logs that look like an agent's, each entry a function of seed and number alone.

Twelve entries a day; one in five is an observation, pushed by itself, the others are sections of
the day's document. One to six sentences or list items: what was done, found, counted, decided and
why, with names, numbers, versions, paths and error codes of a topic; and lines that come again and
again, as a backup's do.
"""

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

ENTRIES_A_DAY: Final = 12
_BEGIN: Final = datetime(2024, 1, 1, 8, tzinfo=UTC)
# A larger log knows more topics, each of about so many entries.
_TOPIC_ENTRIES: Final = 250
_OBSERVATION: Final = 5
_ROUTINE_SHARE: Final = 0.15
_SYLLABLES: Final = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_PEOPLE: Final = ("JR", "Mina", "Tobias", "Hana", "Priya", "Owen", "Luc", "Ayumi", "Marek", "Inês")
_PARTS: Final = (
    "queue", "cache", "index", "parser", "scheduler", "exporter", "gateway", "importer",
    "ranking", "backup", "dashboard", "login", "upload", "webhook", "migration", "tokenizer",
    "pipeline", "installer", "invoice", "calendar", "search", "crawler", "report", "sync",
    "thumbnail", "notification", "archive", "settings", "session", "socket", "retry", "export",
    "billing", "editor",
)  # fmt: skip
_REASONS: Final = (
    "it does not fit the card", "the old one lost messages after a reconnect",
    "nobody could explain its answers", "two requests at once broke it",
    "the licence forbids it", "it needs half the memory", "the support team asked for it",
    "it was slower on cold starts", "the disk was full by noon", "its last release is years old",
    "JR wants one tool fewer", "the tests cover it", "it keeps the order of events",
    "it starts without a network", "users read it on a phone",
)  # fmt: skip
_ROUTINES: Final = (
    "Backup ran at 03:30, all green.",
    "Checked the mail, nothing urgent.",
    "Stand-up: no blockers.",
    "- [x] rotate logs\n- [x] check free space on `attic`\n- [x] look at the alerts",
    "Watered the plants on the balcony.",
)
_DECISION_SHARE: Final = 0.2
_DECISIONS: Final = (
    "Decided to use {tool} instead of {other} for the {part}, because {reason}.",
    "{who} and I agreed: the {part} stays on {tool} {version}.",
    "Decision: {tool} keeps {number} days of the {part}, not {small}.",
    "We chose {tool} with {size} per worker after {who} compared {small} runs.",
    "Switched the {part} from {other} to {tool} {version}.",
)
_SENTENCES: Final = (
    "The {part} failed with {code} at {clock}; {path} opened the file twice.",
    "Fixed {code}: {path} now closes the {part} before {tool} reads it.",
    "Root cause of the slow {part} was a missing lock in `{call}`.",
    "{tool} {version} is deployed, {percent} of the {part} traffic goes there.",
    "Measured the {part}: {number} ms before, {small} ms after.",
    "The {part} holds {number} rows and takes {size} on disk.",
    "{who} asked whether {tool} can read the {part} of {other}.",
    "Read about {tool}; interesting, nothing to do yet.",
    "Looked through {path} for the {part} and wrote a test.",
    "Called {who} about the {part}, will hear back on Thursday.",
    "Tried `{call}` with {small} threads, no difference for the {part}.",
    "Still unclear why {other} needs {size} for one {part}.",
    "Next: move the {part} behind {tool} and tell {who}.",
    "Lesson learned: never restart {other} while the {part} is running.",
    "{who} prefers the {part} view without colours.",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as it is told; `text` is markdown without the heading."""

    number: int
    is_observation: bool
    moment: datetime
    title: str
    text: str


class Logs:
    """A generated log of so many entries; equal seeds and counts give equal logs."""

    def __init__(self, count: int, seed: int = 1) -> None:
        self.count = count
        self._seed = seed
        chooser = random.Random(f"logs {seed}")
        topics = max(1, count // _TOPIC_ENTRIES)
        self._tools = [[_made_name(chooser) for _ in range(6)] for _ in range(topics)]
        self._topic_parts = [chooser.sample(_PARTS, 8) for _ in range(topics)]

    def entry(self, number: int) -> Entry:
        """Return one entry."""
        chooser = random.Random(f"entry {self._seed} {number}")
        topic = chooser.randrange(len(self._tools))
        day, place = divmod(number, ENTRIES_A_DAY)
        moment = _BEGIN + timedelta(days=day, minutes=60 * place + chooser.randrange(60))
        if chooser.random() < _ROUTINE_SHARE:
            title, text = "Routine", chooser.choice(_ROUTINES)
        else:
            title, text = self._told(chooser, topic)
        return Entry(number, number % _OBSERVATION == _OBSERVATION - 1, moment, title, text)

    def entries(self) -> list[Entry]:
        """Return all entries in the order of time."""
        return [self.entry(number) for number in range(self.count)]

    def _told(self, chooser: random.Random, topic: int) -> tuple[str, str]:
        templates = chooser.sample(_SENTENCES, chooser.choices(range(1, 7), (3, 5, 5, 4, 2, 1))[0])
        if chooser.random() < _DECISION_SHARE:
            templates[chooser.randrange(len(templates))] = chooser.choice(_DECISIONS)
        words = self._words(chooser, topic)
        sentences = [one.format(**words, part=self._part(chooser, topic)) for one in templates]
        if chooser.random() < 0.2:
            sentences.append(_ROUTINES[0])
        is_list = len(sentences) > 1 and chooser.random() < 0.4
        text = "\n".join(f"- {one}" for one in sentences) if is_list else " ".join(sentences)
        return f"{words['tool']} and the {self._part(chooser, topic)}", text

    def _part(self, chooser: random.Random, topic: int) -> str:
        return chooser.choice(self._topic_parts[topic])

    def _words(self, chooser: random.Random, topic: int) -> dict[str, str]:
        tool, other = chooser.sample(self._tools[topic], 2)
        part = self._part(chooser, topic)
        small, number = sorted((chooser.randrange(2, 90), chooser.randrange(91, 9000)))
        return {
            "tool": tool, "other": other, "who": chooser.choice(_PEOPLE),
            "reason": chooser.choice(_REASONS), "small": str(small), "number": f"{number:,}",
            "version": f"v{chooser.randrange(9)}.{chooser.randrange(20)}.{chooser.randrange(9)}",
            "size": f"{chooser.randrange(10, 900) / 10} GB", "percent": f"{small} %",
            "code": f"E{chooser.randrange(1000, 9999)}",
            "clock": f"{chooser.randrange(24):02}:{chooser.randrange(60):02}",
            "path": f"src/{part}/{tool.lower()}_{chooser.choice(_PARTS)}.py",
            "call": f"{tool.lower()}.{chooser.choice(_PARTS)}()",
        }  # fmt: skip


def documents(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the days' documents by name: `## HH:MM Title` over the text of each entry."""
    days: dict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: entry.moment):
        if not entry.is_observation:
            days[f"{entry.moment:%Y-%m-%d}"].append(entry)
    return {
        f"memory/{day}.md": "\n\n".join([f"# {day}", *map(_section, those)]) + "\n"
        for day, those in days.items()
    }


def observations(entries: Iterable[Entry]) -> list[dict[str, object]]:
    """Return the observations as bodies of POST /memories, without an agent."""
    return [_pushed(entry) for entry in entries if entry.is_observation]


def _section(entry: Entry) -> str:
    return f"## {entry.moment:%H:%M} {entry.title}\n\n{entry.text}"


def _pushed(entry: Entry) -> dict[str, object]:
    return {
        "text": entry.text, "title": entry.title, "kind": "observation",
        "source_ref": f"entry-{entry.number}", "occurred_at": entry.moment.isoformat(),
    }  # fmt: skip


def _made_name(chooser: random.Random) -> str:
    return "".join(chooser.choices(_SYLLABLES, k=chooser.randint(2, 4))).title()
