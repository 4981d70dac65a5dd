"""Ask the service everything that its description allows and forbids, with Schemathesis.

    scripts/measure_contract.py [--examples NUMBER] [--seeds NUMBER] [--first NUMBER]

Starts servers of its own, one service for each search engine, and for each seed sends the examples
of the description, every bound of it from both sides, so many drawn requests to each operation,
right ones and wrong ones, and chains of operations along their links. Each answer must be of a
declared status and shape, a right request taken, a wrong one refused; the embedding server is
asked as well. Ends with status 1 when there is a complaint, and shows each with its curl line.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.servers.own_servers import own_servers

ENGINES: Final = ("resident", "database")
PHASES: Final = ("examples", "coverage", "fuzzing", "stateful")
# One operation is asked ten times a second and more, also beside another process of tests.
_SECONDS_OF_A_REQUEST: Final = 60
_REPOSITORY: Final = Path(__file__).resolve().parents[1]
_HOOKS: Final = "scripts.contract.hooks"
_NOTE: Final = "# 2026-02-13\n\n## 09:15 Smoke test\n\nJR's code phrase is blue bunny.\n"


@dataclass(frozen=True, slots=True)
class Asked:
    """How many requests were sent, and what Schemathesis has to say; empty without a complaint."""

    requests: int
    complaints: str


def main() -> None:
    """Ask both engines and the embedding server, and print a line for each seed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--examples", type=int, default=300, help="drawn for each operation")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "2026-02-13.md").write_text(_NOTE, encoding="utf-8")
        found = [
            complaint
            for engine in ENGINES
            for complaint in _ask_engine(engine, folder, asked.examples, seeds)
        ]
    for complaint in found:
        print(complaint)
    sys.exit(1 if found else 0)


def _ask_engine(engine: str, sources: str, examples: int, seeds: Sequence[int]) -> list[str]:
    """Ask one engine with every seed; the embedding server too, beside the first engine."""
    found = []
    with own_servers("hashing-256", MEMORY_SEARCH_ENGINE=engine, MEMORY_SOURCES=sources) as servers:
        urls = {engine: servers.url}
        if engine == ENGINES[0]:
            urls["embedding server"] = servers.embedding_url
        for name, url in urls.items():
            for seed in seeds:
                asked = ask(url, examples, seed)
                verdict = "complaints" if asked.complaints else "no complaint"
                print(f"{name}, seed {seed}: {asked.requests:,} requests, {verdict}", flush=True)
                found += [asked.complaints] if asked.complaints else []
    return found


def ask(
    url: str, examples: int, seed: int, phases: Sequence[str] = PHASES, key: str | None = None
) -> Asked:
    """Send so many drawn requests to each operation of the service at this address.

    With a `key` as who has it. Without one, none is made: from then on each request would need it.
    """
    if key:
        who = ["--header", f"Authorization: Bearer {key}"]
    else:
        who = ["--exclude-operation-id", "create_key"]
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [
                sys.executable, "-m", "schemathesis.cli", "--no-color", "run",
                f"{url}/openapi.json", "--phases", ",".join(phases),
                "--max-examples", str(examples), "--seed", str(seed), "--continue-on-failure",
                "--generation-database", "none", "--request-timeout", str(_SECONDS_OF_A_REQUEST),
                "--suppress-health-check", "all", "--warnings", "off", *who,
            ],
            cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(_REPOSITORY), "SCHEMATHESIS_HOOKS": _HOOKS},
        )  # fmt: skip
    sent = re.search(r"([\d,]+) generated", run.stdout)
    is_clean = run.returncode == 0 and sent is not None
    return Asked(
        int(sent[1].replace(",", "")) if sent else 0,
        "" if is_clean else f"seed {seed} at {url}:\n{run.stdout}{run.stderr}",
    )


if __name__ == "__main__":
    main()
