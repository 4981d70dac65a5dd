"""By which names the model is listed, described and asked for."""

from collections.abc import Iterator

import httpx
import pytest
from openai import OpenAI

from embedding_server.app import create_app
from embedding_server.encoders.hashing import NAME
from embedding_server.settings import Settings
from tests.embedding_server.edge import serve_gated
from tests.embedding_server.running import serve, wait_until_ready

ALIASES = "text-embedding-3-small, nomic/embed ,,hashing"
LISTED = [NAME, "hashing", "nomic/embed", "text-embedding-3-small"]


@pytest.fixture(scope="module")
def aliased_url() -> Iterator[str]:
    with serve(create_app(Settings(model=NAME, aliases=ALIASES))) as url:
        wait_until_ready(url)
        yield url


@pytest.mark.parametrize(
    "name",
    [
        NAME,
        "text-embedding-3-small",
        "nomic/embed",
        "hashing",
        f"openai/{NAME}",
        "openai/text-embedding-3-small",
    ],
)
def test_every_served_name_answers_under_the_real_one(aliased_url: str, name: str) -> None:
    with OpenAI(base_url=f"{aliased_url}/v1", api_key="unused") as client:
        assert client.embeddings.create(model=name, input="a text").model == NAME
        assert client.models.retrieve(name).id == name.removeprefix("openai/")
        assert [model.id for model in client.models.list()] == LISTED


@pytest.mark.parametrize("name", ["", " ", "openai/", "openai/openai/hashing", "hash", "other/x"])
def test_no_other_name_answers(aliased_url: str, name: str) -> None:
    body = {"model": name, "input": "a text"}
    answer = httpx.post(f"{aliased_url}/v1/embeddings", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")


def test_the_models_own_aliases_still_answer() -> None:
    with serve_gated(aliases="short") as (url, _):
        for name, listed in (("gated", "gated"), ("vendor/gated", "gated"), ("short", "short")):
            assert httpx.get(f"{url}/v1/models/{name}").json()["id"] == listed
