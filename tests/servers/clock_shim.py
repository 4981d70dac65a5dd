"""A wall clock that a test moves under a running process: built from clock_shim.c, no dependency.

Only CLOCK_REALTIME moves, for Python and for the Rust of the embedded database alike; time-outs
and pauses are counted by CLOCK_MONOTONIC and go on as they are.
"""

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).with_suffix(".c")
_OFFSET: Final = struct.Struct("=q")


class NoClockShim(RuntimeError):
    """This machine cannot build or load it: no Linux, or no C compiler; the text says which."""


@dataclass(frozen=True, slots=True)
class ClockShim:
    """The clock of every process that starts with `environment`, now and later."""

    library: Path
    offset: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """Return what a process needs in its environment, for its whole life."""
        return {"LD_PRELOAD": str(self.library), "CLOCK_SHIM_OFFSET": str(self.offset)}

    def move(self, seconds: float) -> None:
        """Set the clock to the true time and `seconds`, which may be negative; at once."""
        nanoseconds = round(seconds * 1e9)
        file = os.open(self.offset, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            # In place and in one piece: the other side has the file mapped.
            os.pwrite(file, _OFFSET.pack(nanoseconds), 0)
        finally:
            os.close(file)


def build_clock_shim(folder: Path) -> ClockShim:
    """Compile the shim into `folder` and return its clock, set to the true time.

    Raises NoClockShim where it cannot be had: a test then skips, and says why.
    """
    reason = why_no_clock_shim()
    if reason:
        raise NoClockShim(reason)
    library = folder / "clock_shim.so"
    command = [compiler(), "-O2", "-shared", "-fPIC"]
    subprocess.run([*command, "-o", str(library), str(_SOURCE)], check=True, timeout=60)
    shim = ClockShim(library, folder / "clock_offset")
    shim.move(0)
    return shim


@cache
def why_no_clock_shim() -> str | None:
    """Return why the shim cannot be had here; None where it can."""
    if sys.platform != "linux":
        return "the clock shim needs Linux (LD_PRELOAD)"
    return None if compiler() else "the clock shim needs a C compiler: `cc` is not on the PATH"


def compiler() -> str:
    """Return the C compiler of this machine; empty when there is none."""
    return shutil.which("cc") or shutil.which("gcc") or ""
