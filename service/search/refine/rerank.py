"""What a reranker says, blended with the order that was there; pure."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from service.records import Memory
from service.search.fusion.ranked import Ranked
from service.search.fusion.rrf import Fused, SignalHit
from service.text.tokens import estimate_prompt_tokens

# What the reranker's word counts beside the place a hit had: 0.6 to 0.4 is what lancedb-pro, a
# memory of OpenClaw's, settled on.
_RERANKER: Final = 0.6
_PLACE: Final = 1 - _RERANKER
_LAST: Final = 0.1
# Many cross-encoders read 512 tokens, question and all, and some servers refuse longer ones.
_MOST_TOKENS: Final = 400
_MOST_CHARACTERS: Final = 1600


def document_of(memory: Memory) -> str:
    """Return what a reranker reads of a memory: its day, its headings, the beginning of its text.

    The day is there because a question may name one (Hindsight puts dates in front as well).
    """
    headings = (*memory.heading_path, memory.title, *memory.search_headings)
    titles = " / ".join(dict.fromkeys(heading for heading in headings if heading))
    return clipped(f"{memory.occurred_at:%Y-%m-%d} {titles}\n{memory.content}")


def clipped(text: str) -> str:
    """Return the beginning of a text, of about 400 estimated tokens at most."""
    start = text[:_MOST_CHARACTERS]
    tokens = estimate_prompt_tokens(start)
    return start if tokens <= _MOST_TOKENS else start[: len(start) * _MOST_TOKENS // tokens]


def blended(hits: Sequence[Ranked], scores: Sequence[float]) -> list[Ranked]:
    """Return the hits in a new order, each with the signal `rerank`; `scores` stand in their order.

    A cross-encoder judges one text at a time. It is better at the first place, but a memory that
    only leads on to the answer looks irrelevant to it: bge-reranker-v2-m3 alone more than halved
    the multi-hop questions of 2Wiki with all evidence found. So its probability counts 0.6 and
    the place a hit had 0.4 (1 for the first, 0.1 for the last), and what the graph found keeps
    its place. None is lost and none is doubled; ties keep their order.
    """
    chances = _probabilities(scores)
    with_signal = _with_signal(hits, scores)
    fall = (1 - _LAST) / max(1, len(hits) - 1)
    worth = [
        _RERANKER * chance + _PLACE * (1 - fall * position)
        for position, chance in enumerate(chances)
    ]
    free = [position for position, hit in enumerate(hits) if not is_found_by_graph(hit.fused)]
    order = list(range(len(hits)))
    for position, taken in zip(free, sorted(free, key=lambda at: -worth[at]), strict=True):
        order[position] = taken
    return [with_signal[position] for position in order]


def is_found_by_graph(hit: Fused) -> bool:
    """Return whether the graph ranks this memory better than every other signal does."""
    graph = hit.signals.get("graph")
    others = [signal.rank for name, signal in hit.signals.items() if name != "graph"]
    return graph is not None and all(graph.rank < rank for rank in others)


def _with_signal(hits: Sequence[Ranked], scores: Sequence[float]) -> list[Ranked]:
    ranks = sorted(range(len(hits)), key=lambda position: -scores[position])
    signals = {
        position: SignalHit(rank, scores[position]) for rank, position in enumerate(ranks, 1)
    }
    return [
        replace(
            hit,
            fused=hit.fused._replace(signals={**hit.fused.signals, "rerank": signals[position]}),
        )
        for position, hit in enumerate(hits)
    ]


def _probabilities(scores: Sequence[float]) -> list[float]:
    """Return the scores as they are if all lie in 0..1; else they are logits."""
    if all(0 <= score <= 1 for score in scores):
        return list(scores)
    # The bounds keep exp() in its range; beyond them nothing changes any more.
    return [1 / (1 + math.exp(-max(-60.0, min(60.0, score)))) for score in scores]
