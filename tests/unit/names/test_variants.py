"""Which spellings are one thing and which are not: a wrong merge is worse than none."""

from collections.abc import Callable
from functools import partial
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.names.names import heading_name
from service.names.slugs import slug_of
from service.names.variants import Variants, find_variants
from tests.linear_time import MOST_GROWTH, growth

# How a name was met, and how it is written.
Spelling = str | tuple[str, str]

SAME: tuple[tuple[Spelling, Spelling], ...] = (
    ("embedding server", "embedding servers"),
    ("#embedding-server", "embedding servers"),
    ("Embedding server", "Embedding servers"),
    ("#recipe", "#recipes"),
    ("#box-plot", "#box-plots"),
    ("test library", "test libraries"),
    ("#library", "#libraries"),
    ("test batch", "test batches"),
    ("equivalence class", "equivalence classes"),
    ("database index", "database indexes"),
    ("local hero", "local heroes"),
    ("shell alias", "shell aliases"),
    ("page cache", "page caches"),
    ("good movie", "good movies"),
    ("survey", "surveys"),
    ("café table", "cafe tables"),
    ("Anna's note", "Anna's notes"),
    ("graph memory", "GraphMemory"),
    ("Graph Memory", "GraphMemory"),
    ("#graph-memory", "#graphmemory"),
    ("#email", "e-mail"),
    ("Surreal DB", "SurrealDB"),
    ("file system", "filesystem"),
    ("data base", "database"),
    ("time-line", "timeline"),
    ("RTX 5070", "RTX5070"),
    ("RTX 5070 Ti", "RTX 5070Ti"),
    ("Osprey 2", "Osprey2"),
    ("#임베딩-서버", "임베딩서버"),
    ("프로젝트 계획", "프로젝트계획"),
    ("北京 大学", "北京大学"),
    ("データ ベース", "データベース"),
    ("file systems", "filesystem"),
)
OTHER: tuple[tuple[Spelling, Spelling], ...] = (
    ("embedding server", "embedding service"),
    # A word that is capitalised may be a name, and another one in its plural.
    ("Window", "Windows"),
    ("Recipe", "#recipes"),
    ("Rolling Stone", "Rolling Stones"),
    ("Northmoor Dairy", "Northmoor Dairies"),
    ("Jones", "#jone"),
    ("Paris", "#pari"),
    ("Bank of England", "Banks of England"),
    ("Google Map", "Google Maps"),
    # No plurals, or other things.
    ("#window", "#windows"),
    ("#news", "#new"),
    ("breaking news", "breaking new"),
    ("#redi", "#redis"),
    ("#kubernete", "#kubernetes"),
    ("#aws", "#aw"),
    ("#os", "#o"),
    ("#panda", "#pandas"),
    ("#team", "#teams"),
    ("#mean", "#means"),
    ("#custom", "#customs"),
    ("reading glass", "reading glasses"),
    ("quantum mechanic", "quantum mechanics"),
    ("#statu", "#status"),
    ("#basi", "#basis"),
    ("big bos", "big boss"),
    ("meeting minute", "meeting minutes"),
    # Too short to tell.
    ("#map", "#maps"),
    ("old car", "old cars"),
    ("v 2", "v2"),
    ("GPT 4", "GPT4"),
    ("#x-ray", "#xray"),
    # Numbers and code.
    ("v1 2", "v12"),
    ("release 1 12", "release 11 2"),
    ("iPhone 1 5", "iPhone 15"),
    ("v2.3.1", "v23.1"),
    ("CVE-2024-1234", "CVE-20241234"),
    ("FN-88", "FN88"),
    ("has_pending", "haspending"),
    ("max_token", "max_tokens"),
    ("src/app.py", "srcapp.py"),
    ("my_file.py", "myfile.py"),
    ("node.js", "nodejs"),
    ("test.case", "test.cases"),
    (("proper", "Kite server"), ("proper", "Kite servers")),
    # What blanks part for a reason.
    ("#every-day", "#everyday"),
    ("set up", "setup"),
    ("over all", "overall"),
    ("Face Book", "Facebook"),
    ("White House", "Whitehouse"),
    # People and works.
    (("person", "Min Su Kim"), ("person", "MinSu Kim")),
    (("person", "김 민수아"), ("person", "김민수아")),
    (("work", "the god father"), ("work", "the godfather")),
    (("work", "little woman"), ("work", "little womans")),
    # Korean and Chinese know no plural of this kind, and short words are read in two ways.
    ("큰 집", "큰집"),
    ("서버", "서버들"),
    ("红楼 梦", "红楼梦"),
    ("Retrieval-Augmented Generation", "RAG"),
)


def row(spelling: Spelling, **more: Any) -> dict[str, Any]:
    """Return a concept as the store has it: `#name` is a tag, other names are headings."""
    kind, name = spelling if isinstance(spelling, tuple) else ("heading", spelling)
    if name.startswith("#"):
        kind, name = "tag", name[1:]
    met = heading_name(name) if kind == "heading" else None
    fields = {
        "id": ["main", slug_of(name)], "name": name, "kind": kind, "aliases": [], "memories": 2,
        "is_declared": kind == "declared", "is_cased": bool(met and met.is_cased), "merged": None,
        "apart": None,
    }  # fmt: skip
    return fields | more


@pytest.mark.parametrize(("one", "other"), SAME)
def test_these_are_one_thing(one: Spelling, other: Spelling) -> None:
    rows = [row(one, memories=3), row(other)]
    wanted = [Variants(rows[0]["id"][1], (rows[1]["id"][1],))]
    if (one, other) == SAME[-1]:  # by way of the singular
        rows.append(row("file system", memories=1))
        wanted = [Variants("file_systems", ("file_system", "filesystem"))]
    assert find_variants(rows) == wanted
    assert find_variants(rows[::-1]) == wanted


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_these_are_not(one: Spelling, other: Spelling) -> None:
    assert find_variants([row(one), row(other)]) == []


def test_the_declared_one_stays_then_the_one_of_most_memories_then_the_first() -> None:
    one, other = row("#test-cases"), row("#test-case")
    assert find_variants([one, other]) == [Variants("test_case", ("test_cases",))]
    one["memories"] = 3
    assert find_variants([one, other]) == [Variants("test_cases", ("test_case",))]
    other["is_declared"] = True
    assert find_variants([one, other]) == [Variants("test_case", ("test_cases",))]
    one["is_declared"] = True
    assert find_variants([one, other]) == []


def test_an_alias_of_a_declared_concept_is_no_concept_of_its_own() -> None:
    card = row(("declared", "Graphics card"), aliases=["GPU", "display adapter"])
    found = find_variants([card, row("gpu"), row("#display-adapters"), row("#gpu-time")])
    assert found == [Variants("graphics_card", ("display_adapters", "gpu"))]
    learned = row("Graphics Processing Unit", aliases=["GPU"])
    assert find_variants([learned, row("gpu")]) == []


def test_what_was_parted_stays_apart_from_all_that_it_was_parted_from() -> None:
    system, systems, joined = row("file system", memories=9), row("file systems"), row("filesystem")
    joined["apart"] = ["file_system"]
    rows = [system, systems, joined]
    assert find_variants(rows) == [Variants("file_system", ("file_systems",))]
    system["apart"] = ["file_systems"]
    assert find_variants(rows) == []


def test_a_spelling_that_was_merged_counts_as_one_of_the_concept() -> None:
    old = {"slug": "file_system", "name": "file system", "kind": "tag", "is_cased": False}
    systems = row("file systems", merged=[old])
    assert find_variants([systems, row("filesystem", memories=1)]) == [
        Variants("file_systems", ("filesystem",))
    ]


EVERY = list({made["id"][1]: made for pair in SAME + OTHER for made in map(row, pair)}.values())


@given(st.permutations(EVERY))
def test_the_order_of_the_rows_does_not_matter(rows: list[dict[str, Any]]) -> None:
    assert find_variants(rows) == find_variants(EVERY)


def test_one_word_with_blanks_in_very_many_places_takes_time_by_their_number() -> None:
    letters = "bcdefghjklmnopqrst"
    ways = [
        "".join(f"{letter} " if gap else letter for letter, gap in zip(letters, gaps, strict=True))
        for gaps in islice(product((False, True), repeat=len(letters)), 8000)
    ]
    rows = [row(f"#{way.strip().replace(' ', '-')}") for way in ways]

    def call(length: int) -> Callable[[], object]:
        return partial(find_variants, rows[:length])

    assert len(find_variants(rows[:500])[0].others) > 200
    assert growth(call, 2000) <= MOST_GROWTH
