"""Korean, Chinese and Japanese words: what stands around a name where no blank does.

Korean writes particles onto the word before them (서울에서), Chinese and Japanese write no blanks
at all (東京の). So names are found at the beginning of a Korean word with particles behind it,
and anywhere in a run of Han and Kana.
"""

import re
from functools import lru_cache
from typing import Final

# Letters alone: the dot of ジョン・スミス parts words.
WIDE: Final = "\u3005\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WIDE_LETTER: Final = re.compile(f"[{WIDE}]")
_SHORTEST: Final = 2
# The case and topic particles and the forms of the copula, as grammars of Korean list them, the
# plural 들, and the forms of address 씨 and 님. Those that are more often a part of the word before
# (나, 고, 인, 란) are left out.
_PARTICLES: Final = re.compile(
    "(?:"
    "에게서|한테서|으로서|으로써|이라고|이라는|이라도|입니다|이에요|이었다|"
    "에서|에게|한테|께서|으로|로서|로써|이랑|하고|까지|부터|마저|조차|밖에|처럼|보다|마다|라고|"
    "라는|라도|이나|이다|이고|이며|예요|였다|"
    "은|는|이|가|을|를|의|에|께|로|와|과|랑|도|만|씨|님|들"
    "){1,3}"
)
_LONGEST_PARTICLES: Final = 8


def is_wide(text: str) -> bool:
    """Say whether the text holds Korean, Chinese or Japanese: one or two letters are a name."""
    return not text.isascii() and _WIDE_LETTER.search(text) is not None


def is_hangul(letter: str) -> bool:
    """Say whether a letter is Korean."""
    return "\uac00" <= letter <= "\ud7a3"


@lru_cache(maxsize=65_536)
def stems(word: str) -> tuple[str, ...]:
    """Return what a Korean word may be without its particles, the longest first.

    At least two letters stay: 서울에서는 gives 서울에서 and 서울, 가는 gives nothing.
    """
    if not is_hangul(word[-1]):
        return ()
    first = max(_SHORTEST, len(word) - _LONGEST_PARTICLES)
    cuts = range(len(word) - 1, first - 1, -1)
    return tuple(word[:cut] for cut in cuts if _PARTICLES.fullmatch(word, cut))


def may_part(run: str, at: int) -> bool:
    """Say whether a name may begin or end at this place of a run of Han and Kana.

    A word in Katakana is never cut: パン does not stand in ジャパン.
    """
    return not 0 < at < len(run) or not (_is_katakana(run[at - 1]) and _is_katakana(run[at]))


def _is_katakana(letter: str) -> bool:
    return "\u30a1" <= letter <= "\u30ff"
