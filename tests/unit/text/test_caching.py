"""Caches of words are bounded in bytes: long texts never stay."""

from service.text.caching import LONGEST_CACHED_CHARACTERS, cached_by_word, cached_bytes


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
