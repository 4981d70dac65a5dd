"""What of memory a session of many prompts gets to read, through the real Claude Code and Codex.

    scripts/measure_sessions.py [--prompts 50]

Against a fake model, whose requests are looked at; needs npm. Tokens are the service's estimate.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.clients.conftest import new_machine
from tests.clients.long_session import Told, fill, play, prompts
from tests.servers.fake_model import fake_model
from tests.servers.running import embedding_server, running_service


def main() -> None:
    """Print a table with a line for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=50, help="prompts of the session")
    count = parser.parse_args().prompts
    print(
        "| program | at the start | a turn that is told | in all | turns told | repeats | changed |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for client in ("claude-code", "codex"):
        print(f"| {client} | {_told(client, count)} |", flush=True)


def _told(client: str, count: int) -> str:
    with (
        tempfile.TemporaryDirectory() as folder,
        fake_model() as model,
        embedding_server("all-MiniLM-L6-v2") as embedder,
        running_service(data_dir=Path(folder) / "data", embedding_url=embedder) as memory,
    ):
        person = new_machine(Path(folder) / "home", model)
        person.find(memory, Path(folder) / "data")
        fill(person, memory)
        return _figures(play(person, client, prompts(count)))


def _figures(told: Told) -> str:
    first, *later = told.tokens
    said = [tokens for tokens in later if tokens]
    each = f"{statistics.median(said):.0f} (max. {max(said)})"
    turns = sum(tokens > 0 for tokens in told.tokens)
    return (
        f"{first} | {each} | {sum(told.tokens)} | {turns} of {len(told.tokens)} "
        f"| {len(told.repeats)} | {len(told.changed)}"
    )


if __name__ == "__main__":
    main()
