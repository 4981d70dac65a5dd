"""The service with a sampler beside it, which tells what its threads spend their CPU on.

    scripts/servers/sampled_service.py REPORT

Every 5 ms it looks at the CPU clock of every thread that Python knows, and puts what that went on
by down to the functions on its stack; every second it writes to REPORT what each had, on a stack
and on top of it. A profiler that hooks into each call would cost several times what it measures.
What the database's own threads take is told as one number: the process's CPU less all that.
"""

import argparse
import sys
import threading
import time
from collections import defaultdict
from operator import itemgetter
from pathlib import Path
from types import FrameType
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from scripts.servers.processes import REPOSITORY
from service.commands.main import main

_SAMPLE_SECONDS: Final = 0.005
_LINES: Final = 150
_WRITE_SECONDS: Final = 1.0


class Sampler(threading.Thread):
    """Counts the CPU seconds of functions on the stacks of all threads but its own."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path = path
        self.clocks: dict[int, float] = {}
        self.own: defaultdict[str, float] = defaultdict(float)
        self.whole: defaultdict[str, float] = defaultdict(float)

    def run(self) -> None:
        """Sample until the process ends, however it does."""
        mine, written = threading.get_ident(), time.monotonic()
        while True:
            time.sleep(_SAMPLE_SECONDS)
            if time.monotonic() - written >= _WRITE_SECONDS:
                self.path.write_text(self.report(), encoding="utf-8")
                written = time.monotonic()
            for thread, frame in sys._current_frames().items():
                spent = self._spent(thread)
                if thread != mine and spent:
                    self._count(frame, spent)

    def _spent(self, thread: int) -> float:
        """Return a thread's CPU seconds since it was last looked at."""
        now = time.clock_gettime(time.pthread_getcpuclockid(thread))
        # The clock starts again where a thread has the number of one that ended.
        before = self.clocks.get(thread, 0.0)
        self.clocks[thread] = now
        return max(0.0, now - before)

    def _count(self, frame: FrameType | None, spent: float) -> None:
        names = []
        while frame is not None:
            code = frame.f_code
            names.append(f"{_shortened(code.co_filename)}:{code.co_qualname}")
            frame = frame.f_back
        self.own[names[0]] += spent
        for name in set(names):
            self.whole[name] += spent

    def report(self) -> str:
        """Return the functions that had most, in percent of all that Python's threads had."""
        seconds = sum(self.own.values())
        others = time.process_time() - sum(self.clocks.values())
        parts = [f"{seconds:.1f} s of CPU of Python's threads, {others:.1f} of others"]
        for title, counts in (("on the stack", self.whole), ("on top of it", self.own)):
            parts.append(f"\n{title}, percent")
            parts += [
                f"{100 * spent / max(seconds, 1e-9):5.1f}  {name}"
                for name, spent in sorted(counts.items(), key=itemgetter(1), reverse=True)[:_LINES]
            ]
        return "\n".join(parts)


def _shortened(file: str) -> str:
    return file.removeprefix(f"{REPOSITORY}/").rpartition("site-packages/")[2]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    Sampler(parser.parse_args().report).start()
    sys.argv = ["graph-memory", "serve"]
    main()
