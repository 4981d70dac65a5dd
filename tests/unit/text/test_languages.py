"""The language of a text by its smallest words; pages of ours are English."""

import unicodedata
from pathlib import Path

import pytest

from service.inference.translations import ENGLISH, PARAPHRASES, TRANSLATIONS
from service.text.languages import language_by_words

DOCS = sorted(Path(__file__).parents[3].joinpath("docs").rglob("*.md"))
# Told by their letters.
BY_LETTERS = {"Chinese", "Japanese", "Korean"}
NOTES = {
    "Turkish": "Yedek almadan önce bir kopya daha alındı ve bu sunucu için yeni bir parola var.",
    "Vietnamese": "Bản sao lưu đã được tạo và mật khẩu của máy chủ không còn dùng cho nhóm này.",
}


@pytest.mark.parametrize("language", sorted(TRANSLATIONS.keys() - BY_LETTERS))
def test_a_text_is_known_by_its_smallest_words(language: str) -> None:
    text = NOTES.get(language, " ".join(TRANSLATIONS[language]))
    assert language_by_words(text) == language
    assert language_by_words(text.upper()) == language
    assert language_by_words(unicodedata.normalize("NFD", text)) == language
    assert language_by_words(f"# Note 7\n\n- {text}\n") == language


@pytest.mark.parametrize("language", sorted(BY_LETTERS))
def test_what_is_told_by_its_letters_has_no_words_of_others(language: str) -> None:
    assert language_by_words(" ".join(TRANSLATIONS[language])) is None


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_english_is_no_other_language(page: Path) -> None:
    assert language_by_words(page.read_text(encoding="utf-8")[:1000]) is None


@pytest.mark.parametrize(
    "text",
    [
        "", "...", "42", " ".join(ENGLISH), " ".join(PARAPHRASES), "Die Hard is on at nine.",
        "How do I connect to Postgres?", "To do: a backup", "I like to do puzzles",
        "Option A: do X. Option B: go to Y.", "He said: la la la.",
        "Rio de Janeiro and Le Havre were met in a port.", "def und(): pass",
        "The team calls it das Boot und nothing else, as the book has it that we read in school.",
    ],
)  # fmt: skip
def test_names_and_a_few_words_are_no_language(text: str) -> None:
    assert language_by_words(text) is None
