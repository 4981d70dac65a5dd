"""The form of the log: lines for people or for collectors, each with the id of its request."""

import logging
import traceback
from collections.abc import Iterator

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from embedding_server.settings import Settings
from embedding_server.web.request_log import find_record

# They say at INFO what is only of use to those who change them.
LOUD_LIBRARIES = ("httpx", "sentence_transformers", "transformers", "uvicorn")


def configure_logging(settings: Settings) -> None:
    """Send every line of this process to stderr in the form that the settings name."""
    handler = logging.StreamHandler()
    handler.addFilter(_add_request_id)
    handler.addFilter(leave_texts_out)
    handler.setFormatter(_make_formatter(settings))
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])
    # Else Python writes them to stderr by itself, in a form of its own.
    logging.captureWarnings(True)
    if settings.log_level != "debug":
        for library in LOUD_LIBRARIES:
            logging.getLogger(library).setLevel(logging.WARNING)


class TextFormatter(logging.Formatter):
    """One line for a person; the request's id comes last, and only where there is a request."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Return the line without a traceback."""
        line = super().formatMessage(record)
        request_id = getattr(record, "request_id", None)
        return f"{line} [{request_id}]" if request_id else line


def _add_request_id(record: logging.LogRecord) -> bool:
    request = find_record()
    if request is not None:
        record.request_id = request.id
    return True


def leave_texts_out(record: logging.LogRecord) -> bool:
    """Take out of a record, above level debug, what an exception says: it may repeat a text.

    Its type and the lines that led to it stay, and so does what led to it in turn.
    """
    if logging.getLogger().isEnabledFor(logging.DEBUG):
        return True
    if record.name == "asyncio":
        # The second line is the task, with its exception.
        record.msg, record.args = record.getMessage().partition("\n")[0], None
    if record.exc_info and record.exc_info[1]:
        record.exc_text = "".join(_trace(record.exc_info[1])).rstrip()
        record.exc_info = None
    return True


def _trace(error: BaseException) -> Iterator[str]:
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _trace(cause)
        yield "\nwhich led to:\n\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__module__}.{type(error).__qualname__}\n"


def _make_formatter(settings: Settings) -> logging.Formatter:
    if settings.log_format == "text":
        return TextFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    return JsonFormatter(
        "%(levelname)s %(name)s %(message)s",
        timestamp="time",
        rename_fields={"levelname": "level", "name": "logger", "exc_info": "traceback"},
        # uvicorn's copy of its message with colours in it.
        reserved_attrs=[*RESERVED_ATTRS, "color_message"],
    )
