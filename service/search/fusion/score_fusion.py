"""The default fusion, step by step: candidates, evidence, score, bonuses, paths, order."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from service.index.engine import Engine
from service.index.evidence import Evidence
from service.index.links import Links
from service.records import Filters
from service.search.fusion.confidence import Certainty, certainty_of
from service.search.fusion.explanation import Explanation
from service.search.fusion.feedback import FEEDBACK
from service.search.fusion.graph_paths import SEEDS, Trail, best_trails
from service.search.fusion.rrf import Fused, LateSignals
from service.search.fusion.scoring import Scale, Scores, SignalValues
from service.search.signals.features import REACH
from service.search.signals.registry import BONUSES, SIGNALS, weights_of
from service.search.signals.signal import Candidates, Signal
from service.stages import Stages

# Neighbours in time of the best hits by words and by meaning are candidates themselves.
_WITH_NEIGHBOURS: Final = 30
# What comes out beyond the limit: some of it may be hidden by the store, or say the same.
SPARE: Final = 50

# By memory and bonus, how many times the greatest score is added.
First = Mapping[str, Mapping[str, float]]


class FusionQuery(Protocol):
    """What of a search matters here."""

    @property
    def filters(self) -> Filters:
        """What a memory must satisfy."""

    @property
    def weights(self) -> Mapping[str, float]:
        """How much vector, text and graph count; 0 leaves a signal out."""

    @property
    def limit(self) -> int:
        """How many results are wanted."""


async def fuse_by_score(
    engine: Engine,
    query: FusionQuery,
    candidates: Candidates,
    stages: Stages,
    signals: Sequence[Signal] = SIGNALS,
) -> tuple[list[Fused], Certainty | None]:
    """Return the best memories by score, best first; see scoring and graph_paths.

    Of equal ones the newest comes first, then they go by id.

    A memory's score is its own or that of the best trail to it, whichever is greater. With them
    comes how sure they are; None without any. `signals` are those of the registry, of whatever
    weight.
    """
    weights = weights_of(query.weights, candidates.question, signals)
    fusion = _Fusion(engine, query, candidates, weights)
    with stages.measured("context"):
        evidence = await engine.collect_evidence(
            candidates.question, query.filters, await fusion.every_candidate(), REACH
        )
    with stages.measured("fuse"):
        values = fusion.score_candidates(evidence)
    if not fusion.scores.total:
        return [], None
    first = await fusion.add_bonuses(stages)
    trails: dict[str, Trail] = {}
    if query.weights.get("graph", 0) > 0:
        with stages.measured("graph"):
            trails = await fusion.find_trails(first)
    stages.counts["graph"] = len(trails)
    with stages.measured("fuse"):
        fused = fusion.order(trails, first)
        return fused, certainty_of(values, fused)


@dataclass(slots=True)
class _Fusion:
    """One question's fusion on its way; `scale` is that of the first candidates."""

    engine: Engine
    query: FusionQuery
    candidates: Candidates
    weights: Mapping[str, float]
    scores: Scores = field(default_factory=Scores)
    scale: Scale = field(default_factory=lambda: Scale({}))

    async def every_candidate(self) -> list[str]:
        """Return the ids of all that is scored: what was found, and what is beside the best."""
        found = self.candidates
        best = [hit.id for hits in (found.text, found.vector) for hit in hits[:_WITH_NEIGHBOURS]]
        near = await self.engine.before_and_after(
            self.query.filters.agents, list(dict.fromkeys(best))
        )
        beside = [key for sides in near.values() for side in sides for key in side]
        every = [hit.id for hit in (*found.text, *found.vector)]
        return list(dict.fromkeys([*every, *found.others, *beside]))

    def score_candidates(self, evidence: Evidence) -> SignalValues:
        """Score the candidates and set the scale; returns what each signal makes of them."""
        values = SignalValues.of(evidence)
        self.scale = Scale.of(values)
        self.scores.add(values, self.scale.shares(values, self.weights))
        return values

    async def add_bonuses(self, stages: Stages) -> First:
        """Add what is no matter of the evidence, to the candidates alone.

        Returns how much of each bonus that comes first is due to a memory: paths do not know it.
        """
        keys = list(self.scores.total)
        first: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for bonus in BONUSES:
            if not bonus.applies(self.candidates):
                continue
            with stages.measured(bonus.stage):
                for key, times in await bonus.times(self.engine, self.candidates, keys):
                    if bonus.comes_first:
                        first[key][bonus.name] = times * bonus.weight
                    else:
                        self.scores.add_share(key, bonus.name, times * bonus.weight)
        return first

    async def find_trails(self, first: First) -> dict[str, Trail]:
        """Return the best trail to each memory that the best candidates lead to."""
        total = self.scores.total
        ahead = {key: sum(shares.values()) for key, shares in first.items()}
        led = self.scores.best({key: total[key] for key in first}, len(first))
        best = sorted(
            dict.fromkeys([*led, *self.scores.best(total, SEEDS)]),
            key=lambda key: -ahead.get(key, 0.0),
        )[:SEEDS]
        return await best_trails({key: total[key] for key in best}, self._links, self._scores_of)

    async def _links(self, keys: Iterable[str]) -> Links:
        return await self.engine.linked(self.query.filters.agents, keys, self.candidates.caps)

    async def _scores_of(self, keys: Iterable[str]) -> Mapping[str, float]:
        """Return the scores of memories; of what is new by the scale of the candidates."""
        wanted = list(keys)
        new = [key for key in wanted if key not in self.scores.total]
        if new:
            evidence = await self.engine.collect_evidence(
                self.candidates.question, self.query.filters, new, REACH
            )
            values = SignalValues.of(evidence)
            self.scores.add(values, self.scale.shares(values, self.weights))
        return {key: self.scores.total[key] for key in wanted if key in self.scores.total}

    def order(self, trails: Mapping[str, Trail], first: First) -> list[Fused]:
        """Return the best of all, each by its own score or that of the trail to it, and why."""
        total = self.scores.total
        better = {key: trail for key, trail in trails.items() if trail.worth > total[key]}
        gained = {key: trail.worth - total[key] for key, trail in better.items()}
        final = total | {key: trail.worth for key, trail in better.items()}
        # Before what comes first: nobody's votes put another memory in front of that.
        for key, factor in self.scores.factors.items():
            share = final[key] * (factor - 1)
            self.scores.add_share(key, FEEDBACK, share)
            final[key] += share
        greatest = max(1.0, *final.values()) if first else 1.0
        for key, shares in first.items():
            for name, share in shares.items():
                self.scores.add_share(key, name, share * greatest)
                final[key] += share * greatest
        limit = self.query.limit
        ordered = self.scores.best(final, limit + SPARE, self.candidates.summaries)
        tell = Explanation(self.scores, ordered, limit, better, gained, self.candidates).signals
        return [
            Fused(
                key,
                final[key],
                LateSignals(tell, hit),
                better[key].memories[0] if key in better else None,
            )
            for hit, key in enumerate(ordered)
        ]
