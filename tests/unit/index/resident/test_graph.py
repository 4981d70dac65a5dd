"""Edges both ways against a plain set of pairs, and what the graph says about concepts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.index.resident import ragged
from service.index.resident.adjacency import AdjacencyLists, Weighed
from service.index.resident.facts import CorruptRow
from service.index.resident.graph import EDGE_TABLES, AgentGraph
from service.names.shares import DECLARED_SHARE
from service.records import Concept, Related
from tests.effort import examples

NODES = 6

pairs = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1))
changes = st.sampled_from(["put", "put", "put", "remove", "remove", "pack", "restore"])
steps = st.lists(st.tuples(changes, pairs, st.integers(0, 3)), max_size=60)


@settings(max_examples=examples(200))
@given(steps)
def test_any_history_of_edges_reads_the_same_both_ways(
    history: list[tuple[str, tuple[int, int], int]],
) -> None:
    edges, held = AdjacencyLists(), dict[tuple[int, int], int]()
    for change, pair, weight in history:
        if change == "put":
            edges.put(*pair, weight)
            held[pair] = weight
        elif change == "remove":
            edges.remove(*pair)
            held.pop(pair, None)
        else:
            edges.pack()
            edges = AdjacencyLists.restore(edges.save()) if change == "restore" else edges
            assert edges.sources().tolist() == sorted({start for start, _ in held})
            assert edges.targets().tolist() == sorted({end for _, end in held})
    assert sorted(edges) == sorted(held)
    assert edges.count == len(held)
    for node in range(NODES):
        assert sorted(edges.ahead(node)) == sorted(end for start, end in held if start == node)
        assert sorted(edges.behind(node)) == sorted(start for start, end in held if end == node)
    for start in range(NODES):
        for end in range(NODES):
            assert edges.weight(start, end) == held.get((start, end), 0)
    for node in range(NODES):
        ahead = {end: weight for (start, end), weight in held.items() if start == node}
        behind = {start: weight for (start, end), weight in held.items() if end == node}
        assert weights_of(edges.weighed_ahead(node)) == ahead
        assert weights_of(edges.weighed_behind(node)) == behind


def weights_of(weighed: Weighed) -> dict[int, int]:
    ends, weights = weighed
    return dict(zip(ends.tolist(), weights.tolist(), strict=True))


def test_what_changed_is_packed_when_it_is_as_much_as_what_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ragged, "_MOST_CHANGED", 2)
    edges, held = AdjacencyLists(), set[tuple[int, int]]()
    for number in range(100):
        pair = (number * 7 % 20, number * 3 % 50)
        edges.put(*pair, number)
        held.add(pair)
    assert set(edges) == held
    assert max(len(lists._changed) for lists in edges._lists().values()) <= 50
    hub = AdjacencyLists()
    for source in range(200):
        hub.put(source, 0, source)
    hub.remove(100, 0)
    hub.put(150, 0, 7)
    assert weights_of(hub.weighed_behind(0)) == {n: n for n in range(200) if n != 100} | {150: 7}


@pytest.mark.parametrize("weight", [2**31, -(2**31), 1.0, "3", None, True])
def test_a_weight_that_makes_no_sense_is_refused(weight: object) -> None:
    edges = AdjacencyLists()
    with pytest.raises(CorruptRow):
        edges.put(0, 1, weight)  # type: ignore[arg-type]
    assert (edges.count, list(edges)) == (0, [])


def graph_of(**memories: int) -> AgentGraph:
    graph = AgentGraph("main")
    for slug, count in memories.items():
        graph.put_concept(slug, slug.title(), count)
    return graph


def relate(
    graph: AgentGraph, source: str, target: str, weight: int, *, declared: bool = False
) -> None:
    graph.put_edge("related_to", (source, target), weight, is_declared=declared)


def concept(slug: str, memories: int) -> Concept:
    return Concept(("main", slug), slug.title(), memories)


def test_a_memorys_concepts_are_those_that_link() -> None:
    graph = graph_of(once=1, twice=2, often=10, hub=11)
    for slug in ("hub", "often", "once", "twice", "unheard"):
        graph.edges["references"].put(0, graph.number_of(slug))
    assert graph.concepts_of(0, 10) == (concept("often", 10), concept("twice", 2))
    assert graph.concepts_of(0, 0) == ()
    assert graph.concepts_of(1, 10) == ()


def test_concepts_of_one_name_are_told_up_to_a_number_of_memories() -> None:
    graph = AgentGraph("main")
    graph.put_concept("pod", "Pod", 200)
    graph.put_concept("hub", "Hub", 201)
    graph.put_concept("gpu", "GPU", 2, ["graphics_card"])
    words = frozenset({1})
    names = {"pod": words, "hub": words, "gpu": words, "graphics_card": words, "node": words}
    assert graph.concepts_of_one_name(names, 200) == {Concept(("main", "pod"), "Pod", 200): words}
    assert graph.concepts_of_one_name(dict.fromkeys(names, frozenset[int]()), 200) == {}
    graph.remove_concept("pod")
    assert graph.concepts_of_one_name(names, 200) == {}


def test_related_concepts_come_tightest_first_and_ties_by_slug() -> None:
    graph = graph_of(here=10, a=10, b=10, c=20, d=5, e=3)
    relate(graph, "here", "b", 5)
    relate(graph, "a", "here", 5)
    relate(graph, "here", "c", 10)
    relate(graph, "d", "here", 0, declared=True)
    graph.edges["is_a"].put(graph.number_of("here"), graph.number_of("e"))
    expected = [
        Related(concept("d", 5), "related_to", DECLARED_SHARE),
        Related(concept("e", 3), "is_a", DECLARED_SHARE),
        Related(concept("a", 10), "related_to", 0.5),
        Related(concept("b", 10), "related_to", 0.5),
        Related(concept("c", 20), "related_to", 0.5),
    ]
    assert graph.related("here", {"related_to", "is_a"}) == expected
    assert graph.related("e", {"is_a"}) == [Related(concept("here", 10), "is_a", DECLARED_SHARE)]
    assert graph.related("here", {"is_a"}) == [expected[1]]
    assert graph.related("here", set()) == []
    assert graph.related("unheard", {"is_a", "related_to"}) == []


def test_of_each_side_the_twenty_heaviest_count() -> None:
    graph = graph_of(m=100, **{f"a{n:02}": 100 for n in range(25)})
    graph.put_concept("z", "Z", 100)
    for number in range(25):
        relate(graph, f"a{number:02}", "m", 5 + number % 2)
    relate(graph, "m", "z", 1)
    found = [related.concept.id[1] for related in graph.related("m", {"related_to"})]
    heavy = [f"a{n:02}" for n in range(25) if n % 2]
    light = [f"a{n:02}" for n in range(25) if not n % 2]
    assert found == [*heavy, *light[:8], "z"]


def test_a_concept_that_is_gone_is_nobodys_and_may_come_back() -> None:
    graph = graph_of(here=4, there=4)
    relate(graph, "here", "there", 2)
    graph.edges["references"].put(0, graph.number_of("there"))
    graph.remove_concept("there")
    graph.remove_concept("never there")
    assert (graph.knows("there"), graph.knows("never there")) == (False, False)
    assert graph.related("here", {"related_to"}) == []
    assert graph.concepts_of(0, 10) == ()
    assert graph.counts()["concept"] == 1
    graph.put_concept("there", "There", 5)
    assert graph.related("here", {"related_to"}) == [
        Related(concept("there", 5), "related_to", 0.4)
    ]


@pytest.mark.parametrize("table", EDGE_TABLES)
def test_edges_are_counted_by_table(table: str) -> None:
    graph = AgentGraph("main")
    for name, edges in graph.edges.items():
        if name == table:
            edges.put(1, 2)
    assert graph.counts() == {"concept": 0} | {name: int(name == table) for name in EDGE_TABLES}
    assert graph.bytes > 0


def spellings(graph: AgentGraph, *names: str) -> set[str]:
    """Return all slugs of what goes by these names."""
    return set(graph.spellings(dict.fromkeys(names, frozenset[int]())))


def test_a_graph_knows_by_which_slugs_a_concept_went() -> None:
    graph = AgentGraph("main")
    graph.put_concept("server", "Server", 5, ["servers", "ser_ver"])
    assert spellings(graph, "servers", "kettle") == {"server", "servers", "ser_ver", "kettle"}
    graph.put_concept("servers", "Servers", 2)
    graph.put_concept("server", "Server", 3, ["ser_ver"])
    assert spellings(graph, "server") == {"server", "ser_ver"}
    assert spellings(graph, "servers") == {"servers"}
    graph.remove_concept("server")
    assert spellings(graph, "ser_ver") == {"ser_ver"}


def test_a_slug_is_made_of_the_words_of_all_names_of_its_concept() -> None:
    graph = AgentGraph("main")
    graph.put_concept("server", "Server", 5, ["ser_ver", "box"])
    names = {"ser_ver": frozenset({0, 1}), "box": frozenset({3}), "kettle": frozenset({2})}
    told = graph.spellings(names)
    assert told["kettle"] == {2}
    assert told["server"] == told["box"] == {0, 1, 3}


def test_a_concept_that_moves_to_another_is_told_in_any_order() -> None:
    graph = AgentGraph("main")
    graph.put_concept("server", "Server", 5, ["servers"])
    graph.put_concept("box", "Box", 7, ["server", "servers"])
    graph.remove_concept("server")
    assert spellings(graph, "servers") == {"box", "server", "servers"}
    graph.put_concept("server", "Server", 5, ["servers"])
    graph.put_concept("box", "Box", 2)
    assert spellings(graph, "servers") == {"server", "servers"}
    graph.put_concept("box", "Box", 7, ["servers"])
    graph.remove_concept("box")
    graph.remove_concept("server")
    assert spellings(graph, "servers") == {"servers"}
    with pytest.raises(CorruptRow):
        graph.put_concept("box", "Box", 7, [3])  # type: ignore[list-item]
