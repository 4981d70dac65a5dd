"""The one who keeps logs during a round: stores old ones, consolidates them, takes that back."""

from dataclasses import dataclass, field

from scripts.chaos_rounds.asking import Answer
from scripts.chaos_rounds.ledger import Entry, State, changed, stored
from scripts.chaos_rounds.pens import Writer


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
            {
                "text": state.text,
                "agent": self.agent,
                "kind": "daily_log",
                "occurred_at": self.pen.moment(),
            }
            for _, state in new
        ]
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
        answer = self.asking.ask(
            "POST", "/consolidate/undo", json={"agent": self.agent, "run": run}
        )
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
