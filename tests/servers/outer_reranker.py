"""A foreign rerank server for tests, as a real HTTP server: the shapes of Cohere and of TEI.

It is a fake at the outer edge: it scores by shared words, where a real one runs a cross-encoder.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from service.text.words import query_words
from tests.servers.outer_embeddings import Answer, Asked, serving

NOT_FOUND = Answer({"error": {"message": "no such path"}}, 404)


def shared_words(question: str, document: str) -> float:
    """Return the share of the question's words that stand in the document."""
    asked = set(query_words(question).split())
    return len(asked & set(query_words(document).split())) / max(1, len(asked))


@dataclass(slots=True)
class OuterReranker:
    """What the server is and what it was asked; `next_answers` are given before good ones."""

    url: str = ""
    speaks_tei: bool = False
    score: Callable[[str, str], float] = shared_words
    requests: list[Asked] = field(default_factory=list)
    next_answers: deque[Answer] = field(default_factory=deque)
    before_answering: Callable[[], None] | None = None

    def answer(self, asked: Asked) -> Answer:
        """Choose the answer to one request."""
        self.requests.append(asked)
        if self.before_answering:
            self.before_answering()
        if self.next_answers:
            return self.next_answers.popleft()
        if self.speaks_tei:
            return self._tei(asked)
        if asked.path != "/v1/rerank":
            return NOT_FOUND
        if {"query", "documents"} - asked.body.keys():
            return Answer({"detail": "field required"}, 422)
        ranks = self.ranks(asked.body, asked.body["documents"], "relevance_score")
        return Answer({"results": ranks[: asked.body["top_n"]], "model": "outer-reranker"})

    def _tei(self, asked: Asked) -> Answer:
        if asked.path != "/rerank":
            return Answer(b"", 404)
        if {"query", "texts"} - asked.body.keys():
            return Answer(b"missing field `texts`", 422)
        return Answer(self.ranks(asked.body, asked.body["texts"], "score"))

    def ranks(
        self, body: Mapping[str, Any], documents: Sequence[str], name: str
    ) -> list[dict[str, Any]]:
        """Return index and score of each document, best first, as every server does."""
        scores = [self.score(body["query"], document) for document in documents]
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        return [{"index": index, name: scores[index]} for index in order]


@contextmanager
def outer_reranker(**settings: Any) -> Iterator[OuterReranker]:
    """Run such a server in a thread."""
    outer = OuterReranker(**settings)
    with serving(outer):
        yield outer
