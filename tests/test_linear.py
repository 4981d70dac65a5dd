"""Linear by law: every expression and parser that reads outside text, timed at n and at 2n.

Expressions are found by themselves; a new public function that reads a text needs no word here
unless it takes more than that.
"""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from scripts.house.rooms import Module, read_modules
from tests.linear import (
    Expression,
    calls_of_re,
    expressions,
    grows,
    parsers,
    steepest,
    steepest_text,
)

MODULES = read_modules()
WITH_EXPRESSIONS = [
    module for module in MODULES if "import re\n" in module.text or "table(" in module.text
]
ROOMS_OF_PARSERS = re.compile(
    r"service\.(text|names|drafts|search\.(times|small_talk|refine\.duplicates)"
    r"|consolidate\.summary)\b.*"
)
# Its caller cuts the text before it asks: with so many characters one call may take 2 ms at most.
LONGEST = {
    "service.names.abbreviations._LAST_WORD": 160,
    "service.names.identifiers._LINE_NUMBER": 140,
}
# Made of the house's own words and of settings, not of what comes in.
MADE_LATER = {
    "service.consolidate.summary.summaries",
    "service.drafts.kinds",
    "service.search.times.periods",
    "service.store.queries",
}
MORE = {
    "at": 1, "content": "a", "fence": "```", "moment": datetime(2026, 1, 1, tzinfo=UTC),
    "now": datetime(2026, 1, 1, tzinfo=UTC), "question": "a b", "text": "a",
    "today": date(2026, 1, 1),
}  # fmt: skip
# They read memories, by parsers that are timed.
OF_MEMORIES = {"summarise", "spelling_of"}


def unseen(module: Module) -> Iterator[str]:
    """Yield the expressions of a module that are found neither by import nor by reading it."""
    tops = [n for n in module.tree.body if isinstance(n, ast.Assign | ast.AnnAssign)]
    for line, call in calls_of_re(module):
        is_top = any(top.lineno <= line <= (top.end_lineno or 0) for top in tops)
        is_compiled = isinstance(call.func, ast.Attribute) and call.func.attr == "compile"
        is_spelled = isinstance(call.args[0], ast.Constant) and not is_compiled
        if not (is_top and is_compiled) and not is_spelled and module.name not in MADE_LATER:
            yield f"{module.name}:{line} asks an expression that nobody times"
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "re":
            yield f"{module.name}:{node.lineno} hides an expression by `from re import`"


@pytest.mark.parametrize("module", WITH_EXPRESSIONS, ids=lambda module: module.name)
def test_an_expression_takes_twice_the_time_for_twice_the_text(module: Module) -> None:
    steep = (steepest(one, LONGEST.get(one.name)) for one in expressions(module))
    assert [fault for fault in steep if fault] == []


@pytest.mark.parametrize(
    "module",
    [module for module in MODULES if ROOMS_OF_PARSERS.fullmatch(module.name)],
    ids=lambda module: module.name,
)
def test_a_parser_takes_twice_the_time_for_twice_the_text(module: Module) -> None:
    faults = []
    for name, parse, more in parsers(module):
        if name.rpartition(".")[2] in OF_MEMORIES:
            continue
        assert more == [one for one in more if one in MORE], f"{name} takes more than a text"
        values = [MORE[one] for one in more]
        fault = steepest_text(lambda text, parse=parse, values=values: parse(text, *values))
        faults += [f"{name}({fault})"] if fault else []
    assert faults == []


def test_every_expression_is_found() -> None:
    assert [fault for module in MODULES for fault in unseen(module)] == []
    names = {one.name for module in WITH_EXPRESSIONS for one in expressions(module)}
    assert len(names) > 150
    assert names > LONGEST.keys()


BAD = (
    "import re\ndef f(text):\n    return re.search(TEXT, text)",
    "import re\ndef f(text):\n    return re.compile('a+$').search(text)",
    "from re import search",
)


@pytest.mark.parametrize("text", BAD)
def test_an_expression_that_nobody_times_is_noticed(text: str) -> None:
    assert len(list(unseen(Module("service.text.bad", text)))) == 1


STEEP = {r"a+$": "search", r"\n\s*x": "search", r"\([^)]*\)": "findall"}


@pytest.mark.parametrize(("pattern", "method"), STEEP.items())
def test_a_steep_expression_is_noticed(pattern: str, method: str) -> None:
    expression = Expression("steep", re.compile(pattern), frozenset({method}))
    assert steepest(expression) is not None


def test_a_steep_parser_is_noticed_and_a_linear_one_is_not() -> None:
    assert grows(lambda text: [c in list(text) for c in text[::8]], lambda n: "ab" * n)
    assert not grows(lambda text: [ord(c) for c in text], lambda n: "ab" * n)
