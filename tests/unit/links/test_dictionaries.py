"""Dictionaries in RAM: the least recently used go when they do not fit."""

from service.links.dictionaries import Dictionaries
from service.names.dictionary import Dictionary
from service.names.names import Name


def dictionary(names: int) -> Dictionary:
    made = Dictionary()
    for number in range(names):
        made.add(Name(f"name_{number}", f"Name {number}", "heading"))
    return made


def test_a_dictionary_grows_with_its_names() -> None:
    assert dictionary(0).bytes == 0
    assert 2 * dictionary(50).bytes == dictionary(100).bytes > 5_000


def test_the_least_recently_used_are_let_go() -> None:
    size = dictionary(10).bytes
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


def test_one_beyond_the_budget_stays_alone() -> None:
    held = Dictionaries(budget_bytes=dictionary(10).bytes)
    held.put("small", dictionary(5))
    held.put("large", dictionary(100))
    assert (held.get("small"), held.get("large") is not None) == (None, True)
    held.clear()
    assert held.bytes == 0
