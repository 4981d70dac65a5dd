"""What is written down of a program that is connected, and how its files are as they were again."""

import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from service.commands.program import Program
from service.errors import InvalidRequest

CLIENT: Final = "client.json"
PYTHON: Final = "python"


@dataclass(frozen=True, slots=True)
class Connection:
    """How a program reaches the service, and what was there before it was connected.

    `settings` is the text of its settings then, `made` what its command made since.
    """

    url: str
    key: str | None = None
    key_id: str | None = None
    agent: str | None = None
    settings: str | None = None
    made: tuple[str, ...] = field(default=())

    @classmethod
    def read(cls, program: Program) -> "Connection | None":
        """Return what was written down; None where nothing was.

        Raises InvalidRequest for a file that nobody can read.
        """
        path = program.own / CLIENT
        try:
            told: dict[str, Any] = json.loads(path.read_text("utf-8"))
            names = {name: told.get(name) for name in cls.__dataclass_fields__}
            return cls(**{**names, "url": told["url"], "made": tuple(told.get("made") or ())})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidRequest(f"{path} cannot be read: delete it and connect again.") from error

    def write(self, program: Program, python: str) -> None:
        """Write it down beside the program's settings, for its user alone; its key comes last.

        Where anything cannot be written, the key that was there before stands there still.
        """
        program.own.mkdir(mode=0o700, parents=True, exist_ok=True)
        if program.script:
            write_private(program.own / PYTHON, python + "\n")
        write_private(program.own / CLIENT, json.dumps(asdict(self), indent=2) + "\n")


def missing(program: Program) -> tuple[str, ...]:
    """Return what the program's command is going to make, as it is not there yet."""
    return tuple(name for name in program.leaves if not (program.home / name).exists())


def restore(program: Program, connection: Connection) -> None:
    """Take away what a plugin leaves behind: its copy, empty tables and files that it made."""
    shutil.rmtree(program.cache, ignore_errors=True)
    _restore_settings(program, connection)
    for name in connection.made:
        # Settings were seen to: what a person switched off since is not nothing.
        if name != program.settings:
            _remove_if_empty(program.home / name)


def forget(program: Program) -> None:
    """Take away what was written down."""
    shutil.rmtree(program.own, ignore_errors=True)


def waiting(program: Program) -> list[Path]:
    """Return the captures that the service has not got yet."""
    return sorted((program.own / "spool").glob("*.json"))


def write_private(path: Path, text: str) -> None:
    """Write a file whole or not at all, for its owner alone."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    opened = os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)


def _restore_settings(program: Program, connection: Connection) -> None:
    """Give settings that say the same as before their old text again, comments of TOML and all."""
    path, before = program.settings_file, connection.settings
    # Where there is more than its command can write, nobody but a person wrote.
    if not path.exists() or not program.is_plain():
        return
    now, text = program.read_settings(), path.read_bytes().decode()
    try:
        old = program.parse(before) if before is not None else {}
    except InvalidRequest:
        # It was more, and is no longer: then all but the plugin stays as it is.
        old = {}
    program.tidy(now, old)
    if path.suffix == ".toml" and not _comments(text) <= _comments(before or ""):
        # What a person noted since is no value, and the old text has it not.
        return
    if now == old and before is None:
        path.unlink()
    elif now == old and program.takes(before or "", text):
        _write(path, before or "")
    elif path.suffix == ".json":
        _write(path, json.dumps(now, indent=2, ensure_ascii=False) + "\n")


def _comments(text: str) -> set[str]:
    """Return the lines that may have one."""
    return {line.strip() for line in text.splitlines() if "#" in line}


def _write(path: Path, text: str) -> None:
    """Write a file in place of another, with its rights; a link stays one."""
    target = path.resolve()
    beside = target.with_name(f".{target.name}.graph-memory")
    beside.write_bytes(text.encode())
    shutil.copymode(target, beside)
    beside.replace(target)


def _remove_if_empty(path: Path) -> None:
    if path.is_dir():
        if not any(path.iterdir()):
            path.rmdir()
    elif path.suffix == ".json" and path.exists():
        told = json.loads(path.read_text("utf-8") or "{}")
        told.pop("version", None)
        if not any(told.values()):
            path.unlink()
