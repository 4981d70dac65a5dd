"""Settings that make no sense end the start with their names, and not later, or never."""

from functools import partial
from pathlib import Path

import pytest

from embedding_server import command
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings
from tests.refused_settings import lay_unreadable, why_refused

refused = partial(why_refused, Settings)


@pytest.mark.parametrize(
    "value",
    ["box,https://memory.example", "box/", "*", "*.example", "a.example b.example", "2001:db8::5",
     "m\u00fcller.example", "me@box"],
)  # fmt: skip
def test_a_host_that_no_request_names_is_refused(value: str) -> None:
    assert "in full" in refused("allowed_hosts", value)


def test_blanks_are_no_setting() -> None:
    given = dict.fromkeys(Settings.model_fields.keys() - {"api_key"}, " \t")
    assert Settings.model_validate(given) == Settings.model_validate({})


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
    assert refused(name, value) == "Input should be a finite number"


@pytest.mark.parametrize("is_text", [True, False])
def test_a_secret_that_cannot_be_read_is_told_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_text: bool
) -> None:
    file = tmp_path / "embedding_api_key"
    lay_unreadable(monkeypatch, Settings, file, is_text=is_text)
    with pytest.raises(CannotStart) as told:
        command._read_settings()
    assert "embedding_api_key cannot be read: " in str(told.value)
    assert str(told.value).endswith("Permission denied" if is_text else "no text in UTF-8")


def test_a_name_that_can_be_none_is_told_in_one_line() -> None:
    with pytest.raises(CannotStart, match="no name of a host"):
        command._open_port(Settings(_env_file=None, host="a..b", port=0))
