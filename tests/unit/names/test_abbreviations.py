"""Abbreviations: which explanations are ones, and where the long name begins."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.names.abbreviations import abbreviations


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("We use Retrieval-Augmented Generation (RAG).", "rag", "Retrieval-Augmented Generation"),
        ("RAG (Retrieval-Augmented Generation) helps", "rag", "Retrieval-Augmented Generation"),
        ("so **RAG** (retrieval-augmented generation)", "rag", "retrieval-augmented generation"),
        ("lesbian, gay, bisexual, transgender, and queer (LGBTQ)", "lgbtq",
         "lesbian, gay, bisexual, transgender, and queer"),
        ("the Federal Bureau of Investigation (FBI)", "fbi", "Federal Bureau of Investigation"),
        ("an Association of Asian Athletics (AAA)", "aaa", "Association of Asian Athletics"),
        ("over Hypertext Transfer Protocol (HTTP)", "http", "Hypertext Transfer Protocol"),
        ("graphics processing units (GPUs)", "gpu", "graphics processing units"),
        ("It ended. Special Air Service (SAS; Britain)", "sas", "Special Air Service"),
    ],
)  # fmt: skip
def test_explanations(text: str, short: str, long: str) -> None:
    assert {key: name.name for key, name in abbreviations(text).items()} == {short: long}


@pytest.mark.parametrize(
    "text",
    [
        "Best Actor (1999)", "a call (see RAG)", "the box (GPU)", "some words here (RAG)",
        "World Health Organization (WHO)", "Retrieval (R)", "of a Gun (OAG)",
        "Ravens. Air Guns (RAG)", "Messenger rna (mRNA)", "RAG (a thing for agents)", "RAG ()", "",
    ],
)  # fmt: skip
def test_brackets_that_explain_nothing(text: str) -> None:
    assert abbreviations(text) == {}


def test_the_first_meaning_of_a_text_stands() -> None:
    found = abbreviations("Red Apple Gang (RAG), then Rare Air Guns (RAG)")
    assert found["rag"].name == "Red Apple Gang"


@pytest.mark.parametrize("piece", ["(", "A (", "AAAAAAAAAA (", "aaaa (AAAAAAAAAA) ", "(AB)"])
def test_long_texts_take_linear_work(piece: str) -> None:
    started = time.process_time()
    abbreviations(piece * (100_000 // len(piece)))
    # Half a second when written; the square of the length would be minutes.
    assert time.process_time() - started < 10


@given(st.text(st.sampled_from("aAbB ()-\n가İß")))
def test_any_text_gives_long_names_of_two_words_and_more(text: str) -> None:
    for short, name in abbreviations(text).items():
        assert "_" in name.slug
        assert "_" not in short
