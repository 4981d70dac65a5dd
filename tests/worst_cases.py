"""Texts that are the worst for a regular expression, made from its own parts.

A pattern is parsed as `re` does it. Its letters, the members of its classes and examples of what
it repeats are pumped: written again and again, behind a beginning that it likes and before an end
that it does not. An expression that goes back over what it read shows it on one of them.
"""

import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from typing import Any, Final

from tests.effort import IS_SOAK

# What stands in texts anyway: blanks of every kind, marks, digits and letters of several scripts.
_MOST_COMMON: Final = (
    " ", "\t", "\n", "\u00a0", "\u3000", "\u2028", "\u00a0\n", " \n", "a", "A", "a ", "1", ":1",
    "1.", "a.", "/", "a/", "-", "_", "*", "#", "`", "```\n", "|", "[", "![", "[[", "(", "<", ">",
    '"', "\u201c", "\u300c", "'", "\u2019", "!", "http://", "a@", "가", "가 ", "中", "ア", "é",
    "\u0301", "\U0001f680", "- ", "a: ",
)  # fmt: skip
COMMON: Final = _MOST_COMMON if IS_SOAK else (" ", "\u00a0\n", "a", "1", "a.", "(", "가", "[[")
_ENDS: Final = ("", "\x00", "!", "\n", "x") if IS_SOAK else ("\x00", "x")
_EXAMPLES: Final = {
    op.CATEGORY_DIGIT: "1", op.CATEGORY_NOT_DIGIT: "a", op.CATEGORY_SPACE: " \n\u00a0",
    op.CATEGORY_NOT_SPACE: "a", op.CATEGORY_WORD: "a1_가", op.CATEGORY_NOT_WORD: " -",
}  # fmt: skip
_MOST_PUMPS: Final = 40 if IS_SOAK else 12


def worst_cases(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Yield texts of about `length` characters that are hard for a pattern."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    whole = example_of(tree)
    own = list(islice(dict.fromkeys(pump for pump in pumps_of(tree) if pump), _MOST_PUMPS))
    # With a letter behind each: "(a(a(a" opens again and again and closes nothing.
    pumps = [*own, *(f"{pump}a" for pump in own if len(pump) == 1), *COMMON]
    for pump, start, end in product(pumps, ("", whole), _ENDS):
        text = start + pump * (length // len(pump)) + end
        yield text


def pumps_of(tree: Any) -> Iterator[str]:
    """Yield the letters of a pattern and examples of what it repeats, the inner ones first."""
    for kind, value in tree:
        for part in _parts(kind, value):
            yield from pumps_of(part)
        if kind in _REPEATS:
            body = example_of(value[2])
            yield body
            # What is repeated by another of its own forms, too: (?:a|b)+ by a and by b.
            yield from (body[:1], body[-1:])
        elif kind is op.IN:
            yield from _members(value)
        elif kind is op.LITERAL:
            yield chr(value)
    yield example_of(tree)


def example_of(tree: Any) -> str:
    """Return a short text that a pattern might match, looking around left out."""
    return "".join(_example(kind, value) for kind, value in tree)


_REPEATS: Final = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def _example(kind: Any, value: Any) -> str:
    example = _EXAMPLE_OF.get(kind)
    return example(value) if example else ""


_EXAMPLE_OF: Final[Mapping[Any, Callable[[Any], str]]] = {
    op.LITERAL: chr,
    op.NOT_LITERAL: lambda letter: "a" if letter != ord("a") else "b",
    op.ANY: lambda _: "a",
    op.IN: lambda members: next(iter(_members(members)), ""),
    op.BRANCH: lambda branch: example_of(branch[1][0]),
    op.SUBPATTERN: lambda group: example_of(group[-1]),
    op.ATOMIC_GROUP: example_of,
    **dict.fromkeys(_REPEATS, lambda value: example_of(value[2]) * max(1, min(value[0], 3))),
}


def _parts(kind: Any, value: Any) -> list[Any]:
    if kind in _REPEATS:
        return [value[2]]
    if kind is op.BRANCH:
        return list(value[1])
    if kind in {op.SUBPATTERN, op.ASSERT, op.ASSERT_NOT}:
        return [value[-1]]
    return [value] if kind is op.ATOMIC_GROUP else []


def _members(value: Any) -> list[str]:
    """Return some members of a class; of a negated one what it does not name."""
    is_negated = value[0][0] is op.NEGATE
    found = list[str]()
    for kind, what in value:
        if kind is op.LITERAL:
            found.append(chr(what))
        elif kind is op.RANGE:
            found += [chr(what[0]), chr(what[1])]
        elif kind is op.CATEGORY:
            found += _EXAMPLES[what]
    if not is_negated:
        return found[:6]
    matcher = re.compile("[^" + "".join(map(re.escape, found)) + "]")
    return [one for one in "a1 \n.-(" if matcher.match(one)]
