"""What a person says to be kept: by words that open or close a sentence; pure.

Nobody's prose is summed up. A sentence is kept whole when it says of itself that it holds from now
on, was decided, or is to be remembered. English, Korean and Chinese.
"""

import re
from collections.abc import Iterator
from typing import Final

_SENTENCE_END: Final = re.compile(r"(?<=[.!。！])\s+|\n+")
_QUESTION: Final = re.compile(r"[?？]\s*$")
_BULLET: Final = re.compile(r"^\s{0,20}(?:[-*•]|\d{1,3}[.)])\s+")
_LEAST: Final = 8
_LEAST_CJK: Final = 5
_MOST: Final = 300
# Whoever says more than this pastes.
_MOST_TEXT: Final = 2_000

_KINDS: Final = {
    "decision": re.compile(
        r"^(?:ok(?:ay)?,? |so,? )?(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|settled)\b"
        r"|decision\s?:|let'?s (?:go with|stick with|switch to|settle on)\b"
        r"|we(?:'ll| will) (?:use|go with|stick with)\b)"
        r"|^결정\s?[:：]|기로 (?:했|결정|하자|합시다|해요|합니다)"
        r"|^(?:我们|我)?(?:已经)?决定|^决定[:：]",
        re.IGNORECASE,
    ),
    "preference": re.compile(
        r"^(?:please |and |but |also,? )?(?:always|never|from now on|going forward|don'?t ever"
        r"|do not ever|in (?:the )?future)\b"
        r"|^(?:i|we) (?:(?:strongly |really )?prefer|(?:always|never) want|(?:like|hate) it when)\b"
        r"|^(?:앞으로(?:는)?|항상|절대로?|언제나) |(?:선호해요?|선호합니다)[.!]?$"
        r"|^(?:请)?(?:以后|从现在起|从现在开始|总是|始终|永远不要|绝不|务必)|^我(?:更)?(?:喜欢|偏好)",
        re.IGNORECASE,
    ),
    "fact": re.compile(
        r"^(?:please )?(?:remember(?: that|:)|keep in mind(?: that|:)|for the record[,:]|fyi[,:]? )"
        r"|^(?:기억해|참고로)|기억해 ?(?:줘|주세요|둬)[.!]?$|^(?:请)?记住",
        re.IGNORECASE,
    ),
}


# What an assistant says of a decision counts where it is marked as one.
_MARKED: Final = re.compile(
    r"^\W{0,6}(?:decision|결정|决定)\W{0,3}[:：]\W{0,3}(?=\w)", re.IGNORECASE
)


def marked(text: str) -> Iterator[tuple[str, str]]:
    """Yield the decisions that an assistant marked as such, as kind and line."""
    for line in text.splitlines():
        if len(line) <= _MOST and _MARKED.match(line):
            yield "decision", _BULLET.sub("", line).replace("**", "").strip()


def statements(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a person said to be kept, as kind and sentence."""
    if len(text) > _MOST_TEXT or "```" in text:
        return
    for part in _SENTENCE_END.split(text):
        sentence = _BULLET.sub("", part).strip()
        least = _LEAST if sentence.isascii() else _LEAST_CJK
        if not least <= len(sentence) <= _MOST or _QUESTION.search(sentence):
            continue
        kind = next((kind for kind, cue in _KINDS.items() if cue.search(sentence)), None)
        if kind:
            yield kind, sentence
