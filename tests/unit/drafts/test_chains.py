"""Chains: who follows whom when memories stand in the order of time."""

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from service.drafts.chains import Link, expected_edges

_START = datetime(2026, 2, 13, tzinfo=UTC)


def _link(key: str, hours: int = 0, position: int = 0, uri: str = "a.md") -> Link:
    return Link(_START + timedelta(hours=hours), uri, position, key)


_LINKS = st.lists(
    st.builds(
        _link,
        st.text("abc", min_size=1, max_size=4),
        st.integers(0, 3),
        st.integers(0, 3),
        st.sampled_from(["a.md", "b.md"]),
    ),
    unique_by=lambda link: link.key,
    max_size=12,
)


def test_each_follows_the_one_before_it() -> None:
    links = [_link("noon", 12), _link("morning", 9), _link("night", 23)]
    assert expected_edges(links) == {("noon", "morning"), ("night", "noon")}


def test_of_one_moment_the_document_then_the_position_then_the_key_decides() -> None:
    links = [
        _link("z", position=1),
        _link("b", position=2),
        _link("a", position=2),
        _link("first in b.md", position=0, uri="b.md"),
    ]
    assert expected_edges(links) == {("a", "z"), ("b", "a"), ("first in b.md", "b")}


def test_time_goes_before_position() -> None:
    assert expected_edges([_link("late", 1, 0), _link("early", 0, 9)]) == {("late", "early")}


def test_one_alone_follows_nobody() -> None:
    assert expected_edges([]) == set()
    assert expected_edges([_link("a")]) == set()


@given(_LINKS, st.randoms(use_true_random=False))
def test_a_chain_is_one_line_however_it_is_given(links: list[Link], random: Random) -> None:
    edges = expected_edges(links)
    assert expected_edges(random.sample(links, len(links))) == edges
    assert len(edges) == max(0, len(links) - 1)
    at = {link.key: link for link in links}
    for later, earlier in edges:
        assert at[later] > at[earlier]
    assert (
        len({later for later, _ in edges}) == len({earlier for _, earlier in edges}) == len(edges)
    )
