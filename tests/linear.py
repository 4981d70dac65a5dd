"""Finds every expression of the source, and times one on n and on 2n characters."""

import ast
import importlib
import math
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import thread_time_ns
from typing import Any, Final

from scripts.house.rooms import Module
from tests.attack_strings import PUMPS, attacks

# By a law that is linear, twice the text takes twice the time; a quadratic one takes four times.
MOST_GROWTH: Final = 2.5
# What looks steeper is measured again with more characters: a bounded repeat is linear past its
# bound, and a scheduler's pause does not come three times.
_SIZES: Final = (500, 2_000, 8_000, 32_000)
# Nothing linear takes so long at these sizes; no more is measured then.
_FAR_TOO_LONG_NS: Final = 300_000_000
# Shorter times than this say nothing of their growth, and a square of that size takes longer.
_TOO_SHORT_NS: Final = 100_000
_METHODS: Final = frozenset(
    ("match", "fullmatch", "search", "findall", "finditer", "sub", "subn", "split")
)
_CALLS: Final = _METHODS | {"compile"}


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of the source, where it is, and how it is asked."""

    name: str
    pattern: re.Pattern[str]
    methods: frozenset[str]


def expressions(module: Module) -> Iterator[Expression]:
    """Yield what a module compiles when it is imported, and what its functions spell out."""
    methods = _methods_by_name(module)
    for name, value in vars(importlib.import_module(module.name)).items():
        patterns = list(_patterns(value))
        if re.search(rf"^{re.escape(name)}\b.*=", module.text, re.MULTILINE):
            for at, pattern in enumerate(patterns):
                label = f"{module.name}.{name}" + (f"[{at}]" if len(patterns) > 1 else "")
                yield Expression(label, pattern, methods.get(name) or frozenset({"finditer"}))
    for line, call in calls_of_re(module):
        spelled = call.args[0]
        if call.func.attr != "compile" and isinstance(spelled, ast.Constant):  # type: ignore[attr-defined]
            method = call.func.attr  # type: ignore[attr-defined]
            yield Expression(
                f"{module.name}:{line}", re.compile(spelled.value), frozenset({method})
            )


def calls_of_re(module: Module) -> Iterator[tuple[int, ast.Call]]:
    """Yield the calls of `re.…` that take an expression, with their lines."""
    for node in module.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in _CALLS:
                yield node.lineno, node


def _methods_by_name(module: Module) -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in _METHODS:
                found[node.value.id].add(node.attr)
    return {name: frozenset(methods) for name, methods in found.items()}


def _patterns(value: Any) -> Iterator[re.Pattern[str]]:  # noqa: ANN401
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, tuple | list) and len(value) < 200:
        for one in value:
            yield from _patterns(one)


def steepest(expression: Expression, longest: int | None = None) -> str | None:
    """Return the attack under which an expression takes more than its share of time, if any.

    `longest`: more characters its caller never gives it; then one call may take a millisecond.
    """
    for method in sorted(expression.methods):
        ask = _ask(expression.pattern, method)
        for front, pump, end in attacks(expression.pattern):

            def text(size: int, front: str = front, pump: str = pump, end: str = end) -> str:
                return front + pump * (size // len(pump)) + end

            fault = _too_long(ask, text(longest)) if longest else grows(ask, text)
            if fault:
                return f"{expression.name}.{method}({front!r} + {pump!r} * n + {end!r}): {fault}"
    return None


def _ask(pattern: re.Pattern[str], method: str) -> Callable[[str], object]:
    if method == "finditer":
        return pattern.findall
    asked = getattr(pattern, method)
    return (lambda text: asked("", text)) if method in {"sub", "subn"} else asked


def grows(
    ask: Callable[[str], object], text: Callable[[int], str], sizes: Sequence[int] = _SIZES
) -> str:
    """Return by how much `ask` takes longer for twice the text, if that is too much at all sizes."""
    told = []
    for at, size in enumerate(sizes):
        once, twice = text(size), text(2 * size)
        if _took(ask, twice) < _TOO_SHORT_NS:
            return ""
        growth = _growth(ask, once, twice, repeats=1 if at == 0 else 3)
        if growth <= MOST_GROWTH:
            return ""
        told.append(f"{growth:.1f} times at {size}")
        if growth == math.inf:
            break
    return ", ".join(told)


def _growth(ask: Callable[[str], object], once: str, twice: str, repeats: int) -> float:
    """Measure both in turns, and take the best of each: the machine's pace changes."""
    pairs: list[tuple[int, int]] = []
    for _ in range(repeats):
        pairs.append((_took(ask, once), _took(ask, twice)))
        if pairs[-1][0] > _FAR_TOO_LONG_NS:
            return math.inf
    short, long = (min(times) for times in zip(*pairs, strict=True))
    return long / max(short, 1)


def _too_long(ask: Callable[[str], object], text: str) -> str:
    took = min(_took(ask, text) for _ in range(3))
    return f"{took / 1e6:.1f} ms" if took > 2_000_000 else ""


def _took(ask: Callable[[str], object], text: str) -> int:
    begun = thread_time_ns()
    ask(text)
    return thread_time_ns() - begun


def parsers(module: Module) -> Iterator[tuple[str, Callable[..., object], list[str]]]:
    """Yield the public functions that read a text first: name, function, what else they take."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = [*node.args.posonlyargs, *node.args.args]
            annotation = ast.unparse(arguments[0].annotation or ast.Pass()) if arguments else ""
            if annotation in _TEXTS:
                needed = arguments[1 : len(arguments) - len(node.args.defaults)]
                function = getattr(importlib.import_module(module.name), node.name)
                takes = _TEXTS[annotation]
                yield (
                    f"{module.name}.{node.name}",
                    partial(_use_up, function, takes),
                    [one.arg for one in needed],
                )


def _use_up(
    function: Callable[..., object], takes: Callable[[str], object], text: str, *more: object
) -> None:
    """Ask, and take all that an iterator gives: what refuses the text has read it too."""
    with suppress(ValueError, KeyError):
        given = function(takes(text), *more)
        if isinstance(given, Iterator):
            deque(given, maxlen=0)


def steepest_text(ask: Callable[[str], object]) -> str | None:
    """Return the attack under which a parser takes more than its share of time, if any."""
    for pump, front in product(PUMPS, ("",)):

        def text(size: int, pump: str = pump, front: str = front) -> str:
            return front + pump * (size // len(pump))

        fault = grows(ask, text, _PARSER_SIZES)
        if fault:
            return f"{front!r} + {pump!r} * n: {fault}"
    return None


_PARSER_SIZES: Final = (500, 2_000, 8_000)
_TEXTS: Final[Mapping[str, Callable[[str], object]]] = {
    "str": lambda text: text,
    "list[str]": lambda text: text.split(),
    "Sequence[str]": lambda text: text.split("\n"),
}
