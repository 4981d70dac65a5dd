"""Whether words around "before" and "after" tell of an event or of an order of steps; pure.

"What did we use before the migration?" is about a time. "Steps before a release" and "run it after
login" are rules that hold whenever it happens again: nothing of them is older or newer.
"""

import re
from typing import Final

_PRETERITE: Final = (
    r"(?:[a-z]+[^\We]ed|went|said|told|made|took|left|got|came|became|chose|wrote|broke|built|found"
    r"|met|kept|lost|saw|began|brought|bought|sold|sent|spoke|thought|ran|grew|quit|died)"
)
_PAST: Final = re.compile(
    r"\b(?:did|was|were|had|used to"
    rf"|(?:who|what|which|that|we|i|they|he|she|it|you)\s+(?:[a-z]+ly\s+)?{_PRETERITE})\b"
    r"|了|(?<![通不经經超])[过過](?!程)|曾|当时|當時|原来|原來|原本",
    re.IGNORECASE,
)
# What must be done each time, by anyone. "Has to" and "need" are of today, "had to" is of then.
_RULE: Final = re.compile(
    r"\b(?:how to|(?:what|when|where|which|things|steps?|something) to|should|shall|must"
    r"|can|cannot|ha(?:s|ve) to|needs?|needed|do (?:i|we|you|they)|does (?:it|one|the)"
    r"|please|always|never|every|each|gets?|becomes?)\b"
    r"|야\s?(?:해|하|돼|되|할|합)|려면|[할될](?:까|지|\s)|[하되][나는]"
    r"|应该|應該|应当|必须|必須|(?<![主重])要|怎么|怎麼|怎样|如何|可以",
    re.IGNORECASE,
)  # fmt: skip
_ONE_EVENT: Final = re.compile(
    r"(?:the(?!\s+(?:first|next|last|same|other)\b)|our|my|your|his|her|their|its|this|that)\s"
    rf"|[^\W\d_]+(?:\s[^\W\d_]+){{0,3}}\s{_PRETERITE}\b",
    re.IGNORECASE,
)
_HANGUL_BEGINS, _HANGUL_ENDS, _FINALS = 0xAC00, 0xD7A3, 28
# Final ㅆ (Unicode 16, 3.12): 했, 썼, 었. "있" is there today, and "겠" is to come.
_SSANG_SIOS: Final = 20
_NOT_PAST: Final = frozenset("있겠")


def tells_an_event(text: str, words: str) -> bool:
    """Return whether a text is asked from an event that happened; `words` is what names it.

    A text in the past tense is. Without one, its event must be a particular one ("the launch",
    "my move") and nothing may say that it is a rule ("should", "how to").
    """
    if _PAST.search(text.replace(words, " ")) or _has_korean_past(text):
        return True
    if _RULE.search(text):
        return False
    return not words.isascii() or _ONE_EVENT.match(words) is not None


def _has_korean_past(text: str) -> bool:
    return any(
        _HANGUL_BEGINS <= ord(letter) <= _HANGUL_ENDS
        and (ord(letter) - _HANGUL_BEGINS) % _FINALS == _SSANG_SIOS
        and letter not in _NOT_PAST
        for letter in text
    )
