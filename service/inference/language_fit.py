"""Whether the embedding model reads the languages of the store: told once, in words."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Final

from service.errors import ServiceError
from service.inference.languages import brings_together
from service.inference.translations import ENGLISH, PARAPHRASES, TRANSLATIONS
from service.inference.vectors import Vectors
from service.store.database import Database
from service.store.queries import load_query
from service.text.cjk import languages_of
from service.text.languages import language_by_words

log = logging.getLogger(__name__)

SAMPLE: Final = load_query(__package__, "sample")

# 200 memories tell a share of 5 % to within 3 %, and are read in some milliseconds.
_SAMPLED: Final = 200
_LEAST_SHARE: Final = 0.05
_LOOK_SECONDS: Final = 30.0


class LanguageFit:
    """Compares the languages of a sample of the store with those that the model reads.

    A model is measured once for each language that comes up: 24 short texts.
    """

    def __init__(self, db: Database, vectors: Vectors) -> None:
        self.warning: str | None = None
        self._db = db
        self._vectors = vectors
        # By fingerprint and language.
        self._reads: dict[tuple[str, str], bool] = {}

    async def look(self) -> None:
        """Sample the store, measure what is new, and keep what does not fit as `warning`.

        It is logged when another language comes to it. Raises what the store and the embedder do.
        """
        texts = await self._db.run(SAMPLE, limit=_SAMPLED)
        found = await asyncio.to_thread(_languages, texts)
        if not found:
            self.warning = None
            return
        model = await self._vectors.prepare()
        new = [one for one in found if (model.fingerprint, one) not in self._reads]
        for language in new:
            self._reads[model.fingerprint, language] = await self._measure(language)
        unread = [one for one in found if not self._reads[model.fingerprint, one]]
        self.warning = _warning(model.name, unread) if unread else None
        if self.warning and not set(new).isdisjoint(unread):
            log.warning("%s", self.warning)

    async def _measure(self, language: str) -> bool:
        texts = [*ENGLISH, *PARAPHRASES, *TRANSLATIONS[language]]
        made = await self._vectors.embed_documents(texts)
        count = len(ENGLISH)
        return brings_together(made[:count], made[count : 2 * count], made[2 * count :])


async def keep_looking_at_languages(fit: LanguageFit) -> None:
    """Look again from time to time; while store or embedder are away, what was found stands."""
    while True:
        try:
            await fit.look()
        except ServiceError as error:
            log.debug("languages are not compared: %s", error.detail)
        await asyncio.sleep(_LOOK_SECONDS)


def _languages(texts: list[str]) -> list[str]:
    """Return the languages that enough of the texts are written in, in order."""
    counts = Counter(chain.from_iterable(map(_languages_of, texts)))
    return sorted(one for one, count in counts.items() if count >= _LEAST_SHARE * len(texts))


def _languages_of(text: str) -> set[str]:
    by_words = language_by_words(text)
    return languages_of(text) | ({by_words} if by_words else set())


def _warning(model: str, unread: Iterable[str]) -> str:
    languages = " and ".join(unread)
    return (
        f"The store holds memories in {languages}, and the embedding model {model} does not bring "
        f"{languages} and English together: such memories are found by their words alone, and not "
        "by questions in another language. Choose a multilingual model (Qwen3-Embedding, bge-m3) "
        "and run `graph-memory reembed`, or bridge names with aliases in the concepts file."
    )
