"""Abbreviations and their long names are one concept, in whatever order notes come and go."""

import time
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from service.links import stored
from service.memories.storing import remove
from service.store.database import record
from service.store.queries import Query
from service.store.vector_forms import VectorForm
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio

EXPLAINED = "We try Retrieval-Augmented Generation (RAG)."
TEXTS = (EXPLAINED, "the RAG index grew", "retrieval-augmented generation is slow", "a wet rag")
ORDERED = (
    EXPLAINED, "RAG again, with Osprey-2", "so Osprey-2 runs RAG", "김민수 팀장의 RAG",
    "김민수가 왔다",
)  # fmt: skip
LONG = "retrieval_augmented_generation"


Graph = dict[str, tuple[list[str], list[str]]]


async def graph(opened: OpenStore, agent: str = "main") -> Graph:
    """Return of each concept its aliases and the texts that mention it."""
    rows = await opened.ask(
        "SELECT record::id(id)[1] AS slug, aliases, (SELECT VALUE "
        "type::record('memory', record::id(id)).content FROM references "
        "WHERE concepts CONTAINS record::id($parent.id)) AS texts FROM concept WHERE agent = $who",
        who=agent,
    )
    assert isinstance(rows, list)
    return {row["slug"]: (row["aliases"], sorted(row["texts"])) for row in rows}


@pytest.mark.parametrize("form", ["array", "bytes"])
async def test_both_spellings_lead_to_one_concept(tmp_path: Path, form: VectorForm) -> None:
    async with open_store(tmp_path, form) as opened:
        await opened.push(*TEXTS)
        assert await graph(opened) == {LONG: (["RAG"], sorted(TEXTS[:3]))}
        assert await opened.complaints() == []


async def test_any_order_gives_the_same_graph(tmp_path: Path) -> None:
    graphs = []
    async with open_store(tmp_path) as opened:
        for number, order in enumerate(list(permutations(ORDERED))[::13]):
            agent = f"agent{number}"
            for text in order:
                await opened.push(text, agent=agent)
            graphs.append(await graph(opened, agent))
        assert await opened.complaints() == []
    assert graphs[0].keys() == {LONG, "osprey_2", "김민수"}
    assert all(other == graphs[0] for other in graphs)


async def test_the_last_explanation_takes_its_alias_along(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("a.md", f"## One\n\n{EXPLAINED}\n")
        await opened.push("the RAG index", "more RAG", "retrieval-augmented generation")
        await opened.read("a.md", "## One\n\nRetrieval-augmented generation, no more.\n")
        found = await graph(opened)
        assert found[LONG][0] == []
        assert found["rag"][1] == ["more RAG", "the RAG index"]
        assert await opened.complaints() == []


async def test_two_meanings_are_none(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        [_, other] = await opened.push(EXPLAINED, "A Rare Air Gun (RAG)")
        await opened.push("the RAG index")
        assert {slug: len(texts) for slug, (_, texts) in (await graph(opened)).items()} == {
            "rag": 3
        }
        await remove(opened.pipeline, "main", other)
        assert (await graph(opened))[LONG] == (["RAG"], sorted([EXPLAINED, "the RAG index"]))
        assert await opened.complaints() == []


async def test_what_was_a_concept_becomes_an_abbreviation(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("rag.md", "## RAG\n\nIt works.\n\n## Other\n\nTagged. #rag\n")
        assert "rag" in await graph(opened)
        await opened.push(EXPLAINED)
        assert {slug: len(texts) for slug, (_, texts) in (await graph(opened)).items()} == {
            LONG: 3
        }  # fmt: skip
        assert await opened.complaints() == []


async def test_the_users_own_word_wins(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push(EXPLAINED, "the RAG index")
        await opened.declare('[[concept]]\nname = "Cloth"\naliases = ["RAG"]\n')
        found = await graph(opened)
        assert found["cloth"][1] == sorted([EXPLAINED, "the RAG index"])
        assert found[LONG][0] == []
        await opened.declare("")
        assert await graph(opened) == {LONG: (["RAG"], sorted([EXPLAINED, "the RAG index"]))}
        assert await opened.complaints() == []


ABBREVIATIONS = Query(
    "own", "INSERT INTO abbreviation $rows RETURN NONE", frozenset({"rows"}), writes=True
)
KEYS = [f"{number:032x}" for number in range(4000)]


def _row(key: str, number: int) -> dict[str, Any]:
    named = {"short": f"s{number}", "slug": f"long_{number}", "name": f"Long {number}"}
    key_of_row = record("abbreviation", [key, named["short"]])
    return {"id": key_of_row, "agent": "main", "memory": record("memory", key), **named}


async def test_of_many_memories_only_what_others_say_too_is_left(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        rows = [_row(key, number) for number, key in enumerate(KEYS[:300])]
        await opened.db.run(ABBREVIATIONS, rows=[*rows, _row(KEYS[300], 299), _row(KEYS[301], 7)])
        known = await stored.meanings(opened.db, "main", ["s400"], KEYS[:301])
        left = {short: names for short, names in known.items() if names}
        assert left == {"s7": {"long_7": "Long 7"}}
        assert known.keys() == {f"s{number}" for number in (*range(300), 400)}


async def test_what_many_memories_explain_takes_time_that_grows_with_them(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:

        async def seconds(count: int) -> float:
            started = time.process_time()
            await stored.meanings(opened.db, "main", (), KEYS[:count])
            return time.process_time() - started

        growth = [await seconds(4000) / await seconds(1000) for _ in range(3)]
        assert min(growth) < 8
