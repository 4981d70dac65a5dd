"""What every command does at the terminal: settings, log lines, and an end in one line.

It ends with 0 where it did what it was asked, 1 where it could not, 2 for words that make no sense,
and 3 where nothing was found.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, NoReturn

import typer
from pydantic import ValidationError
from pydantic_settings import SettingsError
from rich.console import Console
from rich.logging import RichHandler
from rich.text import Text

from service.client.answers import Receipt
from service.client.errors import ClientError
from service.commands.misused import is_misuse
from service.errors import CannotStart, ServiceError
from service.redaction import WithoutSecrets, redacted
from service.settings import ENV_FILE, SECRETS_FOLDER, Settings
from service.text.clean import clean_text

# Marks that turn a line around, so that it reads other than it is (CVE-2021-42574).
_TURNING: Final = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])

_ESCAPED: Final = {code: f"\\u{code:04x}" for code in (*_TURNING, *range(0x7F, 0xA0))}
# What the service says of its endpoints, as whoever types commands does it.
_TYPED: Final = {
    "GET /keys": "`graph-memory keys list`", "POST /keys": "`graph-memory keys create`",
    "POST /trust/release": "`graph-memory trust release`",
    "Leave out `project`": "Say `--project none`",
}  # fmt: skip
_FAILED: Final = 1
_MISUSED: Final = 2
_NOTHING_FOUND: Final = 3
_PIPE_COLUMNS: Final = 400

# Answers go to stdout, everything else here.
console: Final = Console(stderr=True)


def begin() -> Settings:
    """Read the settings and begin to log; raises CannotStart for a wrong setting."""
    settings = _settings()
    _log_to_terminal(settings)
    return settings


@contextmanager
def one_line() -> Iterator[None]:
    """End with one line, not a traceback, when what is wrong lies outside of the program."""
    try:
        yield
    except (ServiceError, ClientError) as error:
        _stop(error.detail, _MISUSED if is_misuse(error) else _FAILED)
    except OSError as error:
        _stop(f"{error.filename}: {error.strerror}." if error.filename else str(error))


def leave_to_the_answer() -> None:
    """Log nothing of vectors that wait: the command tells what its answer warns of."""
    logging.getLogger("service.writing.embed_now").setLevel(logging.ERROR)


def printable(text: str) -> str:
    """Return a text that moves no cursor, sets no title and turns no line around."""
    return clean_text(text).text.translate(_TURNING)


def cell(text: str) -> Text:
    """Return what somebody else wrote as one line of a table, its brackets no marks of ours."""
    return Text(" ".join(printable(text).split()))


def answers(*, is_raw: bool = False) -> Console:
    """Return where answers are drawn; what goes through a pipe is not cut to a terminal's width."""
    return Console(no_color=is_raw, width=None if sys.stdout.isatty() else _PIPE_COLUMNS)


def tell_missing(receipt: Receipt) -> None:
    """Say what an answer was found without."""
    if receipt["missing_signals"]:
        missing = ", ".join(receipt["missing_signals"])
        console.print(f"Found without: {missing}.", highlight=False, markup=False)


def tell_json(answer: object) -> None:
    """Print an answer as JSON that moves no cursor either.

    JSON escapes by itself what lies below a blank; what lies above it is escaped here. Where stdout
    has not every character, all beyond ASCII is: only so it stays JSON.
    """
    is_whole = sys.stdout.encoding.lower().startswith("utf")
    text = json.dumps(answer, ensure_ascii=not is_whole, indent=2)
    typer.echo(text.translate(_ESCAPED))


def end_with_nothing(reason: str) -> NoReturn:
    """End where nothing was found, as a script can tell."""
    console.print(reason, highlight=False, markup=False)
    raise typer.Exit(_NOTHING_FOUND)


def _stop(reason: str, code: int = _FAILED) -> NoReturn:
    for told, typed in _TYPED.items():
        reason = reason.replace(told, typed)
    console.print(redacted(f"graph-memory: {reason}"), style="red", soft_wrap=True, markup=False)
    sys.exit(code)


def _settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:
            # What is kept secret could not be spelled: bytes of another encoding.
            msg = "A password among the settings is no text in UTF-8: write it as that."
            raise CannotStart(msg) from error
        # Behind the field stands where in a mapping: no setting is called that.
        field, *inside = first["loc"]
        at = "".join(f", at {name!r}" for name in inside[:1] if isinstance(name, str))
        told = first["msg"].removeprefix("Value error, ")
        raise CannotStart(f"MEMORY_{str(field).upper()}{at}: {told}") from error
    except SettingsError as error:
        # The field is named in its text alone: `error getting value for field "api_key" from …`.
        _, name, _ = str(error).split('"', 2)
        why = getattr(error.__cause__, "strerror", "it is no text in UTF-8")
        file = SECRETS_FOLDER / f"memory_{name}"
        raise CannotStart(f"MEMORY_{name.upper()}: {file} cannot be read: {why}.") from error
    except UnicodeDecodeError as error:
        raise CannotStart(f"{ENV_FILE} is no text in UTF-8: save it as that.") from error
    except RuntimeError as error:
        msg = "Where your home is cannot be told: set HOME, or MEMORY_DATA_DIR in full."
        raise CannotStart(msg) from error


def _log_defect(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    logging.getLogger(__name__).critical("ended by a defect", exc_info=(kind, error, trace))


def _log_to_terminal(settings: Settings) -> None:
    """Log in colours to a terminal, and to a file or pipe in whole lines with their time."""
    rich = RichHandler(console=console, show_path=False, rich_tracebacks=False)
    is_terminal = console.is_terminal
    logging.basicConfig(
        level=settings.log_level.upper(),
        format="%(message)s" if is_terminal else "%(asctime)s %(levelname)s %(message)s",
        handlers=[rich if is_terminal else logging.StreamHandler()],
        force=True,
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(WithoutSecrets())
    # Else Python writes both to stderr by itself, with all they say.
    logging.captureWarnings(True)
    sys.excepthook = _log_defect
    # A failed start is told by us.
    logging.getLogger("uvicorn.error").addFilter(
        lambda entry: not entry.getMessage().startswith("Application startup failed")
    )
    for chatty in ("httpx", "httpcore", "websockets", "surrealdb", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
