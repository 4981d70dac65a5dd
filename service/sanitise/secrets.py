"""Masking secrets: whoever reads what is stored learns that there was one, and of which kind."""

# ruff: noqa: E501 - rows of a table

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from service.sanitise.command_rules import COMMANDS
from service.sanitise.list_rules import CUT, SEVERAL
from service.sanitise.proofs import entropy, is_proved
from service.sanitise.secret_rules import NAMED, Rule
from service.sanitise.secret_tables import COLUMN_WORDS, cells_of_secrets
from service.sanitise.service_rules import LEAST_TOKEN, TOKENS, TOKENS_BESIDE_NAMES

PRIVATE_KEY: Final = "private-key"
_MASK: Final = "[SECRET:{}]"
_MASK_BEGINS: Final = "[SECRET:"
_MOST_MASK: Final = 40
# As editors write an underscore in markdown; who reads a heading reads it without the backslash.
_ESCAPED: Final = "\\_"
# A mask may bring what stands behind it to light: then once more, until nothing is found.
_MOST_ROUNDS: Final = 4

# As it is, or as an address has it.
_LINE_OF_KEY: Final = r"-----{0}{1}(?:[A-Z0-9]{{1,20}}{1}){{0,3}}PRIVATE{1}KEY(?:{1}BLOCK)?-----"
_BEGIN: Final = re.compile(_LINE_OF_KEY.format("BEGIN", "(?:[ +]|%20)"))
_END: Final = re.compile(_LINE_OF_KEY.format("END", "(?:[ +]|%20)"))
# A key that was cut off: lines of it, quoted, indented or with the line ends of JSON or an address.
_BETWEEN: Final = r"(?:[\s>|#\"',+]|\\{1,7}[nr]|%0[ADad]){0,24}"
# Before its lines stand what it is encrypted with, and which program wrote it.
_KEY_HEADERS: Final = (
    rf"(?:{_BETWEEN}(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[ ]?[^\r\n\\]{{1,200}}){{0,6}}"
)  # fmt: skip
_KEY_LINES: Final = re.compile(
    rf"{_KEY_HEADERS}{_BETWEEN}(?:(?:[A-Za-z0-9+/=]|%2[BFbf]|%3[Dd]){{16,}}{_BETWEEN})*"
)
# The same, read from its end: the last lines are short ones.
_BACKWARDS: Final = r"(?:[\s>|#\"',+]|[nr]\\{1,7}|[ADad]0%){0,24}"
_LETTER_BACKWARDS: Final = r"(?:[BFbf]2%|[Dd]3%|(?![nr]\\|[ADad]0%)[A-Za-z0-9+/=])"
_KEY_LINES_BACKWARDS: Final = re.compile(
    rf"{_BACKWARDS}(?:{_LETTER_BACKWARDS}{{1,15}}(?!{_LETTER_BACKWARDS}){_BACKWARDS}){{0,2}}"
    rf"(?:{_LETTER_BACKWARDS}{{16,}}{_BACKWARDS})*"
)
# A key of PuTTY tells how many lines are private.
_PUTTY: Final = re.compile(r"Private-Lines:[ \t]{0,4}(?P<lines>[0-9]{1,3})(?![0-9])")
_PUTTY_LINE: Final = re.compile(rf"{_BETWEEN}(?P<line>[A-Za-z0-9+/=]{{4,64}})(?![A-Za-z0-9+/=:-])")
_LETTERS_OF_KEY: Final = re.compile(r"[A-Za-z0-9+/]{16,}")
_MOST_KEY_CHARACTERS: Final = 20_000
_LEAST_KEY_CHARACTERS: Final = 48
_NO_LINE_END: Final = re.compile(r"[^\r\n]+")

_NAMED: Final = (*CUT, *NAMED, *COMMANDS, *SEVERAL)
_RULES: Final = (TOKENS, TOKENS_BESIDE_NAMES, _NAMED)
_BEGINNINGS, _SERVICE_NAMES, _NAMED_WORDS = (
    tuple(dict.fromkeys(word for rule in rules for word in rule.words)) for rules in _RULES
)
_FORTY: Final = re.compile(r"(?<![A-Za-z0-9/+=_-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")


class Masked(NamedTuple):
    """A text without its secrets, and the kinds of those that it had, one for each."""

    text: str
    kinds: tuple[str, ...] = ()


def mask_secrets(text: str) -> Masked:
    """Mask the secrets of a text as `[SECRET:kind]`; lines stay where they are.

    Of a private key's lines the line ends stay. To mask once more changes nothing.
    """
    if _ESCAPED in text:
        text = "\n".join(map(_unescaped, text.split("\n")))
    kinds: list[str] = []
    for _ in range(_MOST_ROUNDS):
        masked = _mask(text)
        if not masked.kinds:
            break
        text = masked.text
        kinds += masked.kinds
    return Masked(text, tuple(kinds))


def _unescaped(line: str) -> str:
    """Return a line as a reader of markdown sees its underscores, if one is of a secret."""
    plain = line.replace(_ESCAPED, "_")
    return plain if plain != line and len(_mask(plain).kinds) > len(_mask(line).kinds) else line


def _mask(text: str) -> Masked:
    lowered = text.lower()
    kinds: list[str] = []
    if "private" in lowered:
        text = _without_keys(text, kinds)
    # A token has no blanks: its beginning is looked for in long words alone: few words are.
    tokens = " ".join(word for word in text.split() if len(word) >= LEAST_TOKEN)
    words = (
        {word for word in _BEGINNINGS if word in tokens},
        {word for word in _SERVICE_NAMES if word in text},
        {word for word in _NAMED_WORDS if word in lowered},
    )
    for rules, present in zip(_RULES, words, strict=True):
        for rule in rules if present else ():
            if not present.isdisjoint(rule.words):
                text = _masked_by(rule, text, kinds)
    if "|" in text and any(word in lowered for word in COLUMN_WORDS):
        text = _with_masked_cells(text, kinds)
    if "aws-key" in kinds:
        text = _FORTY.sub(lambda found: _mask_of_pair(found, kinds), text)
    return Masked(text, tuple(kinds))


def _masked_by(rule: Rule, text: str, kinds: list[str]) -> str:
    parts, end = [], 0
    for found in _found_by(rule, text):
        group = _group_of(found)
        user = found["user"] if "user" in rule.pattern.compiled.groupindex else None
        if found.start() < end:
            continue
        if is_proved(found[group], rule.proof, user) and not _is_masked(found, group):
            parts += [text[end : found.start(group)], _MASK.format(rule.kind)]
            end = found.end(group)
            kinds.append(rule.kind)
    return "".join([*parts, text[end:]]) if parts else text


def _found_by(rule: Rule, text: str) -> Iterator[re.Match[str]]:
    if rule.within is None:
        yield from rule.pattern.compiled.finditer(text)
        return
    for place in rule.within.compiled.finditer(text):
        for word in rule.begins.finditer(text, *place.span()):
            if found := rule.pattern.compiled.match(text, word.start()):
                yield found


def _with_masked_cells(text: str, kinds: list[str]) -> str:
    parts, end = [], 0
    for cell in cells_of_secrets(text):
        if is_proved(text[cell.start : cell.end], cell.proof):
            parts += [text[end : cell.start], _MASK.format(cell.kind)]
            end = cell.end
            kinds.append(cell.kind)
    return "".join([*parts, text[end:]]) if parts else text


def _is_masked(found: re.Match[str], group: int) -> bool:
    """Say whether a match, or the secret in it, begins with the words of a mask."""
    return any(_is_in_mask(found.string, at) for at in {found.start(), found.start(group)})


def _is_in_mask(text: str, at: int) -> bool:
    before = text[max(0, at - _MOST_MASK) : at + len(_MASK_BEGINS) - 1]
    opened = before.rfind(_MASK_BEGINS)
    return opened >= 0 and "]" not in before[opened:]


def _group_of(found: re.Match[str]) -> int:
    """Return the number of the group that holds the secret."""
    groups = [n for name, n in found.re.groupindex.items() if name.startswith("secret")]
    return next((n for n in groups if found[n] is not None), 0)


def _mask_of_pair(found: re.Match[str], kinds: list[str]) -> str:
    """Mask the other half of an AWS key, which looks like nothing when it stands alone."""
    value = found[0]
    if value.isupper() or value.islower() or not any(map(str.isdigit, value)) or entropy(value) < 4:
        return value
    kinds.append("aws-secret-key")
    return _MASK.format("aws-secret-key")


def _without_keys(text: str, kinds: list[str]) -> str:
    for sign, without in (
        ("-----BEGIN", _without_private_keys),
        ("-----END", _without_tails_of_keys),
        ("Private-Lines:", _without_keys_of_putty),
    ):
        if sign in text:
            text = without(text, kinds)
    return text


def _without_private_keys(text: str, kinds: list[str]) -> str:
    ends = [found.end() for found in _END.finditer(text)]
    parts, done = [], 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        at = bisect_left(ends, begin.end())
        end = ends[at] if at < len(ends) else len(text) + _MOST_KEY_CHARACTERS
        if end - begin.start() > _MOST_KEY_CHARACTERS or _BEGIN.search(text, begin.end(), end):
            lines = _KEY_LINES.match(text, begin.end())
            end = lines.end() if lines else begin.end()
        letters = sum(map(len, _LETTERS_OF_KEY.findall(text, begin.end(), end)))
        if letters < _LEAST_KEY_CHARACTERS:
            continue
        lines_kept = _NO_LINE_END.sub("", text[begin.start() : end])
        parts += [text[done : begin.start()], _MASK.format(PRIVATE_KEY), lines_kept]
        done = end
        kinds.append(PRIVATE_KEY)
    return "".join([*parts, text[done:]])


def _without_tails_of_keys(text: str, kinds: list[str]) -> str:
    """Mask lines of a private key up to its end, where its beginning was cut off."""
    parts, done = [], 0
    for end in _END.finditer(text):
        before = text[max(done, end.start() - _MOST_KEY_CHARACTERS) : end.start()]
        lines = _KEY_LINES_BACKWARDS.match(before[::-1])
        tail = before[len(before) - lines.end() :] if lines else ""
        found = _LETTERS_OF_KEY.findall(tail)
        if sum(map(len, found)) >= _LEAST_KEY_CHARACTERS:
            start = end.start() - len(tail) + tail.index(found[0])
            lines_kept = _NO_LINE_END.sub("", text[start : end.end()])
            parts += [text[done:start], _MASK.format(PRIVATE_KEY), lines_kept]
            kinds.append(PRIVATE_KEY)
            done = end.end()
    return "".join([*parts, text[done:]])


def _without_keys_of_putty(text: str, kinds: list[str]) -> str:
    parts, done = [], 0
    for begin in _PUTTY.finditer(text):
        lines = _lines_from(text, begin.end(), int(begin["lines"]))
        if sum(len(line["line"]) for line in lines) >= _LEAST_KEY_CHARACTERS:
            start, end = lines[0].start("line"), lines[-1].end()
            lines_kept = _NO_LINE_END.sub("", text[start:end])
            parts += [text[done:start], _MASK.format(PRIVATE_KEY), lines_kept]
            kinds.append(PRIVATE_KEY)
            done = end
    return "".join([*parts, text[done:]])


def _lines_from(text: str, start: int, most: int) -> list[re.Match[str]]:
    lines: list[re.Match[str]] = []
    while len(lines) < most and (line := _PUTTY_LINE.match(text, start)):
        lines.append(line)
        start = line.end()
    return lines
