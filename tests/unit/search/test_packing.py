"""What a token budget takes: in order, title and text, and what is too long makes room."""

from datetime import UTC, datetime

import pytest

from service.records import Memory
from service.search.packing import pack

_AT = datetime(2026, 2, 13, tzinfo=UTC)


def _memory(key: str, tokens: int, title_tokens: int = 0) -> Memory:
    """Return a memory of so many tokens, each of four characters."""
    title, content = "abc " * title_tokens, "abc " * tokens
    return Memory(key, "main", "note", "semantic", title, content, _AT, _AT, _AT)


@pytest.mark.parametrize(
    ("budget", "taken"),
    [(4, ""), (5, "c"), (9, "c"), (10, "a"), (15, "ac"), (30, "ac"), (65, "abc")],
)
def test_one_that_is_too_long_is_passed_over(budget: int, taken: str) -> None:
    memories = [_memory("a", 10), _memory("b", 50), _memory("c", 5)]
    assert "".join(one.id for one in pack(memories, budget)) == taken


def test_a_title_costs_too() -> None:
    titled = [_memory("a", 10, title_tokens=3)]
    assert pack(titled, 12) == []
    assert pack(titled, 13) == titled


def test_a_snippet_costs_in_the_place_of_its_text() -> None:
    memories = [_memory("a", 50, title_tokens=1), _memory("b", 50)]
    snippets = {"a": "abc " * 4, "b": "abc " * 6}
    assert [one.id for one in pack(memories, 5, snippets)] == ["a"]
    assert [one.id for one in pack(memories, 11, snippets)] == ["a", "b"]
