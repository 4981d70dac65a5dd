"""Settings that name no place are refused with the setting's name, not met by a start that dies."""

from functools import partial
from pathlib import Path

import pytest
from pydantic import ValidationError

from service.commands import terminal
from service.errors import CannotStart
from service.settings import Settings
from tests.refused_settings import lay_unreadable, why_refused

refused = partial(why_refused, Settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embedding_url", "localhost:8001"), ("embedding_url", "http://["),
        ("embedding_url", "http://127.0.0.1:8o01"), ("rerank_url", "https://"),
        ("embedding_url", "http://box?key=a"), ("rerank_url", "http://box/#x"),
        ("embedding_url", "http://127.0 .0.1"),
        ("database_url", "http://box"), ("database_url", "surrealkv://"), ("database_url", "ws://"),
        ("database_url", "surrealkv://~nobody-here/x"), ("database_url", "surrealkv:// "),
    ],
)  # fmt: skip
def test_a_url_without_a_place_is_refused(name: str, value: str) -> None:
    assert refused(name, value)


def test_blanks_are_no_setting_but_a_key_of_them_is_wrong() -> None:
    """A folder or an agent of blanks would be another one than was meant."""
    keys = {name for name in Settings.model_fields if name.endswith(("key", "password"))}
    given = dict.fromkeys(Settings.model_fields.keys() - keys, " \t")
    assert Settings.model_validate(given) == Settings.model_validate({})
    assert refused("api_key", " ")


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
    assert "gm_" not in refused(name, value)


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
    assert "in full" in refused(name, value)


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
    assert refused(name, value) == "Input should be a finite number"


@pytest.mark.parametrize("name", ["places", "instructions"])
@pytest.mark.parametrize("value", ["{", '{"a":' * 100_000, '{"a": ' + "1" * 5000])
def test_what_is_no_json_is_told_as_that(name: str, value: str) -> None:
    assert "must be JSON" in refused(name, value)


def test_a_place_leads_to_a_kind() -> None:
    with pytest.raises(ValidationError, match="Input should be 'daily_log'") as wrong:
        Settings.model_validate({"places": '{"journal/**": "diary"}'})
    assert [error["loc"] for error in wrong.value.errors()] == [("places", "journal/**")]
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
    file = tmp_path / "memory_api_key"
    lay_unreadable(monkeypatch, Settings, file, is_text=is_text)
    with pytest.raises(CannotStart) as told:
        terminal._settings()
    assert "MEMORY_API_KEY: " in str(told.value)
    assert "memory_api_key cannot be read: " in str(told.value)
    assert str(told.value).endswith("Permission denied." if is_text else "no text in UTF-8.")
