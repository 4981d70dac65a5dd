"""A law: the time of every regular expression grows with the text, and no faster.

Expressions are found by themselves, in every module of both programs; a new one is under the law.
"""

import ast
import importlib
import pkgutil
import re
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

import embedding_server
import service
from service.late_pattern import LatePattern
from tests.linear_time import MOST_GROWTH, growth, is_quick
from tests.worst_cases import worst_cases

# First a text at which even an exponential expression ends, or its alarm goes off.
LENGTHS: Final = (300, 3000)
LONGEST_SECONDS: Final = 60.0
METHODS: Final = frozenset(
    ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")
)
# Patterns made at run time, with who makes them of what.
MADE_AT_RUN_TIME: Final = {
    "service.late_pattern": "what a table has, which the law finds",
    "service.drafts.kinds": "the user's own settings: places",
    "service.store.queries": "our own query files",
    "service.search.times.periods": "a table of patterns, which the law finds",
    "service.sanitise.service_rules": "tables of patterns, which the law finds",
    "service.observe.lasting": "tables of patterns, asked about a sentence of 300 characters",
    "service.redaction": "a short secret of the settings, escaped",
    "service.consolidate.summary.summaries": "one concept's name, escaped",
}
# Expressions that are never asked about a longer text, by the beginning of their name: for these
# what counts is how long the longest takes.
MOST_CHARACTERS: Final = {
    "service.names.abbreviations._LAST_WORD": 160,  # what stands before a bracket
    "service.search.times.": 500,  # the beginning of a question
}


def modules() -> Iterator[ModuleType]:
    for package in (service, embedding_server):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                module = importlib.import_module(found.name)
                # What was never Python has no expressions.
                if source_of(module).exists():
                    yield module


def source_of(module: ModuleType) -> Path:
    """Return the file of a module as it is written, compiled or not."""
    path = Path(str(module.__file__))
    return path.with_name(f"{path.name.partition('.')[0]}.py")


def patterns_in(name: str, value: Any) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, LatePattern):
        yield name, value.compiled
    elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield name, value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from patterns_in(name, part)
    elif isinstance(value, dict):
        for part in (*value.keys(), *value.values()):
            yield from patterns_in(name, part)


def methods_used(module: ModuleType) -> dict[str, set[str]]:
    """Return by which methods a module asks a pattern of each name."""
    used: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(ast.parse(source_of(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            owner = node.value
            used[getattr(owner, "id", getattr(owner, "attr", ""))].add(node.attr)
    return used


def expressions() -> dict[tuple[str, int], tuple[str, re.Pattern[str], frozenset[str]]]:
    """Return every expression once, with where it stands and how it is asked."""
    found: dict[tuple[str, int], tuple[str, re.Pattern[str], frozenset[str]]] = {}
    for module in modules():
        used = methods_used(module)
        for name, value in vars(module).items():
            for _, pattern in patterns_in(name, value):
                key = (pattern.pattern, pattern.flags)
                # Asked through a table, it may be searched for anywhere.
                asked = frozenset(used.get(name) or {"search"})
                _, _, before = found.get(key, ("", pattern, frozenset[str]()))
                found[key] = (f"{module.__name__}.{name}", pattern, before | asked)
    return found


EXPRESSIONS: Final = sorted(expressions().values(), key=lambda one: (one[0], one[1].pattern))


def asks(pattern: re.Pattern[str], methods: frozenset[str]) -> list[Callable[[str], object]]:
    """Return the questions that are as slow as those which the code asks."""
    asked: list[Callable[[str], object]] = []
    if methods - {"match", "fullmatch"}:
        asked.append(lambda text: sum(1 for _ in pattern.finditer(text)))
    asked += [getattr(pattern, name) for name in sorted(methods & {"match", "fullmatch"})]
    return asked


@contextmanager
def alarm(after: float = LONGEST_SECONDS) -> Iterator[None]:
    """Give up on an expression whose end nobody lives to see: sre looks at signals.

    After so many seconds of this process's CPU, however busy its machine is.
    """

    def ring(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def slow_texts(
    pattern: re.Pattern[str], methods: frozenset[str], most_characters: int | None = None
) -> list[str]:
    """Return the texts, cut short, for which the time grows faster than the text.

    Of an expression that sees `most_characters` at most, those that take it long.
    """
    slow = []
    lengths = (most_characters,) if most_characters else LENGTHS
    for ask in asks(pattern, methods):
        cases = zip(*(worst_cases(pattern, length) for length in lengths), strict=True)
        for number, texts in enumerate(cases):
            if all(is_quick(partial(ask, text)) for text in texts):
                continue

            def call(length: int, ask: Any = ask, number: int = number) -> Callable[[], object]:
                text = next(t for n, t in enumerate(worst_cases(pattern, length)) if n == number)
                return partial(ask, text)

            if most_characters or growth(call, LENGTHS[-1]) > MOST_GROWTH:
                slow.append(texts[0][:300])
    return slow


def test_there_are_expressions() -> None:
    assert len(EXPRESSIONS) > 100


@pytest.mark.parametrize(
    ("where", "pattern", "methods"),
    EXPRESSIONS,
    ids=[f"{where}-{number}" for number, (where, *_) in enumerate(EXPRESSIONS)],
)
def test_an_expression_takes_as_long_as_its_text(
    where: str, pattern: re.Pattern[str], methods: frozenset[str]
) -> None:
    most = next((n for name, n in MOST_CHARACTERS.items() if where.startswith(name)), None)
    with alarm():
        assert slow_texts(pattern, methods, most) == []


@pytest.mark.parametrize(
    "pattern", [r"(?::\d+)+(?:-\d+)?$", r"\n(?=\s*\d)", r"(a+)+$", r"\u201c([^\u201d]+)\u201d"]
)
def test_the_law_sees_what_is_quadratic_and_worse(pattern: str) -> None:
    with pytest.raises((AssertionError, TimeoutError)), alarm(1):
        assert slow_texts(re.compile(pattern), frozenset({"search"})) == []


def asks_re(function: ast.AST) -> bool:
    """Say whether a function makes a LatePattern or calls anything of `re` but escape."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    asked = {
        call.attr
        for call in calls
        if isinstance(call, ast.Attribute) and getattr(call.value, "id", "") == "re"
    }
    is_late = any(getattr(call, "id", "") == LatePattern.__name__ for call in calls)
    return is_late or bool(asked - {"escape"})


def test_no_expression_hides_in_a_function() -> None:
    """Patterns stand at the top of their modules, where the law finds them."""
    hidden = []
    for module in modules():
        tree = ast.parse(source_of(module).read_text(encoding="utf-8"))
        hidden += [
            (module.__name__, function.name)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and asks_re(function)
        ]
    assert [(room, name) for room, name in hidden if room not in MADE_AT_RUN_TIME] == []
