"""What joins memories, by kind of edge, on a graph of five memories."""

from service.graph.edge_kinds import (
    ConceptNeighbours,
    ConceptSize,
    EdgeKind,
    GraphSample,
    MemoryLinks,
    edge_kinds,
    sample_pairs,
)

#  a mentions gpu, vram · b mentions gpu · c mentions vram, hardware · d, e mention all (a hub)
CONCEPTS = [
    ConceptSize("all", "tag", 5),
    ConceptSize("gpu", "declared", 2),
    ConceptSize("hardware", "title", 1),
    ConceptSize("vram", "odd", 2),
]
LINKS = {
    "a": MemoryLinks(("all", "gpu", "vram"), ("b",)),
    "b": MemoryLinks(("all", "gpu"), ("a", "c")),
    "c": MemoryLinks(("all", "hardware", "vram"), ("b",)),
    "d": MemoryLinks(("all",), ()),
    "e": MemoryLinks(("all",), ()),
}
NEIGHBOURS = {
    "gpu": ConceptNeighbours({"vram": 1, "all": 2}, ("hardware",)),
    "vram": ConceptNeighbours({"gpu": 1}, ()),
}
MEMORIES_OF = {
    "all": ["a", "b", "c", "d", "e"],
    "gpu": ["a", "b"],
    "hardware": ["c"],
    "vram": ["a", "c"],
}
GRAPH = GraphSample(5, 3, CONCEPTS, LINKS, NEIGHBOURS, {"related_to": 4, "is_a": 1})


def _named() -> dict[str, EdgeKind]:
    return {edges.kind or edges.edge: edges for edges in edge_kinds(GRAPH)}


def test_only_concepts_of_some_memories_link() -> None:
    assert GRAPH.linking() == {"gpu": 2, "vram": 2}
    assert GRAPH.sampled_linking() == ["gpu", "vram"]


def test_every_kind_is_told_in_order() -> None:
    named = _named()
    assert list(named) == ["declared", "title", "tag", "odd", "tight", "loose", "is_a", "follows"]
    counts = {name: (e.count, e.concepts, e.reached) for name, e in named.items()}
    assert counts == {
        "declared": (2, 1, 2),
        "title": (1, 1, 0),
        "tag": (5, 1, 0),
        "odd": (2, 1, 2),
        # The hub leads on nowhere: vram is what gpu is related to.
        "tight": (4, 2, 3),
        "loose": (0, 0, 0),
        "is_a": (1, 2, 2),
        "follows": (2, 0, 3),
    }


def test_the_pairs_that_each_joins() -> None:
    pairs = {name: sample_pairs(edges).pairs(MEMORIES_OF) for name, edges in _named().items()}
    assert pairs == {
        "declared": [("a", "b")],
        "title": [],
        "tag": [],
        "odd": [("a", "c")],
        # a mentions both gpu and vram: only b and c need the step from one to the other.
        "tight": [("b", "c")],
        "loose": [],
        "is_a": [("a", "c"), ("b", "c")],
        "follows": [("a", "b"), ("b", "c")],
    }


def test_what_seldom_stands_together_is_loose_unless_declared() -> None:
    concepts = [ConceptSize("a", "proper", 20), ConceptSize("b", "proper", 20)]
    links = {"m": MemoryLinks(("a",), ())}
    for weight, kind in ((1, "loose"), (2, "tight"), (None, "tight")):
        neighbours = {"a": ConceptNeighbours({"b": weight}, ())}
        graph = GraphSample(40, 30, concepts, links, neighbours, {"related_to": 1})
        counts = {edges.kind: edges.count for edges in edge_kinds(graph)}
        assert counts[kind] == 1, weight


def test_only_the_lists_that_are_needed_are_asked_for() -> None:
    asked = {name: sample_pairs(edges).concepts() for name, edges in _named().items()}
    assert asked["declared"] == {"gpu"}
    assert asked["is_a"] == {"gpu", "hardware"}
    assert (asked["tag"], asked["follows"]) == (set(), set())


def test_a_sample_stands_for_all() -> None:
    sampled = GraphSample(50, 3, CONCEPTS, LINKS)
    follows = list(edge_kinds(sampled))[-1]
    assert (follows.edge, follows.count) == ("follows", 20)
    empty = GraphSample(0, 10, [], {})
    assert [e.count for e in edge_kinds(empty)] == [0, 0, 0, 0]
