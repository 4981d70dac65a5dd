"""Compare the text index of the service with tantivy: the same texts, questions and filter.

    scripts/text_contenders.py [--documents 100000] [--questions 40]

Needs tantivy (pip install tantivy==0.27.0), which the project does not depend on. Texts are 60
words by Zipf's law over 20,000 made-up words. Both stem English, rank by BM25 and give their best
20 rows; they take turns question by question. tantivy has no filter by a set of rows: it is asked
for eight times as many until 20 pass. One changed document is there when a search finds it.
"""

import argparse
import itertools
import multiprocessing
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from service.index.resident.text import TextIndex

try:
    import tantivy
except ImportError:
    tantivy = None

console = Console(width=110)
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
VOCABULARY, WORDS_PER_TEXT, BEST = 20_000, 60, 20
PAGE = 5000
SMALL_AGENTS, SMALL_DOCUMENTS = 50, 100
CHANGES = 40
Mask = NDArray[np.bool_]


class Contender(Protocol):
    """An index of texts by row."""

    name: str

    def add(self, texts: Sequence[str]) -> None:
        """Take in all texts; their rows are their places."""

    def change(self, row: int, text: str) -> None:
        """Give a row another text, searchable on return."""

    def search(self, words: str, mask: Mask | None) -> list[int]:
        """Return the rows of the best, at most BEST."""


class Resident:
    """The index of this repository."""

    name = "resident"

    def __init__(self) -> None:
        self._index = TextIndex()
        self._all = np.empty(0, np.bool_)

    def add(self, texts: Sequence[str]) -> None:
        """Take in all texts, in pages as from the store."""
        self._all = np.ones(len(texts), np.bool_)
        for start in range(0, len(texts), PAGE):
            page = texts[start : start + PAGE]
            self._index.put(range(start, start + len(page)), page)
        self._index.finish()

    def change(self, row: int, text: str) -> None:
        """Put the text."""
        self._index.put([row], [text])

    def search(self, words: str, mask: Mask | None) -> list[int]:
        """Search and select the best."""
        rows, scores = self._index.search(words, self._all if mask is None else mask)
        if len(rows) > BEST:
            best = np.argpartition(scores, len(rows) - BEST)[-BEST:]
            rows, scores = rows[best], scores[best]
        ordered: list[int] = rows[np.argsort(-scores)].tolist()
        return ordered


class Tantivy:
    """tantivy in RAM with one writing thread."""

    name = "tantivy"

    def __init__(self, heap_bytes: int = 50_000_000) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("words", tokenizer_name="stems", index_option="freq")
        builder.add_unsigned_field("row", stored=False, indexed=True, fast=True)
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema)
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        self._stemming = analyzer.filter(tantivy.Filter.stemmer("english")).build()
        self._index.register_tokenizer("stems", self._stemming)
        self._writer = self._index.writer(heap_size=heap_bytes, num_threads=1)
        self._searcher = self._index.searcher()

    def add(self, texts: Sequence[str]) -> None:
        """Take in all texts and commit once."""
        for row, text in enumerate(texts):
            self._write(row, text)
        self._commit()

    def change(self, row: int, text: str) -> None:
        """Delete, add, commit, reload."""
        self._writer.delete_documents_by_term("row", row)
        self._write(row, text)
        self._commit()

    def search(self, words: str, mask: Mask | None) -> list[int]:
        """Search for more and more until enough pass the mask."""
        stems = self._stemming.analyze(words)
        terms = [tantivy.Query.term_query(self._schema, "words", stem) for stem in stems]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        limit = BEST
        while True:
            hits = self._searcher.search(query, limit=limit, count=False).hits
            rows: Any = self._searcher.fast_field_values("row", [address for _, address in hits])
            passing = [row for row in rows if mask is None or mask[row]]
            if len(passing) >= BEST or len(hits) < limit:
                best: list[int] = passing[:BEST]
                return best
            limit *= 8

    def _write(self, row: int, text: str) -> None:
        document = tantivy.Document()
        document.add_text("words", text)
        document.add_unsigned("row", row)
        self._writer.add_document(document)

    def _commit(self) -> None:
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()


def main() -> None:
    """Build, ask, change, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=40)
    asked = parser.parse_args()
    if tantivy is None:
        sys.exit("tantivy is missing: pip install tantivy==0.27.0")
    generator = np.random.default_rng(7)
    words = make_words(generator)
    texts = make_texts(generator, words, asked.documents)
    table = Table("", *(kind.name for kind in (Resident, Tantivy)))
    small = [measure_small_agents(kind.name) for kind in (Resident, Tantivy)]
    contenders: list[Contender] = [Resident(), Tantivy()]
    table.add_row("build, s", *(f"{measure_build(one, texts):.2f}" for one in contenders))
    masks = {"": None, ", a tenth passes": generator.random(len(texts)) < 0.1}
    questions = make_questions(generator, words, texts, asked.questions)
    for (kind, lines), (note, mask) in itertools.product(questions.items(), masks.items()):
        table.add_row(f"{kind}{note}, ms", *measure_search(contenders, lines, mask))
    table.add_row("one change searchable, ms", *measure_changes(contenders, texts))
    table.add_row("small agent, MB", *(f"{megabytes:.2f}" for megabytes, _ in small))
    table.add_row(f"threads of {SMALL_AGENTS} small agents", *(f"{count}" for _, count in small))
    console.print(f"{len(texts)} documents of {WORDS_PER_TEXT} words; p50 (p95)")
    console.print(table)


def make_words(generator: np.random.Generator) -> list[str]:
    """Return made-up words, the most frequent first."""
    made: dict[str, None] = {}
    while len(made) < VOCABULARY:
        count = generator.integers(2, 5)
        made["".join(generator.choice(SYLLABLES, count).tolist())] = None
    return list(made)


def make_texts(generator: np.random.Generator, words: Sequence[str], count: int) -> list[str]:
    """Return texts whose words follow Zipf's law."""
    shares = 1 / np.arange(1, VOCABULARY + 1)
    drawn = generator.choice(VOCABULARY, (count, WORDS_PER_TEXT), p=shares / shares.sum())
    return [" ".join([words[place] for place in places.tolist()]) for places in drawn]


def make_questions(
    generator: np.random.Generator, words: Sequence[str], texts: Sequence[str], count: int
) -> dict[str, list[str]]:
    """Return questions by kind; those of several words are words of one text."""

    def take(size: int) -> list[str]:
        chosen = [set(texts[n].split()) for n in generator.integers(0, len(texts), count)]
        return [" ".join(generator.permutation(sorted(own))[:size].tolist()) for own in chosen]

    return {
        "rare word": [words[n] for n in generator.integers(10_000, VOCABULARY, count)],
        "common word": [words[n] for n in generator.integers(0, 10, count)],
        "six words": take(6),
        "twelve words": take(12),
    }


def measure_build(contender: Contender, texts: Sequence[str]) -> float:
    """Return the seconds until all texts are searchable."""
    started = time.perf_counter()
    contender.add(texts)
    return time.perf_counter() - started


def measure_search(
    contenders: Sequence[Contender], questions: Sequence[str], mask: Mask | None
) -> list[str]:
    """Return p50 and p95 of each contender; they must find equally many."""
    taken: dict[str, list[float]] = {one.name: [] for one in contenders}
    for question in questions:
        counts = set()
        for one in contenders:
            started = time.perf_counter()
            rows = one.search(question, mask)
            taken[one.name].append(time.perf_counter() - started)
            counts.add(len(rows))
        if len(counts) != 1:
            sys.exit(f"{question!r}: the contenders found {counts}")
    return [percentiles(seconds) for seconds in taken.values()]


def measure_changes(contenders: Sequence[Contender], texts: Sequence[str]) -> list[str]:
    """Return p50 and p95 of each contender for a change, which a search must find."""
    taken: dict[str, list[float]] = {one.name: [] for one in contenders}
    for row in range(CHANGES):
        for one in contenders:
            started = time.perf_counter()
            one.change(row, f"{texts[row]} changed{row}")
            rows = one.search(f"changed{row}", None)
            taken[one.name].append(time.perf_counter() - started)
            if rows != [row]:
                sys.exit(f"{one.name} found {rows} instead of the changed row {row}")
    return [percentiles(seconds) for seconds in taken.values()]


def percentiles(seconds: Sequence[float]) -> str:
    """Return p50 and p95 in milliseconds."""
    p95 = statistics.quantiles(seconds, n=20)[-1]
    return f"{statistics.median(seconds) * 1e3:.2f} ({p95 * 1e3:.2f})"


def measure_small_agents(name: str) -> tuple[float, int]:
    """Return megabytes for each of many small agents and all threads, in a fresh process."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(hold_small_agents, name).result()


def hold_small_agents(name: str) -> tuple[float, int]:
    """Build small agents in this process; returns megabytes for each, and threads added."""
    generator = np.random.default_rng(8)
    words = make_words(generator)
    texts = make_texts(generator, words, SMALL_AGENTS * SMALL_DOCUMENTS)
    make: dict[str, Any] = {"resident": Resident, "tantivy": lambda: Tantivy(15_000_000)}
    before, threads = resident_megabytes(), count_threads()
    agents = []
    for start in range(0, len(texts), SMALL_DOCUMENTS):
        agents.append(make[name]())
        agents[-1].add(texts[start : start + SMALL_DOCUMENTS])
    return (resident_megabytes() - before) / len(agents), count_threads() - threads


def resident_megabytes() -> float:
    """Return the memory of this process, as Linux counts it."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    lines = dict(line.split(":", 1) for line in status)
    return int(lines["VmRSS"].split()[0]) / 1024


def count_threads() -> int:
    """Return the threads of this process, as Linux counts them."""
    return len(list(Path("/proc/self/task").iterdir()))


if __name__ == "__main__":
    main()
