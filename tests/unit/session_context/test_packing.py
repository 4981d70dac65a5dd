"""What of a session context fits its budget, worked by hand: a token is four characters."""

import pytest

from service.session_context.packing import Budget, PackedSection, Piece, SectionOrder, pack

# With the blank line in front, its heading and the ends of lines: 5 tokens, 20 characters.
FIRST = Piece("thirteen char", "first")
# 4 tokens, 16 characters.
NEXT = Piece("fifteen letters", "next")


def _order(*pieces: Piece, name: str = "A", share: float = 1.0) -> SectionOrder:
    return SectionOrder(name, f"## {name}", share, pieces)


def _ids(sections: list[PackedSection]) -> list[list[str | None]]:
    return [[piece.id for piece in section.pieces] for section in sections]


@pytest.mark.parametrize(
    ("tokens", "characters", "taken"),
    [
        (9, None, ["first", "next"]), (8, None, ["first"]), (5, None, ["first"]),
        (9, 36, ["first", "next"]), (9, 35, ["first"]), (9, 20, ["first"]),
    ],
)  # fmt: skip
def test_what_fits_exactly_is_taken(tokens: int, characters: int | None, taken: list[str]) -> None:
    [section] = pack([_order(FIRST, NEXT)], Budget(tokens, characters))
    assert [piece.id for piece in section.pieces] == taken
    assert section.left_out == 2 - len(taken)


def test_one_that_is_too_long_is_passed_over() -> None:
    long = Piece("long " * 20, "long")
    [section] = pack([_order(FIRST, long, NEXT)], Budget(9))
    assert (_ids([section]), section.left_out) == ([["first", "next"]], 1)
    [section] = pack([_order(long, FIRST, NEXT)], Budget(9))
    assert section.text == f"## A\n{FIRST.text}\n{NEXT.text}"


@pytest.mark.parametrize("characters", [None, 40])
def test_what_a_section_leaves_the_next_ones_may_use_and_no_more(characters: int | None) -> None:
    halves = [_order(name="A", share=0.5), _order(FIRST, NEXT, name="B", share=0.5)]
    assert _ids(pack(halves, Budget(10, characters))) == [[], ["first", "next"]]
    # What two sections left is added up.
    quarters = [_order(name=name, share=0.25) for name in "AB"]
    two = Budget(20, characters and 2 * characters)
    both = [*quarters, _order(FIRST, NEXT, NEXT, name="C", share=0.25)]
    assert _ids(pack(both, two)) == [[], [], ["first", "next", "next"]]
    assert _ids(pack([*both[1:], *both[:1]], two)) == [[], ["first", "next"], []]


def test_a_text_is_cut_at_a_lines_end_and_nothing_comes_behind_it() -> None:
    lines = ["The first line of what is kept here.", "The second line of it.", "Too much. " * 9]
    text = Piece("\n".join(lines), "text", may_be_cut=True)
    [section] = pack([_order(text, NEXT)], Budget(30))
    [cut] = section.pieces
    assert (cut.text, cut.id) == (f"{lines[0]}\n{lines[1]}\u2026", "text")
    assert section.left_out == 1
    # A line's end in the first half would leave out too much.
    flat = Piece(f"Title.\n{'words ' * 40}", "flat", may_be_cut=True)
    [cut] = pack([_order(flat)], Budget(30))[0].pieces
    assert 100 < len(cut.text) < 120


def test_of_a_text_too_little_says_nothing() -> None:
    text = Piece("words " * 40, "text", may_be_cut=True)
    # With the heading and the mark of what was cut 40 characters of it are 12 tokens.
    told = [bool(pack([_order(text)], Budget(tokens))[0].pieces) for tokens in range(30)]
    assert told == [False] * 12 + [True] * 18
