"""What a memory is about as a whole: its title, or whoever speaks in it."""

import re
from typing import Final

from service.names.names import Name, declared_name, heading_name

# `Mina: I went there yesterday`, `[09:15] Min Soo: …`: the label of a turn.
_LABEL: Final = re.compile(
    r"\s*(?:\[[^\]\n]{1,40}\]\s*)?([^\s:\[(<#*`\"'+-][^:\n]{0,40}?)\s*[:\uff1a]\s"
)
_LONGEST_LABEL_WORDS: Final = 3
# Labels of roles and of kinds of lines; they name nobody.
_NO_SPEAKERS: Final = frozenset(
    """user assistant human system tool agent bot ai me you q a note notes todo fyi warning caution
    decision question answer summary update example result results error edit tip important reminder
    ps status date time title subject from to re""".split()  # noqa: SIM905 - words, not a list
)


def subject_of(title: str, content: str) -> str | None:
    """Return the slug of what a memory is about, the same as that of the concept; None if unknown.

    That is its title if it names something, else the speaker that its text begins with.
    """
    named = heading_name(title, "title") or _speaker(content)
    return named.slug if named else None


def concept_of_summary(ref: str | None) -> str | None:
    """Return the slug in the `source_ref` of a summary of a concept's memories: `concept:gpu`."""
    word, _, slug = (ref or "").partition(":")
    return slug if word == "concept" else None


def _speaker(content: str) -> Name | None:
    match = _LABEL.match(content)
    if match is None:
        return None
    label = match[1]
    words = label.split()
    is_name = len(words) <= _LONGEST_LABEL_WORDS and all(not word[0].islower() for word in words)
    return declared_name(label) if is_name and label.casefold() not in _NO_SPEAKERS else None
