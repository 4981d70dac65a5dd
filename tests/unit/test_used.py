"""What a session used of what it was given, told as the plain way tells it and in less time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as some

from service.sessions.used import Said, _runs, used_of
from tests.effort import examples
from tests.linear_time import MOST_GROWTH, growth

Row = dict[str, Any]
BEGAN = datetime(2026, 2, 13, tzinfo=UTC)
IDS = ("0" * 32, "0123456789abcdef" * 2, "1" + "0" * 31)

moments = some.integers(0, 3).map(lambda hours: BEGAN + timedelta(hours=hours))
# Few words, so that runs of them come back; letters that write no blanks; ids in longer words.
texts = some.lists(
    some.sampled_from(("one ", "Two ", "three ", "東京都港区", "カタカナ", "0", *IDS)), max_size=16
).map("".join)
rows = some.lists(
    some.builds(
        lambda key, content, at: {"memory": key, "content": content, "first_at": at},
        some.sampled_from(IDS), texts | some.none(), moments,
    ),
    max_size=4,
)  # fmt: skip
said = some.lists(some.builds(Said, texts, moments | some.none()), max_size=4)


def plainly_used_of(rows: list[Row], said: list[Said]) -> list[str]:
    """Return the same by looking at each memory for each text."""
    return [
        row["memory"]
        for row in rows
        if any(
            row["memory"] in one.text or set(_runs(one.text)) & set(_runs(row["content"] or ""))
            for one in said
            if one.at is None or one.at >= row["first_at"]
        )
    ]


@settings(max_examples=examples(300))
@given(rows, said)
def test_it_is_what_the_plain_way_tells(rows: list[Row], said: list[Said]) -> None:
    assert used_of(rows, said) == plainly_used_of(rows, said)


def test_six_words_in_a_row_or_twelve_letters_tell_that_a_memory_was_used() -> None:
    def is_used(content: str, text: str) -> bool:
        row = {"memory": IDS[0], "content": content, "first_at": BEGAN}
        return used_of([row], [Said(text, None)]) == [IDS[0]]

    words = "The rope of the crane is red."
    assert is_used(words, "So: ROPE of the crane (is) red!")
    assert not is_used(words, "So: of the crane is red! The rope")
    letters = "港の大型クレーンの綱は赤い。"
    assert is_used(letters, "港の大型クレーンの綱は赤かった")
    assert not is_used(letters, "の大型クレーンの綱は赤かった")
    assert is_used("", f"See x{IDS[0]}0.")
    assert not is_used(words, IDS[1])


def test_twice_the_memories_and_twice_the_texts_take_twice_as_long() -> None:
    def call(length: int) -> Callable[[], object]:
        words = [" ".join(f"w{n}x{word}" for word in range(50)) for n in range(length)]
        rows = [{"memory": IDS[0], "content": text, "first_at": BEGAN} for text in words]
        said = [
            Said(f"I looked at step {n}, and went on to the next.", None) for n in range(length)
        ]
        return lambda: used_of(rows, said)

    assert growth(call, 200) <= MOST_GROWTH
