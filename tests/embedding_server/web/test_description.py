"""/openapi.json: what it tells is what the server does, with the bounds of its own model."""

from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from embedding_server.encoder import ModelCard
from embedding_server.encoders import hashing
from embedding_server.errors import ModelLoading
from embedding_server.prompts import Prompts
from embedding_server.serving.served_model import ServedModel
from embedding_server.web.description import describe_model
from embedding_server.web.protocol import EmbeddingRequest
from scripts.measure_contract import PHASES, ask
from tests.effort import IS_SOAK, SEED, amount


class _Loading:
    @property
    def card(self) -> ModelCard:
        raise ModelLoading("Wait.")


def _described(model: object) -> dict[str, Any]:
    schema = EmbeddingRequest.model_json_schema()
    told = {"components": {"schemas": {"EmbeddingRequest": schema}}}
    described = describe_model(told, cast("ServedModel", model))
    found: dict[str, Any] = described["components"]["schemas"]["EmbeddingRequest"]
    return found


def _serving(query: str) -> object:
    prompts = Prompts(query=query)
    card = ModelCard("m", frozenset(), 256, 32, 512, "cpu", prompts)
    return SimpleNamespace(card=card)


def test_a_model_that_is_not_there_yet_bounds_nothing() -> None:
    request = _described(_Loading())
    assert "maximum" not in request["properties"]["dimensions"]["anyOf"][0]
    assert request["properties"]["instruction"]["anyOf"][0]["type"] == "string"


def test_dimensions_are_those_of_the_model() -> None:
    [bounds, _] = _described(_serving(""))["properties"]["dimensions"]["anyOf"]
    assert (bounds["minimum"], bounds["maximum"]) == (32, 256)


def test_a_model_that_follows_no_instruction_is_described_as_taking_none() -> None:
    request = _described(_serving("query: "))
    assert request["properties"]["instruction"]["anyOf"] == [{"type": "null"}]
    assert "anyOf" not in request


def test_an_instruction_goes_with_a_query() -> None:
    request = _described(_serving("Instruct: Find it\nQuery: "))
    assert request["properties"]["instruction"]["anyOf"][0]["type"] == "string"
    assert {"properties": {"input_type": {"enum": ["query", None]}}} in request["anyOf"]


@pytest.mark.parametrize(("dimensions", "status"), [(256.0, 200), ("256", 400), (True, 400)])
def test_a_whole_number_is_an_integer(hashing_url: str, dimensions: object, status: int) -> None:
    body = {"model": hashing.NAME, "input": "a", "dimensions": dimensions}
    assert httpx.post(f"{hashing_url}/v1/embeddings", json=body).status_code == status


@pytest.mark.soak
def test_what_the_description_tells_is_what_the_server_does(hashing_url: str) -> None:
    phases = PHASES if IS_SOAK else PHASES[:2]
    asked = ask(hashing_url, amount("requests of an operation"), 1 + SEED, phases)
    assert not asked.complaints, asked.complaints
    assert asked.requests > 100
