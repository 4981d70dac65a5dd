"""What links change: edges, counts and weights, which add up and can be taken back."""

from collections import Counter
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from service.names.relations import LinkChange, Pair, link_change, pairs

_SLUGS = st.frozensets(st.sampled_from("abcdefghijklmno"), max_size=14)
_STATE = st.dictionaries(st.sampled_from(["m1", "m2", "m3", "m4"]), _SLUGS)

State = dict[str, frozenset[str]]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def test_what_comes_and_what_goes() -> None:
    change = link_change({"m1": _set("gpu vram")}, {"m1": _set("gpu driver"), "m2": _set("gpu")})
    assert change.added == {("m1", "driver"), ("m2", "gpu")}
    assert change.dropped == {("m1", "vram")}
    assert change.counts == {"driver": 1, "vram": -1, "gpu": 1}
    assert change.weights == {("driver", "gpu"): 1, ("gpu", "vram"): -1}


def test_a_memory_that_goes_takes_all_it_brought() -> None:
    change = link_change({"m1": _set("a b")}, {})
    assert (change.counts, change.weights) == ({"a": -1, "b": -1}, {("a", "b"): -1})


def test_what_stays_is_no_change() -> None:
    state = {"m1": _set("a b c"), "m2": _set("a")}
    assert link_change(state, dict(state)) == LinkChange(frozenset(), frozenset(), {}, {})


def test_two_memories_tie_a_pair_twice() -> None:
    after = {"m1": _set("b a"), "m2": _set("a b")}
    assert link_change({}, after).weights == {("a", "b"): 2}


def test_pairs_are_in_ascending_order_and_bounded() -> None:
    assert pairs(["c", "a", "b"]) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs(["a"]) == []
    many = pairs(f"{n:02}" for n in range(40))
    assert len(many) == 66
    assert max(many) == ("10", "11")


@given(st.sets(st.sampled_from("abcdefghijklmnop")), st.randoms(use_true_random=False))
def test_pairs_depend_on_the_set_alone(slugs: set[str], random: Random) -> None:
    shuffled = random.sample(sorted(slugs), len(slugs))
    assert pairs(shuffled) == pairs(slugs)


def _total(changes: list[LinkChange]) -> tuple[dict[str, int], dict[Pair, int]]:
    """Return what the counts and weights come to, without zeros; Counter.update adds."""
    counts: Counter[str] = Counter()
    weights: Counter[Pair] = Counter()
    for change in changes:
        counts.update(change.counts)
        weights.update(change.weights)
    return {k: by for k, by in counts.items() if by}, {k: by for k, by in weights.items() if by}


@given(st.lists(_STATE, max_size=6), st.randoms(use_true_random=False))
def test_changes_in_any_order_add_up_to_the_last_state(states: list[State], random: Random) -> None:
    changes = [link_change(old, new) for old, new in pairwise([{}, *states])]
    random.shuffle(changes)
    counts, weights = _total(changes)
    last = states[-1] if states else {}
    assert counts == Counter(slug for slugs in last.values() for slug in slugs)
    assert weights == Counter(pair for slugs in last.values() for pair in pairs(slugs))


@given(st.lists(_STATE, max_size=6), st.randoms(use_true_random=False))
def test_undoing_every_change_leaves_nothing(states: list[State], random: Random) -> None:
    steps = list(pairwise([{}, *states, {}]))
    random.shuffle(steps)
    assert _total([link_change(old, new) for old, new in steps]) == ({}, {})


@given(_STATE, _STATE)
def test_the_way_back_is_the_way_with_its_signs_turned(before: State, after: State) -> None:
    there, back = link_change(before, after), link_change(after, before)
    assert (there.added, there.dropped) == (back.dropped, back.added)
    assert there.counts == {slug: -by for slug, by in back.counts.items()}
    assert there.weights == {pair: -by for pair, by in back.weights.items()}
    edges = {(key, slug) for key, slugs in before.items() for slug in slugs}
    wanted = {(key, slug) for key, slugs in after.items() for slug in slugs}
    assert (edges - there.dropped) | there.added == wanted
