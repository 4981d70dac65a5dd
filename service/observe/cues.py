"""What a person says to be kept: by words that a sentence is made of; pure.

Nobody's prose is summed up. A sentence is kept whole when it says of itself that it holds from now
on, was decided, or is to be remembered, and when its cues add up to that. English, Korean, Chinese.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from service.observe.chinese_cues import CHINESE
from service.observe.english_cues import ENGLISH
from service.observe.korean_cues import KOREAN
from service.observe.lasting import STATEMENT_KINDS, Cues
from service.text.cjk import languages_of
from service.text.fences import outside_fences

_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])(?<!\b[A-Z]\.)(?<!i\.e\.)(?<!e\.g\.)\s+|\n+")
# A line that goes on in the next one, as editors break them.
_BROKEN: Final = re.compile(r"(?<=[\w,`)'\"])\n(?=[a-z`(])")
# A question, or what only leads to what follows.
_NO_STATEMENT: Final = re.compile(r"[?？:：,]\s*$")
_BULLET: Final = re.compile(r"^\s{0,20}(?:[-*•]|\d{1,3}[.)])\s+")
# A line that breaks off in its middle, where code or a list follows.
_CUT: Final = re.compile(
    r"\b(?:a|an|the|and|or|to|of|for|with|in|on|at|by|from|as|use|using|is|are|be|that|prefer)$",
    re.IGNORECASE,
)
_LEAST: Final = 8
_LEAST_CJK: Final = 5
_MOST: Final = 300
# Whoever says more than this pastes.
_MOST_TEXT: Final = 2_000
# In passing people say little; what is longer may be a page or a mail, whose facts are somebody's.
_MOST_IN_PASSING: Final = 600
_QUOTED_LINE: Final = re.compile(r"^\s{0,3}>.*$", re.MULTILINE)

_LANGUAGES: Final = (ENGLISH, KOREAN, CHINESE)
# What an assistant says of a decision counts where it is marked as one.
_MARKED: Final = re.compile(
    rf"^\W{{0,6}}(?:{'|'.join(cues.mark for cues in _LANGUAGES)})\W{{0,3}}[:：]\W{{0,3}}(?=\w)",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """A sentence that is to be kept; `in_passing` where its cues tell that, and not it itself."""

    kind: str
    text: str
    in_passing: bool = False


def marked(text: str) -> Iterator[Statement]:
    """Yield the decisions that an assistant marked as such, a line each."""
    for line in text.splitlines():
        if len(line) <= _MOST and _MARKED.match(line):
            yield Statement("decision", _BULLET.sub("", line).replace("**", "").strip())


def statements(text: str) -> Iterator[Statement]:
    """Yield what a person said to be kept."""
    text = outside_fences(text)
    if len(text) > _MOST_TEXT:
        return
    text, is_short = _QUOTED_LINE.sub("", text), len(text) <= _MOST_IN_PASSING
    for part in _SENTENCE_END.split(_BROKEN.sub(" ", text)):
        sentence = _BULLET.sub("", part).strip()
        least = _LEAST if sentence.isascii() else _LEAST_CJK
        if (
            not least <= len(sentence) <= _MOST
            or _NO_STATEMENT.search(sentence)
            or _CUT.search(sentence)
        ):
            continue
        # Phones and Macs write "don’t"; the cues say "don't".
        plain = sentence.replace("\u2019", "'")
        if kind := _said_kind(plain):
            yield Statement(kind, sentence)
        elif is_short and (kind := _cues_for(plain).kind_of(plain)):
            yield Statement(kind, sentence, in_passing=True)


def _cues_for(sentence: str) -> Cues:
    """Return the cues of a sentence's language, or those of English."""
    found = languages_of(sentence)
    return next((cues for cues in _LANGUAGES if cues.language in found), ENGLISH)


def _said_kind(sentence: str) -> str | None:
    """Return the kind that a sentence says it is of, in whatever language."""
    languages = (ENGLISH,) if sentence.isascii() else _LANGUAGES
    for kind in STATEMENT_KINDS:
        if any(cues.said[kind].compiled.search(sentence) for cues in languages):
            return kind
    return None
