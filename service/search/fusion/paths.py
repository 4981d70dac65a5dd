"""The graph's path to a hit: from the seed's id, which is ranked, to its title, which is read."""

from collections.abc import Mapping
from dataclasses import replace

from service.records import Memory
from service.search.fusion.rrf import Fused, SignalHit
from service.text.titles import title_of


def path_seeds(hit: Fused) -> tuple[str, ...]:
    """Return the ids of the memories that the hit's paths begin at."""
    return tuple(said.path[0] for said in hit.signals.values() if said.path)


def with_titles(hit: Fused, memories: Mapping[str, Memory]) -> Fused:
    """Return the hit with its paths beginning at a title; without those of absent memories."""
    return replace(hit, signals={name: _told(s, memories) for name, s in hit.signals.items()})


def of_summary(hit: Fused, key: str, summaries: Mapping[str, str]) -> Fused:
    """Return what was said of a source as said of its summary `key`.

    A path that begins at another source begins at that one's summary; none leads from `key` itself.
    """
    signals = {name: _from_summary(said, key, summaries) for name, said in hit.signals.items()}
    return replace(hit, id=key, signals=signals)


def _from_summary(said: SignalHit, key: str, summaries: Mapping[str, str]) -> SignalHit:
    if not said.path:
        return said
    seed, *concepts = said.path
    seed = summaries.get(seed, seed)
    return replace(said, path=None if seed == key else (seed, *concepts))


def _told(said: SignalHit, memories: Mapping[str, Memory]) -> SignalHit:
    if not said.path:
        return said
    seed, *concepts = said.path
    if seed not in memories:
        return replace(said, path=None)
    return replace(said, path=(title_of(memories[seed].title, memories[seed].content), *concepts))
