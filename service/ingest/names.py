"""What a text names: titles, headings, tags, links and proper nouns, as candidates for concepts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from service.words import STOP_WORDS, fold

_TOKEN: Final = re.compile(r"[^\W_]+")
# Names do not run across the end of a sentence, a line break after one, a table cell or a bracket;
# the full stop of an initial or a title (J. K. Rowling, Dr. Smith) ends no sentence.
_BREAK: Final = re.compile(
    r"(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St))(?<!\bMrs)[.]\s"
    r"|[!?:;]\s|\n\s*\n|[|()\[\]{}<>\"“”]|\n\s*[-*+#>]|\s[-–—]\s"
)
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_CODE: Final = re.compile(r"`[^`\n]*`")
_CLOCK: Final = re.compile(
    r"^\W*\d{1,2}[:\uff1a]\d{2}(?:[:\uff1a]\d{2})?(?:\s*[AaPp]\.?[Mm]\b)?\W*"
)
# 3rd, 100ms, 24h: a number with its unit, not a name.
_QUANTITY: Final = re.compile(r"\d+[a-z]{1,3}")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_BRACKET: Final = re.compile(r"\s*\([^)]*\)\s*$")
_PLURAL: Final = re.compile(r"[A-Z]{2,}s")
_LONGEST_TOKENS: Final = 6
# A title is given on purpose and may be long: "List of mayors of Little Rock, Arkansas".
_LONGEST_TITLE_TOKENS: Final = 12
_PARTICLES: Final = frozenset(
    ("of", "the", "de", "da", "di", "du", "la", "le", "van", "von", "der", "den", "del", "for")
)
# "Lord of the Rings", "Juan de la Cruz": no name has three in a row.
_MOST_PARTICLES: Final = 2
# Capitalised by grammar or calendar, not because they name something.
_NO_NAMES: Final = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december today yesterday tomorrow yes okay ok todo
    done note notes also however although since while if when then this that these those it we you
    he she they there here what why how who where which mr mrs ms dr""".split()  # noqa: SIM905
)
_NEVER_FIRST: Final = STOP_WORDS | _NO_NAMES
# Headings that every note may have: they say what a section is for, not what it is about.
_SECTION_WORDS: Final = frozenset(
    """notes note summary todo todos overview introduction usage example examples background context
    decision decisions result results links references reference next steps setup installation
    status log logs misc morning evening afternoon done plan plans question questions readme memory
    index changes changelog why what how consequences alternatives problem solution open facts
    people preferences projects general other learned lessons today tomorrow week people steps
    step""".split()  # noqa: SIM905 - words, not a list
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name that can become a concept.

    `kind` says where it was met: declared, tag, link, given, title, heading or proper. A cased
    name (one plain capitalised word, such as Rush) is matched in that spelling only: the same
    letters in lower case are a common word.
    """

    slug: str
    name: str
    kind: str
    is_cased: bool = False


def tokens_of(text: str) -> list[str]:
    """Split into whole tokens, in the folded spelling but with the text's capitals."""
    return _TOKEN.findall(fold(text))


def key_of(tokens: list[str]) -> str:
    """Return the spelling under which tokens are looked up: case-folded, GPUs as gpu."""
    return "_".join(map(_key_of_token, tokens))


def slug_of(name: str) -> str:
    """Return the id of the concept called `name`: `hardware constraints` → hardware_constraints."""
    return key_of(tokens_of(name))


def declared_name(name: str, kind: str = "declared") -> Name | None:
    """Make a name that a person or agent gave on purpose (a tag, a link, a dictionary entry)."""
    tokens = tokens_of(name)
    slug = key_of(tokens)
    if not (1 if _is_wide(slug) else 2) <= len(slug) <= 120:
        return None
    if not tokens or len(tokens) > 2 * _LONGEST_TOKENS or slug in STOP_WORDS:
        return None
    return Name(slug, " ".join(name.split()), kind)


def heading_name(heading: str, kind: str = "heading") -> Name | None:
    """Make a name from a title or heading; None when it tells nothing.

    That is a time, a date, `Notes`, a whole sentence.
    """
    bare = _BRACKET.sub("", _CLOCK.sub("", heading.replace("`", "")))
    tokens = tokens_of(bare)
    longest = _LONGEST_TITLE_TOKENS if kind == "title" else _LONGEST_TOKENS
    if _DATE.search(bare) or not 1 <= len(tokens) <= longest or not _tells(tokens):
        return None
    if len(tokens) == 1 and _is_short_and_common(tokens[0]):
        return None
    is_cased = len(tokens) == 1 and _is_plain_capitalised(tokens[0])
    return Name(key_of(tokens), " ".join(bare.split()), kind, is_cased)


def proper_names(text: str) -> dict[str, Name]:
    """Return the proper nouns of `text` by slug: runs of capitalised words outside code.

    A single capitalised word counts only where grammar does not ask for the capital, or when it
    is code-like (VRAM, SurrealDB, E1234).
    """
    found: dict[str, Name] = {}
    prose = _CODE.sub(" . ", _outside_fences(text))
    for piece in _BREAK.split(fold(prose)):
        for run, starts_piece in _capitalised_runs(_TOKEN.findall(piece)):
            name = _proper_name(run, starts_piece=starts_piece)
            if name is not None:
                found.setdefault(name.slug, name)
    return found


def _outside_fences(text: str) -> str:
    """Return the text with an empty line for each line of fenced code."""
    kept, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if not fence and mark is None:
            kept.append(line)
            continue
        kept.append("")
        if not fence and mark is not None:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
    return "\n".join(kept)


def _capitalised_runs(tokens: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield runs of capitalised tokens (particles inside) and whether one opens the piece."""
    start = 0
    while start < len(tokens):
        end = start
        while end < len(tokens) and _may_continue(tokens, start, end):
            end += 1
        while end > start and tokens[end - 1].casefold() in _PARTICLES:
            end -= 1
        if end > start:
            yield tokens[start:end], start == 0
        start = max(end, start + 1)


def _may_continue(tokens: list[str], start: int, at: int) -> bool:
    token = tokens[at]
    if token[0].isupper() or _is_code_like(token):
        return True
    if at == start or at + 1 == len(tokens):
        return False
    if token.isdigit():
        return tokens[at + 1][0].isupper()
    ahead = tokens[at + 1 : at + 1 + _MOST_PARTICLES]
    joined = next((word for word in ahead if word.casefold() not in _PARTICLES), "")
    return token.casefold() in _PARTICLES and joined[:1].isupper()


def _proper_name(run: list[str], *, starts_piece: bool) -> Name | None:
    first = 0
    while first < len(run) and (run[first].casefold() in _NEVER_FIRST or run[first].isdigit()):
        first += 1
    run, starts_piece = run[first:], starts_piece and not first
    if not run or len(run) > _LONGEST_TOKENS or not _tells(run):
        return None
    if len(run) == 1:
        word = run[0]
        if len(word) < 3 or word.isdigit() or _QUANTITY.fullmatch(word):
            return None
        if starts_piece and not _is_code_like(word):
            return None
    is_cased = len(run) == 1 and _is_plain_capitalised(run[0])
    return Name(key_of(run), " ".join(run), "proper", is_cased)


def _tells(tokens: list[str]) -> bool:
    """Say whether the tokens name something: not only numbers, stop words and section words."""
    return any(
        not t.isdigit()
        and t.casefold() not in STOP_WORDS
        and t.casefold() not in _NO_NAMES
        and t.casefold() not in _SECTION_WORDS
        and (len(t) > 1 or _is_wide(t))
        for t in tokens
    )


# The words of one agent come again and again.
@lru_cache(maxsize=65_536)
def _key_of_token(token: str) -> str:
    return (token[:-1] if _PLURAL.fullmatch(token) else token).casefold()


def _is_plain_capitalised(token: str) -> bool:
    return token[0].isupper() and token[1:].islower() and token.isalpha()


@lru_cache(maxsize=65_536)
def _is_code_like(token: str) -> bool:
    """Say whether a token's own letters mark it: GPU, SurrealDB, E1234, but not Rush or 1234."""
    if token.isdigit() or len(token) < 2:
        return False
    has_digit = any(c.isdigit() for c in token)
    return (has_digit and any(c.isalpha() for c in token)) or any(c.isupper() for c in token[1:])


def _is_short_and_common(token: str) -> bool:
    """Say whether a lone word would link by accident; GPU and v2 have their capitals or digits."""
    return len(token) < 5 and not _is_code_like(token) and not _is_wide(token)


def _is_wide(text: str) -> bool:
    """Say whether the text is Korean, Chinese or Japanese, where one or two letters are a name."""
    return any("\u3040" <= c <= "\ud7af" for c in text)
