"""Confidence over HTTP: sure of what the notes answer, doubtful of what nothing there tells."""

from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any, Final

import httpx
import pytest

from scripts.recall.notes import load_notes, read_notes
from tests.servers.running import running_service

_NOTES: Final = read_notes(Path(__file__).resolve().parents[2] / "examples" / "notes")
# About the same world as the notes, and about others.
_NEAR: Final = (
    "what is JR's shoe size", "why did we choose Kubernetes", "which router firmware do we run",
    "why did we drop Redis", "password of the wireless network", "when is Teo's birthday",
    "how do I renew the TLS certificate", "Grafana dashboard for the solar panels",
    "what time does the train to Porto leave", "why did the Telegram bridge fail in March",
)  # fmt: skip
_STRANGE: Final = (
    "Which enzyme repairs double-strand breaks in yeast?", "Who won the cup final of 1966?",
    "Statins lower cholesterol in patients with diabetes.", "Where was the painter's wife born?",
    "How many parishes does the diocese have?", "What did Joanna write her first novella about?",
    "Which river flows through the old town of Bern?", "Vitamin D deficiency and fractures",
    "The album that made the Welsh singer famous", "Which team drafted the quarterback?",
)  # fmt: skip
_TALK: Final = (
    "Ann: I was at the pottery workshop all day.", "Ben: Was it the one by the harbour?",
    "Ann: Yes, and I made a blue bowl for my sister.", "Ben: I repaired the engine of my boat.",
    "Ann: Did it start again?", "Ben: At once, and we sailed around the lighthouse.",
    "Ann: Lovely. I prefer to stay ashore.", "Ben: Come along in June.",
)  # fmt: skip


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, minilm_url: str) -> Iterator[httpx.Client]:
    """Yield a client of a service that holds the example notes and nothing else."""
    folder = tmp_path_factory.mktemp("confidence")
    with running_service(data_dir=folder, embedding_url=minilm_url) as service:
        load_notes(service.client, _NOTES, list)
        turns = [
            {"text": text, "session": "talk", "agent": "talk", "source_ref": f"{place}"}
            for place, text in enumerate(_TALK)
        ]
        service.client.post("/memories/batch", json={"memories": turns}).raise_for_status()
        yield service.client


def test_why_we_chose_our_model_is_answered_with_confidence(notes: httpx.Client) -> None:
    answer = ask(notes, "why did we choose Qwen3")
    titles = [hit["title"] for hit in answer["results"]]
    assert "2026-02-12 Qwen3-Embedding-4B is the embedding model" in titles
    assert answer["confidence"] >= 0.5, answer["receipt"]["certainty"]


def test_natural_questions_are_surer_than_what_the_notes_do_not_tell(notes: httpx.Client) -> None:
    told, near, strange = (
        [ask(notes, text)["confidence"] for text in texts]
        for texts in ([q.text for q in _NOTES.natural], _NEAR, _STRANGE)
    )
    assert mean(told) > 0.65, sorted(told)
    assert mean(near) < 0.45, sorted(near)
    assert mean(strange) < 0.15, sorted(strange)


@pytest.mark.parametrize(
    ("question", "of_another"),
    [
        ("Was Ann at the pottery workshop?", "Was Ben at the pottery workshop?"),
        ("Did Ben repair the engine of the boat?", "Did Ann repair the engine of the boat?"),
        ("Did Ben sail around the lighthouse?", "Did Ann sail around the lighthouse?"),
    ],
)  # fmt: skip
def test_what_another_said_is_doubted(notes: httpx.Client, question: str, of_another: str) -> None:
    right, wrong = (ask(notes, text, "talk") for text in (question, of_another))
    speakers = [answer["receipt"]["certainty"]["speaker"] for answer in (right, wrong)]
    assert speakers[0] >= 0 > speakers[1]
    assert right["confidence"] > wrong["confidence"]


def test_without_a_speakers_name_there_is_no_number_for_one(notes: httpx.Client) -> None:
    for agent in ("talk", _NOTES.agent):
        assert ask(notes, "the harbour", agent)["receipt"]["certainty"]["speaker"] is None


def ask(notes: httpx.Client, text: str, agent: str = _NOTES.agent) -> dict[str, Any]:
    """Return the answer to a question."""
    body = {"query": text, "agent": agent, "limit": 5}
    answer: dict[str, Any] = notes.post("/search", json=body).raise_for_status().json()
    return answer
