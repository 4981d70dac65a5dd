"""What is compiled gives what it gives as the Python that it is written in."""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import service
from service.compiled import INTERPRETED, is_compiled
from service.index.evidence import Corpus, Evidence
from service.index.links import Links
from service.index.resident.postings import TermPostings
from service.records import Concept
from service.search.fusion.steps import Beams
from tests.effort import examples

ROOT: Final = Path(service.__file__).parent
WRITTEN: Final = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.pxd"))
Chance = np.random.Generator
COUNTS: Final = (np.uint8, np.uint16)


def interpreted(name: str) -> ModuleType:
    """Return a module of the service as it is written, under a name of its own."""
    path = ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py")
    spec = importlib.util.spec_from_file_location(f"interpreted_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ways(chance: Chance, candidates: int, rows: int, reach: int) -> np.ndarray:
    """Return ways of random lengths [row, step], each after the other -1."""
    steps = chance.integers(0, max(rows, 1), (candidates, reach)).astype(np.int32)
    lengths = chance.integers(0, reach + 1, (candidates, 1))
    return np.where(np.arange(reach) < lengths, steps, np.int32(-1))


def evidence(chance: Chance) -> Evidence:
    """Return evidence with everything odd in it: no rows, no words, no vectors, no neighbours."""
    rows, words, reach = (int(chance.integers(0, most)) for most in (12, 6, 6))
    candidates = int(chance.integers(0, rows + 1))
    cosines = chance.uniform(-1, 1, rows).astype(np.float32)
    cosines[chance.random(rows) < 0.3] = np.nan
    held = chance.integers(0, 4, (rows, words)) * (chance.random((rows, words)) < 0.5)
    many = chance.random((rows, words)) < 0.05
    return Evidence(
        keys=tuple(f"m{row}" for row in range(rows)),
        within=(candidates, rows, rows),
        before=ways(chance, candidates, rows, reach),
        after=ways(chance, candidates, rows, reach),
        values={
            "counts": np.where(many, 65_000, held).astype(np.float32),
            "lengths": chance.integers(0, 90, rows).astype(np.float32),
            "cosines": cosines,
            "is_turn": chance.random(candidates) < 0.5,
            "named_words": chance.random((candidates, words)) < 0.2,
            "mentioned_words": chance.random((candidates, words)) < 0.2,
        },
        corpus=Corpus(
            chance.integers(0, 30, words).astype(np.float32),
            np.zeros(words, np.float32),
            chance.random(words) < 0.5,
            30,
            900.0,
        ),
    )


def floats(chance: Chance, *shape: int) -> np.ndarray:
    """Return numbers of which a third are 0."""
    return (chance.random(shape) * (chance.random(shape) < 0.66)).astype(np.float32)


def of_score_texts(chance: Chance) -> Sequence[Any]:
    told = evidence(chance)
    words, reach = told.values["counts"].shape[1], int(chance.integers(0, told.before.shape[1] + 1))
    return told, floats(chance, words), reach, 17.5, np.zeros(told.candidates, np.float32)


def of_read_words(chance: Chance) -> Sequence[Any]:
    told = evidence(chance)
    return told, floats(chance, told.values["counts"].shape[1]), float(chance.integers(0, 3))


def of_weigh(chance: Chance) -> Sequence[Any]:
    signals, rows = int(chance.integers(1, 9)), int(chance.integers(0, 9))
    return (
        floats(chance, signals, rows), floats(chance, signals), floats(chance, 2, signals),
        floats(chance, rows), floats(chance, rows),
    )  # fmt: skip


def of_see_ways(chance: Chance) -> Sequence[Any]:
    size, reach = int(chance.integers(1, 12)), int(chance.integers(0, 6))
    kept = np.stack([ways(chance, size, size, 5) for _ in range(2)], axis=1)
    mask = (chance.random(int(chance.integers(0, size + 1))) < 0.8).astype(np.uint8)
    return chance.integers(0, size, int(chance.integers(0, 9))), kept, mask, reach


def of_number_rows(chance: Chance) -> Sequence[Any]:
    size, reach = int(chance.integers(1, 12)), int(chance.integers(0, 6))
    asked = chance.permutation(size)[: int(chance.integers(0, size + 1))]
    return asked, *(ways(chance, len(asked), size, reach) for _ in range(2)), size


def of_count_terms(chance: Chance) -> Sequence[Any]:
    documents, terms, rows = (int(chance.integers(least, 9)) for least in (1, 0, 0))
    kind = COUNTS[chance.integers(2)]
    most = np.iinfo(kind).max
    columns = [
        chance.integers(0, most, documents, dtype=kind, endpoint=True)
        if chance.random() < 0.7
        else None
        for _ in range(terms)
    ]
    places = chance.integers(0, documents, rows).astype(np.int32) + (
        chance.integers(0, 3, rows).astype(np.int32) << 16
    )
    places[chance.random(rows) < 0.2] = -1
    counts, lengths = np.zeros((rows, terms), np.float32), np.zeros(rows, np.float32)
    return columns, floats(chance, documents), places, 1, counts, lengths


def of_keep_linking(chance: Chance) -> Sequence[Any]:
    rows = int(chance.integers(0, 6))
    sizes = chance.integers(0, 4, rows)
    concepts = chance.integers(0, 9, int(sizes.sum())).astype(np.int32)
    memories = chance.integers(0, 6, len(concepts))
    return chance.permutation(9)[:rows], sizes, concepts, memories, int(chance.integers(0, 7))


def of_keep_leading(chance: Chance) -> Sequence[Any]:
    size, links = int(chance.integers(1, 9)), int(chance.integers(0, 6))
    sizes, of_names = chance.integers(0, 5, links), chance.integers(1, 3, links)
    # What was linked a moment ago may be beyond what the columns know.
    ends = chance.integers(0, size + 2, int(sizes.sum())).astype(np.int32)
    names = of_names, chance.integers(0, 4, int(of_names.sum()))
    is_few = chance.integers(0, 2, links).astype(np.uint8)
    subjects = chance.integers(0, 4, size)
    return chance.integers(0, size, links), is_few, (sizes, ends), subjects, names


def of_number_places(chance: Chance) -> Sequence[Any]:
    size = int(chance.integers(1, 9))
    return chance.integers(0, size, int(chance.integers(0, 20))).astype(np.int32), size


def norms(chance: Chance, documents: int) -> np.ndarray:
    """Return norms of documents, of which some are dead."""
    alive = chance.uniform(0.3, 3, documents).astype(np.float32)
    return np.where(chance.random(documents) < 0.2, np.float32(np.inf), alive)


def of_add_column(chance: Chance) -> Sequence[Any]:
    documents = int(chance.integers(0, 12))
    counts = chance.integers(0, 300, documents).astype(COUNTS[chance.integers(2)])
    return floats(chance, documents), norms(chance, documents), counts, 2.5


def of_add_listed(chance: Chance) -> Sequence[Any]:
    documents = int(chance.integers(1, 12))
    listed = np.flatnonzero(chance.random(documents) < 0.5)
    postings = TermPostings(
        listed, chance.integers(1, 9, len(listed)).astype(np.uint8), len(listed)
    )
    return floats(chance, documents), norms(chance, documents), postings, 2.5


def of_keep_reached(chance: Chance) -> Sequence[Any]:
    documents, size = int(chance.integers(0, 12)), int(chance.integers(1, 12))
    rows = chance.integers(0, size, documents).astype(np.int32)
    return floats(chance, documents), rows, chance.random(size) < 0.6


def of_gather(chance: Chance) -> Sequence[Any]:
    offsets = np.cumsum([0, *chance.integers(0, 4, int(chance.integers(0, 9)))], dtype=np.int64)
    flat = chance.integers(0, 99, offsets[-1]).astype(np.int32)
    return offsets, flat, chance.integers(0, 12, int(chance.integers(0, 9)))


def of_places(chance: Chance) -> Sequence[Any]:
    rows, columns = int(chance.integers(1, 9)), int(chance.integers(1, 9))
    values = chance.integers(0, 4, (rows, columns)).astype(np.float32)
    return (
        values,
        chance.integers(0, columns, int(chance.integers(0, 5))),
        [f"{n:03}" for n in chance.permutation(columns)],
    )


def of_steps(chance: Chance) -> Sequence[Any]:
    size, links = int(chance.integers(1, 9)), int(chance.integers(0, 9))
    sizes = chance.integers(0, 4, links)
    told = Links(
        [f"m{key}" for key in range(size)],
        [Concept(("main", f"c{link}"), "c", 2) for link in range(links)],
        chance.integers(0, size, links), sizes, chance.integers(0, size, int(sizes.sum())),
    )  # fmt: skip
    borders = np.cumsum([0, *chance.integers(0, 4, 3)])
    trails = int(borders[-1])
    beams = Beams(
        chance.integers(-1, size, (trails, int(chance.integers(1, 4)))),
        chance.integers(0, 5, trails).astype(np.float64), borders,
    )  # fmt: skip
    scores = np.where(chance.random(size) < 0.2, np.nan, chance.integers(0, 5, size))
    return told, chance.permutation(links), scores, beams, int(chance.integers(1, 5))


GIVEN: Final[dict[str, Callable[[Chance], Sequence[Any]]]] = {
    "service.index.resident.counting.count_terms": of_count_terms,
    "service.index.resident.gathering.gather": of_gather,
    "service.index.resident.leading_links.keep_leading": of_keep_leading,
    "service.index.resident.leading_links.keep_linking": of_keep_linking,
    "service.index.resident.part_scores.add_column": of_add_column,
    "service.index.resident.part_scores.add_listed": of_add_listed,
    "service.index.resident.part_scores.keep_reached": of_keep_reached,
    "service.index.resident.ways.number_places": of_number_places,
    "service.index.resident.ways.number_rows": of_number_rows,
    "service.index.resident.ways.see_ways": of_see_ways,
    "service.search.fusion.places.places_of": of_places,
    "service.search.fusion.steps.steps_further": of_steps,
    "service.search.fusion.weighing.sum_up": lambda chance: (floats(chance, 8, 9),),
    "service.search.fusion.weighing.weigh": of_weigh,
    "service.search.signals.bm25.score_texts": of_score_texts,
    "service.search.signals.reading.read_meaning": lambda chance: (evidence(chance),),
    "service.search.signals.reading.read_words": of_read_words,
}


def check_same(one: Any, other: Any) -> None:
    """Compare all that is in two things: numbers to 1e-6 of them."""
    if isinstance(one, np.ndarray):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert np.allclose(one, other, rtol=1e-6, atol=1e-7, equal_nan=True)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            check_same(mine, theirs)
    elif isinstance(one, int | float):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-7)


def test_whatever_has_types_to_be_compiled_by_is_a_module_and_is_tried_here() -> None:
    assert WRITTEN
    names = {".".join(("service", *path.with_suffix("").parts)) for path in WRITTEN}
    assert names == {name.rpartition(".")[0] for name in GIVEN}
    for path in WRITTEN:
        public = [
            line.partition("cpdef ")[2].split("(")[0].split()[-1]
            for line in (ROOT / path).read_text().splitlines() if line.startswith("cpdef ")
        ]  # fmt: skip
        tried = {name.rpartition(".")[2] for name in GIVEN if f".{path.stem}." in name}
        assert tried == set(public)


def test_it_is_compiled_all_or_none() -> None:
    modules = [importlib.import_module(name.rpartition(".")[0]) for name in GIVEN]
    are_compiled = {not str(module.__file__).endswith(".py") for module in modules}
    assert are_compiled == {is_compiled()}


@pytest.mark.parametrize("name", sorted(GIVEN))
@settings(max_examples=examples(200), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_it_gives_what_is_written(name: str, seed: int) -> None:
    if not is_compiled():
        pytest.skip(f"NOT TRIED: {INTERPRETED}")
    module, _, function = name.rpartition(".")
    compiled = getattr(importlib.import_module(module), function)
    written = getattr(interpreted(module), function)
    one = GIVEN[name](np.random.default_rng(seed))
    other = deepcopy(one)
    check_same(compiled(*one), written(*other))
    # Some write into what they are given.
    check_same(one, other)
