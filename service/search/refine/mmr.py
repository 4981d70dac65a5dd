"""Diversity: each next hit is good and unlike those already chosen; pure."""

from collections.abc import Sequence
from typing import Final

from service.records import Memory
from service.search.fusion.ranked import Ranked
from service.text.words import STOP_WORDS, index_words

# The relevance of the last place; the first has 1. Places and not scores, since what a score is
# worth depends on the fusion, and a reranker changes the order alone.
_LAST: Final = 0.1


def diversified(hits: Sequence[Ranked], diversity: float, limit: int) -> list[Ranked]:
    """Return `limit` hits chosen by maximal marginal relevance (Carbonell and Goldstein 1998).

    Each next one has the largest (1 - diversity) x relevance - diversity x likeness. Relevance
    falls evenly with the place, from 1 to 0.1; likeness is the greatest share of common words
    (Jaccard, stop words left out) with a hit already chosen. The best hit stays first; 0 changes
    nothing. Ties go to the better place.
    """
    if diversity <= 0 or len(hits) < 3:
        return list(hits[:limit])
    words = [_words_of(hit.memory) for hit in hits]
    fall = (1 - _LAST) / (len(hits) - 1)
    likeness = [0.0] * len(hits)
    chosen, left = [0], list(range(1, len(hits)))
    while left and len(chosen) < limit:
        for position in left:
            likeness[position] = max(
                likeness[position], _likeness(words[position], words[chosen[-1]])
            )
        best = max(
            left, key=lambda at: (1 - diversity) * (1 - fall * at) - diversity * likeness[at]
        )
        chosen.append(best)
        left.remove(best)
    return [hits[position] for position in chosen]


def _words_of(memory: Memory) -> frozenset[str]:
    return frozenset(index_words(f"{memory.title} {memory.content}").split()) - STOP_WORDS


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
