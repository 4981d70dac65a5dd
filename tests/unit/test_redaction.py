"""Secrets stay inside, in whatever spelling and pieces they come back."""

import base64
import json
import logging
from urllib.parse import quote

import pytest

from service.errors import EmbedderRefused, QueryFailed
from service.redaction import SECRETS, Secrets, WithoutSecrets, loggable, redacted

KEY = 'sk-Live/9f8e7d6c5b4a"3210+ü'
PIECE = 8
WORD = "marigold"


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


def _logged(name: str, message: str, error: BaseException | None = None) -> str:
    trace = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord(name, 30, "p", 1, message, (), trace)
    assert WithoutSecrets().filter(record)
    return logging.Formatter("%(message)s").format(record)


def _failed() -> QueryFailed:
    try:
        try:
            _ = dict[str, str]()[WORD]
        except KeyError as cause:
            raise QueryFailed("The database refused a query", said=f"Found {WORD!r}") from cause
    except QueryFailed as error:
        return error
    raise AssertionError


def test_of_what_failed_together_each_is_told_and_no_contents() -> None:
    """A task group says nothing itself of what ended it."""
    told = _logged("service.app", "failed", ExceptionGroup(WORD, [_failed(), OSError(5, "bad")]))
    assert WORD not in told
    assert told.index("QueryFailed: The database refused") < told.index("OSError: bad")
    assert told.endswith("builtins.ExceptionGroup")


def test_a_traceback_tells_no_contents_above_debug(caplog: pytest.LogCaptureFixture) -> None:
    error = _failed()
    with caplog.at_level(logging.INFO):
        told = _logged("service.app", "failed", error)
    assert WORD not in told
    assert "service.errors.QueryFailed: The database refused a query" in told
    assert told.index("builtins.KeyError") < told.index("which led to") < told.index("QueryFailed")
    with caplog.at_level(logging.DEBUG):
        assert "Found 'marigold'" in _logged("service.app", "failed", error)


def test_what_pythons_own_loggers_repeat_is_left_out() -> None:
    task = "Task exception was never retrieved\nfuture: <Task exception=ValueError('marigold')>"
    assert _logged("asyncio", task) == "Task exception was never retrieved"
    warning = "/app/main.py:12: UserWarning: Expected str: input_value='marigold'\n  dump()\n"
    assert _logged("py.warnings", warning) == "/app/main.py:12: UserWarning"


@pytest.mark.parametrize(
    ("error", "told"),
    [(FileNotFoundError(2, "No such file", "letters.md"), "FileNotFoundError: No such file"),
     (ValueError(WORD), "ValueError"), (QueryFailed("Ours", said=WORD), "Ours")],
)  # fmt: skip
def test_what_a_log_may_say_of_an_error(error: Exception, told: str) -> None:
    assert loggable(error) == told


def test_a_key_of_this_service_is_taken_out_of_any_text() -> None:
    key = "gm_0f3a9c21d7be_dsWKPt9KPafX-vDzuO376qZYRxcV4F0wYgMK4oUWPqs"
    assert redacted(f"GET /memories/{key}: no") == "GET /memories/gm_0f3a9c21d7be_***: no"


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
    assert told.endswith("ValueError")
