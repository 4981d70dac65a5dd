"""A reader's process: it does what the service tells it, in that order, until the line closes.

Everything goes over one line, so that a question comes after all that was written before it was
asked. Started as `python -m service.readers.reading DESCRIPTOR` with the socket it inherits.
"""

import asyncio
import logging
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import IO, Final, cast

from service.errors import EmbedderUnavailable, ServiceError
from service.inference.vectors import Vectors
from service.readers.messages import (
    LENGTH,
    Answer,
    Ask,
    Attach,
    Attached,
    Changes,
    Detach,
    Expect,
    Said,
    Taken,
    Told,
    framed,
    unframed,
)
from service.readers.replicas import ReplicaEngine, Replicas
from service.records import Vector
from service.redaction import loggable
from service.search.ranking import rank_here
from service.search.searcher import Searcher
from service.settings import Settings
from service.settling import settle
from service.stages import Stages
from service.store.database import Database

log = logging.getLogger(__name__)

# What a question may raise that a reader cannot answer; the service then ranks by itself.
_UNANSWERED: Final = (ServiceError, LookupError, ValueError, TypeError, AttributeError)


class _Given:
    """In the embedder's place: the vector that came with the question."""

    def __init__(self, vector: Vector | None) -> None:
        self._vector = vector

    async def embed_query(self, text: str, wait_seconds: float | None) -> Vector:
        """Return it; raises EmbedderUnavailable where the service had none either."""
        del text, wait_seconds
        if self._vector is None:
            raise EmbedderUnavailable
        return self._vector


class Reader:
    """Copies of indexes, and the searcher that asks them."""

    def __init__(self) -> None:
        self._replicas = Replicas()
        # The store is never asked: of a search only ranking is done here.
        self._searcher = Searcher(
            cast("Database", None),
            cast("Vectors", _Given(None)),
            Settings.model_construct(),
            ReplicaEngine(self._replicas.held),
            turns=asyncio.Semaphore(1),
        )

    async def hear(self, told: Told) -> Said | None:
        """Do what is told; return what is to be said to it."""
        match told:
            case Ask():
                return await self._answer(told)
            case Changes():
                self._replicas.take_in(told)
                return Taken()
            case Expect(agent):
                self._replicas.expect(agent)
            case Attach(agent, path):
                said = Attached(agent, self._replicas.attach(agent, Path(path)))
                settle()
                return said
            case Detach(agent):
                self._replicas.detach(agent)
        return None

    async def _answer(self, ask: Ask) -> Answer:
        stages = Stages()
        settings = Settings.model_construct(
            concept_max_memories=ask.concept_max_memories, concept_max_share=ask.concept_max_share
        )
        vectors = cast("Vectors", _Given(ask.vector))
        searcher = replace(self._searcher, settings=settings, vectors=vectors)
        try:
            hits, certainty, _ = await rank_here(searcher, ask.query, stages)
        except _UNANSWERED as error:
            return Answer(ask.number, failure=loggable(error))
        # What it took to wait for a vector that was there is no news.
        stages.milliseconds.pop("embed", None)
        return Answer(ask.number, hits, certainty, dict(stages.milliseconds), stages.counts)


async def read(line: socket.socket) -> None:
    """Do what comes over the line until it is closed: the service is gone then, or wants no more.

    Nothing else runs here, so that waiting for the line need not let others go on.
    """
    reader = Reader()
    with line.makefile("rb") as file:
        while (told := _next(file)) is not None:
            said = await reader.hear(told)
            if said is not None:
                line.sendall(framed(said))


def _next(file: IO[bytes]) -> Told | None:
    head = file.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    [length] = LENGTH.unpack(head)
    body = file.read(length)
    return cast("Told", unframed(body)) if len(body) == length else None


def main() -> None:
    """Be a reader. Who ends the service by a signal to its group ends this by closing the line."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    line = socket.socket(fileno=int(sys.argv[1]))
    try:
        asyncio.run(read(line))
    except ConnectionError:
        log.info("the service is gone")


if __name__ == "__main__":
    main()
