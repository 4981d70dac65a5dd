"""The density of a passage (its salience), whether it is a decision, and the facts it holds."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from service.consolidate.summary.passages import Passage
from service.consolidate.summary.wording import words_of
from service.names.identifiers import identifiers
from service.names.proper_nouns import proper_names
from service.text.cjk import CJK_LETTERS, starts_with_cjk

# The most that length, cue words, names, numbers and being done add to a density. A cue word, which
# says what was decided, broken or shipped, outweighs length, and length outweighs names. Numbers
# weigh least: a table has many.
_LENGTH_WEIGHT: Final = 0.3
_CUE_WEIGHT: Final = 0.4
_NAMES_WEIGHT: Final = 0.2
_NUMBERS_WEIGHT: Final = 0.1
_DONE_WEIGHT: Final = 0.3
# A line that only introduces what stands below it has this share of its density.
_INTRODUCTION_SHARE: Final = 0.5
# Length beyond 20 words adds no score.
_MOST_WORDS: Final = 20
_MOST_NAMES: Final = 5
_MOST_NUMBERS: Final = 3

# Words are looked up one by one, which takes a fraction of the time of one long pattern.
_DECISION_WORDS: Final = frozenset(
    """adopted agreed approved chose chosen decided decision decisions opted
    rejected""".split()  # noqa: SIM905 - words, not a list
)
# Each phrase of the pattern below holds one of these: a text without any need not be searched.
_PHRASE_WORDS: Final = frozenset(
    """from go goes going i'll i’ll instead let's let’s migrated migrating no replaced replacing
    settle settled shall standardised standardized switched switching we'll we’ll went will won't
    won’t""".split()  # noqa: SIM905
)
_DECISION_PHRASE: Final = re.compile(
    r"\b(?:(?:will|shall|['’]ll)(?: not| never| now)? (?:use|keep|stay)|(?:won['’]t|let['’]s) use|"
    r"settled? (?:on|for|that)|instead of|from now on|no longer uses?|(?:go|goes|going|went) with|"
    r"standardi[sz]ed on|replac(?:ed|ing)(?: [^\s.]+){1,6} (?:with|by)|"
    r"(?:switch|migrat)(?:ed|ing)(?: [\w.-]+){0,4} to)\b",
    re.IGNORECASE,
)
_CJK_DECISION: Final = re.compile(
    r"결정(?![된되하]|할|적|권|체|론)|기로 ?(?:했|함|하였|합의|결정)|대신|합의|확정"
    r"|(?:결정|선택|채택|전환)(?:했|함|하였|됐|되었)"
    r"|[决決][定策]|[选選][择擇定用]|選択|[采採]用|商定|敲定|改用|[换換]成|切[换換]到|而不是|不再使用"
    r"|ことにし|ことになっ|切り替え"
)
# What stands under such a heading is a decision, whatever its words.
_DECISION_LABELS: Final = frozenset(
    (
        "decision",
        "decisions",
        "decided",
        "decisions made",
        "agreed",
        "resolution",
        "we decided",
        "결정",
        "결정사항",
        "결정 사항",
        "합의",
        "决定",
        "決定",
        "决策",
        "決策",
        "決定事項",
        "决议",
    )
)
_LONGEST_LABEL: Final = 60
_NO_LETTERS: Final = re.compile(r"\([^()]*\)|[\W\d_]+")
_CUE_WORDS: Final = frozenset(
    """always because blocked blocker blockers breakthrough broke broken bug bugs cause caused
    causes crash crashed crashes crashing deadline deploy deployed deploying deployment discovered
    error errors exception exceptions fail failed failing fails failure failures fix fixed fixes
    fixing important leak leaked leaks learned learnt lesson lessons lost merged migrated must never
    outage prefer preferred prefers regression release released releases releasing resolved
    reverted rollback shipped shipping solved timeout timeouts upgraded""".split()  # noqa: SIM905
)
_CJK_CUE: Final = re.compile(
    r"고쳤|고침|수정|해결|오류|에러|버그|실패|장애|중단|원인|배포|출시|릴리스|배웠|깨달|중요|막혔|주의|반드시"
    r"|修[复復正]|解[决決]|[错錯][误誤]|失[败敗]|故障|崩[溃潰]|原因|[发發]布|上[线線]|部署|[学學]到|重要|必[须須]|教[训訓]"
    r"|障害|不具合|エラー|バグ|リリース|デプロイ|直し"
)
# A name in English has one of these: a capital inside the text, a mark inside a word, a quotation,
# or a figure beside a letter.
_MAY_NAME: Final = re.compile(
    r"(?<!^)[A-Z]|[\w~.][-_/:~@][\w]|\w\.\w|[`\"~/_]|[a-z]\d|\d[a-z]|[^\x00-\x7f]"
)
_CHUNK: Final = re.compile(rf"[^\s{CJK_LETTERS}]+")
_LEADING_MARKS: Final = "`'\"()[]{}<>,;:!?*_|“”‘’=~#"
_TRAILING_MARKS: Final = _LEADING_MARKS + ".…"
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_UNIT: Final = re.compile(
    r"(?<=\d)\s(?=(?:%|[kmgt]i?b(?:/s)?|ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|m?w|"
    r"kwh|[kmg]hz|fps|px|[km]?m|kg|°c|tokens?|rows?|files?|users?|eur|usd|[ap]m)(?!\w))",
    re.IGNORECASE,
)
# "11.2GB" is a number; the part behind its point is no name.
_DECIMAL: Final = re.compile(r"(?<![\w.-])(\d+\.\d+)(?=[A-Za-z])")
_DIGIT: Final = re.compile(r"\d")
_CODE_SPAN: Final = re.compile(r"`([^`\n]{1,100})`")


def density(passage: Passage) -> float:
    """Return how much a passage tells, 0 to 1.3: the sum of five scores, each up to its weight.

    Length up to 20 words, one cue word (decided, fixed, failed, shipped, and in Korean, Chinese and
    Japanese), up to 5 names and 3 numbers, and being done. Emoji alone are next to nothing; a line
    that introduces others counts half.
    """
    words = words_of(passage)
    is_decision = is_decision_of(passage, words)
    return density_of(passage, words, facts(passage), is_decision=is_decision)


def density_of(
    passage: Passage, words: Sequence[str], facts: frozenset[str], *, is_decision: bool
) -> float:
    """Return the density where words and facts are known, for finding them takes longest."""
    numbers = sum(fact[0].isdigit() for fact in facts)
    score = _LENGTH_WEIGHT * _share(_length(passage, words), _MOST_WORDS)
    score += _NAMES_WEIGHT * _share(len(facts) - numbers, _MOST_NAMES)
    score += _NUMBERS_WEIGHT * _share(numbers, _MOST_NUMBERS)
    if is_decision or _has_cue(passage, words):
        score += _CUE_WEIGHT
    score += _DONE_WEIGHT * passage.is_done
    return score * _INTRODUCTION_SHARE if passage.text.endswith((":", "：")) else score


def _share(count: float, most: int) -> float:
    return min(count, most) / most


def _length(passage: Passage, words: Sequence[str]) -> float:
    """Count the words; a pair of CJK letters is half a word, as pairs overlap by a letter."""
    if passage.is_code:
        return len(passage.text.split())
    if passage.text.isascii():
        return len(words)
    return sum(0.5 if starts_with_cjk(word) else word.isalnum() or len(word) > 2 for word in words)


def _has_cue(passage: Passage, words: Sequence[str]) -> bool:
    if passage.is_code:
        words = passage.text.lower().replace(":", " ").split()
    return not _CUE_WORDS.isdisjoint(words) or (
        not passage.text.isascii() and _CJK_CUE.search(passage.text) is not None
    )


def is_decision(passage: Passage) -> bool:
    """Say whether a passage is a decision, by its words or by what it stands under.

    Code is none, nor is the bare label itself ("Decisions:").
    """
    return is_decision_of(passage, words_of(passage))


def is_decision_of(passage: Passage, words: Sequence[str]) -> bool:
    """Say whether a passage whose words are known is a decision."""
    if passage.is_code or _is_decision_label(passage.text):
        return False
    text = passage.text
    return (
        _is_decision_label(passage.label)
        or not _DECISION_WORDS.isdisjoint(words)
        or (not _PHRASE_WORDS.isdisjoint(words) and _DECISION_PHRASE.search(text) is not None)
        or (not text.isascii() and _CJK_DECISION.search(text) is not None)
    )


def _is_decision_label(label: str) -> bool:
    if not label or len(label) > _LONGEST_LABEL:
        return False
    return _NO_LETTERS.sub(" ", label).strip().casefold() in _DECISION_LABELS


def facts(passage: Passage) -> frozenset[str]:
    """Return every number with its unit, name, identifier and code span, in one spelling.

    `11.2 GB` is 11.2gb, `1,140` is 1140, `v1.2.3` stays; names are the slugs of their concepts.
    A plain word that only begins a sentence is no name: grammar asks for its capital.
    """
    text = passage.text
    known: set[str] = set()
    if passage.is_code:
        text = text.split("\n", 1)[-1].rpartition("\n")[0]
        known.update(word.casefold() for word in identifiers(text))
    elif _MAY_NAME.search(text):
        known.update(proper_names(_DECIMAL.sub(r"\1 ", text)))
        known.update(" ".join(span.casefold().split()) for span in _CODE_SPAN.findall(text))
    if _DIGIT.search(text):
        known.update(_numbers(text))
    known.discard("")
    return frozenset(known)


def _numbers(text: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", text)
    joined = _UNIT.sub("", _THOUSANDS.sub("", folded))
    for chunk in filter(_DIGIT.search, _CHUNK.findall(joined)):
        yield chunk.lstrip(_LEADING_MARKS).rstrip(_TRAILING_MARKS).casefold()
