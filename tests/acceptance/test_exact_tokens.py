"""Exact tokens: what is typed letter by letter is found first, among a thousand like it."""

import itertools
from collections.abc import Iterator

import httpx
import pytest

from tests.servers.running import RunningService, running_service

# The same answers from RAM and from SurrealDB's own indexes.
ENGINES = ("resident", "database")

# RTX 5070, RTX 5070 Super, RTX 5060 Ti ... stand among them; the RTX 5070 Ti itself does not.
CARDS = [
    f"{maker} {number}{suffix}"
    for maker, number, suffix in itertools.product(
        ("RTX", "GTX", "RX", "Arc"), range(4990, 5640, 10), ("", " Super", " XT", " Ti")
    )
    if (maker, number, suffix) != ("RTX", 5070, " Ti")
]
SENTENCES = (
    "The {card} in host {host} runs at {watts} W and {degrees} degrees under load.",
    "Bought a {card} for host {host}; {watts} MB of VRAM are free, fan at {degrees} %.",
    "Driver crash on the {card} again: VRAM issue with code {watts}, host {host} rebooted.",
    "Benchmarked the {card} on {host}: {watts} tokens a second at batch size {degrees}.",
)


@pytest.fixture(scope="module")
def hardware(tmp_path_factory: pytest.TempPathFactory, minilm_url: str) -> Iterator[RunningService]:
    """Yield a service with a thousand hardware notes and the real MiniLM."""
    with running_service(
        data_dir=tmp_path_factory.mktemp("hardware"), embedding_url=minilm_url
    ) as service:
        notes = [
            SENTENCES[number % 4].format(
                card=card, host=f"box{number % 7}", watts=100 + number, degrees=40 + number % 50
            )
            for number, card in enumerate(CARDS[:1000])
        ]
        notes[500] = "The RTX 5070 Ti arrived today and went into the shelf machine."
        notes[501] = "Full ingest fails with E1234 in src/app.py since v2.3.1, see build 9f3c2ab."
        for start in range(0, len(notes), 250):
            part = [{"text": text} for text in notes[start : start + 250]]
            service.client.post("/memories/batch", json={"memories": part}).raise_for_status()
        yield service


def _best(service: RunningService, query: str) -> str:
    answer = service.client.post("/search", json={"query": query, "limit": 3})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["results"][0]["content"])


def test_the_store_holds_a_thousand(hardware: RunningService) -> None:
    assert hardware.client.get("/stats").json()["memories"] == 1000


@pytest.mark.parametrize("query", ["RTX 5070 Ti", "rtx 5070 ti", "what about the RTX 5070 Ti?"])
def test_the_card_that_is_named_comes_first(hardware: RunningService, query: str) -> None:
    assert "RTX 5070 Ti arrived" in _best(hardware, query)


@pytest.mark.parametrize(
    "query", ["E1234", "e1234", "src/app.py", "app.py", "v2.3.1", "2.3.1", "1234 ingest"]
)
def test_codes_paths_and_versions_are_found_whole_and_in_parts(
    hardware: RunningService, query: str
) -> None:
    assert "E1234" in _best(hardware, query)


def test_a_hash_that_only_the_words_know_is_among_the_first_three(
    hardware: RunningService,
) -> None:
    answer = hardware.client.post("/search", json={"query": "9f3c2ab", "limit": 3})
    assert any("9f3c2ab" in hit["content"] for hit in answer.json()["results"])


def test_a_question_of_stop_words_answers(hardware: RunningService) -> None:
    answer = httpx.get(f"{hardware.url}/search", params={"q": "what is it"})
    assert answer.status_code == 200


def test_what_is_quoted_comes_first_word_for_word(client: httpx.Client) -> None:
    texts = [
        "The red fox jumps over the lazy dog and the fox runs away from the lazy red dog.",
        "A lazy dog met the jumping foxes; the dog over there was red.",
        "Notes of the gate: the fox jumped once.",
        "Nothing of the kind stands here.",
    ]
    ids = [
        client.post("/memories", json={"text": text, "agent": "phrases"}).json()["id"]
        for text in texts
    ]

    def first(query: str) -> str:
        body = {"query": query, "agent": "phrases", "weights": {"vector": 0, "graph": 0}}
        hit = client.post("/search", json=body).json()["results"][0]
        assert hit["signals"]["text"]["score"] >= 100
        return str(hit["id"])

    assert first('red dog "the fox jumped"') == ids[2]
    assert first('fox jumps over "lazy dog met"') == ids[1]
    assert first("dog “LAZY dog met” fox") == ids[1]
    assert first('the dog of "THE LAZY RED dog."') == ids[0]
