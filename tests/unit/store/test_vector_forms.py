"""Vectors as the store keeps them: how exactly each form holds them; broken ones are told."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.index.resident.vectors import VectorIndex
from service.settings import Settings
from service.store.vector_forms import (
    ENGINE_OF_FORM,
    FORM_OF_ENGINE,
    read_vector,
    stored_vector,
    unit_rows,
)

NUMBERS = st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=40)


@given(NUMBERS)
def test_an_array_gives_back_what_went_in_and_bytes_its_nearest_float16(
    numbers: list[float],
) -> None:
    vector = np.array(numbers, np.float32)
    with np.errstate(over="ignore"):
        nearest = vector.astype(np.float16).astype(np.float32)
    for form in ENGINE_OF_FORM:
        again = read_vector(stored_vector(vector, form))
        assert again.dtype == np.float32
        assert again.tobytes() == (nearest if form == "bytes" else vector).tobytes()


def test_a_resident_index_holds_the_same_numbers_as_of_float32() -> None:
    """What it compares is float16; a number half-way between two may fall to the other one."""
    vectors = unit_rows(np.random.default_rng(18).normal(size=(1000, 384)).astype(np.float32))
    halves = np.stack([read_vector(stored_vector(vector, "bytes")) for vector in vectors])
    exact, halved = VectorIndex(384), VectorIndex(384)
    exact.put(range(1000), vectors)
    halved.put(range(1000), halves)
    assert np.count_nonzero(exact._fine != halved._fine) <= 40  # of 384,000
    everything = np.ones(1000, np.bool_)
    for question in vectors[:50]:
        rows, cosines = exact.search(question, everything, 100)
        others, of_others = halved.search(question, everything, 100)
        assert rows.tolist() == others.tolist()
        assert cosines == pytest.approx(of_others, abs=1e-5)


def test_bytes_are_little_endian_floats_and_arrays_are_plain_numbers() -> None:
    vector = np.array([1.0, -2.5], ">f4")
    assert stored_vector(vector, "bytes") == struct.pack("<2e", 1.0, -2.5)
    assert stored_vector(vector, "array") == [1.0, -2.5]
    assert stored_vector(np.arange(6, dtype=np.float32)[::2], "bytes") == struct.pack(
        "<3e", 0, 2, 4
    )


@pytest.mark.parametrize("length", [1, 3, 767])
def test_bytes_that_are_no_whole_floats_are_told(length: int) -> None:
    with pytest.raises(ValueError, match=f"has {length} bytes, which is no multiple of 2"):
        read_vector(b"x" * length)


@pytest.mark.parametrize("stored", [b"", []])
def test_an_empty_vector_is_told(stored: bytes | list[float]) -> None:
    with pytest.raises(ValueError, match="empty"):
        read_vector(stored)


def test_every_engine_has_its_form() -> None:
    engines = Settings.model_json_schema()["properties"]["search_engine"]["enum"]
    assert set(engines) == FORM_OF_ENGINE.keys()
    assert {ENGINE_OF_FORM[form] for form in FORM_OF_ENGINE.values()} == set(engines)


def test_rows_are_brought_to_length_one_and_those_without_a_direction_to_zero() -> None:
    rows = unit_rows(np.array([[3, 4], [0, 0], [np.nan, 1], [0, 2]], np.float32))
    assert rows.tolist() == [pytest.approx([0.6, 0.8]), [0, 0], [0, 0], [0, 1]]
