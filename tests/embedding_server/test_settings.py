"""Settings that make no sense end the start with their names, and not later, or never."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from embedding_server import command
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings


def refused(name: str, value: str) -> str:
    """Return why a setting is refused."""
    with pytest.raises(ValidationError) as error:
        Settings.model_validate({name: value})
    [fault] = error.value.errors()
    assert fault["loc"] == (name,)
    return fault["msg"]


@pytest.mark.parametrize(
    "value",
    ["box,https://memory.example", "box/", "*", "*.example", "a.example b.example", "2001:db8::5",
     "m\u00fcller.example", "me@box"],
)  # fmt: skip
def test_a_host_that_no_request_names_is_refused(value: str) -> None:
    assert "in full" in refused("allowed_hosts", value)


def test_hosts_that_requests_name_are_taken() -> None:
    hosts = {"embedding_server", "box:8001", "[2001:db8::5]", "xn--mller-kva.example"}
    listed = " ,".join(hosts).upper()
    assert Settings.model_validate({"allowed_hosts": listed}).host_names >= hosts


@pytest.mark.parametrize(
    "value", ["", " ", "k7\u00fc", "k7\n", " k7", "k7\t", "k7\x01", "k7\udcff"]
)
def test_a_key_that_clients_cannot_send_is_refused_and_not_repeated(value: str) -> None:
    told = refused("api_key", value)
    assert "clients cannot send it" in told
    assert "k7" not in told


def test_a_key_may_hold_blanks() -> None:
    assert Settings.model_validate({"api_key": "a key of ours"}).api_key


@pytest.mark.parametrize(
    "name", [name for name, knob in Settings.model_fields.items() if knob.annotation is float]
)
@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e400"])
def test_no_time_is_without_end(name: str, value: str) -> None:
    refused(name, value)


@pytest.mark.parametrize("is_text", [True, False])
def test_a_secret_that_cannot_be_read_is_told_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_text: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(Settings.model_config, "secrets_dir", tmp_path)
    (tmp_path / "embedding_api_key").write_bytes(b"k" if is_text else b"\xff")

    def forbid(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    if is_text:
        monkeypatch.setattr(Path, "read_text", forbid)
    with pytest.raises(CannotStart) as told:
        command._read_settings()
    assert "embedding_api_key cannot be read: " in str(told.value)
    assert str(told.value).endswith("Permission denied" if is_text else "no text in UTF-8")


def test_a_name_that_can_be_none_is_told_in_one_line() -> None:
    with pytest.raises(CannotStart, match="no name of a host"):
        command._open_port(Settings(_env_file=None, host="a..b", port=0))
