"""How much a passage tells: its density, what it decides, and the facts that it holds."""

import re
from collections.abc import Iterator
from typing import Final

from service.consolidate.passages import Passage
from service.ingest.identifiers import identifiers
from service.ingest.names import proper_names
from service.ingest.wide import WIDE
from service.words import fold

# What a passage's length, telling words, names, numbers and being done are worth, as far as it has
# them. As in the listing that this room comes from: a word that says what was decided, broken or
# shipped outweighs length, and length what is merely named. Numbers are new, and the least: a
# table has many.
_LENGTH: Final = 0.3
_TOLD: Final = 0.4
_NAMED: Final = 0.2
_COUNTED: Final = 0.1
_DONE: Final = 0.3
# Of all that, this much is left for a line that only introduces what stands below it.
_INTRODUCING: Final = 0.5
# More tells no more: a longer sentence holds more, but not more for its room.
_MOST_WORDS: Final = 20
_MOST_NAMES: Final = 5
_MOST_NUMBERS: Final = 3

# Two letters of Korean, Chinese or Japanese say about as much as one word of English.
_WORD: Final = re.compile(rf"[{WIDE}]{{1,2}}|[^\W_{WIDE}]+")
# "Use Redis instead of Kafka", but not "used": a decision says what holds from now on.
_DECIDES: Final = re.compile(
    r"\b(?:decid(?:ed|es|ing)|(?<![/`])decisions?(?![./]\w)|chose|chosen|agreed|settled (?:on|for|that)|"
    r"opted|adopt(?:ed|ing)?|rejected|approved|instead of|from now on|no longer uses?|"
    r"(?:will|shall)(?: not| never| now)? (?:use|keep|stay)|won['’]t use|let['’]s use|"
    r"(?:we|i)['’]ll (?:use|keep|stay)|(?:go|goes|going|went) with|standardi[sz]ed? on|"
    r"(?:switch(?:ed|es|ing)?|migrat(?:ed|es|ing))(?: [\w.-]+){0,2}"
    r"(?: from [\w.-]+)? to|replac(?:ed|es|ing) [^.]{1,40} (?:with|by))\b"
    r"|결정|결심|기로 ?(?:했|함|하였|합의)|선택|채택|합의|확정|전환|대신|쓰기로"
    r"|[决決]定|[决決]策|选择|選擇|选定|選定|选用|選用|[采採]用|商定|敲定|改用|换成|換成|切换到|切換到|而不是|不再使用"
    r"|選択|ことにし|ことになっ|切り替え",
    re.IGNORECASE,
)
# What stands under such a heading is decided, whatever its words.
_DECISION_LABELS: Final = frozenset(
    (
        "decision", "decisions", "decided", "decisions made", "agreed", "resolution", "we decided",
        "결정", "결정사항", "결정 사항", "합의", "决定", "決定", "决策", "決策", "決定事項", "决议",
    )
)  # fmt: skip
_NOT_LETTERS: Final = re.compile(r"\([^)]*\)|[\W\d_]+")
_TELLS: Final = re.compile(
    r"\b(?:fix(?:ed|es|ing)?|solv(?:ed|es|ing)|resolv(?:ed|es|ing)|repair(?:ed|s|ing)?|bugs?|errors?|"
    r"exceptions?|fail(?:ed|s|ing|ures?)?|broke(?:n)?|breaks|crash(?:ed|es|ing)?|block(?:ed|s|ing|"
    r"ers?)|outages?|regressions?|root causes?|because|caus(?:ed|es)|timeouts?|timed out|lost|leak"
    r"(?:ed|s|ing)?|ship(?:ped|s|ping)|releas(?:ed|es|ing)|deploy(?:ed|s|ing|ments?)?|merged|"
    r"reverted|rolled back|upgraded|migrated|learn(?:ed|t)|lessons?|discovered|found out|"
    r"turn(?:ed|s) out|important|breakthrough|must|never|always|prefer(?:s|red)?|deadlines?)\b"
    r"|고쳤|고침|수정|해결|오류|에러|버그|실패|장애|중단|원인|배포|출시|릴리스|배웠|깨달|중요|막혔|주의|반드시"
    r"|修[复復正]|解[决決]|[错錯][误誤]|失[败敗]|故障|崩[溃潰]|原因|[发發]布|上[线線]|部署|[学學]到|重要|必[须須]|教[训訓]"
    r"|障害|不具合|エラー|バグ|リリース|デプロイ|直し",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(rf"[^\s{WIDE}]*\d[^\s{WIDE}]*")
_BEFORE: Final = "`'\"()[]{}<>,;:!?*_|“”‘’=~#"
_BEHIND: Final = _BEFORE + ".…"
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_UNIT: Final = re.compile(
    r"(?<=\d)\s(?=(?:%|[kmgt]i?b(?:/s)?|ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|m?w|kwh|"
    r"[kmg]hz|fps|px|[km]?m|kg|°c|tokens?|rows?|files?|users?|eur|usd|[ap]m)(?!\w))",
    re.IGNORECASE,
)
_CODE_SPAN: Final = re.compile(r"`([^`\n]{1,100})`")


def density(passage: Passage) -> float:
    """Return how much a passage tells, 0 to 1.3: the sum of five shares, each up to its weight.

    Length up to 20 words, one telling word (decided, fixed, failed, shipped, and in Korean, Chinese
    and Japanese), up to 5 names and 3 numbers, and being done. Emoji alone are 0; a line that introduces others counts half.
    """
    return density_of(passage, facts(passage))


def density_of(passage: Passage, told: frozenset[str]) -> float:
    """Return the density of a passage whose facts are known: to find them takes longest."""
    text = passage.text
    numbers = sum(fact[:1].isdigit() for fact in told)
    names = len(told) - numbers
    score = _LENGTH * _share(len(_WORD.findall(text)), _MOST_WORDS)
    score += _NAMED * _share(names, _MOST_NAMES) + _COUNTED * _share(numbers, _MOST_NUMBERS)
    if is_decision(passage) or _TELLS.search(text):
        score += _TOLD
    score += _DONE * passage.is_done
    return score * _INTRODUCING if text.endswith((":", "：")) else score


def _share(count: int, most: int) -> float:
    return min(count, most) / most


def is_decision(passage: Passage) -> bool:
    """Say whether a passage tells what was decided, by its words or by what it stands under.

    Code and the bare label itself ("Decisions:") decide nothing.
    """
    if passage.is_code:
        return False
    if _is_decision_label(passage.label):
        return True
    return _DECIDES.search(passage.text) is not None and not _is_decision_label(passage.text)


def _is_decision_label(label: str) -> bool:
    return len(label) <= 60 and _NOT_LETTERS.sub(" ", label).strip().casefold() in _DECISION_LABELS


def facts(passage: Passage) -> frozenset[str]:
    """Return every number with its unit, name, identifier and code span, in one spelling.

    `11.2 GB` is 11.2gb, `1,140` is 1140, `v1.2.3` stays; names are the slugs of their concepts.
    A plain word that only begins a sentence is no name: grammar asks for its capital.
    """
    text = passage.text
    if passage.is_code:
        text = text.split("\n", 1)[-1].rpartition("\n")[0]
        found = {word.casefold() for word in identifiers(text)}
    else:
        found = set(proper_names(text))
        found.update(" ".join(span.casefold().split()) for span in _CODE_SPAN.findall(text))
    return frozenset(found | set(_numbers(text)))


def _numbers(text: str) -> Iterator[str]:
    if any(map(str.isdigit, text)):
        joined = _UNIT.sub("", _THOUSANDS.sub("", fold(text)))
        for chunk in _NUMBERED.findall(joined):
            yield chunk.lstrip(_BEFORE).rstrip(_BEHIND).casefold()
