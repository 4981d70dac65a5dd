"""The service while its embedding server hangs, drips, fails or is slow: nobody waits for long."""

import asyncio
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.commands.terminal import one_line
from service.opening import open_parts
from service.settings import Settings
from tests.servers.outer_embeddings import Answer, OuterEmbeddings, outer_embeddings
from tests.servers.running import free_port, running_service
from tests.waiting import until

# Small, and what is beyond them is noise of a busy machine; what hangs does so for 60 s.
BUDGETS: dict[str, Any] = {
    "embedding_query_seconds": 0.5, "embedding_write_seconds": 0.8, "embedding_check_seconds": 0.1,
    "embedding_timeout_seconds": 1.5,
}  # fmt: skip
NOISE_SECONDS = 3.0


@contextmanager
def served(folder: Path, **settings: Any) -> Iterator[tuple[httpx.Client, OuterEmbeddings]]:
    own = BUDGETS | settings
    with (
        outer_embeddings() as outer,
        running_service(data_dir=folder, embedding_url=outer.url, **own) as service,
    ):
        try:
            yield service.client, outer
        finally:
            outer.let_go.set()


def push(client: httpx.Client, text: str) -> httpx.Response:
    return client.post("/memories", json={"text": text})


def ingest(client: httpx.Client, text: str, source: str = "a.md") -> httpx.Response:
    return client.post("/ingest", json={"source": source, "text": text})


def search(client: httpx.Client) -> dict[str, Any]:
    answer = client.post("/search", json={"query": "where is the pump?"})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def without_vector(client: httpx.Client) -> int:
    return int(client.get("/stats").json()["without_vector"])


def hang(outer: OuterEmbeddings) -> None:
    outer.hangs_on = ""


def drip(outer: OuterEmbeddings) -> None:
    def before() -> None:
        outer.next_answers.append(Answer(outer.embeddings(["one"]).body, drips_seconds=0.2))

    outer.before_answering = before


@pytest.mark.parametrize("begin", [hang, drip])
def test_nobody_waits_for_a_server_that_hangs(
    tmp_path: Path, begin: Callable[[OuterEmbeddings], None]
) -> None:
    with served(tmp_path) as (client, outer):
        assert push(client, "The pump stands in the cellar.").status_code == 201
        begin(outer)
        started = time.monotonic()
        with ThreadPoolExecutor() as pool:
            found = pool.submit(search, client)
            stored = pool.submit(push, client, "The pump leaks.")
            read = [pool.submit(ingest, client, f"# {n}\n\npump {n}", f"{n}.md") for n in "abc"]
            assert found.result()["receipt"]["missing_signals"] == ["vector"]
            assert stored.result().json()["warnings"]
            assert [one.result().status_code for one in read] == [200] * 3
        assert time.monotonic() - started < NOISE_SECONDS
        assert without_vector(client) == 4
        ready = client.get("/health/ready")
        assert ready.status_code == 503
        assert "did not answer" in ready.text
        # By now it is known to hang: nobody asks it, but a probe beside requests.
        asked = len(outer.embedded_texts())
        for _ in range(5):
            assert search(client)["receipt"]["missing_signals"] == ["vector"]
        assert len(outer.embedded_texts()) == asked


def prompted(client: httpx.Client, number: int) -> float:
    """Return the seconds that a prompt of a session waits for what it is told."""
    body = {"hook_event_name": "UserPromptSubmit", "prompt": f"Where is pump {number}?"}
    began = time.monotonic()
    answer = client.post("/hooks/claude-code", json=body | {"session_id": "s"})
    assert answer.status_code == 200, answer.text
    return time.monotonic() - began


@pytest.mark.parametrize("is_hung_at_the_start", [False, True])
def test_only_the_first_prompts_pay_for_a_server_that_hangs(
    tmp_path: Path, *, is_hung_at_the_start: bool
) -> None:
    # Longer than a prompt waits (1.5 s): it is gone before the server is known to hang.
    patient = {**BUDGETS, "embedding_query_seconds": 3.0, "embedding_write_seconds": 3.0}
    with outer_embeddings() as outer:
        if is_hung_at_the_start:
            hang(outer)
        whole = running_service(
            wait=False, data_dir=tmp_path, embedding_url=outer.url, **patient
        )  # fmt: skip
        with whole as service:
            if not is_hung_at_the_start:
                until(lambda: service.client.get("/health/ready").status_code == 200)
            assert push(service.client, "The pump stands in the cellar.").status_code == 201
            hang(outer)
            taken = [prompted(service.client, number) for number in range(12)]
            outer.let_go.set()
    assert max(taken) < 1.5 + NOISE_SECONDS
    assert statistics.median(taken[-6:]) < 0.7, taken


def test_what_waited_is_embedded_once_the_server_is_back(tmp_path: Path) -> None:
    with served(tmp_path) as (client, outer):
        hang(outer)
        push(client, "The pump leaks.")
        assert client.get("/health/ready").status_code == 503
        outer.hangs_on = None
        outer.let_go.set()
        until(lambda: client.get("/health/ready").status_code == 200)
        until(lambda: without_vector(client) == 0)
        assert search(client)["receipt"]["missing_signals"] == []


def test_a_slow_server_gives_what_there_is_time_for(tmp_path: Path) -> None:
    # Of ten there is time for no more than eight, and for one on a busy machine too.
    patient = {"embedding_batch_size": 1, "embedding_write_seconds": 2}
    with served(tmp_path, **patient) as (client, outer):
        outer.before_answering = lambda: time.sleep(0.25)
        sections = "\n\n".join(f"# {n}\n\npump {n}" for n in range(10))
        told = ingest(client, sections).json()
        assert 0 < told["embedded"] < 10
        assert f"{10 - told['embedded']} memories are stored without vectors yet" in str(
            told["warnings"]
        )
        outer.before_answering = lambda: time.sleep(0.1)
        assert search(client)["receipt"]["missing_signals"] == []
        until(lambda: without_vector(client) == 0)


def test_of_two_versions_the_last_stays(tmp_path: Path) -> None:
    with served(tmp_path) as (client, outer), ThreadPoolExecutor() as pool:
        outer.hangs_on = "old words"
        older = pool.submit(ingest, client, "# Pump\n\nold words")
        assert outer.is_hanging.wait(10)
        assert ingest(client, "# Pump\n\nnew words").json()["created"] == 1
        assert "newer version" in str(older.result().json()["warnings"])
        [memory] = client.get("/memories").json()["memories"]
        assert memory["content"] == "new words"


def is_told(client: httpx.Client, complaint: str) -> bool:
    return complaint in client.get("/health/ready").text


def test_ready_says_what_an_embedding_gives(tmp_path: Path) -> None:
    answers = {
        "401: wrong key": Answer({"error": {"message": "wrong key"}}, 401),
        "403: no": Answer({"error": "no"}, 403),
        "429: slowly": Answer({"error": "slowly"}, 429, {"retry-after": "9"}),
        "500: defect": Answer(b"defect", 500),
        "not JSON": Answer({"data": [{"embedding": [float("nan")] * 16}]}),
        "only zeros": Answer({"data": [{"embedding": [0.0] * 16}]}),
        "16 were expected": Answer({"data": [{"embedding": [1.0] * 24}]}),
    }
    with served(tmp_path) as (client, outer):
        for complaint, answer in answers.items():
            outer.before_answering = partial(outer.next_answers.append, answer)
            until(partial(is_told, client, complaint))
            ready = client.get("/health/ready")
            assert ready.status_code == 503
            assert [told for told in ready.json()["reasons"] if complaint in told]
        # Not each who asks has a text embedded.
        asked = len(outer.requests)
        for _ in range(5):
            client.get("/health/ready")
        assert len(outer.requests) <= asked + 3
        outer.before_answering = None
        outer.next_answers.clear()
        until(lambda: client.get("/health/ready").status_code == 200)


def test_a_swapped_model_makes_no_vectors_under_the_old_name(tmp_path: Path) -> None:
    with served(tmp_path, embedding_model="outer-model") as (client, outer):
        push(client, "The pump stands in the cellar.")
        assert search(client)["receipt"]["missing_signals"] == []
        outer.weights = "another"
        warned = push(client, "The pump leaks.").json()["warnings"]
        assert "another one" in str(warned)
        assert without_vector(client) == 1
        assert search(client)["receipt"]["missing_signals"] == ["vector"]
        ready = client.get("/health/ready")
        assert ready.status_code == 503
        assert "graph-memory reembed" in ready.json()["checks"]["fingerprint"]["detail"]
        outer.weights = ""
        until(lambda: without_vector(client) == 0)
        assert client.get("/health/ready").status_code == 200
        outer.weights = "another"
        time.sleep(BUDGETS["embedding_check_seconds"])
        assert search(client)["receipt"]["missing_signals"] == ["vector"]
    # At the start as well.
    with (
        outer_embeddings(weights="another") as outer,
        running_service(
            wait=False, data_dir=tmp_path, embedding_url=outer.url, **BUDGETS
        ) as service,
    ):
        until(lambda: "another one" in service.client.get("/health/ready").text)
        assert search(service.client)["receipt"]["missing_signals"] == ["vector"]


def test_another_name_in_an_answer_is_looked_into(tmp_path: Path) -> None:
    slow_to_look = {**BUDGETS, "embedding_check_seconds": 60.0}
    with (
        outer_embeddings() as outer,
        running_service(data_dir=tmp_path, embedding_url=outer.url, **slow_to_look) as service,
    ):
        push(service.client, "The pump stands in the cellar.")
        outer.model = "outer-model-2"
        assert search(service.client)["receipt"]["missing_signals"] == []
        outer.model, outer.weights = "outer-model-3", "another"
        assert search(service.client)["receipt"]["missing_signals"] == ["vector"]


def test_no_key_comes_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    key = "sk-0123456789abcdef-xyz"
    pieces = f"Incorrect key {key[:9]}…{key[-9:]}: Authorization: Bearer {key} " + "x" * 240 + key
    with served(tmp_path, embedding_api_key=key) as (client, outer):
        for body in ({"error": {"message": pieces}}, pieces.encode(), {"detail": [pieces]}):
            outer.before_answering = lambda body=body: outer.next_answers.append(Answer(body, 401))
            told = push(client, f"The pump, {len(outer.requests)}.").text
            told += str(search(client)) + client.get("/health/ready").text + caplog.text
            assert "401" in told
            assert not [n for n in range(len(key) - 7) if key[n : n + 8] in told]
            caplog.clear()
        outer.before_answering = None


def test_no_password_of_a_url_is_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    password = "s3cret-p%40ss"  # noqa: S105 - a fixture's
    given = Settings(
        _env_file=None, data_dir=tmp_path,
        database_url=f"ws://root:{password}@127.0.0.1:{free_port()}/rpc",
        embedding_url=f"http://me:{password}@127.0.0.1:{free_port()}",
    )  # fmt: skip
    with pytest.raises(SystemExit), one_line():
        asyncio.run(_open(given))
    told = capsys.readouterr().err
    assert "No database answers at" in told
    with running_service(wait=False, data_dir=tmp_path, embedding_url=given.embedding_url) as one:
        told += push(one.client, "A pump.").text + one.client.get("/health/ready").text
    assert "me:***@127.0.0.1" in told
    for spelled in (password, "s3cret-p@ss"):
        assert spelled not in told + caplog.text


async def _open(settings: Settings) -> None:
    async with open_parts(settings):
        pass
