"""Dictionaries in RAM: the least recently used go when they do not fit."""

from service.links.dictionaries import Dictionaries
from service.names.dictionary import Dictionary
from service.names.names import Name


def dictionary(names: int) -> Dictionary:
    made = Dictionary()
    for number in range(names):
        made.add(Name(f"name_{number}", f"Name {number}", "heading"))
    return made


def held_bytes(names: int) -> int:
    """Return what one dictionary of so many names takes of the budget."""
    held = Dictionaries()
    held.put("a", dictionary(names))
    return held.bytes


def test_a_dictionary_grows_with_its_names() -> None:
    assert dictionary(0).bytes == 0
    assert 2 * dictionary(50).bytes == dictionary(100).bytes > 5_000


def test_the_least_recently_used_are_let_go() -> None:
    size = held_bytes(10)
    held = Dictionaries(budget_bytes=3 * size)
    for agent in "abc":
        held.put(agent, dictionary(10))
    taken = held.take("a")
    assert taken is not None
    assert held.get("a") is None
    held.put("a", taken)
    held.put("d", dictionary(10))
    assert [held.get(agent) is not None for agent in "abcd"] == [True, False, True, True]
    assert held.bytes == 3 * size


def test_empty_ones_take_room_too() -> None:
    """Whoever makes agents up by storing for them must not fill the RAM with empty ones."""
    held = Dictionaries(budget_bytes=10 * held_bytes(0))
    for number in range(100):
        held.put(f"agent {number}", dictionary(0))
    assert held.bytes == 10 * held_bytes(0) > 0
    assert held.get("agent 89") is None
    assert held.get("agent 90") is not None


def test_one_beyond_the_budget_stays_alone() -> None:
    held = Dictionaries(budget_bytes=dictionary(10).bytes)
    held.put("small", dictionary(5))
    held.put("large", dictionary(100))
    assert (held.get("small"), held.get("large") is not None) == (None, True)
    held.clear()
    assert held.bytes == 0
