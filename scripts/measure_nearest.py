"""Whether the nearest memories by meaning are found: the index's first look against all of them.

    scripts/measure_nearest.py SET [SET ...] --embedding-url URL

A data set is a folder with corpus.jsonl and queries.jsonl (scripts/recall/sets.py says what their
lines hold). Its texts and questions are embedded by the server and looked up in a vector index,
whose first look by sketches is used for as few as there are; in use it begins at 50,000, and looks
at 30 for each that is wanted at least. Told is the share of the
ten and hundred truly nearest that it finds, exactly and for each share that it looks at twice, all
sets alone and together.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.recall.sets import read_set
from service.index.resident.sketches import nearest_by_sketches
from service.index.resident.vectors import Floats, VectorIndex
from service.inference.embedder import Embedder
from service.inference.model import EmbedderAddress

_PAGE: Final = 64
console = Console(width=150)


def main() -> None:
    """Embed, look up, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--embedding-url", default="http://127.0.0.1:8081")
    asked = parser.parse_args()
    table = Table("set", "vectors", "questions", "looked at", "of the first 10", "of the first 100")
    every = []
    for folder in asked.sets:
        every.append(asyncio.run(embedded(folder, asked.embedding_url)))
        add_rows(table, folder.name, *every[-1])
    if len(every) > 1:
        texts, questions = zip(*every, strict=True)
        add_rows(table, "together", np.concatenate(texts), np.concatenate(questions))
    console.print(table)


async def embedded(folder: Path, url: str) -> tuple[Floats, Floats]:
    """Return the vectors of a set's texts and questions."""
    data = read_set(folder)
    embedder = Embedder(EmbedderAddress(url, batch_size=_PAGE))
    try:
        texts = [str(memory["text"]) for memory in data.memories]
        pages = [texts[start : start + _PAGE] for start in range(0, len(texts), _PAGE)]
        told = [
            vector
            for page in track(pages, folder.name, console=console)
            for vector in await embedder.embed_documents(page)
        ]
        questions = [await embedder.embed_query(one.text) for one in data.questions]
    finally:
        await embedder.close()
    return np.stack(told), np.stack(questions)


def add_rows(table: Table, name: str, texts: Floats, questions: Floats) -> None:
    """Add what each share finds of what is truly nearest."""
    index = VectorIndex(texts.shape[1])
    index.fewest_for_sketches = 1
    index.put(range(len(texts)), texts)
    index.finish()
    chosen, index._share = index._share, None
    for share in (0.02, 0.05, 0.1, None):
        found = list(shares_found(index, texts, questions, share))
        looked = "all" if share is None else f"{share:.0%}"
        table.add_row(
            name, f"{len(texts):,}", f"{len(questions):,}",
            f"{looked}, its own choice" if share == chosen else looked,
            *(f"{np.mean(of):.4f}" for of in zip(*found, strict=True)),
        )  # fmt: skip


def shares_found(
    index: VectorIndex, texts: Floats, questions: Floats, share: float | None
) -> Iterator[tuple[float, float]]:
    """Yield, by question, which share of the 10 and the 100 nearest is found; ties count.

    `share` is how many are looked at twice, None for all.
    """
    every = np.ones(len(texts), np.bool_)
    for question in questions:
        cosines = texts @ question
        ordered = np.sort(cosines)[::-1]
        looked_at = every
        if share is not None:
            most = int(share * len(texts))
            looked_at = np.zeros(len(texts), np.bool_)
            looked_at[nearest_by_sketches(question, index._sketches, every, most)] = True
        rows, _ = index.search(question, looked_at, 100)
        yield _share_of(cosines[rows], ordered[:10]), _share_of(cosines[rows], ordered[:100])


def _share_of(found: Floats, best: Sequence[float] | Floats) -> float:
    # Float16 moves a cosine by less.
    least = best[-1] - 2e-4
    return min(1.0, float((found >= least).sum()) / len(best))


if __name__ == "__main__":
    main()
