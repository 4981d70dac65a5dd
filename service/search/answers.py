"""What is told about an answer: snippet, confidence and what fits a token budget; pure."""

import re
from collections.abc import Sequence
from typing import Final

from service.records import Memory
from service.words import index_words, query_words

SNIPPET_CHARACTERS: Final = 240
# English prose has about four characters a token; Korean and Chinese about one.
_CHARACTERS_PER_TOKEN: Final = 4


def snippet_of(content: str, question: str) -> str:
    """Return the stretch of `content` that holds most of the question's words."""
    flat = " ".join(content.split())
    if len(flat) <= SNIPPET_CHARACTERS:
        return flat
    words = [re.escape(word) for word in query_words(question).split()]
    places = [m.start() for m in re.finditer("|".join(words), flat, re.I)] if words else []
    start = max(places or [0], key=lambda p: sum(p <= q < p + SNIPPET_CHARACTERS for q in places))
    start = max(0, min(start - 40, len(flat) - SNIPPET_CHARACTERS))
    cut = flat[start : start + SNIPPET_CHARACTERS].strip()
    return f"{'… ' if start else ''}{cut}{' …' if start + SNIPPET_CHARACTERS < len(flat) else ''}"


def confidence_of(question: str, best: Sequence[tuple[Memory, float | None]]) -> float:
    """Estimate how likely the answer is among the best hits, 0..1; not yet calibrated.

    The mean of cosine and the share of the question's words that stand in the memory, of the
    best hit by that measure; the share alone where there is no vector.
    """
    words = set(query_words(question).split())
    estimates = [0.0]
    for memory, cosine in best:
        text = f"{memory.title} {' '.join(memory.heading_path)} {memory.content}"
        covered = len(words & set(index_words(text).split())) / len(words) if words else 0.0
        estimates.append(covered if cosine is None else (max(0.0, cosine) + covered) / 2)
    return round(min(1.0, max(estimates)), 4)


def tokens_in(text: str) -> int:
    """Estimate the tokens of a text for a budget, rounding up."""
    wide = sum("\u3040" <= c <= "\ud7af" for c in text)
    return wide + -(-(len(text) - wide) // _CHARACTERS_PER_TOKEN)


def pack(memories: Sequence[Memory], max_tokens: int) -> list[Memory]:
    """Take memories in order as long as they fit the budget; one that does not fit is passed over."""
    left, taken = max_tokens, []
    for memory in memories:
        size = tokens_in(memory.title) + tokens_in(memory.content)
        if size <= left:
            taken.append(memory)
            left -= size
    return taken
