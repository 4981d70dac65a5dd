"""Those who write during a round: pushes, documents, files and consolidations, each a thread.

What a writer writes nobody else does, so that its answers alone say what must be there.
"""

import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

from scripts.chaos_rounds.asking import Answer, Asking
from scripts.chaos_rounds.ledger import Entry, Ledger, Paper, State, changed, gone, stored

# Names that memories share, so that concepts, pairs and walls of the graph come about.
_WORDS: Final = (
    "harbour", "Blue Harbour", "engine", "GPU", "the New York Times", "repair", "SurrealDB",
    "morning", "letter", "v2.3.1", "northern", "kettle", "Anna Berg", "src/app.py", "[[Kiln]]",
)  # fmt: skip
_TAGS: Final = ("gpu", "kiln", "letters", "north")
_SYLLABLES: Final = tuple(a + b for a in "bdfgklmnprtvz" for b in "aou")
_FIRST_MOMENT: Final = datetime(2026, 2, 1, tzinfo=UTC)
# Moments that differ by parts of a second, and equal ones, sort and page like all others.
_STEPS_SECONDS: Final = (0.0, 0.0, 0.5, 1.0, 0.000001, 60.0, 86_400.0)
_MOST_ENTRIES: Final = 40
_SEARCHED_AT_ONCE: Final = 0.2


@dataclass(slots=True)
class Pen:
    """Makes texts: each has a word that stands nowhere else."""

    chance: Random
    start: int
    _numbers: Iterator[int] = field(init=False)
    _moment: datetime = field(default=_FIRST_MOMENT)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(self.start)

    def word(self) -> str:
        """Return a word of its own, of letters only."""
        number, parts = next(self._numbers), []
        for _ in range(5):
            number, place = divmod(number, len(_SYLLABLES))
            parts.append(_SYLLABLES[place])
        return "zy" + "".join(parts)

    def text(self, word: str) -> str:
        """Return a text that says this word."""
        return f"{word} met {' and a '.join(self.chance.choices(_WORDS, k=4))}."

    def moment(self) -> str:
        """Return a moment a little after the one before, or the same one."""
        self._moment += timedelta(seconds=self.chance.choice(_STEPS_SECONDS))
        return self._moment.isoformat().replace("+00:00", "Z")


@dataclass(slots=True)
class Writer:
    """What all writers have; `is_patient` when a request may outlive its answer."""

    asking: Asking
    ledger: Ledger
    pen: Pen
    agent: str
    stop: threading.Event
    # A database of its own may still do what the service has given up on.
    outlives: bool = False

    def settle(self, entry: Entry, answer: Answer, becomes: Any) -> None:
        """Note what an answer says of one memory."""
        entry.settle(answer.verdict, becomes)
        self.ledger.count(answer.verdict)
        if answer.gave_up or (answer.verdict == "unknown" and self.outlives):
            entry.is_over = True


@dataclass(slots=True)
class Pusher(Writer):
    """Stores, changes and deletes single memories and batches."""

    mine: list[tuple[Entry, str | None]] = field(default_factory=list)

    def run(self) -> None:
        """Write until told to stop."""
        chance = self.pen.chance
        while not self.stop.is_set():
            free = [one for one in self.mine if not one[0].is_over]
            settled = [entry for entry, _ in free if entry.id and None not in entry.possible]
            draw = chance.random()
            if draw < 0.45 or not settled:
                self._push([one for one in free if one[1]])
            elif draw < 0.6:
                self._push_many()
            elif draw < 0.9:
                self._change(chance.choice(settled))
            else:
                self._delete(chance.choice(settled))
            self.stop.wait(chance.uniform(0.0, 0.12))

    def _state(self) -> State:
        word = self.pen.word()
        tags = tuple(sorted(self.pen.chance.sample(_TAGS, self.pen.chance.randrange(3))))
        title = f"About {word}" if self.pen.chance.random() < 0.5 else None
        return State(self.pen.text(word), word, title, tags)

    def _body(self, state: State, ref: str | None) -> dict[str, Any]:
        chance = self.pen.chance
        body: dict[str, Any] = {"text": state.text, "agent": self.agent, "tags": list(state.tags or ())}
        if state.title:
            body["title"] = state.title
        if ref:
            body["source_ref"] = ref
        if chance.random() < 0.7:
            body["occurred_at"] = self.pen.moment()
        if chance.random() < 0.4:
            body["session"] = f"{self.agent}-{chance.randrange(3)}"
        return body

    def _new(self) -> tuple[Entry, str | None]:
        ref = f"{self.agent}-{len(self.mine)}" if self.pen.chance.random() < 0.6 else None
        entry = Entry(self.agent)
        self.mine.append((entry, ref))
        self.ledger.entries.append(entry)
        return entry, ref

    def _push(self, known: list[tuple[Entry, str | None]]) -> None:
        chance = self.pen.chance
        # The same reference again updates; and is how a client repeats what broke off.
        again = known and (chance.random() < 0.35 or len(self.mine) >= _MOST_ENTRIES)
        if not again and len(self.mine) >= _MOST_ENTRIES:
            return
        entry, ref = chance.choice(known) if again else self._new()
        state = self._state()
        answer = self.asking.ask("POST", "/memories", json=self._body(state, ref))
        # Whether an archived one that comes again is out of the archive is not promised.
        self.settle(entry, answer, stored(replace(state, archived=None) if again else state))
        if answer.verdict == "acknowledged":
            entry.id = answer.body["id"]
            if chance.random() < _SEARCHED_AT_ONCE:
                self._search_at_once(entry, state)

    def _push_many(self) -> None:
        if len(self.mine) >= _MOST_ENTRIES:
            return
        new = [(*self._new(), self._state()) for _ in range(self.pen.chance.randint(2, 8))]
        bodies = [self._body(state, ref) for _, ref, state in new]
        answer = self.asking.ask("POST", "/memories/batch", json={"memories": bodies})
        ids = answer.body["ids"] if answer.verdict == "acknowledged" else [None] * len(new)
        for (entry, _, state), key in zip(new, ids, strict=True):
            self.settle(entry, answer, stored(state))
            entry.id = key

    def _change(self, entry: Entry) -> None:
        chance = self.pen.chance
        state, kind = self._state(), chance.choice(("text", "title", "tags", "archived"))
        tags = list(state.tags or ())
        body: dict[str, Any] = {
            "text": {"text": state.text}, "title": {"title": f"Named {state.word}"},
            "tags": {"tags": tags}, "archived": {"archived": chance.random() < 0.6},
        }[kind]  # fmt: skip
        fields: dict[str, Any] = dict(body)
        if kind == "text":
            fields["word"] = state.word
        if kind == "tags":
            fields["tags"] = tuple(tags)
        path = f"/memories/{entry.id}?agent={self.agent}"
        answer = self.asking.ask("PATCH", path, json=body)
        self._must_be_there(entry, answer)
        self.settle(entry, answer, changed(**fields))

    def _delete(self, entry: Entry) -> None:
        answer = self.asking.ask("DELETE", f"/memories/{entry.id}?agent={self.agent}")
        self._must_be_there(entry, answer)
        self.settle(entry, answer, gone)
        # Deleted, or perhaps: nobody writes it again.
        entry.is_over = answer.verdict != "refused"

    def _must_be_there(self, entry: Entry, answer: Answer) -> None:
        if answer.status == 404:
            self.ledger.seen.append(f"lost: {self.agent} {entry.id} answers 404 to its writer")
            entry.is_over = True

    def _search_at_once(self, entry: Entry, state: State) -> None:
        body = {"query": state.word, "agent": self.agent, "limit": 10}
        answer = self.asking.ask("POST", "/search", json=body)
        if answer.status == 200 and entry.id not in [one["id"] for one in answer.body["results"]]:
            self.ledger.seen.append(
                f"unfound: {self.agent} {entry.id} was answered 201 and is not found at once"
            )


@dataclass(slots=True)
class Documenter(Writer):
    """Pushes documents, and the same ones again with sections changed, added and left out."""

    mine: list[Paper] = field(default_factory=list)

    def run(self) -> None:
        """Write until told to stop."""
        while not self.stop.is_set():
            if len(self.mine) < 4:
                self.mine.append(Paper(self.agent, f"papers/{self.agent}-{len(self.mine)}.md"))
                self.ledger.papers.append(self.mine[-1])
            paper = self.pen.chance.choice(self.mine)
            words = edited(paper, self.pen)
            body = {"source": paper.uri, "agent": self.agent, "text": text_of_paper(paper, words)}
            answer = self.asking.ask("POST", "/ingest", json=body)
            paper.settle(answer.verdict, words)
            self.ledger.count(answer.verdict)
            if answer.gave_up or (answer.verdict == "unknown" and self.outlives):
                self.mine.remove(paper)
                if len(self.ledger.papers) > 8:
                    return
            self.stop.wait(self.pen.chance.uniform(0.05, 0.5))


def edited(paper: Paper, pen: Pen) -> tuple[str, ...]:
    """Return the words of a new version: some sections stay, some go, some are new."""
    kept = [word for word in paper.possible[-1] if pen.chance.random() < 0.7]
    new = [pen.word() for _ in range(pen.chance.randint(1, 3))]
    for word in new:
        paper.texts[word] = f"## On {word}\n\n{pen.text(word)}\n"
    return tuple([*kept, *new][-6:])


def text_of_paper(paper: Paper, words: tuple[str, ...]) -> str:
    """Return the document that has these sections."""
    return "\n".join(["# A paper\n", *(paper.texts[word] for word in words)])


@dataclass(slots=True, kw_only=True)
class Scanner(Writer):
    """Writes and deletes files in a folder, and has it scanned: by itself, and by a hook."""

    folder: Path
    mine: list[Paper] = field(default_factory=list)
    # What lies in the folder now, by file.
    present: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def run(self) -> None:
        """Write until told to stop."""
        self.mine = [Paper(self.agent, f"notes/file-{number}.md") for number in range(5)]
        self.ledger.papers += self.mine
        while not self.stop.is_set():
            for paper in self.pen.chance.sample(self.mine, 2):
                self._edit(paper)
            self.scan(waits=self.pen.chance.random() < 0.6)
            self.stop.wait(self.pen.chance.uniform(0.2, 0.9))

    def _edit(self, paper: Paper) -> None:
        words = () if self.pen.chance.random() < 0.15 else edited(paper, self.pen)
        path = self.folder / paper.uri
        path.parent.mkdir(parents=True, exist_ok=True)
        if words:
            new = path.with_suffix(".new")
            new.write_text(text_of_paper(paper, words), encoding="utf-8")
            new.replace(path)
        else:
            path.unlink(missing_ok=True)
        self.present[paper.uri] = words
        # A scan that is under way may read it at any time from now on.
        paper.settle("unknown", words)

    def scan(self, *, waits: bool) -> Answer:
        """Ask for a scan; one that was waited for has read what lay there when it was asked."""
        if not waits and self.pen.chance.random() < 0.5:
            answer = self.asking.ask("POST", "/hooks/session-start", json={"event": "command:new"})
        else:
            answer = self.asking.ask("POST", "/ingest/scan", json={"wait": waits})
        self.ledger.count(answer.verdict)
        if answer.status == 202:
            self.ledger.jobs.append(answer.body["job"])
        elif answer.status == 200 and waits and not answer.body["failed"]:
            for paper in self.mine:
                paper.possible = [self.present.get(paper.uri, ())]
        return answer


@dataclass(slots=True)
class Keeper(Writer):
    """Stores logs of old days, has them consolidated, and takes that back."""

    mine: dict[str, Entry] = field(default_factory=dict)
    run_to_undo: str | None = None

    def run(self) -> None:
        """Write until told to stop."""
        while not self.stop.is_set():
            draw = self.pen.chance.random()
            if draw < 0.5 and len(self.mine) < 40 and not self.run_to_undo:
                self._log()
            elif self.run_to_undo and draw < 0.7:
                self._undo(self.run_to_undo)
            else:
                self._consolidate()
            self.stop.wait(self.pen.chance.uniform(0.2, 0.8))

    def _log(self) -> None:
        new: list[tuple[Entry, State]] = []
        for _ in range(self.pen.chance.randint(3, 8)):
            word = self.pen.word()
            new.append((Entry(self.agent), State(self.pen.text(word), word)))
        bodies = [
            {"text": state.text, "agent": self.agent, "kind": "daily_log", "occurred_at": self.pen.moment()}
            for _, state in new
        ]  # fmt: skip
        answer = self.asking.ask("POST", "/memories/batch", json={"memories": bodies})
        ids = answer.body["ids"] if answer.verdict == "acknowledged" else [None] * len(new)
        for (entry, state), key in zip(new, ids, strict=True):
            self.ledger.entries.append(entry)
            self.settle(entry, answer, stored(state))
            entry.id = key
            if key:
                self.mine[key] = entry
            else:
                # Stored perhaps; and then archived perhaps.
                entry.settle("unknown", changed(archived=None))

    def _consolidate(self) -> None:
        body = {"agent": self.agent, "dry_run": False, "limit": 1000}
        answer = self.asking.ask("POST", "/consolidate", json=body)
        self.ledger.count(answer.verdict)
        if answer.verdict == "acknowledged":
            joined = [s["id"] for g in answer.body["groups"] for s in g["sources"] if s["joins"]]
            self._archived(joined, archived=True)
            self.run_to_undo = answer.body["run"] if joined else None
        else:
            self._unsure(answer)

    def _undo(self, run: str) -> None:
        answer = self.asking.ask("POST", "/consolidate/undo", json={"agent": self.agent, "run": run})
        self.ledger.count(answer.verdict)
        if answer.verdict == "acknowledged":
            self._archived(answer.body["restored"], archived=False)
        else:
            self._unsure(answer)
        self.run_to_undo = None

    def _archived(self, keys: list[str], *, archived: bool) -> None:
        for key in keys:
            if key in self.mine:
                self.mine[key].settle("acknowledged", changed(archived=archived))

    def _unsure(self, answer: Answer) -> None:
        """Part of it may have been done, in transactions of its own: promise nothing of that."""
        if answer.verdict == "unknown":
            for entry in self.mine.values():
                entry.settle("acknowledged", changed(archived=None))
