"""The service with a sampler beside it, which tells what its threads are doing.

    scripts/servers/sampled_service.py REPORT

Every 5 ms it looks at every thread that is not waiting; every second it writes to REPORT how often
each function was on a stack and on top of it. A profiler that hooks into each call would cost
several times what it measures. Time in the database's own threads is not seen.
"""

import argparse
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from scripts.servers.processes import REPOSITORY
from service.commands.main import main

_SAMPLE_SECONDS: Final = 0.005
_LINES: Final = 70
_WRITE_SECONDS: Final = 1.0
# Where a thread stands that has nothing to do.
_WAITING: Final = ("select", "wait", "_worker", "run_forever", "accept")


class Sampler(threading.Thread):
    """Counts functions on the stacks of all threads but its own."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.path = path
        self.samples = 0
        self.own: Counter[str] = Counter()
        self.whole: Counter[str] = Counter()

    def run(self) -> None:
        """Sample until the process ends, however it does."""
        mine, written = threading.get_ident(), time.monotonic()
        while True:
            time.sleep(_SAMPLE_SECONDS)
            if time.monotonic() - written >= _WRITE_SECONDS:
                self.path.write_text(self.report(), encoding="utf-8")
                written = time.monotonic()
            for thread, frame in sys._current_frames().items():
                if thread != mine and frame.f_code.co_name not in _WAITING:
                    self._count(frame)

    def _count(self, frame: FrameType | None) -> None:
        self.samples += 1
        names = []
        while frame is not None:
            code = frame.f_code
            names.append(f"{_shortened(code.co_filename)}:{code.co_qualname}")
            frame = frame.f_back
        self.own[names[0]] += 1
        self.whole.update(set(names))

    def report(self) -> str:
        """Return the functions that were on most stacks, in percent of all samples."""
        parts = [f"{self.samples} samples of {_SAMPLE_SECONDS:g} s of threads that worked"]
        for title, counts in (("on the stack", self.whole), ("on top of it", self.own)):
            parts.append(f"\n{title}, percent")
            parts += [
                f"{100 * count / max(1, self.samples):5.1f}  {name}"
                for name, count in counts.most_common(_LINES)
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
