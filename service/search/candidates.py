"""Candidates by words and by shared concepts, out of whichever engine answers."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from service.index.engine import Engine
from service.index.evidence import Question
from service.index.numbered import Hits, NumberedEngine
from service.records import Filters, Scored, Vector
from service.search.concept_votes import Seed, vote
from service.search.searcher import SearchQuery
from service.text.words import query_words, quoted_phrases
from service.threads import read_texts

# More than BM25 gives a note for any few words: one that holds what was quoted comes first.
_PHRASE_SCORE: Final = 100.0


async def by_words(
    engine: NumberedEngine, text: str, filters: Filters, limit: int
) -> tuple[Hits, Mapping[int, int]]:
    """Return the memories whose words match best; those that hold what is quoted come first.

    Each phrase in double quotes that stands in a memory word for word adds 100 to its BM25. With
    them comes, by memory, how many such phrases stand in it.
    """
    quoted = await read_texts(len(text), quoted_phrases, text)
    # It is kept, so that each engine finds it taken apart.
    await read_texts(len(text), query_words, text)
    if not quoted:
        return await engine.by_text(text, filters, limit), {}
    lookups = [engine.by_phrase(phrase, filters, limit) for phrase in quoted]
    ranking, *held = await asyncio.gather(engine.by_text(text, filters, limit), *lookups)
    scores = dict(zip(ranking.numbers, ranking.scores, strict=True))
    phrases = Counter(number for holders in held for number in holders.numbers)
    for holders in held:
        for number, score in zip(holders.numbers, holders.scores, strict=True):
            scores[number] = scores.get(number, score) + _PHRASE_SCORE
    # Of equal ones those that the engine put first.
    ordered = sorted(scores, key=lambda number: -scores[number])[:limit]
    return Hits(ordered, [scores[number] for number in ordered]), phrases


async def direct_lists(
    engine: NumberedEngine, query: SearchQuery, filters: Filters, vector: Vector | None, limit: int
) -> dict[str, Hits]:
    """Return what words and meaning find within some filters, as far as each counts."""
    lists: dict[str, Hits] = {}
    if query.weights.get("text", 0) > 0:
        lists["text"] = await engine.by_text(query.text, filters, limit)
    if vector is not None:
        lists["vector"] = (await engine.by_vector(vector, filters, limit))[0]
    return lists


async def by_names(
    engine: Engine, question: Question, agents: Sequence[str], limit: int, caps: Mapping[str, int]
) -> list[str]:
    """Return memories that mention what the question names, under whatever other name.

    At most `limit`, those of the rarest concepts first; `caps` as in by_concepts.
    """
    named = await engine.concepts_named(agents, question)
    linking = [one for one in named if one.memories <= caps.get(one.id[0], 0)]
    if not linking:
        return []
    mentioning = await engine.memories_of_concepts(agents, [one.id for one in linking])
    rarest = sorted(linking, key=lambda one: (one.memories, one.id))
    every = (key for one in rarest for key in mentioning.get(one.id, ()))
    return list(dict.fromkeys(every))[:limit]


async def by_times(
    engine: Engine, weights: Mapping[str, float], spans: Sequence[Filters], limit: int
) -> list[str]:
    """Return the newest memories of each time: neither words nor meaning need lead to them.

    None where both weigh nothing, as nothing is found then.
    """
    if not any(weights.get(name, 0) > 0 for name in ("vector", "text")):
        return []
    return [one for span in spans for one in await engine.latest(span, limit)]


async def by_concepts(
    engine: Engine, seeds: Sequence[Scored], filters: Filters, limit: int, caps: Mapping[str, int]
) -> list[Scored]:
    """Return the memories that share concepts with the seeds, the rarer the better.

    `caps` gives for each agent the number of memories above which a concept links nothing.
    """
    concepts = await engine.concepts_of_memories(filters.agents, [s.id for s in seeds], caps)
    known = [Seed(s.id, s.score, concepts[s.id]) for s in seeds if s.id in concepts]
    wanted = sorted({concept.id for seed in known for concept in seed.concepts})
    votes = vote(known, await engine.memories_of_concepts(filters.agents, wanted))
    return await engine.keep_visible(votes, filters, limit)
