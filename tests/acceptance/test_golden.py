"""The golden set: a small agent's memory of our own making, and what search must find in it."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from service.text.terms import TERMS
from service.text.words import query_words
from tests.effort import amount
from tests.servers.running import running_service

pytestmark = pytest.mark.soak
# The same answers from RAM and from SurrealDB's own indexes, which takes four times as long:
# in the gate, integration/test_engines_agree.py compares the engines on less.
ENGINES = ("resident", "database")[: amount("golden engines")]

_FOLDER: Final = Path(__file__).resolve().parents[1] / "golden"
_WEIGHTS: Final[Mapping[str, Mapping[str, float]]] = {
    "default": {},
    "text": {"vector": 0, "graph": 0},
    "vector": {"text": 0, "graph": 0},
}
_SIGNALS: Final = ("text", "vector")
_FILTERS: Final[tuple[str, ...]] = ("scope", "since", "until")
_FEW: Final = 5
_MOST: Final = 10
# The share of questions that find an evidence among the first five; a little below what it is.
_HIT_FLOOR: Final = 0.95


@dataclass(frozen=True, slots=True)
class Question:
    """What an agent asks, with the filters it sends, and the memories that answer it."""

    id: str
    question: str
    evidence: tuple[str, ...]
    category: str
    filters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """The first ten memories of an answer by their names in the corpus, best first."""

    question: Question
    found: tuple[str, ...]

    @property
    def rank(self) -> int:
        """The rank of the best evidence, from 1; 11 when the first ten hold none."""
        ranks = (n for n, name in enumerate(self.found, 1) if name in self.question.evidence)
        return next(ranks, _MOST + 1)

    @property
    def gain(self) -> float:
        """nDCG@10: 1 when all evidence comes first, 0 when none is found."""
        marks = [name in self.question.evidence for name in self.found]
        ideal = sum(_discount(rank) for rank in range(1, len(self.question.evidence) + 1))
        return sum(_discount(rank) for rank, mark in enumerate(marks, 1) if mark) / ideal

    @property
    def scopes(self) -> set[str | None]:
        """The scopes of all that was found; None stands for a memory without one."""
        return {CORPUS[name].get("scope") for name in self.found}

    def told(self) -> str:
        """Return the lines for whoever reads a failing gate."""
        asked = self.question
        return (
            f"{asked.id} {asked.question!r} {dict(asked.filters) or ''}\n"
            f"  wants {', '.join(asked.evidence)}\n"
            f"  got   {', '.join(self.found[:_FEW])}; the first evidence at rank {self.rank}"
        )


Answers = Mapping[str, Sequence[Answer]]


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _lines(name: str) -> list[dict[str, Any]]:
    text = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _question(line: dict[str, Any]) -> Question:
    named = {name: line[name] for name in ("id", "question", "category")}
    filters = {name: line[name] for name in _FILTERS if name in line}
    return Question(**named, evidence=tuple(line["evidence"]), filters=filters)


CORPUS: Final = {line.pop("id"): line for line in _lines("corpus")}
QUESTIONS: Final = [_question(line) for line in _lines("queries")]


@pytest.fixture(scope="module")
def answers(
    tmp_path_factory: pytest.TempPathFactory, minilm_url: str, engine: str
) -> Iterator[Answers]:
    """Yield the answers to all questions by recipe: the default, words alone, meaning alone."""
    with running_service(
        data_dir=tmp_path_factory.mktemp("golden"), embedding_url=minilm_url, search_engine=engine
    ) as service:
        stored = service.client.post("/memories/batch", json={"memories": list(CORPUS.values())})
        assert stored.json()["created"] == len(CORPUS), stored.text
        names = dict(zip(stored.json()["ids"], CORPUS, strict=True))
        yield {
            recipe: [_ask(service.client, names, question, weights) for question in QUESTIONS]
            for recipe, weights in _WEIGHTS.items()
        }


def _ask(
    client: httpx.Client, names: Mapping[str, str], asked: Question, weights: Mapping[str, float]
) -> Answer:
    body = {"query": asked.question, "limit": _MOST, "weights": weights, **asked.filters}
    answer = client.post("/search", json=body)
    assert answer.status_code == 200, answer.text
    assert not answer.json()["receipt"]["missing_signals"]
    return Answer(asked, tuple(names[hit["id"]] for hit in answer.json()["results"]))


def _hit_share(answers: Sequence[Answer]) -> float:
    return sum(answer.rank <= _FEW for answer in answers) / len(answers)


def _mean_gain(answers: Sequence[Answer]) -> float:
    return math.fsum(answer.gain for answer in answers) / len(answers)


def _told(title: str, answers: Sequence[Answer]) -> str:
    return "\n".join([title, *(answer.told() for answer in answers)])


def test_every_question_has_its_evidence_in_the_corpus() -> None:
    assert len({asked.id for asked in QUESTIONS}) == len(QUESTIONS)
    for asked in QUESTIONS:
        scopes = {CORPUS[name].get("scope") for name in asked.evidence}
        assert scopes, asked.id
        assert "scope" not in asked.filters or scopes == {asked.filters["scope"]}, asked.id


def test_a_paraphrase_shares_no_word_with_its_evidence() -> None:
    def terms(text: str) -> set[int]:
        return {TERMS[word] for word in query_words(text).split()}

    for asked in (asked for asked in QUESTIONS if asked.category == "paraphrase"):
        for memory in (CORPUS[name] for name in asked.evidence):
            told = " ".join([memory.get("title", ""), *memory.get("tags", ()), memory["text"]])
            assert not terms(asked.question) & terms(told), asked.id


def test_most_questions_find_an_evidence_among_the_first_five(answers: Answers) -> None:
    share = _hit_share(answers["default"])
    missed = [answer for answer in answers["default"] if answer.rank > _FEW]
    assert share >= _HIT_FLOOR, _told(f"hit@5 is {share:.3f}", missed)


def test_a_scope_that_is_asked_for_is_kept(answers: Answers) -> None:
    wrong = [
        answer
        for recipe in _WEIGHTS
        for answer in answers[recipe]
        if "scope" in answer.question.filters and answer.scopes - {answer.question.filters["scope"]}
    ]
    assert not wrong, _told("hits of another scope", wrong)


def test_an_exact_token_is_among_the_first_three(answers: Answers) -> None:
    exact = [answer for answer in answers["default"] if answer.question.category == "exact"]
    missed = [answer for answer in exact if answer.rank > 3]
    assert not missed, _told("exact tokens", missed)


@pytest.mark.parametrize("signal", _SIGNALS)
def test_the_default_finds_as_often_as_one_signal(answers: Answers, signal: str) -> None:
    both, alone = _hit_share(answers["default"]), _hit_share(answers[signal])
    pairs = zip(answers["default"], answers[signal], strict=True)
    lost = [ours for ours, theirs in pairs if theirs.rank <= _FEW < ours.rank]
    assert both >= alone, _told(f"hit@5: default {both:.3f}, {signal} {alone:.3f}", lost)


@pytest.mark.parametrize("signal", _SIGNALS)
def test_the_default_ranks_as_well_as_one_signal(answers: Answers, signal: str) -> None:
    both, alone = _mean_gain(answers["default"]), _mean_gain(answers[signal])
    pairs = zip(answers["default"], answers[signal], strict=True)
    lost = [ours for ours, theirs in pairs if theirs.gain > ours.gain]
    assert both >= alone, _told(f"nDCG@10: default {both:.3f}, {signal} {alone:.3f}", lost)
