"""Comparing what the service shows with the book of what it acknowledged; pure.

Each fault is a sentence that begins with its kind: lost, altered, twice, stranger, order, skipped,
undeleted, unfound, drift, vectors, job, defect.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from scripts.chaos_rounds.ledger import Entry, Ledger, Paper, State

Shown = Mapping[str, Any]
# As pens.Pen makes them.
_WORD: Final = re.compile(r"\bzy(?:[bdfgklmnprtvz][aou]){5}\b")
_TRACEBACK: Final = re.compile(r"^Traceback .*\n((?:[ \t].*\n)+)(\S.*)", re.MULTILINE)
_FRAME: Final = re.compile(r'File "(?:.*/)?([^/"]+)", line (\d+), in (\S+)')
# What was called last says where; who called that, why.
_TOLD_FRAMES: Final = 4
ENDED: Final = frozenset({"done", "failed", "forgotten"})


@dataclass(slots=True)
class Sight:
    """What the service shows once all is well again.

    `memories`: all of an agent, archived ones too, in large pages; `pages`: the same by small
    pages, one after the other. `got`: status and body of a memory by its id. `found`: the ids
    that a search for a word returns. `index` is missing for the database engine.
    """

    memories: dict[str, list[Shown]] = field(default_factory=dict)
    pages: dict[str, list[Shown]] = field(default_factory=dict)
    got: dict[str, tuple[int, Shown | None]] = field(default_factory=dict)
    found: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    without_vector: dict[str, int] = field(default_factory=dict)
    index: dict[str, Shown] = field(default_factory=dict)
    jobs: dict[str, str] = field(default_factory=dict)


def compare(ledger: Ledger, sight: Sight) -> list[str]:
    """Return what is not as it was acknowledged, one sentence each."""
    faults: list[str] = []
    for agent in ledger.agents():
        shown = by_word(sight.memories.get(agent, []))
        for entry in (one for one in ledger.entries if one.agent == agent):
            faults += _wrong_entry(entry, shown, sight)
        for paper in (one for one in ledger.papers if one.agent == agent):
            faults += _wrong_paper(paper, sight.memories.get(agent, []))
        faults += _strangers(ledger, agent, shown)
        faults += _wrong_pages(agent, sight)
    faults += [f"vectors: {n} memories of {a} wait" for a, n in sight.without_vector.items() if n]
    faults += list(_drift(sight))
    return faults + [
        f"job: {key} is {state}" for key, state in sight.jobs.items() if state not in ENDED
    ]


def by_word(memories: Sequence[Shown]) -> dict[str, list[Shown]]:
    """Return the memories by the word that each has of its own; summaries repeat those."""
    found: dict[str, list[Shown]] = defaultdict(list)
    for memory in memories:
        if memory["kind"] != "summary":
            for word in sorted(set(_WORD.findall(memory["content"]))):
                found[word].append(memory)
    return found


def _wrong_entry(entry: Entry, shown: Mapping[str, list[Shown]], sight: Sight) -> Iterator[str]:
    name = f"{entry.agent} {entry.id or '?'} ({', '.join(sorted(entry.words))})"
    there = {one["id"]: one for word in entry.words for one in shown.get(word, ())}
    if len(there) != 1:
        yield from _not_one(entry, f"{name} is {sorted(there)}", sight)
        return
    [memory] = there.values()
    if all(state is None for state in entry.possible):
        yield f"undeleted: {name} was deleted and is there"
        return
    fitting = [state for state in entry.possible if state and not _differences(state, memory)]
    if not fitting:
        last = next(state for state in reversed(entry.possible) if state)
        yield f"altered: {name}: {'; '.join(_differences(last, memory))}"
    elif entry.is_certain and memory["id"] not in sight.found[entry.agent, fitting[0].word]:
        yield f"unfound: {name} is not among the results for {fitting[0].word}"
    status, read = sight.got.get(memory["id"], (200, memory))
    if read is None or read["content"] != memory["content"]:
        yield f"lost: {name} is in the list and answers {status} to a read"


def _not_one(entry: Entry, told: str, sight: Sight) -> Iterator[str]:
    """Tell what is wrong with a memory that stands in a list not at all, or more than once."""
    status, _ = sight.got.get(entry.id or "", (404, None))
    if not told.endswith("[]"):
        yield f"twice: {told}"
    elif None not in entry.possible:
        yield f"lost: {told} in the list, and answers {status} to a read"
    elif status == 200:
        yield f"skipped: {told} in the list, and is read by its id"


def _differences(state: State, memory: Shown) -> list[str]:
    """Return what of a memory is not as it was promised."""
    told = {
        "content": (state.text, memory["content"]),
        "title": (state.title, memory["title"]),
        "tags": (state.tags and sorted(state.tags), sorted(memory["tags"])),
        "archived": (state.archived, memory["archived_at"] is not None),
    }
    if state.tags == ():
        told["tags"] = ([], sorted(memory["tags"]))
    return [
        f"{name} is {is_now!r}, acknowledged was {promised!r}"
        for name, (promised, is_now) in told.items()
        if promised is not None and promised != is_now
    ]


def _wrong_paper(paper: Paper, memories: Sequence[Shown]) -> Iterator[str]:
    sections = [one for one in memories if (one["source"] or {}).get("uri") == paper.uri]
    words = sorted(word for one in sections for word in set(_WORD.findall(one["content"])))
    if all(words != sorted(version) for version in paper.possible):
        kind = "lost" if len(words) < len(paper.possible[-1]) else "altered"
        yield (
            f"{kind}: document {paper.uri} of {paper.agent} has {words}, "
            f"acknowledged was {sorted(paper.possible[-1])} of {len(paper.possible)} versions"
        )


def _strangers(ledger: Ledger, agent: str, shown: Mapping[str, Any]) -> Iterator[str]:
    known = {word for one in ledger.entries if one.agent == agent for word in one.words}
    known |= {word for one in ledger.papers if one.agent == agent for word in one.texts}
    yield from (
        f"stranger: {agent} shows {word}, never sent to it" for word in shown.keys() - known
    )


def _wrong_pages(agent: str, sight: Sight) -> Iterator[str]:
    """Small pages, one after the other: each memory exactly once, newest first."""
    pages, all_of_them = sight.pages.get(agent, []), sight.memories.get(agent, [])
    for told in (pages, all_of_them):
        keys = [one["id"] for one in told]
        if len(set(keys)) < len(keys):
            yield f"twice: a list of {agent} has {len(keys) - len(set(keys))} memories again"
        times = [datetime.fromisoformat(one["occurred_at"]) for one in told]
        for newer, older in pairwise(times):
            if newer < older:
                yield f"order: {newer} stands before {older} in a list of {agent}"
    missing = {one["id"] for one in all_of_them} ^ {one["id"] for one in pages}
    if missing:
        yield f"skipped: pages of {agent} and its whole list differ by {sorted(missing)}"


def defects(log: str) -> list[str]:
    """Return the failures that a log tells with their traceback: nobody has named them."""
    found = Counter(
        (told, _way_of(trace))
        for trace, told in _TRACEBACK.findall(log)
        if "CancelledError" not in told
    )
    return [
        f"defect: {count} times in the log: {told[:300]} ({way})"
        for (told, way), count in found.items()
    ]


def _way_of(trace: str) -> str:
    frames = _FRAME.findall(trace)[-_TOLD_FRAMES:]
    return ", ".join(f"{file}:{line} {name}" for file, line, name in frames)


def _drift(sight: Sight) -> Iterator[str]:
    for agent, told in sight.index.items():
        if told["agent"]["drift"]:
            yield f"drift: {agent} {told['agent']['drift']}"
        if told["agent"]["left_out"]:
            yield f"drift: {agent} leaves out {told['agent']['left_out']}"
        if told["index"]["unknown_tables"]:
            yield f"drift: unknown tables {told['index']['unknown_tables']}"
