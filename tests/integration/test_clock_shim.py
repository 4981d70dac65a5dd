"""The clock shim moves the wall clock of one process, for Python and for the database in it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers.clock_shim import ClockShim, build_clock_shim, why_no_clock_shim

pytestmark = pytest.mark.skipif(bool(why_no_clock_shim()), reason=str(why_no_clock_shim()))

DAY = 86_400.0
# Tells its clocks once for each line that it is sent: Python's, the database's, the monotonic one.
PROGRAM = """
import asyncio, sys, time
from datetime import datetime, timezone
from surrealdb import AsyncSurreal

async def tell():
    async with AsyncSurreal("mem://") as db:
        await db.use("a", "b")
        for _ in sys.stdin:
            told = await db.query("RETURN time::now()")
            moment = told[0] if isinstance(told, list) else told
            now = datetime.now(timezone.utc).timestamp()
            print(time.time(), now, moment.timestamp(), time.monotonic(), flush=True)

asyncio.run(tell())
"""


@pytest.fixture
def shim(tmp_path: Path) -> ClockShim:
    return build_clock_shim(tmp_path)


def test_the_clock_of_a_running_process_moves_and_no_other(shim: ClockShim) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=dict(shim.environment), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        for moved in (0.0, -2.0, -3600.0, -10 * DAY, 10 * DAY, 0.25):
            shim.move(moved)
            before = time.time(), time.monotonic()
            process.stdin.write("now\n")
            process.stdin.flush()
            *wall, monotonic = map(float, process.stdout.readline().split())
            after = time.time(), time.monotonic()
            assert all(before[0] <= told - moved + 0.01 <= after[0] + 0.02 for told in wall), moved
            assert before[1] <= monotonic <= after[1]
        process.stdin.close()


def test_a_process_without_the_file_keeps_the_true_time(shim: ClockShim) -> None:
    shim.move(DAY)
    told = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env={"LD_PRELOAD": str(shim.library)}, text=True, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert abs(float(told) - time.time()) < DAY / 2
