"""Stdin, stdout and stderr as a command needs them, whatever it was started with."""

import codecs
import os
import sys
from io import TextIOWrapper
from typing import Final

_MODES: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}


def settle_streams() -> None:
    """Let every stream be there and take every character.

    Python has None for one that was closed, and its number goes to the next file that is opened:
    what a library says to stderr would be written into the store. ASCII stands for a locale that
    nobody chose, so that UTF-8 is written as typer does it; what another encoding has not is
    written as an escape.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) < len(_MODES):
        os.set_inheritable(opened, True)
    os.close(opened)
    for name, mode in _MODES.items():
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - as Python opens its own
        elif mode == "w" and isinstance(stream, TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            encoding = "utf-8" if is_ascii else stream.encoding
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
