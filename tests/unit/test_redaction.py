"""Secrets stay inside, in whatever spelling and pieces they come back."""

import base64
import json
import logging
from urllib.parse import quote

import pytest

from service.errors import EmbedderRefused
from service.redaction import SECRETS, Secrets, WithoutSecrets

KEY = 'sk-Live/9f8e7d6c5b4a"3210+ü'
PIECE = 8


@pytest.fixture
def secrets() -> Secrets:
    kept = Secrets()
    kept.keep(KEY)
    return kept


def leaks(text: str, spelled: str) -> bool:
    return any(spelled[n : n + PIECE] in text for n in range(len(spelled) - PIECE + 1))


@pytest.mark.parametrize(
    "spelled",
    [KEY, json.dumps(KEY)[1:-1], json.dumps(KEY, ensure_ascii=False)[1:-1], quote(KEY, safe=""),
     KEY.replace("/", "\\/")],
)  # fmt: skip
def test_a_key_is_taken_out_in_every_spelling(secrets: Secrets, spelled: str) -> None:
    told = secrets.without(f"401: key {spelled} is wrong")
    assert not leaks(told, spelled)
    assert told == "401: key *** is wrong"


def test_pieces_of_a_key_are_taken_out(secrets: Secrets) -> None:
    told = secrets.without(f"begins with {KEY[:12]}… ends with …{KEY[-10:]}, {KEY[4:15]} {KEY[9:]}")
    assert not leaks(told, KEY)
    assert told == "begins with ***… ends with …***, *** ***"


def test_another_bearer_is_taken_out_too(secrets: Secrets) -> None:
    assert secrets.without("got 'Bearer abc.def-ghi'") == "got 'Bearer ***'"


def test_the_password_of_a_url_and_what_clients_make_of_it() -> None:
    kept = Secrets()
    kept.keep_url("ws://root:p%40ss%2Fword@box:8000/rpc")
    basic = base64.b64encode(b"root:p@ss/word").decode()
    told = kept.without(f"ws://root:p%40ss%2Fword@box:8000/rpc p@ss/word Basic {basic}")
    assert told == "ws://root:***@box:8000/rpc *** Basic ***"


def test_a_short_password_is_taken_out_where_it_stands_alone() -> None:
    kept = Secrets()
    kept.keep_url("ws://root:cat@box/rpc")
    assert kept.without("ws://root:cat@box: category") == "ws://root:***@box: category"


@pytest.mark.parametrize("url", ["", None, "ws://box", "http://[", "ws://user@box"])
def test_a_url_without_a_password_keeps_nothing(url: str | None) -> None:
    kept = Secrets()
    kept.keep_url(url)
    assert kept == Secrets()


def test_errors_and_log_records_tell_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pieces", "short"):
        monkeypatch.setattr(SECRETS, name, set[str]())
    SECRETS.keep("sk-0123456789")
    assert EmbedderRefused("401: sk-0123456789").detail == "401: ***"
    trace = (ValueError, ValueError("sk-0123456789"), None)
    record = logging.LogRecord("a", 20, "p", 1, "got %s, %d", ("sk-0123456789", 3), trace)
    assert WithoutSecrets().filter(record)
    told = logging.Formatter("%(message)s").format(record)
    assert told.startswith("got ***, 3\n")
    assert told.endswith("ValueError: ***")
