"""Those who read during a round: what they are told must be so, whatever goes wrong around them."""

import threading
from dataclasses import dataclass
from random import Random

from scripts.chaos_rounds.asking import Asking
from scripts.chaos_rounds.ledger import Ledger


@dataclass(slots=True)
class Reader:
    """Searches, recalls, lists and reads what is there, of all agents."""

    asking: Asking
    ledger: Ledger
    chance: Random
    stop: threading.Event

    def run(self) -> None:
        """Read until told to stop."""
        while not self.stop.is_set():
            known = [entry for entry in list(self.ledger.entries) if entry.id and entry.words]
            if known:
                entry = self.chance.choice(known)
                self._read(entry.agent, str(entry.id), max(tuple(entry.words)))
            self.stop.wait(self.chance.uniform(0.05, 0.25))

    def _read(self, agent: str, key: str, word: str) -> None:
        draw = self.chance.randrange(4)
        if draw == 0:
            self.asking.ask("GET", f"/memories/{key}?agent={agent}")
            return
        if draw == 1:
            self._list(agent)
            return
        path = "/search" if draw == 2 else "/graph-recall"
        answer = self.asking.ask("POST", path, json={"query": f"{word} GPU", "agent": agent})
        if answer.status == 200:
            others = {one["agent"] for one in answer.body["results"]} - {agent}
            if others:
                self.ledger.seen.append(f"stranger: {path} of {agent} shows memories of {others}")

    def _list(self, agent: str) -> None:
        """Read two pages; while others write, a page may begin anywhere but repeats nothing."""
        first = self.asking.ask("GET", f"/memories?agent={agent}&limit=5")
        cursor = first.body["next_cursor"] if first.status == 200 else None
        if cursor:
            second = self.asking.ask("GET", f"/memories?agent={agent}&limit=5&cursor={cursor}")
            if second.status == 200:
                keys = [[one["id"] for one in page.body["memories"]] for page in (first, second)]
                # A memory whose time its writer changes moves: nobody here does after storing it
                # but by the same reference, so only what stands twice within a page is wrong.
                for page in keys:
                    if len(set(page)) < len(page):
                        self.ledger.seen.append(f"twice: a page of {agent} repeats a memory")
