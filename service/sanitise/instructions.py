"""Scoring what a text wants of its reader; advice of a second line, not a proof."""

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass
from math import prod
from typing import Final

from service.sanitise.folding import spellings
from service.sanitise.instruction_cues import STEMS, lacks_any, rules_met
from service.sanitise.instruction_patterns import CHINESE, DISCUSSED, ENGLISH, KOREAN, Pattern
from service.sanitise.word_finder import WordFinder

# From here on a policy acts.
LEAST_SCORE: Final = 0.5
# A text about attacks quotes them: what stands in quotes, near a word that says so, counts less.
_QUOTED_SHARE: Final = 0.4
_AROUND: Final = 160
_QUOTES: Final = "\"'`\u201c\u201d\u2018\u2019\u300c\u300d\u300e\u300f\u00ab\u00bb\u3010"
_HANGUL: Final = re.compile("[가-힣]")
_HAN: Final = re.compile("[\u4e00-\u9fff]")
# What English patterns and cues need, all of it looked for at once.
_WORDS: Final = WordFinder(
    word
    for group in (*(words for one in ENGLISH for words in one.words), *STEMS.values())
    for word in group
)
# A dot amid letters ends none: `mail@example.com`.
_SENTENCE: Final = re.compile(
    r"(?:[^.!?\u3002\uff01\uff1f\n]|[.!?](?=[^\W_])){0,2000}[.!?\u3002\uff01\uff1f\n]?"
)


@dataclass(frozen=True, slots=True)
class Score:
    """How much a text reads like orders, from 0 to 1, and the names of what it does."""

    score: float = 0.0
    patterns: tuple[str, ...] = ()

    @property
    def is_high(self) -> bool:
        """Say whether a policy acts."""
        return self.score >= LEAST_SCORE


def score_instructions(text: str) -> Score:
    """Score a text by the patterns of this version; the same text has the same score."""
    weights: dict[str, float] = {}
    for number, spelling in enumerate(spellings(text)):
        for name, weight in _found(spelling, is_hidden=number > 0):
            weights[name] = max(weights.get(name, 0.0), weight)
    score = 1 - prod(1 - weight for weight in weights.values())
    return Score(round(score, 3), tuple(sorted(weights)))


def without_instructions(text: str) -> str:
    """Leave out the sentences that score by themselves; line ends stay where they are.

    What no sentence says alone, but the text as a whole, goes with all of the text.
    """
    kept = "".join(
        "\n" * part.count("\n") if score_instructions(part).is_high else part
        for part in _SENTENCE.findall(text)
    )
    return "\n" * text.count("\n") if score_instructions(kept).is_high else kept


def _found(text: str, *, is_hidden: bool) -> Iterable[tuple[str, float]]:
    present = _WORDS.words_in(text)
    for pattern in _asked(text, present):
        match = pattern.expression.compiled.search(text)
        if match:
            is_told = not is_hidden and _is_quoted(text, match)
            yield pattern.name, pattern.weight * (_QUOTED_SHARE if is_told else 1)
    for language in _languages(text):
        for rule, start, end in rules_met(text, language, present):
            around = text[max(0, start - _AROUND) : end + _AROUND]
            is_told = not is_hidden and _is_quoted_within(text[start:end], around)
            yield rule.name, rule.weight * (_QUOTED_SHARE if is_told else 1)


def _languages(text: str) -> Iterable[str]:
    yield "english"
    if not text.isascii():
        yield from ["korean"] if _HANGUL.search(text) else []
        yield from ["chinese"] if _HAN.search(text) else []


def _is_quoted_within(sentence: str, around: str) -> bool:
    """Say whether a sentence quotes something, and the text around is about such things."""
    return any(one in sentence for one in _QUOTES) and DISCUSSED.search(around) is not None


def _asked(text: str, present: Set[str]) -> Iterable[Pattern]:
    """Yield the patterns whose words are present: words cost a hundredth of patterns."""
    for pattern in ENGLISH:
        if not lacks_any(present, pattern.words):
            yield pattern
    if not text.isascii():
        yield from KOREAN if _HANGUL.search(text) else ()
        yield from CHINESE if _HAN.search(text) else ()


def _is_quoted(text: str, match: re.Match[str]) -> bool:
    """Say whether a match stands in quotes, or in code, of a text about such things."""
    before = text[max(0, match.start() - _AROUND) : match.start()]
    after = text[match.end() : match.end() + _AROUND]
    marks = any(one in before for one in _QUOTES) and any(
        one in after + match[0][-1:] for one in _QUOTES
    )
    return marks and DISCUSSED.search(before + after) is not None
