"""A law: the time of whatever reads outside text grows with the text, and no faster.

Every public function of the rooms that read texts, whose first parameter is one, is under it; what
else it takes stands in GIVEN. Those that take lines or whole memories stand in OTHERS.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

import pytest

import service.consolidate.summary
import service.drafts
import service.names
import service.sanitise
import service.search
import service.text
from service.caching import LONGEST_CACHED_TEXT
from service.consolidate.summary.extraction import extract
from service.consolidate.summary.originals import Original
from service.drafts.drafts import DocumentText, document_drafts
from service.links.vocabulary import build_dictionary
from service.names.names import declared_name
from service.sanitise.instruction_cues import rules_met
from service.search.times.times import times_named
from service.text.blocks import read_blocks
from service.text.front_matter import read_front_matter
from service.text.lines import Placed
from service.text.markdown import parse_markdown
from service.text.titles import in_one_line, title_of
from tests.effort import IS_SOAK
from tests.linear_time import MOST_GROWTH, QUICK_SECONDS, growth, is_quick
from tests.worst_cases import COMMON

# What a cache keeps is no measure of the twice as long that it does not.
LENGTH: Final = 8000 if IS_SOAK else LONGEST_CACHED_TEXT * 5 // 4
NOW: Final = datetime(2026, 2, 13, 9, tzinfo=UTC)
ROOMS: Final = (
    service.text, service.names, service.search, service.consolidate.summary, service.drafts,
    service.sanitise,
)  # fmt: skip
# What a function needs besides its text.
GIVEN: Final[dict[str, dict[str, Any]]] = {
    "service.text.context_block.without_blocks": {"names": ("private",)},
    "service.text.cjk.is_name_border": {"at": 1},
    "service.text.words.memory_words": {"tags": ("gpu", "on-call")},
    "service.sanitise.instruction_cues.rules_met": {"language": "english"},
    "service.sanitise.proofs.is_proved": {"proof": "chosen"},
    "service.text.fences.closes_fence": {"fence": "```"},
    "service.text.titles.fit_title": {"text": "A bunny."},
    "service.text.lines.blanked": {"ranges": [(1, 9), (20, 30)]},
    "service.text.lines.hidden": {
        "sections": [Placed(at, at, ("a", "b"), at == 1) for at in range(1, 2000, 2)]
    },
    "service.names.slugs.with_accents": {"words": {"bunny": "bünny"}},
    "service.names.subjects.subject_of": {"content": "Anna: A bunny."},
    "service.text.titles.title_of": {"content": "A bunny."},
    "service.text.titles.in_one_line": {"headings": ["A bunny."]},
    "service.text.titles.is_beside": {"text": "A bunny."},
    "service.text.file_names.names_file": {"path": PurePosixPath("src/app.py")},
    "service.text.yaml_blocks.read_yaml": {"fields": frozenset({"a"})},
    "service.text.snippets.snippet_of": {"question": "a blue 1 가 bunny"},
    "service.search.times.tense.tells_an_event": {"words": "launch"},
    "service.search.times.time_words.find_time_words": {"today": date(2026, 2, 13)},
    "service.search.times.times.times_named": {"now": NOW},
    "service.search.times.times_alone.dates_alone": {"spans": times_named("in June 2025", NOW)},
    "service.consolidate.summary.refs.week_ref": {"moment": NOW},
    "service.consolidate.summary.summaries.summarise": {
        "ref": "week", "originals": [], "budget_tokens": 200, "names": {},
    },
    "service.consolidate.summary.summaries.spelling_of": {"originals": []},
    "service.drafts.kinds.kind_of": {"table": [("journal/**", "daily_log")]},
    "service.drafts.kinds.type_of": {"source": "notes/a.md"},
}  # fmt: skip
# A text comes to these cut by who calls them; the slowest of them takes 3 ms on a slow machine.
BOUNDED_SECONDS: Final = 0.015
MOST_CHARACTERS: Final = {
    "service.search.times.events.find_anchor": 500,
    "service.search.times.time_words.find_time_words": 500,
}


def _original(text: str) -> Original:
    return Original(
        id="m", agent="main", scope=None, origin="agent", trust_tier="trusted",
        sensitivity="normal", title="", content=text, content_hash="", tags=(), importance=0.5,
        occurred_at=NOW, session=None, uri="", line_start=1,
    )  # fmt: skip


DICTIONARY: Final = build_dictionary(
    [
        {
            "id": ["main", name.slug], "name": name.name, "aliases": [], "kind": "heading",
            "memories": 1, "is_declared": False, "is_cased": False, "merged": None,
        }
        for text in ("blue bunny", "GPU", "a 1", "가나", "app.py")
        if (name := declared_name(text)) is not None
    ],
    1,
)  # fmt: skip
OTHERS: Final[dict[str, Callable[[str], object]]] = {
    "service.sanitise.instruction_cues.rules_met in Korean": lambda text: list(
        rules_met(text, "korean")
    ),
    "service.sanitise.instruction_cues.rules_met in Chinese": lambda text: list(
        rules_met(text, "chinese")
    ),
    "read_blocks": lambda text: read_blocks(text.split("\n")),
    "read_front_matter": lambda text: read_front_matter(["---", *text.split("\n"), "---"]),
    "document_drafts": lambda text: [
        draft.row()
        for draft in document_drafts(DocumentText("a.md", text), parse_markdown(text), {})
    ],
    "title_of a text": lambda text: title_of("", text),
    "in_one_line": lambda text: in_one_line("A bunny", text),
    "mentions": DICTIONARY.mentions,
    "extract": lambda text: extract([_original(text), _original(text + " b")], 200),
    "times_named": lambda text: times_named(f"What happened {text}", NOW),
}


def readers() -> Iterator[tuple[str, Callable[[str], object]]]:
    for room in ROOMS:
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            module = importlib.import_module(found.name)
            for name, function in inspect.getmembers(module, inspect.isfunction):
                where = f"{module.__name__}.{name}"
                if function.__module__ != module.__name__ or name.startswith("_"):
                    continue
                parameters = list(inspect.signature(function).parameters.values())
                if not parameters or parameters[0].annotation is not str:
                    continue
                needed = {one.name for one in parameters[1:] if one.default is one.empty}
                assert needed <= GIVEN.get(where, {}).keys(), f"{where}: put {needed} into GIVEN"
                yield where, partial(_first, function, GIVEN.get(where, {}))
    yield from OTHERS.items()


def _first(function: Callable[..., object], given: dict[str, Any], text: str) -> object:
    with suppress(ValueError, KeyError):  # not one of the words that it knows
        made = function(text, **given)
        return list(made) if isinstance(made, Iterator) else made
    return None


READERS: Final = dict(readers())


def test_there_are_readers() -> None:
    assert len(READERS) > 50


@pytest.mark.parametrize("where", READERS)
def test_a_reader_takes_as_long_as_its_text(where: str) -> None:
    read, slow = READERS[where], []
    most = MOST_CHARACTERS.get(where)
    for pump in COMMON:
        for start, end in (("", ""), ("The Blue Harbour ", "x")):

            def call(length: int, unit: tuple[str, str, str] = (start, pump, end)) -> Any:
                first, again, last = unit
                return partial(read, first + again * (length // len(again)) + last)

            length = most or LENGTH
            # What is bounded has no longer text to be told by: it ends soon, on a slow machine too.
            if is_quick(call(length), BOUNDED_SECONDS if most else QUICK_SECONDS):
                continue
            if most or growth(call, length) > MOST_GROWTH:
                slow.append(start + pump)
    assert slow == []
