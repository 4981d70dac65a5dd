"""Korean, Chinese and Japanese: ranges of letters, and where words and names end without blanks.

Korean writes particles onto the word before them (서울에서), Chinese and Japanese write no blanks
at all (東京の). So names are found at the beginning of a Korean word with particles behind it,
and anywhere in a run of Han and Kana.

The ranges go between the brackets of a regular expression. Three of them say "CJK", each for a
purpose of its own. They must stay as they are: words, slugs and the borders of sections in
existing stores were made with them.
"""

import re
import unicodedata
from typing import Final

from service.caching import cached_by_word

# With the mark that repeats a letter: 佐々木.
HAN: Final = "\u3005\u3400-\u9fff"
HIRAGANA: Final = "\u3041-\u3096\u309d-\u309f"
# With the mark that lengthens a vowel, as in サーバー; what names are written with.
KATAKANA: Final = "\u30a1-\u30fa\u30fc"
HANGUL: Final = "\uac00-\ud7a3"
# What names and concepts are made of. Letters alone: the dot of ジョン・スミス parts words.
CJK_LETTERS: Final = f"{HAN}{HIRAGANA}{KATAKANA}\u30fd-\u30ff{HANGUL}"
# What the index of words cuts into pairs: whole blocks, with that dot, and compatibility forms.
CJK_INDEXED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
# What costs a model about one token each: also jamo, radicals, punctuation, full-width forms and
# the Han letters beyond the 16-bit range.
CJK_TOKENS: Final = (
    "\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U00020000-\U0003ffff"
)
_CJK_LETTER: Final = re.compile(f"[{CJK_LETTERS}]")
# From the first Hiragana to the last Hangul, the few other scripts between them included: enough
# for a share or a budget, which count.
_CJK_SPAN: Final = re.compile("[\u3040-\ud7af]")
_HANGUL_LETTER: Final = re.compile(f"[{HANGUL}]")
# Here with the middle dot, which stands within a name.
_KATAKANA_LETTER: Final = re.compile("[\u30a1-\u30ff]")
_FEWEST_LETTERS: Final = 2
# A fifth of the letters makes a text one of a language: notes are full of names and code in ASCII.
_LEAST_SHARE: Final = 0.2
_BY_SCRIPT: Final = tuple(
    re.compile(f"[{letters}]") for letters in (HANGUL, HIRAGANA + KATAKANA, HAN)
)
_LETTER: Final = re.compile(r"[^\W\d_]")
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


def has_cjk(text: str) -> bool:
    """Say whether the text holds Korean, Chinese or Japanese: one or two letters are a name."""
    return not text.isascii() and _CJK_LETTER.search(text) is not None


def starts_with_cjk(text: str) -> bool:
    """Say whether the first letter is Korean, Chinese or Japanese."""
    return not text.isascii() and _CJK_LETTER.match(text) is not None


def count_cjk(text: str) -> int:
    """Count the letters of these scripts, for an estimate."""
    return 0 if text.isascii() else len(_CJK_SPAN.findall(text))


def languages_of(text: str) -> set[str]:
    """Return which of Korean, Chinese and Japanese a text is written in, by the share of letters.

    Japanese is known by its Kana, which stand between Han in every sentence; Han is else Chinese.
    """
    if text.isascii():
        return set()
    hangul, kana, han = (len(letter.findall(text)) for letter in _BY_SCRIPT)
    least = _LEAST_SHARE * len(_LETTER.findall(text))
    is_japanese = kana >= _LEAST_SHARE * han
    letters = {"Korean": hangul}
    letters["Japanese" if is_japanese else "Chinese"] = han + kana
    return {language for language, count in letters.items() if count and count >= least}


def is_hangul(letter: str) -> bool:
    """Say whether a letter is Korean."""
    return _HANGUL_LETTER.match(letter) is not None


@cached_by_word(32_768)
def stems(word: str) -> tuple[str, ...]:
    """Return what a Korean word may be without its particles, the longest first.

    At least two letters stay: 서울에서는 gives 서울에서 and 서울, 가는 gives nothing.
    """
    if not is_hangul(word[-1]):
        return ()
    first = max(_FEWEST_LETTERS, len(word) - _LONGEST_PARTICLES)
    cuts = range(len(word) - 1, first - 1, -1)
    return tuple(word[:cut] for cut in cuts if _PARTICLES.fullmatch(word, cut))


def is_name_border(run: str, at: int) -> bool:
    """Say whether a name may begin or end at this place of a run without blanks.

    A word in Katakana is never cut, パン does not stand in ジャパン, nor a letter off its marks.
    """
    if not 0 < at < len(run):
        return True
    is_within = _is_katakana(run[at - 1]) and _is_katakana(run[at])
    return not is_within and not unicodedata.category(run[at]).startswith("M")


def _is_katakana(letter: str) -> bool:
    return _KATAKANA_LETTER.match(letter) is not None
