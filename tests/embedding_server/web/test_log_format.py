"""The log of a real process: each line of a request has its id, in text and in JSON."""

import json
import logging
import signal
import sys
from pathlib import Path

import httpx
import pytest

from embedding_server.encoders.hashing import NAME
from embedding_server.web.log_format import TextFormatter, leave_texts_out
from tests.embedding_server.running import wait_until_ready
from tests.embedding_server.test_command import running

REQUEST_ID = "client-id-7"


def read_log(folder: Path, log_format: str) -> list[str]:
    settings = {"EMBEDDING_LOG_FORMAT": log_format, "EMBEDDING_LOG_LEVEL": "debug"}
    with running(folder, EMBEDDING_MODEL=NAME, **settings) as (process, url):
        wait_until_ready(url)
        headers = {"X-Request-ID": REQUEST_ID}
        for text in ("a text", ""):
            body = {"model": NAME, "input": text}
            httpx.post(f"{url}/v1/embeddings", json=body, headers=headers)
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    return log.splitlines()


def test_lines_in_json_are_objects_with_the_fields_of_the_request(tmp_path: Path) -> None:
    entries = [json.loads(line) for line in read_log(tmp_path, "json")]
    assert all({"time", "level", "logger", "message"} <= entry.keys() for entry in entries)
    [ready] = [entry for entry in entries if entry["message"].startswith("Ready: ")]
    assert "request_id" not in ready
    good, bad = (entry for entry in entries if entry.get("request_id") == REQUEST_ID)
    assert good.pop("milliseconds") > 0
    assert good.pop("time")
    assert good.pop("message").startswith("POST /v1/embeddings 200, ")
    assert good == {
        "level": "DEBUG",
        "logger": "embedding_server.request_log",
        "request_id": REQUEST_ID,
        "method": "POST",
        "path": "/v1/embeddings",
        "status": 200,
        "texts": 1,
        "tokens": 2,
    }
    assert (bad["level"], bad["status"], bad["error"]) == ("INFO", 400, "invalid_value")


def test_lines_in_text_end_with_the_id(tmp_path: Path) -> None:
    lines = read_log(tmp_path, "text")
    good, bad = (line for line in lines if line.endswith(f"[{REQUEST_ID}]"))
    assert " DEBUG embedding_server.request_log: POST /v1/embeddings 200, " in good
    assert " INFO embedding_server.request_log: POST /v1/embeddings 400, " in bad
    assert any(line.endswith("on cpu") and "Ready: " in line for line in lines)


@pytest.mark.parametrize("request_id", [None, "an-id"])
def test_the_id_stands_before_the_traceback(request_id: str | None) -> None:
    record = logging.LogRecord("name", logging.ERROR, "", 0, "It %s", ("failed",), None)
    if request_id is not None:
        record.request_id = request_id
    try:
        int("no number")
    except ValueError:
        record.exc_info = sys.exc_info()
    lines = TextFormatter("%(levelname)s: %(message)s").format(record).splitlines()
    assert lines[0] == ("ERROR: It failed [an-id]" if request_id else "ERROR: It failed")
    assert lines[-1].startswith("ValueError: ")


def _failing_on(text: str) -> BaseException:
    try:
        try:
            int(text)
        except ValueError as cause:
            raise RuntimeError(f"cannot encode {text}") from cause
    except RuntimeError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
def test_a_traceback_repeats_texts_at_debug_alone(
    level: int, caplog: pytest.LogCaptureFixture
) -> None:
    error = _failing_on("marigold")
    trace = (type(error), error, error.__traceback__)
    record = logging.LogRecord("name", logging.ERROR, "", 0, "It failed", (), trace)
    with caplog.at_level(level):
        assert leave_texts_out(record)
    told = TextFormatter("%(message)s").format(record)
    assert "RuntimeError" in told
    assert "int(text)" in told
    assert ("marigold" in told) is (level == logging.DEBUG)
