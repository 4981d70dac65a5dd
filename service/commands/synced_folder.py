"""The folder of the files that `graph-memory sync-files` keeps, and what both sides said last."""

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from service.errors import InvalidRequest

_STATE: Final = ".graph-memory-synced.json"
_MOST_BYTES: Final = 1_000_000


@dataclass(slots=True)
class Folder:
    """What both sides said of each file the last time, and what is told."""

    path: Path
    state: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    _seen: dict[str, bytes | None] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return a folder, which is made later where there is none; raises InvalidRequest."""
        above = path.parent
        if any(os.path.lexists(one) and not one.is_dir() for one in (path, above)):
            raise InvalidRequest(f"{path}: a file stands there; name a folder.")
        if not above.is_dir():
            msg = f"{path}: there is no folder {above}: look at its spelling, or make it first."
            raise InvalidRequest(msg)
        return cls(path, _state(path / _STATE))

    def make(self) -> None:
        """Make the folder where there is none, and say so: its name may be misspelt."""
        if not self.path.is_dir():
            self.path.mkdir()
            self.told.append(f"{self.path}: made, as there was no such folder")

    def read(self, name: str) -> str | None:
        """Return a file's text, None where there is no file, or nothing in it.

        Raises InvalidRequest.
        """
        path = self.path / name
        self._seen[name] = raw = _bytes(path)
        if raw is None:
            return None
        if len(raw) > _MOST_BYTES:
            raise InvalidRequest(f"{path}: has more than {_MOST_BYTES:,} bytes.")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidRequest(f"{path}: is no UTF-8: {error}.") from error
        return text.lstrip("\ufeff").replace("\r\n", "\n") if text.strip() else None

    def write(self, name: str, text: str) -> bool:
        """Write a file whole or not at all; one that says the same is left alone.

        False, and it is said, where somebody wrote to it since it was read: the next run looks.
        """
        # A link stays one.
        path = (self.path / name).resolve()
        now = _bytes(path)
        if now == text.encode():
            return True
        if now != self._seen.get(name):
            self.told.append(f"{name}: was edited meanwhile: run it again")
            return False
        new = path.with_name(f".{path.name}.new")
        new.write_text(text, "utf-8")
        if now is not None:
            shutil.copymode(path, new)
        new.replace(path)
        self.told.append(f"{name}: written")
        return True

    def base(self, name: str) -> Any:
        """Return what both sides said of a file the last time: a digest, or one by id."""
        return self.state.get(name)

    def save(self) -> None:
        """Write down what both sides say."""
        new = self.path / f"{_STATE}.new"
        new.write_text(json.dumps(self.state, indent=1), "utf-8")
        new.replace(self.path / _STATE)


def _bytes(path: Path) -> bytes | None:
    if not path.exists():
        return None
    with path.open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _state(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        told = json.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        msg = f"{file}: is broken: remove it; what differs is kept from both sides then."
        raise InvalidRequest(msg) from error
    return told if isinstance(told, dict) else {}
