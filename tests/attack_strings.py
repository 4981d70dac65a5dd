"""Texts that are hard for a regular expression, made from its own pieces."""

import re
from collections.abc import Iterator
from itertools import product
from re import _constants as codes
from re import _parser as parser
from typing import Any, Final

# Blanks of all kinds, brackets, quotes, scripts, digits and what joins words: for any reader.
PUMPS: Final = (
    *" \n\t\r\u00a0\u3000\u2028\v", *"[]({<|!?.,;:'\"`#*_-~/\\@=+&%$", *"aAz09", *"\u201c\u300c\u300e",
    *"\u4e00\u3042\u30a2\uac00\u0301", "\n\u00a0", "\n ", " \n", "\r\n", "a ", "A ", "Aa ", "a.", "a. ",
    "a, ", "1:", ":1", "1.", "1-", "a-", "a_", "a/", "/a", "../", "](", "[[", "![", "[a](", "**a", "> ",
    "- ", "# ", "#a ", "\n# a", "\n- a", "\n> a", "|a", "\n|a|", "\n```", "~~~", "``", "<a", "<!--",
    '"a" ', "(AB) ", "Ab Cd ", "of ", "10:00 ", "2026-01-01", "2026-01-01 ", "\u6771\u4eac\u306e", "\uc11c\uc6b8\uc5d0\uc11c ",
    "\U0001f600", "https://", "a=b\n", "a: b\n", "{a: ", "[a, ",
)  # fmt: skip
_CATEGORIES: Final = {
    codes.CATEGORY_SPACE: " \n\u00a0\u3000\u2028",
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_WORD: "a1_",
    codes.CATEGORY_NOT_WORD: ". ",
    codes.CATEGORY_NOT_SPACE: "a.",
    codes.CATEGORY_NOT_DIGIT: "a ",
}
_ANY: Final = "a \n.1A_-\u00a0\uac00"
_MOST_WITNESSES, _MOST_PUMPS = 4, 30


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (front, pump, end): the pump is to be repeated; the end lets a match fail at last."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    letters, bodies = [], []
    _collect(tree, letters, bodies)
    own = list(dict.fromkeys(letters))
    pairs = ("".join(pair) for pair in product(own[:9], repeat=2))
    pumps = list(dict.fromkeys([*bodies, *_witnesses(tree), *own, *pairs]))[:_MOST_PUMPS]
    fronts = ["", *_witnesses(tree)[:1]]
    for pump in filter(None, [*pumps, *PUMPS]):
        yield "", pump, "\x00"
    for pump in filter(None, [*bodies, *own[:12]]):
        for front in fronts:
            yield front + "a", pump, "!a"
            yield front, pump, ""


def _collect(tree: Any, letters: list[str], bodies: list[str]) -> None:  # noqa: ANN401
    """Gather what single letters an expression knows, and what each of its loops repeats."""
    for code, value in tree:
        if code in {codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY}:
            letters += _letters(code, value)
        if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            bodies += _witnesses(value[2])
        for inner in _inner(code, value):
            _collect(inner, letters, bodies)


def _inner(code: Any, value: Any) -> list[Any]:  # noqa: ANN401
    if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
        return [value[2]]
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code is codes.BRANCH:
        return list(value[1])
    if code in {codes.ASSERT, codes.ASSERT_NOT}:
        return [value[1]]
    return [value] if code is codes.ATOMIC_GROUP else []


def _letters(code: Any, value: Any) -> list[str]:  # noqa: ANN401
    if code is codes.LITERAL:
        return [chr(value)]
    if code is codes.NOT_LITERAL:
        return [c for c in _ANY if ord(c) != value]
    if code is codes.ANY:
        return list(_ANY)
    if value[0][0] is codes.NEGATE:
        barred = {c for item in value[1:] for c in _members(*item)}
        return [c for c in _ANY if c not in barred and not _is_in_range(c, value[1:])]
    return [c for item in value for c in _members(*item)]


def _is_in_range(letter: str, items: Any) -> bool:  # noqa: ANN401
    spans = [value for code, value in items if code is codes.RANGE]
    return any(low <= ord(letter) <= high for low, high in spans)


def _members(code: Any, value: Any) -> str:  # noqa: ANN401
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(value[0]) + chr(value[1])
    return _CATEGORIES.get(value, "a")


def _witnesses(tree: Any) -> list[str]:  # noqa: ANN401
    """Return some texts that an expression matches, as far as its looks aside let it."""
    found = [""]
    for code, value in tree:
        if code in {codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY}:
            pieces = _letters(code, value)
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            pieces = [piece * max(1, min(value[0], 8)) for piece in _witnesses(value[2])]
        elif code is codes.BRANCH:
            pieces = [piece for branch in value[1] for piece in _witnesses(branch)]
        elif code is codes.SUBPATTERN:
            pieces = _witnesses(value[3])
        elif code is codes.ATOMIC_GROUP:
            pieces = _witnesses(value)
        else:
            continue
        step = max(1, len(found) * len(pieces) // _MOST_WITNESSES)
        found = ["".join(both) for both in product(found, pieces or [""])][::step]
    return found[: 2 * _MOST_WITNESSES]
