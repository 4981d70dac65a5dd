"""The block structure of a text, and that windows do not change it."""

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from service.text.blocks import Block, Passage, read_blocks

_TEXT = """\
# Title

Some text
over two lines.

- item one
- item two
  > quoted

  ```
  ## code
  ```

| a | b |
|---|---|
| [[x]] | 2 |

<!--
## hidden
-->
***"""


def test_kinds_and_lines() -> None:
    outline = read_blocks(_TEXT.split("\n"))
    assert [(b.kind, b.line_start, b.line_end) for b in outline.blocks] == [
        ("heading", 0, 1),
        ("paragraph", 2, 4),
        ("bullet_list", 5, 13),
        ("table", 13, 16),
        ("html_block", 17, 20),
        ("hr", 20, 21),
    ]
    assert outline.blocks[0].text == "Title"
    assert outline.blocks[0].level == 1


def test_lists_hold_items_and_items_their_blocks() -> None:
    items = read_blocks(_TEXT.split("\n")).blocks[2].children
    assert [(item.kind, item.line_start) for item in items] == [("list_item", 5), ("list_item", 6)]
    assert [block.kind for block in items[1].children] == ["paragraph", "blockquote", "fence"]


def test_passages_leave_code_and_comments_out() -> None:
    text = "a #tag\n\n```\n[[no]]\n```\n\n    [[no]]\n\n<!-- [[no]] -->\n\n> - [[yes]]"
    assert read_blocks(text.split("\n")).passages == [
        Passage(0, 1, "a #tag"),
        Passage(10, 11, "[[yes]]"),
    ]


def test_link_definitions_are_text() -> None:
    assert [b.kind for b in read_blocks(["[a]: http://x", "", "b"]).blocks] == ["paragraph"] * 2


def test_nothing() -> None:
    assert read_blocks([]).blocks == []
    assert read_blocks(["", "  ", "\t"]).blocks == []


_LINES = st.lists(
    st.sampled_from(
        ["", "", "text", "## h", "- a", "  - b", "    c", "1. x", "> q", "```", "~~~", "<div>",
         "<!--", "-->", "---", "===", "| a | b |", "|---|---|", "   ## g", "    code", "\t- t"]
    ),
    max_size=40,
)  # fmt: skip


def _flatten(blocks: Sequence[Block]) -> Iterator[tuple[str, int, str]]:
    """Yield the blocks without their top-level lists, which a window may cut between items."""
    for block in blocks:
        if block.kind in {"bullet_list", "ordered_list"}:
            yield from (
                ("list_item", item.line_start, str(item.children)) for item in block.children
            )
        else:
            yield block.kind, block.line_start, f"{block.level}{block.text}{block.children}"


@given(_LINES, st.integers(1, 60))
def test_windows_give_the_same_blocks(lines: list[str], window_characters: int) -> None:
    whole = read_blocks(lines)
    windowed = read_blocks(lines, window_characters)
    assert list(_flatten(windowed.blocks)) == list(_flatten(whole.blocks))
    assert windowed.passages == whole.passages
