"""The default fusion: candidates of all signals scored in their context, and along the graph."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import numpy as np

from service.index.engine import Engine
from service.index.evidence import Evidence, Floats, Question
from service.records import Filters, Scored
from service.search.fusion.confidence import Certainty, margin_of
from service.search.fusion.graph_paths import SEEDS, Links, Trail, best_trails
from service.search.fusion.rrf import Fused, SignalHit
from service.search.fusion.scoring import REACH, WEIGHTS, Parts, Scale, Weights
from service.search.times.time_filters import Moments, visible_within
from service.stages import Stages

# Neighbours in time of the best hits by words and by meaning are candidates themselves.
_WITH_NEIGHBOURS: Final = 30
# What comes out beyond the limit: some of it may be hidden by the store, or say the same.
_SPARE: Final = 50
# What bigrams of Hangul, Han and Kana count beyond other words.
_WIDE: Final = 6.0


class Asked(Protocol):
    """What of a request matters here."""

    @property
    def filters(self) -> Filters:
        """What a memory must satisfy."""

    @property
    def weights(self) -> Mapping[str, float]:
        """How much vector, text and graph count; 0 leaves a signal out."""

    @property
    def limit(self) -> int:
        """How many results are wanted."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the signals found for a question, best first, and the hub cap of each agent.

    `phrases` counts the quoted phrases that stand in a memory; `others` are found in other ways:
    they are scored as well.
    """

    question: Question
    text: Sequence[Scored]
    vector: Sequence[Scored]
    caps: Mapping[str, int]
    phrases: Mapping[str, int] = field(default_factory=dict)
    moments: Moments | None = None
    others: Sequence[str] = ()


@dataclass(slots=True)
class _Scores:
    """Scores of memories by id, what they are made of, and the parts before they were weighed."""

    total: dict[str, float] = field(default_factory=dict)
    shares: dict[str, dict[str, float]] = field(default_factory=dict)
    values: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, evidence: Evidence, parts: Parts, shares: Mapping[str, Floats]) -> None:
        keys = evidence.keys[: evidence.asked]
        self.shares |= zip(keys, _rows(shares), strict=True)
        self.values |= zip(keys, _rows(parts.values), strict=True)
        self.total |= {key: math.fsum(self.shares[key].values()) for key in keys}

    def add_to(self, key: str, name: str, share: float) -> None:
        self.total[key] += share
        self.shares[key][name] = self.shares[key].get(name, 0.0) + share


def _rows(columns: Mapping[str, Floats]) -> list[dict[str, float]]:
    """Return one mapping for each row."""
    table = np.stack(list(columns.values()), axis=1).tolist()
    return [dict(zip(columns, row, strict=True)) for row in table]


async def fuse_by_score(
    engine: Engine, asked: Asked, found: Candidates, stages: Stages
) -> tuple[list[Fused], Certainty | None]:
    """Return the best memories by score, best first, ties by id; see scoring and beam.

    A memory's score is its own or that of the best trail to it, whichever is greater. With them
    comes how sure they are; None without any.
    """
    weights = _weights(asked.weights, found.question)
    with stages.measured("context"):
        keys = await _with_neighbours(engine, asked.filters, found)
        evidence = await engine.weigh(found.question, asked.filters, keys, REACH)
    with stages.measured("fuse"):
        scores, scale, parts = _score(evidence, weights, found)
    if not scores.total:
        return [], None
    if found.moments:
        with stages.measured("time"):
            await _add_times(engine, scores, found.moments)
    trails: dict[str, Trail] = {}
    if asked.weights.get("graph", 0) > 0:
        with stages.measured("graph"):
            trails = await _trails(engine, asked, found, (scores, scale, weights))
    stages.counts["graph"] = len(trails)
    with stages.measured("fuse"):
        fused = _fused(scores, trails, found, asked.limit + _SPARE)
        return fused, certainty_of(evidence, parts, fused)


def certainty_of(evidence: Evidence, parts: Parts, fused: Sequence[Fused]) -> Certainty:
    """Return how sure hits are that come from this evidence, or along the graph from it."""
    cosines = evidence.cosines[: evidence.asked]
    has_vectors = not np.isnan(cosines).all()
    places = {key: row for row, key in enumerate(evidence.keys[: evidence.asked])}
    row = places.get(fused[0].id) if fused else None
    text = 0.0 if row is None else float(parts.values["text"][row])
    return Certainty(
        float(np.nanmax(cosines)) if has_vectors else None,
        text / parts.whole if parts.whole > 0 else 0.0,
        margin_of([hit.score for hit in fused]),
    )


def certainty_of_ranks(evidence: Evidence, hits: Sequence[Fused]) -> Certainty | None:
    """Return how sure hits are that were fused by rank: by what their scores would be."""
    if not evidence.asked:
        return None
    parts, scores = Parts.of(evidence), _Scores()
    scores.add(evidence, parts, Scale.of(parts).shares(parts, WEIGHTS))
    best = sorted(scores.total.values(), reverse=True)
    first = [hit for hit in hits if hit.id in scores.total][:1]
    told = certainty_of(evidence, parts, first)
    return replace(told, margin=margin_of(best))


def _weights(asked: Mapping[str, float], question: Question) -> Weights:
    """Return the weights of the parts: a request's are factors to the default's.

    Two letters of Korean or Chinese that stand together tell as much as an English word and its
    neighbour do, and small models read neither: in such questions words count seven times as much.
    """
    vector, text = asked.get("vector", 0.0), asked.get("text", 0.0)
    return WEIGHTS.of(vector, text * (1 + _WIDE * question.wide_share))


async def _with_neighbours(engine: Engine, filters: Filters, found: Candidates) -> list[str]:
    best = [hit.id for hits in (found.text, found.vector) for hit in hits[:_WITH_NEIGHBOURS]]
    near = await engine.before_and_after(filters.agents, list(dict.fromkeys(best)))
    beside = [key for sides in near.values() for side in sides for key in side]
    every = [hit.id for hit in (*found.text, *found.vector)]
    return list(dict.fromkeys([*every, *found.others, *beside]))


def _score(evidence: Evidence, weights: Weights, found: Candidates) -> tuple[_Scores, Scale, Parts]:
    parts = Parts.of(evidence)
    scale, scores = Scale.of(parts), _Scores()
    scores.add(evidence, parts, scale.shares(parts, weights))
    for key, phrases in found.phrases.items():
        if key in scores.total:
            scores.add_to(key, "phrase", phrases * weights.phrase)
    return scores, scale, parts


async def _add_times(engine: Engine, scores: _Scores, moments: Moments) -> None:
    """Let what happened when the question says, or was told soon after, count more."""
    keys = list(scores.total)
    for spans in (moments.within, moments.soon_after):
        for key in sorted(await visible_within(engine, keys, spans)):
            scores.add_to(key, "time", WEIGHTS.time)


async def _trails(
    engine: Engine, asked: Asked, found: Candidates, scored: tuple[_Scores, Scale, Weights]
) -> dict[str, Trail]:
    scores, scale, weights = scored

    async def look(keys: Iterable[str]) -> Links:
        return await engine.linked(asked.filters.agents, keys, found.caps)

    async def score(keys: Iterable[str]) -> Mapping[str, float]:
        wanted = list(keys)
        new = [key for key in wanted if key not in scores.total]
        if new:
            evidence = await engine.weigh(found.question, asked.filters, new, REACH)
            parts = Parts.of(evidence)
            scores.add(evidence, parts, scale.shares(parts, weights))
        return {key: scores.total[key] for key in wanted if key in scores.total}

    best = sorted(scores.total, key=lambda key: (-scores.total[key], key))[:SEEDS]
    return await best_trails({key: scores.total[key] for key in best}, look, score)


def _fused(
    scores: _Scores, trails: Mapping[str, Trail], found: Candidates, most: int
) -> list[Fused]:
    final = dict(scores.total)
    led = {key: trail for key, trail in trails.items() if trail.worth > final[key]}
    final |= {key: trail.worth for key, trail in led.items()}
    ordered = sorted(final, key=lambda key: (-final[key], key))[:most]
    ranks = _Ranks(scores, led, found)
    return [Fused(key, final[key], ranks.signals(key)) for key in ordered]


class _Ranks:
    """What each signal says of a memory: rank among the candidates, own score, share."""

    def __init__(self, scores: _Scores, led: Mapping[str, Trail], found: Candidates) -> None:
        self._scores, self._led = scores, led
        hits = {"vector": found.vector, "text": found.text}
        self._own = {name: self._with_others(name, each) for name, each in hits.items()}
        names = {name for shares in scores.shares.values() for name in shares} - hits.keys()
        self._places = {name: self._ranked(name) for name in sorted(names)}
        order = sorted(led, key=lambda key: (-led[key].worth, key))
        self._led_rank = {key: rank for rank, key in enumerate(order, 1)}

    def signals(self, key: str) -> dict[str, SignalHit]:
        shares, said = self._scores.shares[key], dict[str, SignalHit]()
        for name, hits in self._own.items():
            if key in hits:
                rank, score = hits[key]
                said[name] = SignalHit(rank, score, share=shares[name])
        for name, places in self._places.items():
            if key in places:
                said[name] = SignalHit(places[key], shares[name], share=shares[name])
        if key in self._led:
            trail = self._led[key]
            path = (trail.memories[0], *(concept.name for concept in trail.concepts))
            gained = trail.worth - self._scores.total[key]
            said["graph"] = SignalHit(self._led_rank[key], trail.worth, path, share=gained)
        return said

    def _with_others(self, name: str, hits: Sequence[Scored]) -> dict[str, tuple[int, float]]:
        """Return rank and score of a signal's hits, and behind them of what else it counts for."""
        told = {hit.id: (rank, hit.score) for rank, hit in enumerate(hits, 1)}
        values = {
            key: self._scores.values[key][name]
            for key, shares in self._scores.shares.items()
            if shares[name] > 0 and key not in told
        }
        ordered = sorted(values, key=lambda key: (-values[key], key))
        return told | {key: (rank, values[key]) for rank, key in enumerate(ordered, len(told) + 1)}

    def _ranked(self, name: str) -> dict[str, int]:
        values = {
            key: share
            for key, shares in self._scores.shares.items()
            if (share := shares.get(name, 0.0)) > 0
        }
        ordered = sorted(values, key=lambda key: (-values[key], key))
        return {key: rank for rank, key in enumerate(ordered, 1)}
