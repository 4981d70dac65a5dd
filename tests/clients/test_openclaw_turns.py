"""The plugin with the real service, turn after turn; its gateway is a fake one, for speed."""

import json
import threading
import time
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from scripts.servers.silence import silent_server
from tests.servers.openclaw_turns import play_turns
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.running import free_port, running_service, service_process, wait_for

pytestmark = pytest.mark.slow

Json = dict[str, Any]
BUNNY: Final = "The code phrase of the lighthouse is blue bunny."
ASKED: Final = "What is the code phrase of the lighthouse?"
# Milliseconds: ours before a prompt, for which a gateway gives 15 s, with the noise of a busy
# machine; and what it gives all ends of sessions together as it stops.
PROMPT_LIMIT: Final = 5_500
END_LIMIT: Final = 2_000


def test_fifty_turns_repeat_nothing_and_keep_their_beginning(
    tmp_path: Path, embedding_url: str
) -> None:
    with running_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as service:
        for text in (BUNNY, *(f"The gate of harbour {n} is painted {n} times." for n in range(12))):
            assert service.client.post("/memories", json={"text": text}).status_code == 201
        about = [ASKED, "thanks!", *(f"How is the gate of harbour {n} painted?" for n in range(12))]
        done = play_turns(tmp_path, [about[n % len(about)] for n in range(50)], baseUrl=service.url)
    assert done["warnings"] == []
    assert done["waiting"] == 0
    contexts = {one["reply"].get("appendSystemContext") for one in done["told"]}
    assert len(contexts) == 1
    for one in done["told"]:
        lines = [
            line for line in one["reply"].get("prependContext", "").splitlines() if line[:1] == "-"
        ]
        assert len(lines) == len(set(lines))
        assert len("\n".join(lines)) <= 6_000
    # What was told in the first turn stands before the last prompt too, once.
    assert done["told"][0]["reply"]["prependContext"].count("blue bunny") == 1
    assert done["told"][-1]["reply"]["prependContext"].count("blue bunny") == 1


def test_an_embedder_that_hangs_delays_no_turn_for_long(tmp_path: Path) -> None:
    with (
        outer_embeddings() as outer,
        running_service(data_dir=tmp_path / "data", embedding_url=outer.url) as service,
    ):
        assert service.client.post("/memories", json={"text": BUNNY}).status_code == 201
        outer.hangs_on = ""
        try:
            said = "Please remember that the gate of the harbour is red."
            done = play_turns(tmp_path, [ASKED, said], baseUrl=service.url)
        finally:
            outer.let_go.set()
    # In its context or by its words.
    assert "blue bunny" in json.dumps(done["told"][0]["reply"])
    assert max(one["recall"] for one in done["told"]) < PROMPT_LIMIT
    assert done["end"] < END_LIMIT


def test_a_service_that_never_answers_or_is_away_is_left_alone(tmp_path: Path) -> None:
    with silent_server() as url:
        done = play_turns(tmp_path, [ASKED] * 4, baseUrl=url)
    assert [one["reply"] for one in done["told"]] == [{}] * 4
    assert done["told"][0]["recall"] < PROMPT_LIMIT
    assert all(one["recall"] < 1_000 for one in done["told"][1:])
    assert done["end"] < END_LIMIT
    assert done["waiting"] == 5
    away = play_turns(tmp_path, [ASKED] * 4, baseUrl=f"http://127.0.0.1:{free_port()}")
    assert all(one["recall"] + one["capture"] < 1_500 for one in away["told"])
    assert away["waiting"] == 5


def test_a_service_that_is_killed_while_it_takes_captures_has_each_once(
    tmp_path: Path, embedding_url: str
) -> None:
    port = free_port()
    url, state = f"http://127.0.0.1:{port}", tmp_path / "state"
    state.mkdir()
    own = {
        "MEMORY_PORT": str(port), "MEMORY_DATA_DIR": str(tmp_path / "data"),
        "MEMORY_EMBEDDING_URL": embedding_url,
    }  # fmt: skip
    said = [f"Please remember that box {n} holds {n * 7} nails." for n in range(40)]
    found: list[Json] = []

    def go_on() -> None:
        found.append(play_turns(tmp_path, said, state=str(state), baseUrl=url, autoCapture=True))

    going = threading.Thread(target=go_on)
    with service_process(**own) as process:
        wait_for(f"{url}/health/ready", lambda: process.poll() is None)
        going.start()
        with httpx.Client(base_url=url, timeout=30) as client:
            while going.is_alive() and client.get("/stats").json()["memories"] < 5:
                time.sleep(0.02)
        process.kill()
        process.wait()
    time.sleep(0.5)
    with service_process(**own) as process:
        wait_for(f"{url}/health/ready", lambda: process.poll() is None)
        going.join()
        done = play_turns(tmp_path, ["hm"], session="s2", state=str(state), baseUrl=url)
        assert done["waiting"] == 0, done
        with httpx.Client(base_url=url, timeout=30) as client:
            listed = client.get("/memories", params={"limit": 100}).json()["memories"]
    kept = [one["content"] for one in listed if one["kind"] != "handoff"]
    assert sorted(kept) == sorted(said)
    assert found[0]["warnings"]


def test_two_gateways_at_once_in_one_project_lose_nothing_and_double_nothing(
    tmp_path: Path, embedding_url: str
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    said = [
        [f"Please remember that crane {who}{n} lifts {n} tons." for n in range(15)] for who in "ab"
    ]
    with running_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as service:

        def go_on(who: int) -> None:
            more: Json = {"state": str(state), "baseUrl": service.url}
            play_turns(tmp_path, said[who], f"s{who}", **more)

        both = [threading.Thread(target=go_on, args=(who,)) for who in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        done = play_turns(tmp_path, ["hm"], "s3", state=str(state), baseUrl=service.url)
        assert done["waiting"] == 0
        listed = service.client.get("/memories", params={"limit": 100}).json()["memories"]
        kept = [one["content"] for one in listed if one["kind"] != "handoff"]
        assert sorted(kept) == sorted(said[0] + said[1])
        # Each session is chained in the order in which it was said.
        for who, lines in enumerate(said):
            of_session = [one for one in listed if one["session"] == f"s{who}"]
            ordered = sorted(of_session, key=lambda one: str(one["occurred_at"]))
            assert [one["content"] for one in ordered if one["kind"] != "handoff"] == lines
