"""The event that a question is asked from: "before the migration", 迁移之前; pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from service.search.times.tense import tells_an_event
from service.search.times.time_words import find_time_words

_LONGEST_CHARACTERS: Final = 80
# Where the words stand does not depend on the day.
_ANY_DAY: Final = date(2000, 6, 15)


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event with a time of its own: the words to look it up by, and which side of it is meant.

    `since` an event is after it, `until` it before.
    """

    relation: Literal["before", "after"]
    words: str


_SIDES: Final[dict[str, Literal["before", "after"]]] = {
    "before": "before", "prior to": "before", "until": "before", "till": "before",
    "after": "after", "since": "after",
    "이전에": "before", "이전": "before", "전에": "before", "이후에": "after", "이후로": "after",
    "이후": "after", "후에": "after", "후로": "after", "뒤에": "after", "다음에": "after",
    "之前": "before", "以前": "before", "之后": "after", "以后": "after", "以来": "after",
    "之後": "after", "以後": "after", "以來": "after",
}  # fmt: skip
_ENGLISH: Final = re.compile(
    r"(?<![\w-])(?P<side>before|prior to|until|till|after|since)\s+"
    r"(?P<words>.+?)(?=$|[,;:?!()]|\.(?:\s|$)|\s[-–—]\s"
    r"|\s(?:what|which|who|when|where|why|how|did we|did i|did you|do we|before|after)\b)",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
_KOREAN: Final = re.compile(
    r"(?P<words>[^\s,.?!]{1,30}(?:\s[^\s,.?!]{1,30}){0,3}?)\s+"
    r"(?P<side>이전(?!\s*[전후뒤])에?|전에|이후[에로]?|후[에로]|뒤에|다음에)(?=[\s,.?!는도]|$)"
)
# Looking for the words first takes milliseconds in a long text that names no side.
_KOREAN_SIDE: Final = re.compile("이전|전에|이후|후[에로]|뒤에|다음에")
_CHINESE: Final = re.compile(
    r"(?:^|[，。？！、,.?!\s])(?:[^，。？！、,.?!\s]{0,40}(?:在|自从|自從|自|从))?"
    r"(?P<words>[^，。？！、,.?!\s]{2,40}?)(?P<side>之前|以前|之后|以后|以来|之後|以後|以來)(?!的)"
)
# "Named after", "look after": no time is meant.
_VERB: Final = re.compile(
    r"\b(?:nam(?:e|ed|ing)|call(?:ed)?|look(?:s|ed|ing)?|tak(?:e|es|ing)|took|go(?:es|ing)?|went"
    r"|ask(?:s|ed|ing)?|r[au]n(?:s|ning)?|model+ed|sought|clean(?:s|ed|ing)?|inquir(?:e|ed)"
    r"|chas(?:e|ed|ing)|ever|even|year|day|week|month|time)\s+$", re.IGNORECASE
)  # fmt: skip
_LEADING: Final = re.compile(
    r"^"
    r"(?:the|an?|our|my|your|his|her|their|its|this|that)\s+",
    re.IGNORECASE,
)
_NOTHING: Final = frozenset(
    """that this it them him her me us you then when now all long too which what whom each every
    one another some many last lunch bed 그 이 그런 얼마 오래 조금 잠시 아주 这 那 此 很久 不久 多久
    如此 好久 从此 這""".split()  # noqa: SIM905 - words, not a list
)
# "Since it is slow" gives a reason.
_REASON: Final = re.compile(
    r"\b(?:is|are|am|can|cannot|will|should|must|may|might|needs?|wants?|has to|have to"
    r"|do(?:es)? not)\b|['’](?:s|re|m|t)\b", re.IGNORECASE
)  # fmt: skip
# "After which event" asks for the event itself.
_ASKED: Final = re.compile("什么|什麼|多少|哪|무엇|어떤|언제")
_QUANTITY: Final = re.compile(
    r"[\d.,]+\s?(?:[a-z]+)?$|[\d.,]+\s+[a-z]+\b|[\d一-十两几数]+[个個]?[天周月年日]"
)


def find_anchor(text: str) -> Anchor | None:
    """Return the first event that a text is asked from; None where it names plain times at most."""
    matches = [*_matches(text)]
    times = find_time_words(text, _ANY_DAY) if matches else []
    for match in matches:
        begin, end = match.span("words")
        if any(words.begin < end and begin < words.end for words in times):
            continue
        said = match["side"].lower()
        side, words = _SIDES.get(said), _told(match["words"])
        if side and words and _is_an_event(said, text, match["words"]):
            return Anchor(side, words)
    return None


def _is_an_event(side: str, text: str, words: str) -> bool:
    """Return whether a text is asked from something that happened; "since" tells no rules."""
    return not _REASON.search(words) if side == "since" else tells_an_event(text, words)


def _matches(text: str) -> Iterator[re.Match[str]]:
    yield from (m for m in _ENGLISH.finditer(text) if not _VERB.search(text, 0, m.start()))
    if not text.isascii():
        yield from _KOREAN.finditer(text) if _KOREAN_SIDE.search(text) else ()
        yield from _CHINESE.finditer(text)


def _told(words: str) -> str:
    """Return the words without what leads to them; empty where they name no event."""
    bare = _LEADING.sub("", " ".join(words.split()), count=1)
    is_event = not (bare.lower() in _NOTHING or _QUANTITY.match(bare) or _ASKED.search(bare))
    return bare if is_event and 2 <= len(bare) <= _LONGEST_CHARACTERS else ""
