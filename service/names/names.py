"""What a text names: titles, headings, tags, links and proper nouns, as candidates for concepts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from service.names.cjk_names import certain_names, possible_names
from service.names.identifiers import identifiers, is_hash, is_numbered
from service.text.cjk import WIDE, is_wide
from service.text.marks import outside_fences
from service.text.words import STOP_WORDS, fold

_ASCII_TOKEN: Final = re.compile(r"[A-Za-z0-9]+")
# Where the script changes a word ends: GPU를, 在GitHub上.
_TOKEN: Final = re.compile(rf"[^\W_{WIDE}]+|[{WIDE}]+")
# Names do not run across the end of a sentence, a line break after one, a table cell or a bracket;
# the full stop of an initial or a title (J. K. Rowling, Dr. Smith) ends no sentence.
_BREAK: Final = re.compile(
    r"(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St))(?<!\bMrs)[.]\s"
    r"|[!?:;]\s|\n\s*\n|[|()\[\]{}<>\"“”]|\n\s*[-*+#>]|\s[-–—]\s"
)
_CODE: Final = re.compile(r"`([^`\n]*)`")
# Addresses of the web, moments and UUIDs hold capitals and digits, but no names.
_UNNAMED: Final = re.compile(
    r"https?://\S+|\b\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-][\d:]+)?"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
)
# What all of these hold and few texts do: found out in a fraction of the time.
_MAY_BE_UNNAMED: Final = re.compile(r"[:-](?:(?<=:)//|\d\dT\d|[0-9a-f]{4}-)")
# A lone word in quotes is called so: the host "Tern" fails. Not a nickname: John "Jack" Smith.
_QUOTED: Final = re.compile(r"[\"“](?<=[a-z] .)([A-Z]\w{2,})[\"”](?! [A-Z])")
_CLOCK: Final = re.compile(
    r"^\W*\d{1,2}[:\uff1a]\d{2}(?:[:\uff1a]\d{2})?(?:\s*[AaPp]\.?[Mm]\b)?\W*"
)
# 3rd, 100ms, 24h: a number with its unit, not a name.
_QUANTITY: Final = re.compile(r"\d+[a-z]{1,3}")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_BRACKET: Final = re.compile(r"\s*\([^)]*\)\s*$")
_PLURAL: Final = re.compile(r"[A-Z]{2,}s")
# "Osprey v2 fails" is about Osprey.
_VERSION: Final = re.compile(r"v\d+")
_LONGEST_TOKENS: Final = 6
# A title is given on purpose and may be long: "List of mayors of Little Rock, Arkansas".
_LONGEST_TITLE_TOKENS: Final = 12
_PARTICLES: Final = frozenset(
    ("of", "the", "de", "da", "di", "du", "la", "le", "van", "von", "der", "den", "del", "for")
)
_NEVER_SECOND: Final = frozenset(("for",))
_FEWEST_AFTER_THE: Final = 2
# A text with more is a table of them: they tie nothing together.
_MOST_IDENTIFIERS: Final = 64
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
# They may open a name (First National Pictures), but are none.
_NUMBER_WORDS: Final = frozenset(
    """one two three four five six seven eight nine ten first second third last ii iii iv vi vii
    viii""".split()  # noqa: SIM905 - words, not a list
)
# Headings that every note may have: they say what a section is for, not what it is about.
_SECTION_WORDS: Final = frozenset(
    """notes note summary todo todos overview introduction usage example examples background context
    decision decisions result results links references reference next steps setup installation
    status log logs misc morning evening afternoon done plan plans question questions readme memory
    index changes changelog why what how consequences alternatives problem solution open facts
    people preferences projects general other learned lessons today tomorrow week people steps
    step""".split()  # noqa: SIM905 - words, not a list
)
# Names at their first use: others are taken for one when a second memory uses them.
CERTAIN: Final = frozenset(("person", "work"))
_TELLS_NOTHING: Final = _NEVER_FIRST | _NUMBER_WORDS | _SECTION_WORDS


@dataclass(frozen=True, slots=True)
class Name:
    """A name that can become a concept.

    `kind` says where it was met: declared, tag, link, given, title, heading or proper; or what it
    is, for those that are names at their first use: person, work or abbreviated. A cased
    name (one plain capitalised word, such as Rush) is matched in that spelling only: the same
    letters in lower case are a common word.
    """

    slug: str
    name: str
    kind: str
    is_cased: bool = False


def tokens_of(text: str) -> list[str]:
    """Split into whole tokens, in the folded spelling but with the text's capitals."""
    return _tokens(fold(text))


def _tokens(folded: str) -> list[str]:
    return (_ASCII_TOKEN if folded.isascii() else _TOKEN).findall(folded)


def key_of(tokens: list[str]) -> str:
    """Return the spelling under which tokens are looked up: case-folded, GPUs as gpu.

    "The Lion King" is "Lion King"; "The Wire" stays, for a wire is something else.
    """
    start = 0
    while len(tokens) - start > _FEWEST_AFTER_THE and tokens[start].casefold() == "the":
        start += 1
    return "_".join(map(_key_of_token, tokens[start:]))


def slug_of(name: str) -> str:
    """Return the id of the concept called `name`: `hardware constraints` → hardware_constraints."""
    return key_of(tokens_of(name))


def declared_name(name: str, kind: str = "declared") -> Name | None:
    """Make a name that a person or agent gave on purpose (a tag, a link, a dictionary entry)."""
    tokens = tokens_of(name)
    slug = key_of(tokens)
    if not (1 if is_wide(slug) else 2) <= len(slug) <= 120:
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
    """Return the proper nouns of `text` by slug: runs of capitalised words, and identifiers.

    A single capitalised word counts only where grammar does not ask for the capital, where it
    stands in quotes, or when it is code-like (VRAM, SurrealDB, E1234). Code names nothing but
    identifiers, fenced code nothing at all.
    """
    found: dict[str, Name] = {}
    # Most texts are one sentence and hold none of these marks: looking for them costs least.
    if "```" in text or "~~~" in text:
        text = outside_fences(text)
    if _MAY_BE_UNNAMED.search(text):
        text = _UNNAMED.sub(" . ", text)
    spans = _CODE.findall(text) if "`" in text else []
    prose = _CODE.sub(" . ", text) if spans else text
    marked = identifiers(text, spans)
    # The longest first: what is left out of the prose must not cut a longer one.
    for word in sorted(marked, key=lambda word: (-len(word), word))[:_MOST_IDENTIFIERS]:
        _keep(found, _identifier_name(word))
        prose = prose.replace(word, " . ")
    prose = fold(prose)
    for name in _wide_names(prose):
        _keep(found, name)
    for word in _QUOTED.findall(prose) if '"' in prose or "“" in prose else ():
        _keep(found, _proper_name([word], starts_piece=False))
    words: set[str] = set()  # "State" names nothing in a text that also says "state".
    for piece in _BREAK.split(prose):
        tokens = _tokens(piece)
        words.update(tokens)
        for run, starts_piece in _capitalised_runs(tokens):
            _keep(found, _proper_name(run, starts_piece=starts_piece))
    return {slug: name for slug, name in found.items() if not name.is_cased or slug not in words}


def _keep(found: dict[str, Name], name: Name | None) -> None:
    if name is not None:
        found.setdefault(name.slug, name)


def _wide_names(text: str) -> Iterator[Name | None]:
    if is_wide(text):
        for name, kind in certain_names(text):
            yield declared_name(name, kind)
        for name in possible_names(text):
            yield declared_name(name, "proper")


def _identifier_name(word: str) -> Name | None:
    tokens = tokens_of(word)
    if len(tokens) == 1:
        return _proper_name(tokens, starts_piece=True)
    # README.md and index.js are everywhere: what counts is what stands before the extension.
    telling = tokens[:-1] if "." in word.rsplit("/", 1)[-1] else tokens
    if len(tokens) > _LONGEST_TITLE_TOKENS or not (is_numbered(word) or _tells(telling)):
        return None
    return Name(key_of(tokens), fold(word), "proper")


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
            # Korean, Chinese and Japanese grammar asks for no capital.
            is_foreign = end < len(tokens) and is_wide(tokens[end])
            yield tokens[start:end], start == 0 and not is_foreign
        start = max(end, start + 1)


def _may_continue(tokens: list[str], start: int, at: int) -> bool:
    token = tokens[at]
    if token[0].isupper():
        return True
    if _is_code_like(token):
        return not _VERSION.fullmatch(token)
    if at == start or at + 1 == len(tokens):
        return False
    if token.isdigit():
        return tokens[at + 1][0].isupper()
    # "Mail for Northmoor Dairy" is not called so; "the Office for National Statistics" is.
    if at == 1 and token in _NEVER_SECOND:
        return False
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
        not t.isdigit() and t.casefold() not in _TELLS_NOTHING and (len(t) > 1 or is_wide(t))
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
    if token.isdigit() or len(token) < 2 or is_hash(token):
        return False
    has_digit = any(c.isdigit() for c in token)
    return (has_digit and any(c.isalpha() for c in token)) or any(c.isupper() for c in token[1:])


def _is_short_and_common(token: str) -> bool:
    """Say whether a lone word would link by accident; GPU and v2 have their capitals or digits."""
    return len(token) < 5 and not _is_code_like(token) and not is_wide(token)
