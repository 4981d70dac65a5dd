"""The trials of scripts/measure_embedding.py: all contenders in turn, every round."""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from scripts.embedding.contenders import Contender

if TYPE_CHECKING:
    from scripts.embedding.bare_model import BareModel

console = Console(width=130)
CLIENTS = 32
QUERIES = 100
# The service embeds a group of notes at a time, sorted by length, eight texts a request.
GROUP_CHARACTERS = 40_000
SERVICE_BATCH = 8
SERVICE_REQUESTS = 4
LARGE_REQUEST = 256
# The longest sections, as often as it takes an allocator to have seen every size.
MEMORY_SECTIONS = 96
MEMORY_PASSES = (1, 2, 4, 8)
RIVAL = "infinity"
Trial = Callable[[int], float]
Series = dict[str, list[float]]


@dataclass(frozen=True)
class Aim:
    """What a ratio to the bare model must be."""

    bound: float
    is_least: bool

    def describe(self, value: float) -> str:
        """Return whether the value reaches the aim, in words."""
        is_reached = value >= self.bound if self.is_least else value <= self.bound
        word = "[green]reached[/]" if is_reached else "[red]missed[/]"
        return f"{value:.2f}, aim {'≥' if self.is_least else '≤'} {self.bound}: {word}"


AIMS = {
    "clients": Aim(2.0, is_least=True),
    "bulk": Aim(1.0, is_least=True),
    "single": Aim(1.3, is_least=False),
    "memory": Aim(1.1, is_least=False),
}
# What an optional backend must reach to be worth its dependencies.
FAST_BULK = Aim(2.0, is_least=True)


@dataclass
class Bench:
    """Who is measured on what, and what came out for each aim."""

    contenders: list[Contender]
    bare: "BareModel"
    sections: list[str]
    questions: list[str]
    rounds: int
    verdicts: list[str] = field(default_factory=list)

    def judge(self, measure: str, name: str, value: float, aim: Aim | None = None) -> None:
        """Note whether a ratio reached its aim; the rival is measured, not judged."""
        if not name.startswith(RIVAL):
            self.verdicts.append(f"{measure} · {name}: {(aim or AIMS[measure]).describe(value)}")


def compare_vectors(bench: Bench) -> None:
    """Print how near each server's vectors are to the bare model's; warms all of them up."""
    step = max(1, len(bench.sections) // 24)
    texts = bench.questions[:8] + bench.sections[::step][:24]
    expected = bench.bare.vectors(texts)
    for contender in bench.contenders:
        given = contender.vectors(texts)
        given /= np.linalg.norm(given, axis=1, keepdims=True)
        least = np.sum(given * expected, axis=1).min()
        console.print(f"{contender.name}: smallest cosine with the bare model {least:.5f}")


def measure_clients(bench: Bench) -> None:
    """Ask from 32 clients, one short text a request, against one encode after the other."""
    latencies: dict[str, list[float]] = defaultdict(list)
    requests = [[question] for question in bench.questions]

    def note(name: str, measured: tuple[float, list[float]]) -> float:
        latencies[name] += measured[1]
        return len(requests) / measured[0]

    def ask(contender: Contender, _round: int) -> float:
        return note(contender.name, contender.send(requests, CLIENTS))

    def encode(_round: int) -> float:
        return note("bare", bench.bare.encode_each(bench.questions))

    trials: dict[str, Trial] = {each.name: partial(ask, each) for each in bench.contenders}
    rates = _alternate("clients", trials | {"bare": encode}, bench.rounds)
    table = Table(
        f"{CLIENTS} clients", "texts/s", "times bare", "times infinity", "p50 ms", "p95 ms"
    )
    for name, values in rates.items():
        middle, shown = _compare(values, rates["bare"])
        p50, p95 = _percentiles_ms(latencies[name])
        rate = f"{statistics.median(values):.0f}"
        rival = _compare(values, rates[RIVAL])[1] if RIVAL in rates else ""
        table.add_row(name, rate, shown, rival, f"{p50:.1f}", f"{p95:.1f}")
        if name != "bare":
            bench.judge("clients", name, middle)
    console.print(table)


def measure_bulk(bench: Bench) -> None:
    """Send all sections as the service does, and 256 a request, against a sorted encode."""
    texts = bench.sections
    small = _make_service_requests(texts)
    large = [texts[n : n + LARGE_REQUEST] for n in range(0, len(texts), LARGE_REQUEST)]
    ways = {f"{SERVICE_REQUESTS} x {SERVICE_BATCH}": small, f"1 x {LARGE_REQUEST}": large}

    def ask(contender: Contender, way: str, _round: int) -> float:
        return len(texts) / contender.send(ways[way], int(way.partition(" ")[0]))[0]

    def encode(batch_size: int, _round: int) -> float:
        return len(texts) / bench.bare.encode_all(texts, batch_size)

    trials: dict[str, Trial] = {
        f"{each.name}, {way}": partial(ask, each, way) for each in bench.contenders for way in ways
    }
    trials |= {f"bare, batches of {size}": partial(encode, size) for size in (8, 32)}
    rates = _alternate("bulk", trials, bench.rounds)
    bare = max(list(rates.values())[-2:], key=statistics.median)
    tokens_a_text = bench.bare.count_tokens(texts) / len(texts)
    table = Table(f"{len(texts)} sections", "texts/s", "tokens/s", "times bare", "times infinity")
    for name, values in rates.items():
        middle, shown = _compare(values, bare)
        rate = statistics.median(values)
        rival = rates.get(f"{RIVAL},{name.partition(',')[2]}")
        beside = _compare(values, rival)[1] if rival else ""
        table.add_row(name, f"{rate:.1f}", f"{rate * tokens_a_text:.0f}", shown, beside)
        if not name.startswith("bare"):
            bench.judge("bulk", name, middle, FAST_BULK if name.startswith("onnx") else None)
    console.print(table)
    console.print("requests at once x texts a request; bare: the faster of both")


def measure_single(bench: Bench) -> None:
    """Ask one short query after the other over one connection, against the bare call."""
    connections = {each.name: each.connect() for each in bench.contenders}

    def ask(name: str, number: int) -> float:
        started = time.perf_counter()
        connections[name].embed([bench.questions[number]])
        return time.perf_counter() - started

    def encode(number: int) -> float:
        return bench.bare.encode_each([bench.questions[number]])[0]

    trials: dict[str, Trial] = {name: partial(ask, name) for name in connections}
    found = _alternate("single", trials | {"bare": encode}, QUERIES)
    table = Table("one query", "p50 ms", "p95 ms", "p50 times bare", "p95 times bare")
    bare_p50, bare_p95 = _percentiles_ms(found["bare"])
    for name, seconds in found.items():
        p50, p95 = _percentiles_ms(seconds)
        ratios = f"{p50 / bare_p50:.2f}", f"{p95 / bare_p95:.2f}"
        table.add_row(name, f"{p50:.1f}", f"{p95:.1f}", *ratios)
        if name != "bare":
            bench.judge("single", name, p50 / bare_p50)
    console.print(table)


def measure_memory(bench: Bench) -> None:
    """Send the same sections again and again and print what each process holds meanwhile.

    Judged is what the last half adds: an allocator takes its time to have enough of all sizes.
    """
    texts = sorted(bench.sections, key=len)[-MEMORY_SECTIONS:]
    requests = [texts[n : n + SERVICE_BATCH] for n in range(0, len(texts), SERVICE_BATCH)]
    table = Table("resident MB after", "0", *map(str, MEMORY_PASSES))
    for contender in bench.contenders:
        held = [contender.measure_megabytes()]
        for number in range(1, MEMORY_PASSES[-1] + 1):
            contender.send(requests, SERVICE_REQUESTS)
            if number in MEMORY_PASSES:
                held.append(contender.measure_megabytes())
        known = [megabytes for megabytes in held if megabytes is not None]
        if len(known) == len(held):
            table.add_row(contender.name, *(f"{megabytes:.0f}" for megabytes in known))
            bench.judge("memory", contender.name, known[-1] / known[-2])
    console.print(table)


MEASURES = {
    "memory": measure_memory,
    "clients": measure_clients,
    "bulk": measure_bulk,
    "single": measure_single,
}


def _make_service_requests(texts: Sequence[str]) -> list[list[str]]:
    """Return the texts in requests as the service makes them: groups, each sorted, eight each."""
    requests: list[list[str]] = []
    group: list[str] = []
    for number, text in enumerate(texts, 1):
        group.append(text)
        if sum(map(len, group)) >= GROUP_CHARACTERS or number == len(texts):
            group.sort(key=len)
            starts = range(0, len(group), SERVICE_BATCH)
            requests += [group[start : start + SERVICE_BATCH] for start in starts]
            group = []
    return requests


def _alternate(title: str, trials: Mapping[str, Trial], rounds: int) -> Series:
    """Run every trial once a round, forwards and backwards in turn; return what they gave."""
    found: Series = {name: [] for name in trials}
    for number in track(range(rounds), f"{title:8}", console=console, transient=True):
        for name in list(trials)[:: -1 if number % 2 else 1]:
            found[name].append(trials[name](number))
    return found


def _compare(values: Sequence[float], others: Sequence[float]) -> tuple[float, str]:
    """Return the median of the rounds' ratios, and it with the range as text."""
    ratios = sorted(mine / other for mine, other in zip(values, others, strict=True))
    middle = statistics.median(ratios)
    return middle, f"{middle:.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"


def _percentiles_ms(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the 50th and the 95th percentile in milliseconds."""
    return float(np.percentile(seconds, 50)) * 1000, float(np.percentile(seconds, 95)) * 1000
