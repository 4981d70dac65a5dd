"""GET /graph/report and `graph-memory graph report`: a corpus whose verdicts are known."""

import os
import random
import subprocess
import sys
from typing import Any

import httpx
import pytest

from tests.conftest import REPOSITORY, Start
from tests.servers.running import RunningService, free_port

ENGINES = ("resident", "database")
Json = dict[str, Any]


def _words(number: int) -> str:
    """Return made-up words that no other text has."""
    letters = random.Random(number)
    return " ".join("".join(letters.choices("bdfgklmnprst", k=9)) for _ in range(12))


def _corpus(agent: str) -> list[Json]:
    """Return 7 alike memories with one concept, 8 unlike ones with one tag, and 60 others."""
    resin = "amber resin glows warm in the glass case of the long hall, drawer number"
    alike: list[Json] = [{"text": f"{resin} {n}", "concepts": ["amber"]} for n in range(7)]
    unlike: list[Json] = [{"text": _words(n), "tags": ["misc"]} for n in range(8)]
    others: list[Json] = [{"text": _words(100 + n)} for n in range(57)]
    steps: list[Json] = [{"text": _words(200 + n), "session": "walk"} for n in range(3)]
    return [memory | {"agent": agent} for memory in [*alike, *unlike, *others, *steps]]


def _report(client: httpx.Client, agent: str) -> Json:
    answer = client.get("/graph/report", params={"agent": agent})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


@pytest.fixture(scope="module")
def corpus(client: httpx.Client) -> str:
    """Store the corpus; returns its agent."""
    answer = client.post("/memories/batch", json={"memories": _corpus("known")})
    assert answer.json()["created"] == 75, answer.text
    return "known"


def test_an_edge_that_joins_what_is_alike_pays_another_is_noisy(
    client: httpx.Client, corpus: str
) -> None:
    report = _report(client, corpus)
    edges = {edge["kind"] or edge["edge"]: edge for edge in report["edges"]}
    assert edges.keys() == {"link", "tag", "tight", "loose", "is_a", "follows"}
    amber, misc = edges["link"], edges["tag"]
    assert (amber["edges"], amber["concepts"], amber["memories"], amber["pairs"]) == (7, 1, 7, 21)
    assert (amber["precision"], amber["lift"], amber["reach"]) == (1.0, 20.0, 0.0)
    assert amber["share"] == pytest.approx(7 / 75, abs=1e-4)
    assert (amber["verdict"], misc["verdict"]) == ("pays", "noisy")
    assert (misc["edges"], misc["memories"], misc["pairs"]) == (8, 8, 28)
    assert misc["precision"] < 0.1
    assert misc["lift"] == pytest.approx(misc["precision"] * 20, abs=0.01)
    assert "`edges` in /graph-recall" in misc["switch_off"]
    assert (edges["follows"]["edges"], edges["follows"]["memories"]) == (2, 3)
    assert edges["follows"]["verdict"] == "too few to tell"


def test_it_counts_memories_concepts_and_bands(client: httpx.Client, corpus: str) -> None:
    report = _report(client, corpus)
    assert (report["agent"], report["memories"], report["with_vector"]) == ("known", 75, 75)
    assert (report["concepts"], report["hub_cap"], report["note"]) == (2, 22, None)
    assert (report["sampled_memories"], report["sampled_vectors"]) == (75, 75)
    bands = {band["memories"]: band for band in report["bands"]}
    assert list(bands) == ["1", "2", "3-5", "6-20", "21-200", "201+"]
    assert bands["6-20"] == {"memories": "6-20", "concepts": 2, "references": 15, "linking": 2}
    assert -1 < report["near"] < 1
    assert report["stages_ms"].keys() == {"memories", "graph", "pairs", "cosines", "reach"}
    assert report["took_ms"] >= max(report["stages_ms"].values())


def test_the_same_store_gives_the_same_report(client: httpx.Client, corpus: str) -> None:
    one, other = _report(client, corpus), _report(client, corpus)
    for report in (one, other):
        del report["took_ms"], report["stages_ms"]
    assert one == other


def test_concepts_that_stand_together_are_related(client: httpx.Client) -> None:
    memories = [
        {"text": _words(300 + n), "concepts": names, "agent": "pairs"}
        for n, names in enumerate([["gpu", "vram"], ["gpu"], ["vram"], []])
    ]
    client.post("/memories/batch", json={"memories": memories}).raise_for_status()
    edges = {edge["kind"] or edge["edge"]: edge for edge in _report(client, "pairs")["edges"]}
    related = edges["tight"]
    assert (related["edges"], related["concepts"], related["memories"]) == (1, 2, 3)
    # Of the four ways from gpu to vram three share a concept already.
    assert (related["pairs"], edges["link"]["pairs"]) == (1, 2)


def test_an_agent_that_nobody_knows_is_not_found(client: httpx.Client) -> None:
    answer = client.get("/graph/report", params={"agent": "nobody"})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert "'nobody' has never stored a memory" in answer.json()["detail"]


def test_an_empty_store_says_so(start: Start, engine: str) -> None:
    report = _report(start(search_engine=engine).client, "main")
    assert (report["memories"], report["near"]) == (0, None)
    assert "no memories yet" in report["note"]
    assert {edge["verdict"] for edge in report["edges"]} == {"too few to tell"}


def test_without_vectors_the_counts_are_there(start: Start, engine: str) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    client = start(search_engine=engine, embedding_url=away, wait=False).client
    client.post("/memories/batch", json={"memories": _corpus("main")}).raise_for_status()
    report = _report(client, "main")
    assert (report["memories"], report["with_vector"], report["near"]) == (75, 0, None)
    assert "/health/ready" in report["note"]
    [amber] = [edge for edge in report["edges"] if edge["kind"] == "link"]
    assert (amber["edges"], amber["memories"], amber["precision"]) == (7, 7, None)


def _run(port: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service", "graph", "report", *arguments], cwd=REPOSITORY,
        env=os.environ | {"MEMORY_PORT": port, "COLUMNS": "80"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_the_command_prints_the_report_of_the_running_service(
    service: RunningService, corpus: str
) -> None:
    port = service.url.rpartition(":")[2]
    done = _run(port, "--agent", corpus)
    assert done.returncode == 0, done.stderr
    assert "75 memories of agent known, 75 with a vector, 2 concepts" in done.stdout
    assert "references (link): pays. 100% of joined pairs are near" in done.stdout
    assert "references (tag): noisy." in done.stdout
    assert "To do without it: leave" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if "references (link)" in line]
    assert rows[:2] == [
        ["references", "(link)", "7", "1", "7", "9%"],
        ["references", "(link)", "21", "100%", "20", "0%", "pays"],
    ]
    unknown = _run(port, "--agent", "nobody")
    assert (unknown.returncode, "never stored a memory" in unknown.stderr) == (1, True)


def test_the_command_says_when_no_service_runs() -> None:
    alone = _run(str(free_port()))
    assert (alone.returncode, "No service answers on" in alone.stderr) == (1, True)
    assert "MEMORY_PORT" in alone.stderr
