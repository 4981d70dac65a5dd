"""Caches of words are bounded in bytes: long texts never stay."""

from service.caching import (
    LONGEST_CACHED_CHARACTERS,
    LONGEST_CACHED_TEXT,
    WordTable,
    cached_by_text,
    cached_by_word,
    cached_bytes,
)


def test_words_stay_and_long_texts_do_not() -> None:
    asked = list[str]()

    @cached_by_word(2)
    def shout(word: str) -> str:
        asked.append(word)
        return word.upper()

    before = cached_bytes()
    long = "a" * (LONGEST_CACHED_CHARACTERS + 1)
    assert [shout(word) for word in ("one", "one", long, long, "two", "three", "one")] == [
        "ONE", "ONE", long.upper(), long.upper(), "TWO", "THREE", "ONE",
    ]  # fmt: skip
    # Two stay at most: the first was let go for the third.
    assert asked == ["one", long, long, "two", "three", "one"]
    assert cached_bytes() - before == 2 * 400


def test_texts_stay_for_a_while_and_very_long_ones_do_not() -> None:
    asked = list[int]()

    @cached_by_text()
    def count(text: str) -> int:
        asked.append(len(text))
        return len(text.split())

    before = cached_bytes()
    long = "word " * (LONGEST_CACHED_TEXT // 5 + 1)
    assert [count(text) for text in ("a b", long, "a b", long)] == [2, len(long) // 5] * 2
    assert asked == [3, len(long), len(long)]
    assert cached_bytes() > before


def test_a_table_forgets_all_when_it_is_full_and_keeps_no_long_word() -> None:
    asked = list[str]()

    def shout(word: str) -> str:
        asked.append(word)
        return word.upper()

    before, table = cached_bytes(), WordTable(shout, 2)
    long = "a" * (LONGEST_CACHED_CHARACTERS + 1)
    words = ("one", "one", long, long, "two", "three", "three", "one")
    assert [table[word] for word in words] == [word.upper() for word in words]
    # The third let go of the two before it.
    assert asked == ["one", long, long, "two", "three", "one"]
    assert cached_bytes() - before == 2 * 400
    # What does not stay lets go of nothing.
    assert table[long] == long.upper()
    assert cached_bytes() - before == 2 * 400
