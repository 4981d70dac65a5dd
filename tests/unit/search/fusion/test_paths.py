"""Paths of graph hits: ids while ranking, titles in the answer, nothing for what is hidden."""

import pickle
from datetime import UTC, datetime

from service.records import Memory, Scored
from service.search.fusion.paths import of_summary, with_titles
from service.search.fusion.rrf import Fused, SignalHit, fuse

_MOMENT = datetime(2026, 2, 13, tzinfo=UTC)
_TEXT = SignalHit(2, 7.5)
_HIT = Fused("new", 0.03, {"text": _TEXT, "graph": SignalHit(1, 0.5, ("seed", "GPU"))})


def _memory(key: str, title: str, content: str) -> Memory:
    return Memory(key, "main", "note", "semantic", title, content, _MOMENT, _MOMENT, _MOMENT)


def test_the_seed_of_a_path_is_to_be_fetched() -> None:
    lists = {"text": [Scored("old", 7.5)], "graph": [Scored("new", 0.5, ("seed", "GPU"))]}
    assert {hit.id: hit.seed for hit in fuse(lists, {})} == {"new": "seed", "old": None}


def test_a_path_begins_at_the_seeds_title() -> None:
    told = with_titles(_HIT, {"seed": _memory("seed", "The seed", "Words.")})
    assert told.signals == {"text": _TEXT, "graph": SignalHit(1, 0.5, ("The seed", "GPU"))}
    assert (told.id, told.score) == (_HIT.id, _HIT.score)


def test_a_seed_without_a_title_goes_by_the_beginning_of_its_text() -> None:
    told = with_titles(_HIT, {"seed": _memory("seed", "", "# First words\n\nand more")})
    assert told.signals["graph"].path == ("First words", "GPU")


def test_a_path_from_a_seed_that_is_not_visible_is_left_out() -> None:
    told = with_titles(_HIT, {"new": _memory("new", "New", "Words.")})
    assert told.signals == {"text": _TEXT, "graph": SignalHit(1, 0.5)}


def test_a_summarys_hit_says_the_same_when_it_was_sent_from_a_reader() -> None:
    hit = of_summary(_HIT, "summary", {"seed": "other", "new": "summary"})
    sent = pickle.loads(pickle.dumps(hit))  # noqa: S301 - its own
    assert (sent.id, sent.score, sent.seed) == ("summary", _HIT.score, None)
    assert dict(sent.signals) == {"text": _TEXT, "graph": SignalHit(1, 0.5, ("other", "GPU"))}
