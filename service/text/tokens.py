"""How many tokens a text costs, estimated without a tokenizer.

`estimate_tokens` is for embedding models: it decides where notes are cut (text/splitting.py) and
how long a summary gets, so the same text must always give the same number. `estimate_prompt_tokens`
is for budgets: what results cost the language model that reads them, and what a reranker takes.
It looks at lengths only, and is several times as fast. `estimate_tokens_of_bytes` is for texts of
which only the size was read.
"""

import re
from typing import Final

from service.text.cjk import CJK_TOKENS, count_cjk

# English prose has about four characters a token; Korean and Chinese about one.
_CHARACTERS_PER_TOKEN: Final = 4
_BYTES_PER_TOKEN: Final = 4
# Six letters: counted against the WordPiece vocabulary of MiniLM over 1,873 English and 235
# Korean-English developer notes this gives 1.00 and 0.93 of the true number (Hangul left out);
# 1.3 tokens a word gives 0.54 and 0.46, because notes are full of code, paths and links.
_LETTERS_PER_TOKEN: Final = 6
_TOKEN: Final = re.compile(
    rf"[{CJK_TOKENS}]|[^\W_{CJK_TOKENS}]{{1,{_LETTERS_PER_TOKEN}}}|[^\w\s]|_"
)
# Six letters and a blank are one token: in eight characters of prose there is at least one.
MOST_CHARACTERS_PER_TOKEN: Final = 8


def estimate_tokens(text: str) -> int:
    """Count one token for each CJK character, mark, and begun six letters or digits of a word.

    Never above the number of characters. Sums over pieces cut at white space.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def estimate_prompt_tokens(text: str) -> int:
    """Count one token for each CJK letter and each begun four other characters."""
    cjk = count_cjk(text)
    return cjk + -(-(len(text) - cjk) // _CHARACTERS_PER_TOKEN)


def estimate_tokens_of_bytes(size: int) -> int:
    """Estimate the tokens of a text of which only the size in UTF-8 is known, rounding down.

    Four letters of English are about a token and four bytes; a letter of Korean or Chinese is
    about a token and three bytes.
    """
    return size // _BYTES_PER_TOKEN
