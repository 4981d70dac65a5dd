"""Those who push memories during a round: one by one, in batches, changed and deleted.

What a writer writes nobody else does, so that its answers alone say what must be there.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Final

from scripts.chaos_rounds.asking import Answer, search_for, told_by
from scripts.chaos_rounds.ledger import Entry, State, changed, gone, stored
from scripts.chaos_rounds.pens import TAGS, Writer

_MOST_ENTRIES: Final = 40
_SEARCHED_AT_ONCE: Final = 0.2


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
        tags = tuple(sorted(self.pen.chance.sample(TAGS, self.pen.chance.randrange(3))))
        title = f"About {word}" if self.pen.chance.random() < 0.5 else None
        return State(self.pen.text(word), word, title, tags)

    def _body(self, state: State, ref: str | None) -> dict[str, Any]:
        chance = self.pen.chance
        body: dict[str, Any] = {
            "text": state.text,
            "agent": self.agent,
            "tags": list(state.tags or ()),
        }
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
        state = self._state()
        fields: dict[str, Any] = chance.choice([
            {"text": state.text}, {"title": f"Named {state.word}"}, {"tags": state.tags},
            {"archived": chance.random() < 0.6},
        ])  # fmt: skip
        path = f"/memories/{entry.id}?agent={self.agent}"
        answer = self.asking.ask("PATCH", path, json=fields)
        self._must_be_there(entry, answer)
        word = {"word": state.word} if "text" in fields else {}
        self.settle(entry, answer, changed(**fields, **word))

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
        body = search_for(state.word, self.agent)
        answer = self.asking.ask("POST", "/search", json=body)
        if answer.status == 200 and entry.id not in [one["id"] for one in answer.body["results"]]:
            self.ledger.seen.append(
                f"unfound: {self.agent} {entry.id} was answered 201 and is not found at once, "
                f"by {told_by(answer.body)}"
            )
