"""A folder that may not be looked into, whoever runs the tests: root may look everywhere."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest


def forbid(monkeypatch: pytest.MonkeyPatch, place: str | Path) -> None:
    """Refuse to open a folder, by its path or its name, and to look at what lies in it."""
    opened, looked_at = os.open, os.stat

    def refuse(path: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    def open_(path: Any, *rest: Any, **more: Any) -> int:
        if Path(path) == Path(place):
            refuse(path)
        return opened(path, *rest, **more)

    def stat(path: Any, *rest: Any, **more: Any) -> os.stat_result:
        if not isinstance(path, int) and Path(path).parent == Path(place):
            refuse(path)
        return looked_at(path, *rest, **more)

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "stat", stat)
