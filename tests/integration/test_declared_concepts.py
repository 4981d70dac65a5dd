"""The user's own concepts: taken over from the file, given up with it, mistakes told."""

from collections.abc import Callable
from pathlib import Path

import pytest

from service.concepts.merging import merge_concepts, variants_of
from service.errors import InvalidRequest
from service.links import stored
from service.links.vocabulary import learn_rows
from service.memories.screening import Pushed
from service.memories.storing import store
from service.names.dictionary import Dictionary
from service.names.names import Name
from service.writing.concepts_file import declare_concepts, parse_concepts
from service.writing.tables.concept import concept_row
from tests.linear_time import MOST_GROWTH, growth
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio

CARD = """[[concept]]
name = "Graphics card"
aliases = ["GPU", "VRAM upgrade"]
is_a = ["Hardware"]
related_to = ["Games"]
"""


async def concepts(opened: OpenStore) -> list[tuple[str, bool, int]]:
    """Return (slug, is declared, number of memories) of every concept, in order."""
    rows = await opened.ask("SELECT id, is_declared, memories FROM concept")
    assert isinstance(rows, list)
    return sorted((row["id"][1], row["is_declared"], row["memories"]) for row in rows)


async def test_notes_from_before_are_linked_by_name_and_alias(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        ids = await opened.push("a graphics card", "the gpus are hot", "a vram upgrade", "nothing")
        await opened.declare(CARD)
        assert await opened.memories_of("graphics_card") == sorted([ids[0], ids[2]])
        assert ("hardware", True, 0) in await concepts(opened)
        assert await opened.complaints() == []


async def test_a_name_that_any_text_says_needs_its_capital(tmp_path: Path) -> None:
    """A store of before, which linked both, is put right at the next start."""
    async with open_store(tmp_path) as opened:
        spoken, named = await opened.push("Let us go home.", "The service is written in Go.")
        await opened.declare('[[concept]]\nname = "go"')
        assert await opened.memories_of("go") == sorted([spoken, named])
        await opened.ask("UPDATE concept SET name = 'Go'")
        await opened.declare('[[concept]]\nname = "Go"')
        assert await opened.memories_of("go") == [named]
        [later] = await opened.push("We go on with Go.")
        await opened.push("We go on.")
        assert await opened.memories_of("go") == sorted([named, later])
        version = await opened.db.meta(["dictionary", "main"])
        await opened.declare('[[concept]]\nname = "Go"')
        assert await opened.db.meta(["dictionary", "main"]) == version
        assert await opened.complaints() == []


async def test_an_alias_takes_over_what_was_a_concept_of_its_own(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("gpu.md", "## GPU\n\nHot. #gpu\n")
        [tagged] = await opened.push("It is hot again. #gpu")
        assert tagged in await opened.memories_of("gpu")
        await opened.declare(CARD)
        assert await opened.memories_of("graphics_card") == await opened.ids()
        assert "gpu" not in {slug for slug, _, _ in await concepts(opened)}
        await opened.declare("")
        assert await opened.memories_of("gpu") == await opened.ids()
        assert {slug for slug, _, _ in await concepts(opened)} == {"gpu"}
        assert await opened.complaints() == []


async def test_an_alias_takes_over_what_was_an_abbreviation(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        ids = await opened.push("The Graphics Processing Unit (GPU) is hot.", "The GPU.")
        tagged, _ = await store(opened.pipeline, [Pushed("Words alone.", tags=("gpu",))])
        await opened.declare(CARD)
        assert await opened.memories_of("graphics_card") == sorted([*ids, *tagged])
        assert await opened.complaints() == []


async def test_what_the_file_gives_up_goes_unless_a_note_mentions_it(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("the hardware is old")
        await opened.declare(CARD)
        await opened.declare("")
        assert await concepts(opened) == [("hardware", False, 1)]
        assert await opened.ask("SELECT * FROM is_a") == []
        assert await opened.ask("SELECT * FROM related_to") == []
        assert await opened.complaints() == []


async def test_a_declared_relation_keeps_the_weight_of_the_notes(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("a.md", "## Games\n\nNeed a [[Graphics card]].\n")
        for text, wanted in ((CARD, (1, True)), ("", (1, False)), (CARD, (1, True))):
            await opened.declare(text)
            rows = await opened.ask("SELECT weight, is_declared FROM related_to")
            assert isinstance(rows, list)
            assert [(row["weight"], bool(row["is_declared"])) for row in rows] == [wanted]
        await opened.read("a.md", "## Other\n\nWords.\n")
        assert await opened.ask("SELECT VALUE weight FROM related_to") == [0]
        assert await opened.complaints() == []


async def test_the_same_file_again_writes_nothing(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.declare(CARD)
        version = await opened.db.meta(["dictionary", "main"])
        await opened.declare(CARD)
        assert await opened.db.meta(["dictionary", "main"]) == version


@pytest.mark.parametrize("size", [1, 2, 3, 4])
async def test_the_dictionary_is_read_whole_in_pages_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    async with open_store(tmp_path) as opened:
        await opened.declare(CARD)
        await opened.push("GPU and games", "games", agent="other")
        whole = await stored.dictionary_rows(opened.db, "main")
        monkeypatch.setattr(stored, "_PAGE_CONCEPTS", size)
        assert await stored.dictionary_rows(opened.db, "main") == whole
        assert [row["id"] for row in whole] == [
            ["main", slug] for slug in ("games", "graphics_card", "hardware")
        ]


async def test_a_renamed_concept_is_shown_under_its_new_name(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.declare(CARD)
        await opened.declare(CARD.replace("Graphics card", "GRAPHICS CARD"))
        names = await opened.ask("SELECT VALUE name FROM concept WHERE is_declared ORDER BY name")
        assert names == ["GRAPHICS CARD", "Games", "Hardware"]


def test_an_alias_in_a_relation_stands_for_its_concept() -> None:
    file = parse_concepts(CARD + '[[concept]]\nname = "RTX"\nis_a = ["GPU", "RTX"]\n')
    assert file.isa == {("graphics_card", "hardware"), ("rtx", "graphics_card")}
    assert "gpu" not in file.names


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[concept]\n", "is not TOML"),
        ("concept = 3", r"write each concept as a \[\[concept\]\] table"),
        ('concept = ["GPU"]', r"write each concept as a \[\[concept\]\] table"),
        ('[concept]\nname = "GPU"', r"write each concept as a \[\[concept\]\] table"),
        ("[[concept]]\naliases = []", "no usable name in None"),
        ('[[concept]]\nname = "x"', "no usable name in 'x'"),
        ('[[concept]]\nname = "GPU"\naliases = "card"', "must be a list of strings"),
        ('[[concept]]\nname = "GPU"\nis_a = [3]', "must be a list of strings"),
        ('[[concept]]\nname = "GPU"\nrelated_to = ["!"]', "no usable name in '!'"),
        (CARD + '[[concept]]\nname = "Chip"\naliases = ["gpu"]', "'gpu' means both"),
        (CARD + '[[concept]]\nname = "GPU"', "'GPU' means both"),
    ],
)
def test_a_mistake_is_told(text: str, complaint: str) -> None:
    with pytest.raises(InvalidRequest, match=complaint):
        parse_concepts(text)


async def test_a_file_with_a_mistake_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.declare(CARD)
        before = await concepts(opened)
        with pytest.raises(InvalidRequest):
            await opened.declare("[[concept]\n")
        (tmp_path / "latin.toml").write_bytes('[[concept]]\nname = "Café"'.encode("latin-1"))
        with pytest.raises(InvalidRequest, match="is not UTF-8"):
            await declare_concepts(opened.pipeline, tmp_path / "latin.toml", "main")
        with pytest.raises(InvalidRequest, match="cannot be read: No such file"):
            await declare_concepts(opened.pipeline, tmp_path / "none.toml", "main")
        assert await concepts(opened) == before


async def test_a_name_that_was_anothers_alias_is_its_concepts_again(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("a.md", "# file systems\n\nthe words\n")
        await opened.declare('[[concept]]\nname = "filesystems"\n')
        groups = await variants_of(opened.db, "main")
        assert await merge_concepts(opened.pipeline, "main", groups, "r1")
        await opened.declare('[[concept]]\nname = "kettles"\naliases = ["filesystems"]\n')
        await opened.declare("")
        [key] = await opened.push("the filesystems are up")
        assert key in await opened.memories_of("filesystems")
        assert await opened.complaints() == []


def test_a_file_of_many_concepts_is_learned_in_time_that_grows_with_it() -> None:
    """A dictionary that knows them all is looked through once, not once for each."""

    def learning(count: int) -> Callable[[], None]:
        names = [Name(f"thing_{n}", f"Thing {n}", "declared") for n in range(count)]
        rows = [concept_row("main", name, is_declared=True) for name in names]
        dictionary = Dictionary()
        learn_rows(dictionary, rows)
        return lambda: learn_rows(dictionary, rows)

    assert growth(learning, 2000) <= MOST_GROWTH
