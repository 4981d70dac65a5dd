"""Whole memories in few bytes: what is read is what was put, and what was removed is gone."""

import random
from datetime import UTC, datetime

import pytest

from service.caching import cached_bytes
from service.index.resident.packed_memories import PackedMemories
from service.index.resident.packing import UNFIT, Packed, pack, unpack

MOMENT = datetime(2026, 2, 13, 9, 0, 0, 123456, tzinfo=UTC)
ROW = {
    "agent": "main", "kind": "note", "type": "semantic", "title": "Blue Harbour",
    "content": "We met at the harbour. 서울에서 만났다.", "occurred_at": MOMENT,
    "created_at": MOMENT, "updated_at": MOMENT, "tags": ["a", "b"],
    "heading_path": ["One"], "importance": 1.0,
    "source": {"uri": "notes/a.md", "line_start": 3, "line_end": 9}, "words": "not held",
}  # fmt: skip


def packed_of(content: str) -> Packed:
    packed = pack(ROW | {"content": content})
    assert packed is not None
    return packed


def test_a_row_comes_back_as_it_was() -> None:
    packed = pack(ROW)
    memory = unpack("key", packed)
    assert (memory.id, memory.title, memory.content) == ("key", ROW["title"], ROW["content"])
    assert (memory.occurred_at, memory.valid_from, memory.scope) == (MOMENT, None, None)
    assert (memory.tags, memory.heading_path, memory.source.line_end) == (("a", "b"), ("One",), 9)
    assert repr(memory.importance) == "1.0"
    # As JSON of the store has moments: to the nanosecond, in another form.
    other = unpack("key", pack(ROW | {"occurred_at": "2026-02-13T09:00:00.123456789Z"}))
    assert other == memory


@pytest.mark.parametrize(
    "packed", [None, b"", b"no zlib", packed_of("text")[:-9]], ids=["none", "empty", "other", "cut"]
)
def test_what_makes_no_memory_is_told(packed: Packed | None) -> None:
    with pytest.raises(UNFIT):
        unpack("key", packed)


def test_what_was_unpacked_is_at_hand_for_as_long_as_it_says_the_same() -> None:
    first, other = packed_of("The tide."), packed_of("The ebb.")
    assert unpack("key", first) is unpack("key", bytes(bytearray(first)))
    assert unpack("key", other).content == "The ebb."
    assert unpack("else", first).id == "else"
    long = packed_of("tide " * 1000)
    before = cached_bytes()
    assert unpack("long", long) == unpack("long", long)
    assert unpack("long", long) is not unpack("long", long)
    assert cached_bytes() == before


def test_what_json_cannot_say_is_not_packed() -> None:
    assert pack(ROW | {"scope": object()}) is None


def test_any_order_of_writing_and_removing_leaves_what_is_there() -> None:
    chance, held, expected = random.Random(5), PackedMemories(), dict[int, Packed]()
    for step in range(600):
        row = chance.randrange(40)
        if chance.random() < 0.3:
            held.remove(row)
            expected.pop(row, None)
        else:
            expected[row] = packed_of(f"text {step}")
            held.put([row], [expected[row]])
        if chance.random() < 0.05:
            held.finish()
        if chance.random() < 0.05:
            held = PackedMemories.restore(held.save())
        assert {row: held.get(row) for row in range(45)} == {
            row: expected.get(row) for row in range(45)
        }


def test_what_was_removed_stands_in_no_file() -> None:
    held = PackedMemories()
    held.put([0, 1], [b"the first one", b"the second one"])
    held.finish()
    held.remove(0)
    assert b"first" not in held.save().arrays["laid"].tobytes()
    assert held.bytes < 200


def test_places_beyond_the_end_are_refused() -> None:
    saved = PackedMemories().save()
    held = PackedMemories()
    held.put([0], [b"one"])
    saved = held.save()
    saved.by_row["lengths"][0] = 900
    with pytest.raises(ValueError, match="beyond their end"):
        PackedMemories.restore(saved)
