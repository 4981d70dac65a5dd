"""The graph's path to a hit: from the seed's id, which is ranked, to its title, which is read."""

from collections.abc import Mapping

from service.records import Memory
from service.search.fusion.rrf import Fused, LateSignals, SignalHit
from service.text.titles import title_of


def with_titles(hit: Fused, memories: Mapping[str, Memory]) -> Fused:
    """Return the hit with its paths beginning at a title; without those of absent memories."""
    told = {
        name: _with_title(said, said.path, memories) if said.path else said
        for name, said in hit.signals.items()
    }
    return hit._replace(signals=told)


def of_summary(hit: Fused, key: str, summaries: Mapping[str, str]) -> Fused:
    """Return the hit of a source as one of its summary `key`.

    A path that begins at another source begins at that one's summary; none leads from `key` itself.
    """
    seed = None if hit.seed is None else summaries.get(hit.seed, hit.seed)
    return Fused(
        key,
        hit.score,
        LateSignals(_of_summary, hit, key, summaries),
        None if seed == key else seed,
    )


def _of_summary(hit: Fused, key: str, summaries: Mapping[str, str]) -> Mapping[str, SignalHit]:
    return {name: _from_summary(said, key, summaries) for name, said in hit.signals.items()}


def _from_summary(signal: SignalHit, key: str, summaries: Mapping[str, str]) -> SignalHit:
    if not signal.path:
        return signal
    seed, *concepts = signal.path
    seed = summaries.get(seed, seed)
    return signal._replace(path=None if seed == key else (seed, *concepts))


def _with_title(
    signal: SignalHit, path: tuple[str, ...], memories: Mapping[str, Memory]
) -> SignalHit:
    seed, *concepts = path
    if seed not in memories:
        return signal._replace(path=None)
    return signal._replace(path=(title_of(memories[seed].title, memories[seed].content), *concepts))
