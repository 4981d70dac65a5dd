"""The languages of a store against those of a model: measured by vectors, logged once."""

import logging
from pathlib import Path

import pytest

from service.inference.language_fit import LanguageFit
from service.inference.translations import ENGLISH, PARAPHRASES, TRANSLATIONS
from tests.servers.outer_embeddings import OuterEmbeddings, serving, vector_of
from tests.stores.open_store import OpenStore

pytestmark = pytest.mark.anyio

TEXTS = {
    "Korean": "회의는 월요일로 미뤘다. Redis 도 옮겼다.",
    "Chinese": "今天的会议推迟了。",
    "Japanese": "会議は月曜日に延期された。",
    "German": "Wir haben die Besprechung auf Montag verschoben, und der Server ist umgezogen.",
    "Hindi": "बैठक को सोमवार तक टाल दिया गया है और सर्वर की जगह बदल दी गई है।",
    "Thai": "เลื่อนการประชุมไปวันจันทร์แล้ว",
}


class Multilingual(OuterEmbeddings):
    """Gives a sentence, its paraphrase and its translations one vector, in what it reads."""

    reads: tuple[str, ...] = ()

    def vector(self, text: str) -> list[float]:
        """Return the vector of the English sentence of the same meaning."""
        known = [PARAPHRASES, *(TRANSLATIONS[language] for language in self.reads)]
        for sentences in known:
            if text in sentences:
                text = ENGLISH[sentences.index(text)]
        return vector_of(text, self.dimensions)


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.message for r in caplog.records if r.name == "service.inference.language_fit"]


async def looked(
    tmp_path: Path, reads: tuple[str, ...], texts: list[str], looks: int = 1
) -> tuple[str | None, int]:
    """Return what was warned of, and how many texts were embedded to find out."""
    outer = Multilingual()
    outer.reads = reads
    with serving(outer):
        opened = OpenStore(tmp_path, outer)
        await opened.open()
        try:
            await opened.push(*texts)
            before = len(outer.embedded_texts())
            fit = LanguageFit(opened.db, opened.vectors)
            for _ in range(looks):
                await fit.look()
            return fit.warning, len(outer.embedded_texts()) - before
        finally:
            await opened.close()


@pytest.mark.parametrize("language", TEXTS)
async def test_a_model_that_reads_the_notes_gives_no_warning(tmp_path: Path, language: str) -> None:
    warning, measured = await looked(tmp_path, (language,), [TEXTS[language]])
    assert (warning, measured) == (None, 24)


@pytest.mark.parametrize("language", TEXTS)
async def test_a_model_that_reads_other_languages_is_told_of(tmp_path: Path, language: str) -> None:
    others = tuple(other for other in TEXTS if other != language)
    warning, _ = await looked(tmp_path, others, [*TEXTS.values(), "An English one."])
    assert warning is not None
    assert f"memories in {language}," in warning


async def test_it_is_measured_and_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        warning, measured = await looked(tmp_path, (), [TEXTS["Korean"]], looks=3)
    assert (logged(caplog), measured) == ([warning], 24)


async def test_a_word_in_another_script_makes_no_language(tmp_path: Path) -> None:
    texts = ["The team calls it 김치, and nobody minds that at all.", "Words."]
    assert await looked(tmp_path, (), texts) == (None, 0)


async def test_few_of_many_memories_make_no_warning(tmp_path: Path) -> None:
    english = [f"Note {number} tells of the weather." for number in range(40)]
    assert await looked(tmp_path, (), [*english, TEXTS["Korean"]]) == (None, 0)
