"""The graph's path to a hit: from the seed's id, which is ranked, to its title, which is read."""

from collections.abc import Mapping
from dataclasses import replace

from service.records import Memory
from service.search.fusion.rrf import Fused, SignalHit
from service.text.titles import title_of


def path_seeds(hit: Fused) -> tuple[str, ...]:
    """Return the ids of the memories that the hit's paths begin at."""
    return tuple(signal.path[0] for signal in hit.signals.values() if signal.path)


def with_titles(hit: Fused, memories: Mapping[str, Memory]) -> Fused:
    """Return the hit with its paths beginning at a title; without those of absent memories."""
    return replace(hit, signals={name: _with_title(s, memories) for name, s in hit.signals.items()})


def of_summary(hit: Fused, key: str, summaries: Mapping[str, str]) -> Fused:
    """Return the hit of a source as one of its summary `key`.

    A path that begins at another source begins at that one's summary; none leads from `key` itself.
    """
    signals = {name: _from_summary(signal, key, summaries) for name, signal in hit.signals.items()}
    return replace(hit, id=key, signals=signals)


def _from_summary(signal: SignalHit, key: str, summaries: Mapping[str, str]) -> SignalHit:
    if not signal.path:
        return signal
    seed, *concepts = signal.path
    seed = summaries.get(seed, seed)
    return replace(signal, path=None if seed == key else (seed, *concepts))


def _with_title(signal: SignalHit, memories: Mapping[str, Memory]) -> SignalHit:
    if not signal.path:
        return signal
    seed, *concepts = signal.path
    if seed not in memories:
        return replace(signal, path=None)
    return replace(signal, path=(title_of(memories[seed].title, memories[seed].content), *concepts))
