"""Which words go in front of a text."""

import pytest

from embedding_server.encoders import qwen3
from embedding_server.errors import InvalidRequest
from embedding_server.prompts import InputType, Prompts

QWEN3 = Prompts(query=qwen3.QUERY_PROMPT)
E5 = Prompts(query="query: ", passage="passage: ", default="query: ")


@pytest.mark.parametrize(
    ("prompts", "input_type", "expected"),
    [
        (Prompts(), "query", ""),
        (Prompts(), None, ""),
        (QWEN3, "query", qwen3.QUERY_PROMPT),
        (QWEN3, "passage", ""),
        (QWEN3, "document", ""),
        (QWEN3, None, ""),
        (E5, "query", "query: "),
        (E5, "document", "passage: "),
        (E5, None, "query: "),
    ],
)
def test_the_input_type_chooses(
    prompts: Prompts, input_type: InputType | None, expected: str
) -> None:
    assert prompts.choose(input_type, None) == expected


@pytest.mark.parametrize("input_type", ["query", None])
def test_an_instruction_replaces_the_task(input_type: InputType | None) -> None:
    assert QWEN3.choose(input_type, "Find jokes") == "Instruct: Find jokes\nQuery:"


def test_a_space_after_the_label_is_kept_where_a_model_has_one() -> None:
    prompts = Prompts(query="Instruct: Find it\nQuery: ")
    assert prompts.choose("query", "Find jokes") == "Instruct: Find jokes\nQuery: "


@pytest.mark.parametrize("input_type", ["passage", "document"])
def test_documents_take_no_instruction(input_type: InputType) -> None:
    with pytest.raises(InvalidRequest, match="input_type 'query' only"):
        QWEN3.choose(input_type, "Find jokes")


@pytest.mark.parametrize("prompts", [Prompts(), E5])
def test_other_models_take_no_instruction(prompts: Prompts) -> None:
    with pytest.raises(InvalidRequest, match="takes no 'instruction'"):
        prompts.choose("query", "Find jokes")
