"""Cutting long bodies: at which borders, how large, with which lines."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from service.text.blocks import read_blocks
from service.text.splitting import Body, Limits, Part, cut_body
from service.text.tokens import estimate_tokens


def _cut(text: str, max_tokens: int, overlap_tokens: int = 0) -> list[Part]:
    lines = text.split("\n")
    body = Body(lines, 0, len(lines), read_blocks(lines).blocks)
    return cut_body(body, Limits.clamp(max_tokens, overlap_tokens))


def _contents(parts: list[Part]) -> list[str]:
    return [part.content for part in parts]


def test_a_short_body_is_one_part_without_its_blank_ends() -> None:
    assert _cut("\n\n    indented\n\nmore\n\n", 100) == [Part("    indented\n\nmore", 2, 5)]


def test_paragraphs_are_packed_greedily() -> None:
    text = "one two\n\nthree four\n\nfive six seven"
    assert _cut(text, 4) == [Part("one two\n\nthree four", 0, 3), Part("five six seven", 4, 5)]


def test_a_list_is_cut_between_items_at_any_depth() -> None:
    text = "- alpha one\n  - beta two\n  - gamma three\n- delta four"
    assert _contents(_cut(text, 6)) == [
        "- alpha one",
        "  - beta two\n  - gamma three",
        "- delta four",
    ]


def test_a_fence_is_never_cut() -> None:
    fence = "```\n" + "x = 1\n\n" * 50 + "```"
    parts = _cut(f"before\n\n{fence}\n\nafter", 20)
    assert _contents(parts) == ["before", fence, "after"]
    assert (parts[1].line_start, parts[1].line_end) == (2, 104)


def test_a_fence_in_a_list_is_never_cut() -> None:
    fence = "  ```\n" + "  y = 2\n\n" * 30 + "  ```"
    assert f"- look:\n\n{fence}" not in _contents(_cut(f"- look:\n\n{fence}\n- next", 20))
    assert fence in _contents(_cut(f"- look:\n\n{fence}\n- next", 20))


def test_a_table_is_cut_between_rows() -> None:
    text = "| a | b |\n|---|---|\n" + "| one. Two | three |\n" * 10
    parts = _cut(text, 20)
    assert len(parts) > 1
    for part in parts:
        assert all(line.startswith("|") and line.endswith("|") for line in part.content.split("\n"))


def test_a_deeper_heading_stays_with_what_follows() -> None:
    text = "one two three\n\n#### Deep\n\nfour five six"
    assert _contents(_cut(text, 8)) == ["one two three", "#### Deep\n\nfour five six"]


def test_a_long_paragraph_is_cut_at_sentences_with_overlap() -> None:
    sentences = [f"Sentence {word} ends, e.g. here." for word in "abcdefgh"]
    parts = _contents(_cut(" ".join(sentences), 30, 12))
    assert parts[0].endswith("ends, e.g. here.")
    for earlier, later in pairwise(parts):
        repeated = earlier[earlier.rindex("Sentence") :]
        assert later.startswith(repeated)
        assert estimate_tokens(repeated) <= 12


def test_a_sentence_above_the_overlap_is_repeated_by_its_last_words() -> None:
    text = "alpha beta gamma delta epsil zeta. one two three four five six."
    assert _contents(_cut(text, 10, 3)) == [
        "alpha beta gamma delta epsil zeta.",
        "epsil zeta. one two three four five six.",
    ]


def test_without_sentences_lines_come_before_words() -> None:
    text = "\n".join(f"line number {number} of output" for number in range(8))
    parts = _cut(text, 12)
    assert len(parts) > 1
    for part in parts:
        assert all(line.startswith("line") for line in part.content.split("\n"))


def test_a_word_above_the_limit_is_cut() -> None:
    parts = _contents(_cut("z" * 1_000, 10))
    assert "".join(parts) == "z" * 1_000
    assert max(map(estimate_tokens, parts)) <= 10
    assert len(parts) == 20


def test_text_without_spaces_is_cut_and_overlaps() -> None:
    text = "가나다라마바사아자차" * 10
    parts = _contents(_cut(text, 20, 5))
    assert parts[0] == text[:15]
    assert parts[1] == text[10:30]
    assert parts[-1] == text[85:]


def test_lines_of_the_pieces_of_a_paragraph() -> None:
    text = "intro\n\none two three.\nfour five six.\nseven eight nine."
    assert [(p.content, p.line_start, p.line_end) for p in _cut(text, 4)] == [
        ("intro", 0, 1),
        ("one two three.", 2, 3),
        ("four five six.", 3, 4),
        ("seven eight nine.", 4, 5),
    ]


def test_impossible_limits_are_clamped() -> None:
    assert Limits.clamp(0, 60) == Limits(1, 0)
    assert Limits.clamp(100, 90) == Limits(100, 50)
    assert Limits.clamp(100, -5) == Limits(100, 0)


_WORDS = ["word", "Mr. X", "3.5", "end.", "한국어", "다.", "longishword" * 9]
_ITEMS = ["- a b", "  - c d", "- e\n\n  f", "1. g"]
_OTHERS = [
    "#### Deep",
    "> quoted. Twice.\n> more",
    "```\na\n\nb c d e f\n```",
    "| a | b |\n|---|---|\n| c | d |",
    "<div>\nx\n</div>",
]
_TEXTS = st.lists(
    st.one_of(
        st.lists(st.sampled_from(_WORDS), min_size=1, max_size=40).map(" ".join),
        st.lists(st.sampled_from(_ITEMS), max_size=9).map("\n".join),
        st.sampled_from(_OTHERS),
    ),
    max_size=12,
).map("\n\n".join)


@given(_TEXTS, st.integers(1, 60), st.integers(0, 30))
def test_parts_are_small_slices_that_cover_the_text(text: str, limit: int, overlap: int) -> None:
    lines = text.split("\n")
    covered = line = 0
    for part in _cut(text, limit, overlap):
        assert line <= part.line_start < part.line_end <= len(lines)
        line = part.line_start
        shown = "\n".join(lines[part.line_start : part.line_end])
        assert part.content in shown
        assert shown.count("\n") == part.content.count("\n")
        assert estimate_tokens(part.content) <= limit or "```" in part.content
        # The part begins where the ones before it ended, or earlier: nothing is left out.
        due = covered + len(text[covered:]) - len(text[covered:].lstrip())
        end = text.rindex(part.content, 0, due + len(part.content)) + len(part.content)
        covered = max(covered, end)
    assert not text[covered:].strip()
