"""Settings that name no place are refused with the setting's name, not met by a start that dies."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from service.settings import Settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embedding_url", "localhost:8001"), ("embedding_url", "http://["),
        ("embedding_url", "http://127.0.0.1:8o01"), ("rerank_url", "https://"),
        ("database_url", "http://box"), ("database_url", "surrealkv://"), ("database_url", "ws://"),
    ],
)  # fmt: skip
def test_a_url_without_a_place_is_refused(name: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({name: value})
    assert [error["loc"] for error in refused.value.errors()] == [(name,)]


def test_a_store_of_ones_home_lies_there() -> None:
    """Else in a folder named ~ of wherever the command is started, another one each time."""
    settings = Settings.model_validate({"database_url": "surrealkv://~/memories"})
    assert settings.store_url == f"surrealkv://{Path.home()}/memories"


def test_urls_are_taken_without_the_version() -> None:
    for url in ("http://127.0.0.1:8001", "https://box.example/models", "http://[::1]:80"):
        assert Settings.model_validate({"embedding_url": f"{url}/v1/"}).embedding_url == url


@pytest.mark.parametrize("name", ["api_key", "embedding_api_key", "rerank_api_key"])
@pytest.mark.parametrize(
    "value", ["gm_\u00e9", "gm_\u201cx\u201d", "gm_x\n", "gm_\x01", "gm_\udcff"]
)
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(name: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({name: value})
    told = [(error["loc"], error["msg"]) for error in refused.value.errors()]
    assert [place for place, _ in told] == [(name,)]
    assert "gm_" not in told[0][1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("allowed_hosts", "box,https://memory.example"), ("allowed_hosts", "memory.example/"),
        ("allowed_hosts", "*"), ("allowed_hosts", "*.example"), ("allowed_origins", "*"),
        ("allowed_origins", "app.example"), ("allowed_origins", "https://app.example/page"),
        ("allowed_origins", "https://*.example"), ("allowed_origins", "https://"),
    ],
)  # fmt: skip
def test_a_name_that_would_let_nobody_in_is_refused(name: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({name: value})
    (error,) = refused.value.errors()
    assert error["loc"] == (name,)
    assert "in full" in error["msg"]


def test_names_that_requests_have_are_taken() -> None:
    hosts = ("box", "box:8080", "[::1]")
    origins = ("HTTPS://App.example:8443/", "app://ours", "null")
    settings = Settings.model_validate(
        {"allowed_hosts": ",".join(hosts), "allowed_origins": ",".join(origins)}
    )
    assert (settings.allowed_hosts, settings.allowed_origins) == (hosts, origins)
