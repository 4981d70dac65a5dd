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
from service.observe.lasting import Cues
from service.text.cjk import languages_of
from service.text.fences import outside_fences

_CUES: Final = {"Korean": KOREAN, "Chinese": CHINESE}
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

# What people tell others to do or not: "Always here to help" and "Never saw it" say no rule.
_DO: Final = (
    r"(?:accept|add|allow|answer|ask|assume|avoid|block|build|bump|cache|call|change|check|cite"
    r"|commit|confirm|connect|copy|create|define|delete|deploy|describe|disable|document|download"
    r"|drop|edit|enable|ensure|escape|explain|expose|fetch|follow|force|format|generate|handle"
    r"|hardcode|ignore|import|include|install|keep|leave|lint|list|load|log|lower|make|mark|mention"
    r"|merge|mock|modify|move|name|notify|open|pass|pin|post|prefer|print|propose|publish|push|put"
    r"|query|quote|raise|read|rebase|refactor|reject|remove|rename|reorder|reply|report|require"
    r"|respond|retry|return|reuse|review|rewrite|run|save|send|set|share|show|sign|skip|sort|speak"
    r"|squash|start|stop|store|suggest|summari[sz]e|switch|tell|test|throw|touch|translate|truncate"
    r"|trust|turn|update|upgrade|upload|use|validate|verify|wrap|write)\b"
)
# Endings by which Korean asks for something, or says that it must be.
_ASKED: Final = (
    r"(?:세요|십시오|시오|줘요?|줄래|하자|합시다|할 것|말 것|말자|지 ?마라?|해라|해둬|해 둬|써|써요"
    r"|바랍니다|부탁해요?|부탁드립니다|해야 ?(?:한다|합니다|해요?|함)|않는다|않습니다|않기|금지)"
)
# What a sentence says of itself, whatever else it tells.
_KINDS: Final = {
    "decision": re.compile(
        r"^(?:ok(?:ay)?,? |so,? |then,? |and )?"
        r"(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|settled) (?:to|on|that|against|for|not)\b"
        r"|(?:final )?decision\s?:|let'?s (?:go with|stick with|switch to|settle on|use)\b"
        r"(?!.{0,40}\b(?:example|lunch|for (?:this|now)|(?:smoke )?test)\b)"
        r"|(?:we|i)(?:'ll| will| are going to|'re going to) (?:use|go with|stick with)\b"
        r"(?!.{0,30}\bexample))"
        r"|^결정\s?[:：]|기로 (?:했(?:다|습니다|어요?|음)|결정(?:했다|했습니다|했어요?|함)|하자"
        r"|합시다|해요|합니다)[.!]?$|^(?:我们|我)?(?:已经)?决定(?!了)|^决定[:：]",
        re.IGNORECASE,
    ),
    "preference": re.compile(
        rf"^(?:(?:please|and|but|also|so|no|ok(?:ay)?),? )?(?:(?:always|never) {_DO}"
        rf"|(?:don'?t|do not) ever {_DO}|(?:stop|quit) (?:using|adding|writing|creating|doing)\b"
        rf"|make sure (?:to|you|that you) (?:always|never) {_DO}"
        rf"|from now on\b|going forward,|in (?:the )?future,? (?:please\b|always\b|never\b|{_DO}))"
        rf"|\b(?:you|we|they|it) (?:should|must|shall) (?:always|never) {_DO}"
        r"|^(?:i|we) (?:(?:strongly |really )?prefer(?! (?:this|that|the [a-z]{4,6}(?:d|st|er))\b)"
        r"|(?:always|never) want you to|(?:like|hate|love) it when you)\b"
        r"|^(?:i'd|i would) (?:rather you|prefer)\b"
        rf"|^(?:앞으로(?:는)?|항상|절대로?|언제나) .{{0,200}}{_ASKED}[.!]?$"
        r"|(?:선호해요?|선호합니다)[.!]?$"
        r"|^(?:请)?(?:以后(?!再)|从现在起|从现在开始|总是|始终|永远不要|绝不|务必)|^我(?:更)?(?:喜欢|偏好)",
        re.IGNORECASE,
    ),
    "fact": re.compile(
        r"^(?:please |and )?(?:remember(?: that\b(?!,)|:"
        r"|,? (?:i|we) (?:prefer|like|hate|want|use|always|never|don'?t|do not)\b"
        r"|(?: that)?,? (?:my|our) .{1,80} (?:is|are)\b)|keep in mind(?: that|:)"
        r"|(?:add|save|write) (?:(?:this|that|it) )?to (?:your |my )?memory:"
        r"|(?:don'?t|do not) forget that|for the record[,:]|fyi[,:]? )"
        r"|^(?:기억해 ?(?:줘|주세요|둬|두세요)|참고로)|기억해 ?(?:줘|주세요|둬|두세요)[.!]?$"
        r"|^(?:请)?记住",
        re.IGNORECASE,
    ),
}


# What an assistant says of a decision counts where it is marked as one.
_MARKED: Final = re.compile(
    r"^\W{0,6}(?:decision|결정|决定)\W{0,3}[:：]\W{0,3}(?=\w)", re.IGNORECASE
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
        kind = next((kind for kind, cue in _KINDS.items() if cue.search(sentence)), None)
        if kind:
            yield Statement(kind, sentence)
        elif is_short and (kind := _cues_for(sentence).kind_of(sentence)):
            yield Statement(kind, sentence, in_passing=True)


def _cues_for(sentence: str) -> Cues:
    """Return the cues of a sentence's language, or those of English."""
    found = languages_of(sentence)
    return next((cues for language, cues in _CUES.items() if language in found), ENGLISH)
