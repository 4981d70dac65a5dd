"""Sentences of developers' notes: repairs where the splitter cuts wrongly or misses an end."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from service.text.cjk import has_cjk
from service.text.sentences import find_sentence_starts

# A text without any match is one sentence, and the splitter, which is slow, need not be asked.
_MAY_END: Final = re.compile(r"[.!?][^\w\s.!?]*\s+\S|[^\x00-\x7f]")
# No sentence ends inside an address of the web or a code span.
_SHIELD: Final = re.compile(r"https?://[!-~]*[^\W_]/?|`[^`\n]*`")
# Missed ends: the splitter reads the "md." of "README.md. Then" as the abbreviation of a title.
_AFTER_FILE: Final = re.compile(r"\w\w\.[a-z]\w{0,4}\.\s+(?=[A-Z])")
# Words and units of notes that the splitter takes for abbreviations of what follows (Oklahoma,
# number, Idaho, Maine) wherever no word like "Then" or "We" does.
_AFTER_WORD: Final = re.compile(
    r"(?:^|[\s(*_])(?i:etc|hr|id|may|me|min|no|ok|pg|sec)\.\s+(?=[A-Z][a-z])"
)
_MISSED: Final = (_AFTER_FILE, _AFTER_WORD)
# Marks that close behind a full stop: **Decision.** and "Stop."
_CLOSING: Final = re.compile(r"[*_~\"'”’)\]]+(?=\s|$)")
# After the first of these no sentence ever ends; after the second none does if a small letter or a
# figure follows.
_UNFINISHED: Final = re.compile(r"(?:^|[\s(*_])(?:approx|cf|excl|incl|vs)\.\s+$", re.IGNORECASE)
_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s(*_])(?:a\.m|avg|ca|ch|dept|eqs?|est|etc|ext|figs?|hrs?|max|mins?|misc|nos?|nr|p\.m|"
    r"pp?|para|refs?|resp|secs?|tel|temp|vers?|vol)\.\s+$",
    re.IGNORECASE,
)
_SMALL: Final = re.compile(r"[a-z0-9<>=~$€(]")
# The number of a point ("1. ") and a bold label ("**Because.**") belong to what follows.
_FRONT: Final = re.compile(r"\s*(?:\d{1,3}\.|(?:\*\*|__)[^*_]{1,40}[.:](?:\*\*|__))\s*")
# As far back as an abbreviation, a number or a label reaches.
_REACH: Final = 64


def whole_sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph; put together they are the text.

    None ends inside an address, a code span, a version or a file name, nor behind an
    abbreviation, the number of a point or a bold label.
    """
    if not _MAY_END.search(text):
        return [text]
    return [text[start:end] for start, end in pairwise([0, *_borders(text), len(text)])]


def _borders(text: str) -> Iterator[int]:
    missed = {found.end() for ended in _MISSED for found in ended.finditer(text)}
    shields = _SHIELD.finditer(text)
    shield = next(shields, None)
    last = 0
    for start in sorted(missed.union(find_sentence_starts(text)[1:])):
        while shield is not None and shield.end() <= start:
            shield = next(shields, None)
        if shield is not None and shield.start() < start:
            continue
        closing = None if text[start - 1].isspace() else _CLOSING.match(text, start)
        border = closing.end() if closing else start
        if last < border < len(text) and (start in missed or _is_border(text, last, border)):
            yield border
            last = border


def _is_border(text: str, last: int, border: int) -> bool:
    before, behind = text[max(last, border - _REACH) : border], text[border]
    if not (before[-1].isspace() or behind.isspace()):
        # "서버를 재시작했다.메모리", "的。我": no blank is written there; ".NET" is one word.
        return has_cjk(before[-2:-1]) or has_cjk(behind) or not before[-1].isascii()
    if _UNFINISHED.search(before) or (_ABBREVIATED.search(before) and _SMALL.match(behind)):
        return False
    return border - last > _REACH or not _FRONT.fullmatch(before)
