"""Names that are given on purpose: in titles, headings, tags and links; what names nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.caching import cached_by_word
from service.names.identifiers import is_hash
from service.names.slugs import is_marked, key_of, tokens_of
from service.text.cjk import has_cjk
from service.text.clocks import CLOCK
from service.text.words import STOP_WORDS

_LEADING_CLOCK: Final = re.compile(rf"^\W*{CLOCK}(?:\s*[AaPp]\.?[Mm]\b)?\W*")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
LONGEST_TOKENS: Final = 6
# A title is given on purpose and may be long: "List of mayors of Little Rock, Arkansas".
LONGEST_TITLE_TOKENS: Final = 12
# Capitalised by grammar or calendar, not because they name something.
_NO_NAMES: Final = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december today yesterday tomorrow yes okay ok todo
    done note notes also however although since while if when then this that these those it we you
    he she they there here what why how who where which mr mrs ms dr""".split()  # noqa: SIM905
)
NEVER_FIRST: Final = STOP_WORDS | _NO_NAMES
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
# Words that any text may say, and names of things too: Go, May, Make.
_COMMON_WORDS: Final = frozenset(
    """again already always another any ask back become begin best better both bring call come could
    even ever every far feel few find first full get give go going good got great hard help hold
    keep know last later leave less let like little long look made make many march may maybe mean
    meet might mind move much must near need never new next nothing old one open put quick quite
    rather read ready real right run said say see seem send set several shall show simple since slow
    soon start stay still stop such sure take talk tell thing think though today try turn two
    use used wait want way well write yes yet""".split()  # noqa: SIM905 - words, not a list
)
# Names at their first use: others are taken for one when a second memory uses them.
CERTAIN: Final = frozenset(("person", "work"))
_NAMES_NOTHING: Final = NEVER_FIRST | _NUMBER_WORDS | _SECTION_WORDS


@dataclass(frozen=True, slots=True)
class Name:
    """A name that can become a concept.

    `kind` says where it was met: declared, tag, link, given, title, heading or proper; or what it
    is, for those that are names at their first use: person, work or abbreviated. A cased
    name (one plain capitalised word, such as Rush) is matched in that spelling only: the same
    letters in lower case are a common word. A declared one is cased where it is `common_as_word`.
    """

    slug: str
    name: str
    kind: str
    is_cased: bool = False


def declared_name(name: str, kind: str = "declared") -> Name | None:
    """Make a name that a person or agent gave on purpose (a tag, a link, a dictionary entry)."""
    tokens = tokens_of(name)
    slug = key_of(tokens)
    if not (1 if has_cjk(slug) else 2) <= len(slug) <= 120:
        return None
    if not tokens or len(tokens) > 2 * LONGEST_TOKENS or slug in STOP_WORDS:
        return None
    return Name(slug, " ".join(name.split()), kind)


def heading_name(heading: str, kind: str = "heading") -> Name | None:
    """Make a name from a title or heading; None when it is a time, a date, `Notes`, a sentence."""
    bare = _without_bracket(_LEADING_CLOCK.sub("", heading.replace("`", "")))
    tokens = tokens_of(bare)
    longest = LONGEST_TITLE_TOKENS if kind == "title" else LONGEST_TOKENS
    if _DATE.search(bare) or not 1 <= len(tokens) <= longest or not names_something(tokens):
        return None
    if len(tokens) == 1 and _is_short_and_common(tokens[0]):
        return None
    return Name(key_of(tokens), " ".join(bare.split()), kind, is_capitalised_word(tokens))


def file_name(name: str) -> Name | None:
    """Make a name of what a file is called, if a heading could be called so.

    Files are written small, so that a plain word (`release.md`) is found by its capital alone.
    """
    found = declared_name(name, "link") if heading_name(name, "title") else None
    if found is None or not is_capitalised_word([found.name[:1].upper() + found.name[1:]]):
        return found
    return replace(found, is_cased=True)


def _without_bracket(heading: str) -> str:
    """Leave out the bracket that a heading ends with: from the first `(` behind the last `)`."""
    whole = heading.rstrip()
    opening = whole.find("(", whole.rfind(")", 0, -1) + 1)
    return whole[:opening] if whole.endswith(")") and opening >= 0 else heading


def names_something(tokens: Sequence[str]) -> bool:
    """Say whether there is more than numbers, stop words and section words."""
    return any(
        not t.isdigit() and t.casefold() not in _NAMES_NOTHING and (len(t) > 1 or has_cjk(t))
        for t in tokens
    )


def is_capitalised_word(tokens: Sequence[str]) -> bool:
    """Say whether it is one plain word with a capital: Rush, but not GPU."""
    word = tokens[0]
    return len(tokens) == 1 and word[0].isupper() and word[1:].islower() and word.isalpha()


def common_as_word(tokens: Sequence[str]) -> bool:
    """Say whether it is one capitalised word that any text says in lower case: Go, but not Rush."""
    is_common = len(tokens) == 1 and tokens[0].casefold() in _COMMON_WORDS
    return is_common and is_capitalised_word(tokens)


@cached_by_word(32_768)
def is_code_like(token: str) -> bool:
    """Say whether a token's own letters mark it: GPU, SurrealDB, E1234, but not Rush or 1234."""
    if token.isdigit() or len(token) < 2 or is_hash(token):
        return False
    has_digit = any(c.isdigit() for c in token)
    return (has_digit and any(c.isalpha() for c in token)) or any(c.isupper() for c in token[1:])


def _is_short_and_common(token: str) -> bool:
    """Say whether a lone word would link by accident; GPU, v2 and C# have what tells them apart."""
    is_apart = is_code_like(token) or is_marked(token) or has_cjk(token)
    return len(token) < 5 and not is_apart
