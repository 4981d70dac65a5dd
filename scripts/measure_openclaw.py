"""What OpenClaw's plugin costs: tokens and repeats of fifty turns, and how long one waits.

    scripts/measure_openclaw.py turns [--turns 50]     # the real gateway, plugin on and off
    scripts/measure_openclaw.py waits [--times 7]      # service well, its embedder hung, slow, away

Needs npm; the gateways are installed once into the cache folder.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.servers.states import services_by_state
from service.text.tokens import estimate_prompt_tokens
from tests.servers.fake_model import FakeModel, fake_model
from tests.servers.openclaw import VERSIONS, WORD, OpenClaw
from tests.servers.openclaw_turns import play_turns
from tests.servers.running import embedding_server, free_port, running_service

Json = dict[str, Any]
HARBOURS: Final = 24
MARK: Final = "graph-memory-context"
ASKED: Final = "What is the code phrase of the lighthouse?"
TOLD: Final = "Please remember that the code phrase of the lighthouse is blue bunny."


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("turns", "waits"))
    parser.add_argument("--turns", type=int, default=50, help="turns of a session")
    parser.add_argument("--times", type=int, default=7, help="sessions of four turns")
    given = parser.parse_args()
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        embedder = opened.enter_context(embedding_server("hashing-256"))
        if given.what == "waits":
            _waits(opened, folder, embedder, given.times)
        else:
            _turns(folder, embedder, given.turns)


def _turns(folder: Path, embedder: str, turns: int) -> None:
    names = (
        "gateway", "plugin", "tokens before a prompt, median", "new of them, mean",
        "in the system prompt", "repeats", "earlier bytes changed",
        "how much of a request the next begins with, median",
    )  # fmt: skip
    print(f"| {' | '.join(names)} |\n|---|---|{'---:|' * 6}")
    for version in VERSIONS:
        for is_on in (True, False):
            home = folder / f"{version}-{is_on}"
            with running_service(data_dir=home / "data", embedding_url=embedder) as service:
                _fill(service.client)
                with fake_model() as model:
                    claw = OpenClaw(version, home / "home", model, free_port())
                    _play(claw, service.url, turns, is_on=is_on)
                    print(_row(version, model, is_on=is_on), flush=True)


def _fill(client: httpx.Client) -> None:
    texts = [TOLD.removeprefix("Please remember that t").capitalize()]
    texts += [f"The gate of harbour {n} is painted {n + 2} times a year." for n in range(HARBOURS)]
    for text in texts:
        body = {"text": text, "kind": "fact", "importance": 0.6}
        client.post("/memories", json=body).raise_for_status()


def _play(claw: OpenClaw, url: str, turns: int, *, is_on: bool) -> None:
    claw.workspace.mkdir(parents=True)
    claw.write({"baseUrl": url, "project": "none"})
    claw.settings["plugins"]["entries"]["graph-memory"]["enabled"] = is_on
    claw.settings["gateway"]["http"] = {"endpoints": {"chatCompletions": {"enabled": True}}}
    claw.save()
    headers = {"Authorization": f"Bearer {WORD}", "x-openclaw-session-key": "agent:main:main"}
    about = [f"How often is the gate of harbour {n} painted?" for n in range(HARBOURS)]
    about = [ASKED, "thanks!", *about, "And what do you make of the weather at sea today?"]
    with claw.gateway(), httpx.Client(timeout=120, headers=headers) as client:
        for number in range(turns):
            said = [{"role": "user", "content": f"{about[number % len(about)]}"}]
            client.post(
                f"http://127.0.0.1:{claw.port}/v1/chat/completions",
                json={"model": "openclaw", "messages": said},
            ).raise_for_status()


def _row(version: str, model: FakeModel, *, is_on: bool) -> str:
    requests = [_items(body) for body in model.turns()]
    blocks = [_blocks(items[1:]) for items in requests]
    before = [estimate_prompt_tokens(block) for block in blocks]
    lines = [[line for line in block.splitlines() if line.startswith("- ")] for block in blocks]
    repeats = sum(len(one) - len(set(one)) for one in lines)
    new = [estimate_prompt_tokens("\n".join(set(now) - set(last))) for last, now in pairwise(lines)]
    systems = {_blocks(items[:1]) for items in requests}
    told = [estimate_prompt_tokens(one) for one in systems]
    same = [_same(last, now) for last, now in pairwise(requests)]
    changed = sum(_is_changed(last, now) for last, now in pairwise(requests))
    median = f"{statistics.median(before):.0f} (max. {max(before)})"
    system = f"{max(told)}, {'the same' if len(systems) == 1 else 'CHANGED'} in all"
    same_share = f"{statistics.median(same):.1%}"
    return (
        f"| {version}, {len(requests)} requests | {'on' if is_on else 'off'} | {median} | "
        f"{statistics.mean(new):.0f} | {system} | {repeats} | {changed} | {same_share} |"
    )


def _items(body: Json) -> list[str]:
    """Return what a request says, in its order: system, then turn by turn."""
    told = [body.get("instructions") or "", *body["input"]]
    if not told[0]:
        told = told[1:]
    return [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in told]


def _blocks(items: Sequence[str]) -> str:
    """Return all that stands between the marks of memory."""
    text = "\n".join(items).replace("\\n", "\n").replace('\\"', '"')
    parts = text.split(f"<{MARK} agent=")[1:]
    return "\n".join(part.split(f"</{MARK}", 1)[0] for part in parts)


def _is_changed(last: Sequence[str], now: Sequence[str]) -> bool:
    """Return whether a request changes what stood before the prompt of the last one."""
    answers = [place for place, item in enumerate(last) if '"assistant"' in item[:200]]
    stood = last[: max(answers, default=0) + 1]
    return list(now[: len(stood)]) != list(stood)


def _same(last: Sequence[str], now: Sequence[str]) -> float:
    """Return how much of a request the next one begins with."""
    one, other = "\n".join(last).encode(), "\n".join(now).encode()
    least, most = 0, min(len(one), len(other))
    while least < most:
        half = (least + most + 1) // 2
        least, most = (half, most) if one[:half] == other[:half] else (least, half - 1)
    return least / len(one)


def _waits(opened: ExitStack, folder: Path, embedder: str, times: int) -> None:
    cases = services_by_state(opened, folder, embedder)
    print("| service | first prompt | each prompt after it | end of a turn | end of a session |")
    print("|---|---:|---:|---:|---:|")
    for name, url in cases.items():
        prompts = [ASKED, TOLD, "How often is the gate painted?", ASKED]
        done = [play_turns(folder, prompts, f"{name} {n}", baseUrl=url) for n in range(times)]
        turns = [one for session in done for one in session["told"]]
        firsts = [session["told"][0]["recall"] for session in done]
        others = [one["recall"] for session in done for one in session["told"][1:]]
        told = (firsts, others, [one["capture"] for one in turns], [one["end"] for one in done])
        print(f"| {name} | {' | '.join(map(_figures, told))} |", flush=True)


def _figures(taken: Sequence[float]) -> str:
    return f"{statistics.median(taken):.0f} (max. {max(taken):.0f})"


if __name__ == "__main__":
    main()
