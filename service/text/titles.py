"""Titles of memories: one for a memory without, and what becomes of one that is too long; pure."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final, Protocol

# What is stored; a list of results shows it in two lines.
MOST_TITLE_CHARACTERS: Final = 200
# Of a title that is made of the text.
_MOST_DERIVED_CHARACTERS: Final = 80
_WARNING: Final = (
    f"title: longer than {MOST_TITLE_CHARACTERS} characters, so it was cut at a word; the whole "
    "title stands at the beginning of the text"
)
# Between a heading and the next one below it.
_BELOW: Final = " › "
_HEADING_MARK: Final = re.compile(r"#{1,6}\s+")
# Emphasis and code as markdown has them: `2**10` and `SELECT *` are none.
_PAIRED_MARKS: Final = re.compile(r"(?<![\w*])(\*\*|\*|`)(?=\S)([^*`]+)(?<=\S)\1")
_MARKS: Final = str.maketrans("", "", "*`")
# Of a text that is looked at for a title: some marks more than the longest title has letters.
_MOST_BEGINNING: Final = 1_000
_BLANK: Final = re.compile(r"\s")
_JOINER: Final = "\u200d"
_SKIN_TONES: Final = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")


class _Read(Protocol):
    @property
    def uri(self) -> str | None: ...


class Headed(Protocol):
    """A memory as far as its headings go."""

    @property
    def heading_path(self) -> tuple[str, ...]:
        """The headings from the document's title down to its own."""

    @property
    def title(self) -> str:
        """The last of them, or the title that was given."""

    @property
    def search_headings(self) -> tuple[str, ...]:
        """Where else it stands."""

    @property
    def source(self) -> _Read:
        """Where it was read."""


def title_of(title: str, content: str) -> str:
    """Return a memory's title, or the beginning of its text when it was given none.

    That is its first line with text, without the marks around it, of at most 80 characters.
    """
    if title:
        return title
    line = next((line for line in content.splitlines() if line.strip()), "")
    first = _PAIRED_MARKS.sub(r"\2", line[:_MOST_BEGINNING]).strip(" *`\t").lstrip("#> \t")
    first = first.removeprefix("- ").strip(" *`\t") if first.strip("-") else ""
    if len(first) <= _MOST_DERIVED_CHARACTERS:
        return first
    return f"{first[: _MOST_DERIVED_CHARACTERS - 1].rstrip()}…"


def is_beside(title: str, text: str) -> bool:
    """Say whether a title tells what the text does not begin with: marks of markdown do not count.

    A title that is made of the text, or was cut from it, would be read twice.
    """
    return not _bare(text).startswith(_bare(title.removesuffix("…")))


def headings_of(
    path: Sequence[str], title: str, search_headings: Sequence[str] = (), file: str = ""
) -> tuple[str, ...]:
    """Return the headings a memory stands below, its title among them, the outermost first.

    Each once. The name of its `file` is the first, where no heading says what the text is about. A
    record of a decision is called by the heading above its `Decision`, which is left out; "Postgres
    (superseded)" is that heading too, with its status.
    """
    own = (at for at, one in enumerate(path) if title == one or title.startswith(f"{one} ("))
    named = [one for one in search_headings if one == file]
    every = (*named, *path[: next(own, len(path))], title, *search_headings)
    return tuple(dict.fromkeys(filter(None, every)))


def headings_above(memory: Headed) -> tuple[str, ...]:
    """Return the headings that a memory of the store stands below: see headings_of."""
    file = PurePosixPath(memory.source.uri or "").stem
    return headings_of(memory.heading_path, memory.title, memory.search_headings, file)


def one_heading(headings: Iterable[str], content: str) -> str:
    """Return the headings above a text on one line, the outermost first.

    Those that the text begins with are left out, and outer ones where all make more than a title.
    """
    told = [" ".join(one.split()) for one in headings if is_beside(one, content)]
    while len(told) > 1 and len(_BELOW.join(told)) > MOST_TITLE_CHARACTERS:
        del told[0]
    return _BELOW.join(told)


def in_one_line(headings: Iterable[str], content: str) -> str:
    """Return a text on one line, behind the headings that it stands below: see one_heading."""
    told = one_heading(headings, content)
    return ": ".join(filter(None, [told, " ".join(content.split())]))


def fit_title(title: str, text: str) -> tuple[str, str]:
    """Return title and text; a title of more than 200 characters is cut, and whole in the text.

    So it is found by all of its words. A text that begins with the title already stays as it is,
    and fitting again changes nothing.
    """
    title = title.strip()
    if not is_too_long(title):
        return title, text
    return cut_title(title), text if _begins_with(text, title) else f"{title}\n\n{text}"


def title_warnings(title: str | None) -> list[str]:
    """Return what a writer should know about a title, if it is one that `fit_title` cuts."""
    return [_WARNING] if is_too_long(title or "") else []


def is_too_long(title: str) -> bool:
    """Say whether a title is longer than what is stored, blanks around it left out."""
    return len(title.strip()) > MOST_TITLE_CHARACTERS


def cut_title(title: str) -> str:
    """Return the beginning of a title that is too long, at most 200 characters with its "…".

    It ends at the last blank. Without one in the second half (one long word, Chinese, Japanese)
    it ends anywhere but inside of a letter with its accents or of a joined emoji.
    """
    most = MOST_TITLE_CHARACTERS - 1
    at = next((at for at in range(most, most // 2, -1) if _BLANK.match(title, at)), 0)
    at = at or next((at for at in range(most, most // 2, -1) if _is_between(title, at)), most)
    return f"{title[:at].rstrip()}…"


def _bare(text: str) -> str:
    return " ".join(text[:_MOST_BEGINNING].translate(_MARKS).lstrip(" #->\t\r\n").split())


def _is_between(text: str, at: int) -> bool:
    """Say whether a reader sees one character end and another begin here."""
    letter = text[at]
    joins = letter == _JOINER or text[at - 1] == _JOINER or letter in _SKIN_TONES
    return not joins and not unicodedata.category(letter).startswith("M")


def _begins_with(text: str, title: str) -> bool:
    mark = _HEADING_MARK.match(text)
    start = mark.end() if mark else 0
    behind = text[start + len(title) : start + len(title) + 1]
    return text.startswith(title, start) and (not behind or behind.isspace())


def text_of(
    heading_path: Iterable[str], title: str, content: str, search_headings: Iterable[str] = ()
) -> str:
    """Return what a memory says, or is searched by: its headings (each once), then its content."""
    headings = dict.fromkeys([*heading_path, title, *search_headings])
    return "\n".join([_BELOW.join(h for h in headings if h), content]).strip()
