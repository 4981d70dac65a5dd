"""The default fusion, step by step: candidates, evidence, score, bonuses, paths, order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from service.index.evidence import Evidence
from service.index.links import Links
from service.index.numbered import NumberedEngine
from service.records import Filters
from service.search.fusion.confidence import Certainty, certainty_of
from service.search.fusion.explanation import Explanation
from service.search.fusion.graph_paths import SEEDS, Trail, best_trails
from service.search.fusion.rrf import Fused, LateSignals
from service.search.fusion.scoring import Scale, Scores, SignalValues
from service.search.signals.features import REACH
from service.search.signals.registry import BONUSES, SIGNALS, weights_of
from service.search.signals.signal import Candidates, Signal
from service.search.signals.time_alone import TIME_ALONE
from service.stages import Stages

# Neighbours in time of the best hits by words and by meaning are candidates themselves.
_WITH_NEIGHBOURS: Final = 30
# What comes out beyond the limit: some of it may be hidden by the store, or say the same.
SPARE: Final = 50

# By place and bonus, how many times the greatest score is added.
First = Mapping[int, Mapping[str, float]]


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
    engine: NumberedEngine,
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
    fusion = _Fusion(engine, query, candidates, weights, Scores(engine.ids))
    with stages.measured("context"):
        numbers, evidence = await engine.collect_evidence(
            candidates.question, query.filters, await fusion.every_candidate(), REACH
        )
    with stages.measured("fuse"):
        values = fusion.score_candidates(numbers, evidence)
    if not fusion.scores.total:
        return [], None
    first = await fusion.add_bonuses(stages)
    trails: dict[int, Trail] = {}
    if query.weights.get("graph", 0) > 0:
        with stages.measured("graph"):
            trails = await fusion.find_trails(first)
    stages.counts["graph"] = len(trails)
    with stages.measured("fuse"):
        return fusion.order(values, trails, first)


@dataclass(slots=True)
class _Fusion:
    """One question's fusion on its way; `scale` is that of the first candidates."""

    engine: NumberedEngine
    query: FusionQuery
    candidates: Candidates
    weights: Mapping[str, float]
    scores: Scores
    scale: Scale = field(default_factory=lambda: Scale({}))

    async def every_candidate(self) -> list[int]:
        """Return the numbers of all that is scored: what was found, and what is beside the best."""
        text, near = self.candidates.text.numbers, self.candidates.vector.numbers
        best = dict.fromkeys([*text[:_WITH_NEIGHBOURS], *near[:_WITH_NEIGHBOURS]])
        beside = await self.engine.beside(list(best))
        return list(dict.fromkeys([*text, *near, *self.candidates.others, *beside]))

    def score_candidates(self, numbers: Sequence[int], evidence: Evidence) -> SignalValues:
        """Score the candidates and set the scale; returns what each signal makes of them."""
        values = SignalValues.of(evidence)
        self.scale = Scale.of(values)
        self.scores.add(numbers, values, self.scale.shares(values, self.weights))
        return values

    async def add_bonuses(self, stages: Stages) -> First:
        """Add what is no matter of the evidence, to the candidates alone.

        Returns how much of each bonus that comes first is due to a memory: paths do not know it.
        """
        scores = self.scores
        numbers = list(scores.numbers)
        first: defaultdict[int, dict[str, float]] = defaultdict(dict)
        for bonus in BONUSES:
            if not bonus.applies(self.candidates):
                continue
            with stages.measured(bonus.stage):
                for number, times in await bonus.times(self.engine, self.candidates, numbers):
                    place = scores.places[number]
                    if bonus.comes_first:
                        first[place][bonus.name] = times * bonus.weight
                    else:
                        scores.add_share(place, bonus.name, times * bonus.weight)
        return first

    async def find_trails(self, first: First) -> dict[int, Trail]:
        """Return the best trail to each memory that the best candidates lead to, by number."""
        scores, total = self.scores, self.scores.total
        ahead = {place: sum(shares.values()) for place, shares in first.items()}
        led = scores.ordered(first, total)
        best = sorted(
            dict.fromkeys([*led, *scores.best(total, SEEDS)]),
            key=lambda place: -ahead.get(place, 0.0),
        )[:SEEDS]
        seeds = {scores.numbers[place]: total[place] for place in best}
        return await best_trails(seeds, scores.ids, self._links, self._scores_of)

    async def _links(self, numbers: Sequence[int]) -> tuple[Sequence[int], Links]:
        return await self.engine.linked(numbers, self.candidates.caps)

    async def _scores_of(self, numbers: Sequence[int]) -> Mapping[int, float]:
        """Return the scores of memories; of what is new by the scale of the candidates."""
        places, total = self.scores.places, self.scores.total
        new = [number for number in numbers if number not in places]
        if new:
            seen, evidence = await self.engine.collect_evidence(
                self.candidates.question, self.query.filters, new, REACH
            )
            values = SignalValues.of(evidence)
            self.scores.add(seen, values, self.scale.shares(values, self.weights))
        return {number: total[places[number]] for number in numbers if number in places}

    def order(
        self, values: SignalValues, trails: Mapping[int, Trail], first: First
    ) -> tuple[list[Fused], Certainty]:
        """Return the best of all, each by its own score or that of the trail to it, and why."""
        scores, query = self.scores, self.query
        led = {scores.places[number]: trail for number, trail in trails.items()}
        better = {at: trail for at, trail in led.items() if trail.worth > scores.total[at]}
        gained = {at: trail.worth - scores.total[at] for at, trail in better.items()}
        final = list(scores.total)
        for place, trail in better.items():
            final[place] = trail.worth
        # Before what comes first: nobody's votes put another memory in front of that.
        for name, factors in scores.factors.items():
            for place, factor in factors.items():
                share = final[place] * (factor - 1)
                scores.add_share(place, name, share)
                final[place] += share
        greatest = max(1.0, *final) if first else 1.0
        for place, shares in first.items():
            for name, share in shares.items():
                scores.add_share(place, name, share * greatest)
                final[place] += share * greatest
        best = scores.best(final, query.limit + SPARE, self.candidates.summaries)
        tell = Explanation(scores, best, query.limit, better, gained, self.candidates).signals
        fused = [
            Fused(
                scores.ids[scores.numbers[place]],
                final[place],
                LateSignals(tell, hit),
                better[place].memories[0] if place in better else None,
            )
            for hit, place in enumerate(best)
        ]
        certainty = certainty_of(values, best, [final[place] for place in best])
        if TIME_ALONE.applies(self.candidates):
            is_held = any(TIME_ALONE.name in first.get(place, ()) for place in best)
            certainty = certainty.of_time(is_held)
        return fused, certainty
