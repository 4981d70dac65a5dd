"""How long the hooks of a program take: service well, its embedder hung, slow, hung, and away.

    scripts/measure_hooks.py [--times 7]

Then each of twelve prompts of a session, beside an embedder that hangs: from the start, and later.
Each hook is run as Claude Code runs it, `sh run.sh`, in a process of its own.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.servers.states import services_by_state
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.running import embedding_server, running_service

RUN: Final = Path(__file__).parents[1] / "integrations" / "claude-code" / "scripts" / "run.sh"
PROMPTS: Final = 12
EVENTS: Final = ("SessionStart", "UserPromptSubmit", "PostToolUseFailure", "Stop", "SessionEnd")
TOLD: Final = "From now on the code phrase of the lighthouse is blue bunny."


def main() -> None:
    """Print a table of medians and of the longest, in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=7, help="runs of each hook")
    times = parser.parse_args().times
    print(f"| service | {' | '.join(EVENTS)} |\n|---|{'---:|' * len(EVENTS)}")
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        embedder = opened.enter_context(embedding_server("hashing-256"))
        cases = services_by_state(opened, folder, embedder)
        for name, url in cases.items():
            told = [_figures(folder / name.replace(" ", "-"), url, one, times) for one in EVENTS]
            print(f"| {name} | {' | '.join(told)} |", flush=True)
        hung = cases["never answers"]
        blind = running_service(wait=False, data_dir=folder / "first", embedding_url=hung)
        _prompts(folder / "p1", "hung from the start", opened.enter_context(blind).url)
        outer = opened.enter_context(outer_embeddings())
        seeing = running_service(data_dir=folder / "later", embedding_url=outer.url)
        url = opened.enter_context(seeing).url
        opened.callback(outer.let_go.set)
        outer.hangs_on = ""
        _prompts(folder / "p2", "hung later", url)


def _prompts(home: Path, name: str, url: str) -> None:
    taken = [_run(home, url, "UserPromptSubmit", number) for number in range(PROMPTS)]
    print(f"{name}: {', '.join(f'{one:.0f}' for one in taken)} ms a prompt", flush=True)


def _figures(home: Path, url: str, event: str, times: int) -> str:
    taken = [_run(home, url, event, number) for number in range(times)]
    return f"{statistics.median(taken):.0f} (max. {max(taken):.0f})"


def _run(home: Path, url: str, event: str, number: int) -> float:
    """Return the milliseconds of a hook of a session that has something to capture."""
    own = home / "graph-memory"
    own.mkdir(parents=True, exist_ok=True)
    (own / "client.json").write_text(json.dumps({"url": url}))
    (own / "python").write_text(sys.executable)
    transcript = home / "t.jsonl"
    with transcript.open("a") as file:
        line = {"type": "user", "message": {"role": "user", "content": f"{TOLD} ({number})"}}
        file.write(json.dumps(line) + "\n")
    body: dict[str, Any] = {
        "hook_event_name": event, "session_id": f"s{event}{number}", "cwd": str(home),
        "prompt": "What is the code phrase of the lighthouse?", "transcript_path": str(transcript),
        "tool_name": "Bash", "tool_input": {"command": "make"}, "error": "make: *** Error 2",
    }  # fmt: skip
    environment = {"PATH": os.environ["PATH"], "CLAUDE_CONFIG_DIR": str(home)}
    began = time.monotonic()
    done = subprocess.run(
        ["sh", str(RUN), "claude-code"], input=json.dumps(body).encode(), env=environment,
        capture_output=True, check=True,
    )  # fmt: skip
    json.loads(done.stdout)
    return (time.monotonic() - began) * 1000


if __name__ == "__main__":
    main()
