"""One round from its start to its comparison."""

import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx

from scripts.chaos_rounds.asking import Asking, Notes, search_for, told_by
from scripts.chaos_rounds.comparing import ENDED, compare, defects
from scripts.chaos_rounds.draws import Round
from scripts.chaos_rounds.faults import Faults
from scripts.chaos_rounds.keeper import Keeper
from scripts.chaos_rounds.ledger import Entry, Ledger, State, stored
from scripts.chaos_rounds.looking import NotWell, faults_of_store, look, state_of, wait_until
from scripts.chaos_rounds.paper_writers import Documenter, Scanner
from scripts.chaos_rounds.pens import Pen
from scripts.chaos_rounds.pushers import Pusher
from scripts.chaos_rounds.readers import Reader
from scripts.chaos_rounds.watching import Look, Watch, latest, longest
from scripts.chaos_rounds.world import Down, World, world_of

_READERS: Final = 2
# Words are numbered; each writer has numbers of its own.
_NUMBERS: Final = 5_000


@dataclass(slots=True)
class Outcome:
    """What came of a round; times in seconds. `faults` are sentences that begin with their kind.

    `late` is how late the machine was at most when the service was asked whether it lives: a
    `live` of that size says nothing of the service.
    """

    round: Round
    acknowledged: int = 0
    unknown: int = 0
    requests: int = 0
    refusals: dict[str, int] = field(default_factory=dict)
    live: float = 0.0
    late: float = 0.0
    longest: float = 0.0
    longest_of: str = ""
    refusal: float = 0.0
    refusal_of: str = ""
    took: float = 0.0
    faults: list[str] = field(default_factory=list)

    def kinds(self) -> Counter[str]:
        """Count the faults by kind."""
        return Counter(fault.partition(":")[0] for fault in self.faults)


def play(drawn: Round, kept: Path | None = None) -> Outcome:
    """Play a round; where something is wrong, the log of its service stays in `kept`."""
    started, outcome = time.monotonic(), Outcome(drawn)
    with tempfile.TemporaryDirectory(prefix="graph-memory-chaos-") as name:
        folder = Path(name)
        with world_of(drawn, folder) as world:
            _play(world, outcome)
        outcome.took = time.monotonic() - started
        if kept and outcome.faults:
            kept.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "service.log", kept / f"{drawn.seed}.log")
    return outcome


def _play(world: World, outcome: Outcome) -> None:
    ledger, notes, chance = Ledger(), Notes(), Random(world.round.seed)
    faults = Faults(world)
    with Watch(world.url) as watch:
        with _writing(world, ledger, notes, chance) as scanner:
            faults.begin()
            time.sleep(world.round.seconds)
            faults.lift()
        try:
            _end(world, ledger, scanner)
            with httpx.Client(base_url=world.url, timeout=60) as client:
                _settle(client, ledger)
                sight = look(client, ledger, chance)
            outcome.faults += compare(ledger, sight)
            listed = [one["id"] for shown in sight.memories.values() for one in shown]
            world.end(signal.SIGTERM)
            world.end_database(signal.SIGTERM)
            outcome.faults += faults_of_store(world.store, listed)
        except (NotWell, TimeoutError, httpx.HTTPError) as error:
            outcome.faults.append(str(error) if isinstance(error, NotWell) else f"hung: {error!r}")
    outcome.faults += [*ledger.seen, *world.faults]
    outcome.faults += defects(world.log.read_text(encoding="utf-8", errors="replace"))
    outcome.faults += [f"undeclared: {told}" for told in notes.undeclared]
    outcome.acknowledged, outcome.unknown = ledger.acknowledged, ledger.unknown
    outcome.requests, outcome.refusals = len(notes.asked), dict(notes.refusals)
    _time(outcome, notes, watch.looks, world.downs)


def _time(outcome: Outcome, notes: Notes, looks: Sequence[Look], downs: Sequence[Down]) -> None:
    """Note the longest of each, apart from the time when the service was frozen or away."""
    outcome.late = latest(looks)
    if live := longest(looks, downs):
        outcome.live = live.until - live.since
    if asked := longest(notes.asked, downs):
        outcome.longest, outcome.longest_of = asked.seconds, asked.what
    refusals = [one for one in notes.asked if one.status >= 400]
    if refusal := longest(refusals, downs):
        outcome.refusal, outcome.refusal_of = refusal.seconds, refusal.what


@contextmanager
def _writing(world: World, ledger: Ledger, notes: Notes, chance: Random) -> Iterator[Scanner]:
    """Let all writers and readers go on; yields the one who scans."""
    stop, asking = threading.Event(), [Asking(world.url, notes) for _ in range(5 + _READERS)]
    outlives = world.round.store == "server"

    def given(place: int, agent: str) -> tuple[Any, ...]:
        pen = Pen(Random(chance.random()), place * _NUMBERS)
        return asking[place], ledger, pen, agent, stop, outlives

    scanner = Scanner(*given(3, "main"), folder=world.notes)
    everyone: list[Any] = [
        Pusher(*given(0, "main")), Pusher(*given(1, "bob")), Documenter(*given(2, "bob")),
        scanner, Keeper(*given(4, "eve")),
        *(Reader(one, ledger, Random(chance.random()), stop) for one in asking[5:]),
    ]  # fmt: skip
    threads = [threading.Thread(target=_guarded(one.run, ledger)) for one in everyone]
    for thread in threads:
        thread.start()
    try:
        yield scanner
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        for one in asking:
            one.close()


def _guarded(run: Callable[[], None], ledger: Ledger) -> Callable[[], None]:
    """Return the same, noting what it raises: a writer that ends in silence would hide losses."""

    def guarded() -> None:
        try:
            run()
        except Exception as error:  # noqa: BLE001 - the round tells it
            ledger.seen.append(f"broken: {type(error).__name__} {error}")

    return guarded


def _end(world: World, ledger: Ledger, scanner: Scanner) -> None:
    """Bring the service to where it can be asked: restarted or not, as it was drawn."""
    status = world.has_died()
    if status is not None:
        world.faults.append(f"died: the service ended by itself with status {status}")
        world.end(signal.SIGKILL)
    elif world.round.ends_by_restart:
        world.end(signal.SIGTERM)
    if status is not None or world.round.ends_by_restart:
        world.start()
    with httpx.Client(base_url=world.url, timeout=60) as client:
        wait_until(
            lambda: client.get("/health/ready").status_code == 200, "hung: it does not become ready"
        )
        answer = client.post("/ingest/scan", json={}).raise_for_status().json()
        for paper in scanner.mine:
            paper.possible = [scanner.present.get(paper.uri, ())]
        ledger.seen += [f"lost: the last scan fails: {one}" for one in answer["failed"]]
        for agent in ledger.agents():
            _write_last(client, ledger, agent)


def _write_last(client: httpx.Client, ledger: Ledger, agent: str) -> None:
    """Store one memory more, which is found at once: writing works, and the index follows."""
    pen = Pen(Random(0), 9 * _NUMBERS + len(ledger.entries))
    word = pen.word()
    entry, state = Entry(agent), State(pen.text(word), word)
    body = {"text": state.text, "agent": agent}
    started = time.monotonic()
    answer = client.post("/memories", json=body).raise_for_status()
    if (seconds := time.monotonic() - started) > 10:
        ledger.seen.append(f"slow: the last write of {agent} took {seconds:.1f} s")
    entry.id = answer.json()["id"]
    entry.settle("acknowledged", stored(state))
    ledger.entries.append(entry)
    ledger.count("acknowledged")
    found = client.post("/search", json=search_for(word, agent)).raise_for_status().json()
    if entry.id not in [one["id"] for one in found["results"]]:
        ledger.seen.append(
            f"unfound: the last write of {agent} is not found at once, by {told_by(found)}"
        )


def _settle(client: httpx.Client, ledger: Ledger) -> None:
    """Wait until what goes on by itself has ended: jobs, and vectors that wait."""

    def states() -> set[str]:
        return {state_of(client, job) for job in ledger.jobs}

    def waiting() -> int:
        told = [client.get(f"/stats?agent={agent}") for agent in ledger.agents()]
        return sum(one.json()["without_vector"] for one in told if one.status_code == 200)

    wait_until(lambda: states() <= ENDED, "job: jobs do not end")
    try:
        wait_until(lambda: not waiting(), "vectors")
    except NotWell:
        return  # the comparison tells whose
