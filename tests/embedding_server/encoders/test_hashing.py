"""The encoder without weights: deterministic, sensitive to words, never without direction."""

import subprocess
import sys

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedding_server.encoders.hashing import DIMENSIONS, NAME, HashingEncoder
from embedding_server.vectors import Vectors, find_unusable, shorten

ENCODER = HashingEncoder()


def embed(*texts: str) -> Vectors:
    return shorten(ENCODER.encode(ENCODER.tokenize(texts)), DIMENSIONS)


def test_shared_words_bring_texts_nearer() -> None:
    query, same_words, some_words, other = embed(
        "where is the blue bunny",
        "the blue bunny is where it was",
        "a blue car",
        "rates rose in May",
    )
    assert query @ same_words > query @ some_words > query @ other


def test_case_and_punctuation_do_not_matter() -> None:
    left, right = embed("Blue Bunny!", "blue, bunny")
    np.testing.assert_array_equal(left, right)


def test_word_order_matters_a_little() -> None:
    left, right = embed("dog bites man", "man bites dog")
    assert 0.5 < left @ right < 0.999


def test_the_vectors_are_the_same_on_every_machine() -> None:
    vector = embed("the blue bunny")[0]
    places = np.flatnonzero(vector).tolist()
    # Three words and, at half their weight, two pairs; the places are those of the hash.
    long, short = 2 / 14**0.5, 1 / 14**0.5
    assert dict(zip(places, vector[places].tolist(), strict=True)) == pytest.approx(
        {28: -short, 58: -long, 125: -long, 166: -long, 224: -short}
    )


def test_a_text_is_cut_by_words() -> None:
    tokens = ENCODER.tokenize(["one two three"], limit=2)
    assert tokens == ENCODER.tokenize(["one two"])


@given(texts=st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_every_text_has_a_direction_of_its_own_in_any_batch(texts: list[str]) -> None:
    raw = ENCODER.encode(ENCODER.tokenize(texts))
    assert find_unusable(raw) == []
    alone = np.vstack([ENCODER.encode(ENCODER.tokenize([text])) for text in texts])
    np.testing.assert_array_equal(raw, alone)


def test_the_server_works_with_it(hashing_url: str) -> None:
    body = {"model": NAME, "input": ["the blue bunny", "!?"]}
    answer = httpx.post(f"{hashing_url}/v1/embeddings", json=body).json()
    assert answer["usage"]["prompt_tokens"] == 3 + 1
    expected = embed("the blue bunny", "!?")
    received = np.array([item["embedding"] for item in answer["data"]], dtype=np.float32)
    np.testing.assert_array_equal(received, expected)


def test_it_needs_no_torch() -> None:
    program = (
        "import sys\n"
        "from embedding_server.encoders.opening import open_encoder\n"
        "from embedding_server.settings import Settings\n"
        "import embedding_server.command\n"
        f"encoder = open_encoder(Settings(model='{NAME}'))\n"
        "encoder.encode(encoder.tokenize(['a text']))\n"
        "assert 'torch' not in sys.modules, 'torch was imported'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
