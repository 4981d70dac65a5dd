"""The end of a conversation as far as there is room, and lines that tell what was before."""

from service.context.conversation import Message, extract_of, take_recent
from service.session_context.packing import Budget

ROOMY = 100_000
TALK = [
    Message("user", "From now on use tabs. The crane is red."),
    Message("assistant", "I see.\nIt is high."),
    Message("user", "Mend the  rope! From now on always paint it green."),
    Message("assistant", "  "),
]
LINES = [
    "- user: From now on use tabs.",
    "- assistant: I see.",
    "- user: Mend the rope!",
    "- user: From now on always paint it green.",
]


def test_the_last_messages_are_taken_without_a_gap() -> None:
    talk = [Message("user", one) for one in ("a", "b" * 50, "c", "d")]
    assert take_recent(talk, Budget(ROOMY)) == (talk, 0)
    assert take_recent(talk, Budget(ROOMY, 40)) == (talk[2:], 2)
    assert take_recent([], Budget(ROOMY)) == ([], 0)


def test_a_last_message_that_is_too_long_is_cut_at_its_front_and_fills_the_room() -> None:
    talk = [Message("user", "first"), Message("user", "0123456789" * 10)]
    # The role, the mark of the cut and the line's end take eight.
    for most in (9, 18, 57):
        room = Budget(ROOMY, most)
        cut = Message("user", f"\u2026{talk[1].content[8 - most :]}")
        assert take_recent(talk, room) == ([cut], 1)
        assert room.characters == 0
    for most in (0, 8):
        room = Budget(ROOMY, most)
        assert take_recent(talk, room) == ([], 2)
        assert room.characters == most
    # One before the last is left out whole.
    talk = [talk[1], Message("user", "last")]
    assert take_recent(talk, Budget(ROOMY, 60)) == (talk[1:], 1)


def test_each_message_is_told_by_its_first_sentence_and_what_is_to_be_kept() -> None:
    assert extract_of(TALK, Budget(ROOMY)) == LINES


def test_of_an_extract_the_latest_lines_stay_in_their_order() -> None:
    size = sum(len(line) + 1 for line in LINES[1:])
    assert extract_of(TALK, Budget(ROOMY, size)) == LINES[1:]
    # One that does not fit is passed over.
    assert extract_of(TALK, Budget(ROOMY, size - len(LINES[2]))) == [LINES[1], LINES[3]]


def test_a_first_sentence_is_cut_where_it_is_long() -> None:
    for length, told in ((200, "x" * 200), (201, f"{'x' * 200}\u2026")):
        assert extract_of([Message("user", "x" * length)], Budget(ROOMY)) == [f"- user: {told}"]
    kept = f"From now on use {'tabs ' * 40}here."
    assert extract_of([Message("user", kept)], Budget(ROOMY)) == [f"- user: {kept}"]
