"""A file and the service's text that both may have changed, against what both said before; pure.

Nothing is lost: where both changed, both are kept, and it is told.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from service.text.fences import closes_fence, fence_of

_BULLETS: Final = ("- ", "* ")
_ID: Final = re.compile(r"[\w-]{8,64}")


@dataclass(frozen=True, slots=True)
class MergedText:
    """One text: what it is now on both sides, what is to be sent (None: nothing), what is told."""

    text: str
    sent: str | None
    told: str | None = None


@dataclass(slots=True)
class MergedLines:
    """Lines: those that both sides agree on by id, and what is to be done for the others.

    `added` are texts without an id, `changed` and `removed` those of the file by id. `prose` is
    what is no line of a list and stays as it is.
    """

    kept: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    changed: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


def digest_of(text: str) -> str:
    """Return what a text is known by from one time to the next."""
    return hashlib.sha256(text.strip().encode()).hexdigest()[:32]


def merge_text(base: str | None, mine: str | None, theirs: str) -> MergedText:
    """Merge a file's text with the service's; `base` is the digest of what both were.

    A file that is not there (None) says nothing; one whose text was taken out says so.
    """
    mine, theirs = None if mine is None else mine.strip(), theirs.strip()
    if mine is None or mine == theirs or digest_of(mine) == base or not (mine or base):
        return MergedText(theirs, None)
    if digest_of(theirs) == base or not (theirs or base):
        return MergedText(mine, mine)
    if not mine:
        return MergedText(theirs, None, "emptied here and changed by the service: that is kept")
    if not theirs:
        return MergedText(mine, mine, "cleared by the service and changed here: that is kept")
    both = f"{theirs}\n\n{mine}"
    return MergedText(both, both, "both sides changed it: both are kept, one behind the other")


def read_lines(text: str) -> tuple[list[str], dict[str, str], list[str]]:
    """Return of a file its prose, its lines by id, and the texts of those without one.

    An indented line goes on with the one above. Code in fences is prose, but for what has an id.
    """
    prose: list[str] = []
    items: list[tuple[str, str | None]] = []
    lines, goes_on = text.splitlines(), False
    code = _code(lines)
    for number, line in enumerate(lines):
        words, key = _item(line)
        if goes_on and line[:1].isspace() and line.strip() and number not in code:
            more, own = _named(line)
            words, key = items.pop()
            items.append((f"{words} {more}", key or own))
        elif words and (key or number not in code):
            items.append((words, key))
            goes_on = True
        else:
            prose.append(line)
            goes_on = False
    known: dict[str, str] = {}
    new: list[str] = []
    for words, key in items:
        if key and key not in known:
            known[key] = words
        else:
            new.append(words)
    return prose, known, new


def _code(lines: Sequence[str]) -> set[int]:
    """Return which lines are code in a fence: one that nobody closed takes nothing out."""
    code: set[int] = set()
    fence, opened = "", 0
    for number, line in enumerate(lines):
        if not fence:
            fence, opened = fence_of(line), number
        elif closes_fence(line, fence):
            code.update(range(opened, number + 1))
            fence = ""
    return code


def _item(line: str) -> tuple[str, str | None]:
    """Return the words and the id of `- text <!-- id -->`; no words of what is no such line."""
    return _named(line[2:]) if line.startswith(_BULLETS) else ("", None)


def _named(text: str) -> tuple[str, str | None]:
    """Return the words and the id of `text <!-- id -->`; None where there is none."""
    words, mark, rest = text.strip().rpartition("<!-- ")
    key = rest.removesuffix(" -->")
    if mark and key != rest and _ID.fullmatch(key):
        return words.strip(), key
    return text.strip(), None


def merge_lines(
    base: Mapping[str, str], mine: Mapping[str, str], new: Sequence[str], theirs: Mapping[str, str]
) -> MergedLines:
    """Merge a file's lines with the service's by id; `base` has the digests of what both were."""
    # Editors and agents drop ids: the same words without one are the same line.
    named = {text: key for key, text in theirs.items() if key not in mine and text in new}
    mine = {**mine, **{key: text for text, key in named.items()}}
    merged = MergedLines(added=[text for text in new if text not in theirs.values()])
    for key, text in theirs.items():
        if key in mine:
            _merge_line(merged, key, mine[key], text, base.get(key))
        else:
            _take_out(merged, key, text, base.get(key))
    for key, text in mine.items():
        if key not in theirs and digest_of(text) != base.get(key):
            merged.added.append(text)
            if key in base:
                merged.told.append(f"changed here and gone from the service: {key} is kept as new")
    return merged


def _merge_line(merged: MergedLines, key: str, mine: str, theirs: str, base: str | None) -> None:
    if mine == theirs or digest_of(mine) == base:
        merged.kept[key] = theirs
    elif digest_of(theirs) == base:
        merged.changed[key] = mine
    else:
        merged.kept[key] = theirs
        merged.added.append(mine)
        merged.told.append(f"both sides changed {key}: both are kept")


def _take_out(merged: MergedLines, key: str, theirs: str, base: str | None) -> None:
    """Take in that a line of the service is not in the file: it is new, or was removed there."""
    if digest_of(theirs) == base:
        merged.removed.append(key)
        return
    merged.kept[key] = theirs
    if base is not None:
        merged.told.append(f"removed here and changed by the service: {key} is kept")


def render_lines(prose: Sequence[str], lines: Mapping[str, str], title: str) -> str:
    """Return a file: its prose, or a title where it has none, then a line for each id."""
    head = "\n".join(prose).strip() or f"# {title}"
    body = "\n".join(f"- {text} <!-- {key} -->" for key, text in lines.items())
    return f"{head}\n\n{body}\n" if body else f"{head}\n"


def one_line(text: str) -> str:
    """Return a text as a line of a list has it."""
    return " ".join(text.split())
