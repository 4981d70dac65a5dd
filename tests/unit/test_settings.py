"""Settings that name no place are refused with the setting's name, not met by a start that dies."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from service.commands import terminal
from service.errors import CannotStart
from service.settings import Settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embedding_url", "localhost:8001"), ("embedding_url", "http://["),
        ("embedding_url", "http://127.0.0.1:8o01"), ("rerank_url", "https://"),
        ("embedding_url", "http://box?key=a"), ("rerank_url", "http://box/#x"),
        ("embedding_url", "http://127.0 .0.1"),
        ("database_url", "http://box"), ("database_url", "surrealkv://"), ("database_url", "ws://"),
        ("database_url", "surrealkv://~nobody-here/x"),
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
        for end in ("", "/", "/v1/", "/v1/embeddings"):
            assert Settings.model_validate({"embedding_url": f"{url}{end}"}).embedding_url == url


@pytest.mark.parametrize("name", ["api_key", "embedding_api_key", "rerank_api_key"])
@pytest.mark.parametrize(
    "value",
    ["gm_\u00e9", "gm_\u201cx\u201d", "gm_x\n", "gm_\x01", "gm_\udcff", " gm_x", "gm_x ", "gm_x\t"],
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
        ("allowed_hosts", "*"), ("allowed_hosts", "*.example"), ("allowed_hosts", "a.example b"),
        ("allowed_hosts", "fd00::5"), ("allowed_hosts", "m\u00fcller.example"),
        ("allowed_origins", "*"),
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
    hosts = ("box", "box:8080", "[::1]", "own_box.Example")
    origins = ("HTTPS://App.example:8443/", "app://ours", "null")
    settings = Settings.model_validate(
        {"allowed_hosts": ",".join(hosts), "allowed_origins": ",".join(origins)}
    )
    assert (settings.allowed_hosts, settings.allowed_origins) == (hosts, origins)


@pytest.mark.parametrize(
    "name", [name for name, knob in Settings.model_fields.items() if knob.annotation is float]
)
@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e400"])
def test_no_bound_is_without_end(name: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({name: value})
    assert [error["loc"] for error in refused.value.errors()] == [(name,)]


@pytest.mark.parametrize("name", ["places", "instructions"])
@pytest.mark.parametrize("value", ["{", '{"a":' * 100_000, '{"a": ' + "1" * 5000])
def test_what_is_no_json_is_told_as_that(name: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.model_validate({name: value})
    (error,) = refused.value.errors()
    assert error["loc"] == (name,)
    assert "must be JSON" in error["msg"]


def test_a_place_leads_to_a_kind() -> None:
    with pytest.raises(ValidationError, match="Input should be 'daily_log'") as refused:
        Settings.model_validate({"places": '{"journal/**": "diary"}'})
    assert [error["loc"] for error in refused.value.errors()] == [("places", "journal/**")]
    assert Settings.model_validate({"places": '{"a": "fact"}'}).places == {"a": "fact"}


@pytest.mark.parametrize("name", ["data_dir", "concepts_file", "schema_file"])
def test_paths_of_ones_home_lie_there(name: str) -> None:
    """No shell has put it in the place of ~ in a .env."""
    assert getattr(Settings.model_validate({name: "~/x"}), name) == Path.home() / "x"
    sources = Settings.model_validate({"sources": "~/x, ~/y ,z"}).sources
    assert sources == (Path.home() / "x", Path.home() / "y", Path("z"))
    for wrong in ({name: "~nobody-here/x"}, {"sources": "z,~nobody-here/x"}):
        with pytest.raises(ValidationError, match="write the path in full"):
            Settings.model_validate(wrong)


@pytest.mark.parametrize("is_text", [True, False])
def test_a_secret_that_cannot_be_read_is_told_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_text: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(Settings.model_config, "secrets_dir", tmp_path)
    (tmp_path / "memory_api_key").write_bytes(b"k" if is_text else b"\xff")

    def forbid(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    if is_text:
        monkeypatch.setattr(Path, "read_text", forbid)
    with pytest.raises(CannotStart) as told:
        terminal._settings()
    assert "MEMORY_API_KEY: " in str(told.value)
    assert "memory_api_key cannot be read: " in str(told.value)
    assert str(told.value).endswith("Permission denied." if is_text else "no text in UTF-8.")
