"""Show what an embedded store does with much writing: it hangs, and opens slowly after a kill.

    scripts/measure_flush.py [--megabytes 4000] [--log-megabytes 128]

First a store is written through the driver alone until a write takes more than 20 s, or so many
megabytes are written; then another is killed with so much in its log, and opened again.
docs/decisions/0012 says what the service does about both.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from surrealdb import AsyncSurreal

STUCK_SECONDS = 20.0
ROW_BYTES = 8000
BATCH_ROWS = 100


def main() -> None:
    """Measure both, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=4000)
    parser.add_argument("--log-megabytes", type=int, default=128)
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.fill:
        asyncio.run(fill(asked.fill, asked.log_megabytes))
        os._exit(9)  # as a kill would end it: nothing is closed
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--fill"]
        subprocess.run(
            [*command, f"{folder}/stuck", "--log-megabytes", str(asked.megabytes)], check=False
        )
        killed = Path(folder) / "killed"
        subprocess.run(
            [*command, str(killed), "--log-megabytes", str(asked.log_megabytes)], check=False
        )
        started = time.perf_counter()
        asyncio.run(opened(killed))
        print(f"opened after a kill in {time.perf_counter() - started:.1f} s")


async def fill(folder: Path, megabytes: int) -> None:
    """Write rows until the log has so many megabytes, or a write hangs."""
    client = AsyncSurreal(f"surrealkv://{folder}")
    await client.connect()
    await client.use("measure", "flush")
    blob, number = os.urandom(ROW_BYTES), 0
    while log_bytes(folder) < megabytes * 1_000_000:
        rows: list[Any] = [{"id": number + n, "blob": blob} for n in range(BATCH_ROWS)]
        try:
            async with asyncio.timeout(STUCK_SECONDS):
                await client.query("INSERT INTO row $rows RETURN NONE", {"rows": rows})
        except TimeoutError:
            print(f"stuck after {number:,} rows, {log_bytes(folder) / 1e6:,.0f} MB in the log")
            return
        number += BATCH_ROWS
    print(f"wrote {number:,} rows, {log_bytes(folder) / 1e6:,.0f} MB in the log")


async def opened(folder: Path) -> None:
    """Open a store and close it."""
    client = AsyncSurreal(f"surrealkv://{folder}")
    await client.connect()
    await client.use("measure", "flush")
    await client.query("RETURN 1")
    await client.close()


def log_bytes(folder: Path) -> int:
    """Return the size of the write-ahead log."""
    return sum(file.stat().st_size for file in (folder / "wal").iterdir())


if __name__ == "__main__":
    main()
