"""Admission: never more waits than is allowed, and whatever waited is forgotten at its end."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import OpenAI

from embedding_server.errors import ServerBusy
from embedding_server.instruments import Instruments
from embedding_server.scheduling.admission import Admission
from embedding_server.settings import Settings
from tests.embedding_server.edge import (
    FAILING,
    NAME,
    post,
    read_metrics,
    serve_gated,
    wait_until,
)

MOST_TEXTS, MOST_TOKENS = 10, 100


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Watched:
    """An admission and the gauges that it moves."""

    def __init__(self) -> None:
        bounds = Settings(max_waiting_texts=MOST_TEXTS, max_waiting_tokens=MOST_TOKENS)
        self.instruments = Instruments()
        self.clock = Clock()
        self.admission = Admission(bounds, self.instruments, self.clock)

    def read(self, name: str, **labels: str) -> float:
        value = self.instruments.registry.get_sample_value(f"graph_memory_embedding_{name}", labels)
        return value or 0.0

    def waiting(self) -> tuple[float, float]:
        return self.read("waiting_texts"), self.read("waiting_tokens")


def retry_seconds(ask: Callable[[], object]) -> int:
    with pytest.raises(ServerBusy) as caught:
        ask()
    return int(caught.value.headers["Retry-After"])


Requests = st.lists(
    st.tuples(st.integers(1, 15), st.lists(st.integers(1, 60), max_size=4)), max_size=8
)


@given(Requests)
def test_nested_requests_never_get_beyond_a_bound(requests: list[tuple[int, list[int]]]) -> None:
    watched = Watched()

    def enter(level: int) -> None:
        if level == len(requests):
            return
        texts, portions = requests[level]
        before = watched.waiting()
        try:
            with watched.admission.admit(texts) as permit:
                assert watched.waiting()[0] == before[0] + texts
                assert watched.waiting()[0] <= MOST_TEXTS or before[0] == 0
                for tokens in portions:
                    permit.add_tokens(tokens)
                    assert watched.waiting()[1] <= MOST_TOKENS or before[1] == 0
                enter(level + 1)
        except ServerBusy:
            # Only what would not have fitted is refused.
            assert before[0]
            assert before[0] + texts > MOST_TEXTS or before[1] + sum(portions) > MOST_TOKENS
            enter(level + 1)
        assert watched.waiting() == before

    enter(0)
    assert watched.waiting() == (0, 0)


def test_an_idle_server_takes_any_request() -> None:
    watched = Watched()
    with watched.admission.admit(2048) as permit:
        permit.add_tokens(200)
        permit.add_tokens(1_000_000)
        assert watched.waiting() == (2048, 1_000_200)
    assert watched.waiting() == (0, 0)


def test_the_bounds_are_reached_and_not_passed() -> None:
    watched = Watched()
    with watched.admission.admit(4) as first, watched.admission.admit(6) as second:
        with pytest.raises(ServerBusy, match="10 texts wait"), watched.admission.admit(1):
            pass
        first.add_tokens(60)
        second.add_tokens(40)
        with pytest.raises(ServerBusy, match="100 tokens wait"):
            second.add_tokens(1)
        assert watched.waiting() == (10, 100)
    assert watched.read("rejected_requests_total", full="texts") == 1
    assert watched.read("rejected_requests_total", full="tokens") == 1


def test_the_last_of_two_that_fill_the_bound_goes_on() -> None:
    watched = Watched()
    with watched.admission.admit(1) as first:
        with watched.admission.admit(1) as second:
            first.add_tokens(50)
            second.add_tokens(50)
            with pytest.raises(ServerBusy):
                second.add_tokens(50)
        first.add_tokens(51)
        assert watched.waiting() == (1, 101)


def test_a_refused_client_is_told_when_there_will_be_room() -> None:
    watched = Watched()
    with watched.admission.admit(1) as done:
        done.add_tokens(100)
        watched.clock.now += 10
    # Idle time does not count: ten tokens a second it is.
    watched.clock.now += 1000
    with watched.admission.admit(1) as waiting, watched.admission.admit(1) as late:
        waiting.add_tokens(90)
        assert retry_seconds(lambda: late.add_tokens(40)) == 3
        # More than all that waits need not go.
        assert retry_seconds(lambda: late.add_tokens(1000)) == 9


def test_the_measured_pace_is_of_the_recent_past() -> None:
    watched = Watched()
    for tokens, seconds in ((100, 1), (100, 100), (100, 100)):
        with watched.admission.admit(1) as done:
            done.add_tokens(tokens)
            watched.clock.now += seconds
    with watched.admission.admit(1) as waiting, watched.admission.admit(1) as late:
        waiting.add_tokens(90)
        # 90 tokens at about one a second, of the fast past only a hundredth is left; one second
        # of a hundred tokens would have made it three.
        assert 30 <= retry_seconds(lambda: late.add_tokens(1000)) <= 60


def test_full_texts_are_estimated_from_their_tokens() -> None:
    watched = Watched()
    with watched.admission.admit(1) as done:
        done.add_tokens(100)
        watched.clock.now += 10
    with watched.admission.admit(10) as waiting:
        waiting.add_tokens(100)
        # Two texts have to go, ten tokens each.
        assert retry_seconds(watched.admission.admit(2).__enter__) == 2


def test_the_time_told_is_from_1_to_60_seconds_and_5_when_unknown() -> None:
    watched = Watched()
    with watched.admission.admit(10):
        assert retry_seconds(watched.admission.admit(1).__enter__) == 5
    for seconds, told in ((0.001, 1), (1e6, 60)):
        watched = Watched()
        with watched.admission.admit(10) as done:
            done.add_tokens(100)
            watched.clock.now += seconds
        with watched.admission.admit(10) as waiting:
            waiting.add_tokens(100)
            assert retry_seconds(watched.admission.admit(1).__enter__) == told


@pytest.mark.parametrize(
    ("full", "setting", "most", "words"),
    [("texts", "max_waiting_texts", 20, 2), ("tokens", "max_waiting_tokens", 100, 5)],
)
def test_a_burst_of_many_clients_never_overshoots(
    full: str, setting: str, most: int, words: int
) -> None:
    sizes = [1 + number % 4 for number in range(80)]
    with serve_gated(**{setting: most}) as (url, encoder), ThreadPoolExecutor(len(sizes)) as pool:
        encoder.may_run.clear()
        text = " ".join(["1"] * words)
        asked = [pool.submit(post, url, [text] * texts) for texts in sizes]

        # Nothing runs, so what has been taken waits, and all others have been refused.
        def is_decided() -> bool:
            refused = sum(texts for texts, one in zip(sizes, asked, strict=True) if one.done())
            return refused + read_metrics(url)["waiting_texts"] == sum(sizes)

        wait_until(is_decided)
        metrics = read_metrics(url)
        assert 0 < metrics[f"waiting_{full}"] <= most
        # A request of any size would have fitted below this.
        largest = max(sizes) * (words if full == "tokens" else 1)
        assert metrics[f"waiting_{full}"] > most - largest
        encoder.may_run.set()
        answers = [one.result() for one in asked]

        taken = [len(a.json()["data"]) for a in answers if a.status_code == 200]
        assert sum(taken) == metrics["waiting_texts"]
        refused = [a for a in answers if a.status_code != 200]
        assert refused
        for answer in refused:
            assert answer.status_code == 429
            assert answer.json()["error"]["type"] == "rate_limit_error"
            assert answer.json()["error"]["code"] == "server_busy"
            assert 1 <= int(answer.headers["retry-after"]) <= 60
        after = read_metrics(url)
        assert (after["waiting_texts"], after["waiting_tokens"]) == (0, 0)
        assert after[f'rejected_requests_total{{full="{full}"}}'] == len(refused)
        assert after['requests_total{status="429"}'] == len(refused)


def test_a_full_server_answers_again_when_it_has_room() -> None:
    with serve_gated(max_waiting_texts=1) as (url, encoder), ThreadPoolExecutor(1) as pool:
        encoder.may_run.clear()
        first = pool.submit(post, url, "1")
        wait_until(lambda: read_metrics(url)["waiting_texts"] == 1)
        with (
            OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as client,
            pytest.raises(openai.RateLimitError) as caught,
        ):
            client.embeddings.create(model=NAME, input="2")
        assert caught.value.code == "server_busy"
        encoder.may_run.set()
        assert first.result().status_code == 200
        # The official client waits as long as it is told, and asks again by itself.
        encoder.may_run.clear()
        second = pool.submit(post, url, "1")
        wait_until(lambda: read_metrics(url)["waiting_texts"] == 1)
        with OpenAI(base_url=f"{url}/v1", api_key="unused") as client, ThreadPoolExecutor(1) as one:
            patient = one.submit(client.embeddings.create, model=NAME, input="2")
            wait_until(lambda: read_metrics(url)['rejected_requests_total{full="texts"}'] == 2)
            encoder.may_run.set()
            assert len(patient.result().data) == 1
        assert second.result().status_code == 200


@pytest.mark.parametrize(
    ("text", "status"), [(f"1 {FAILING}", 500), ("broken", 500), ("1 " * 1001, 400)]
)
def test_a_request_that_fails_waits_no_longer(text: str, status: int) -> None:
    with serve_gated() as (url, _):
        assert post(url, ["1 2", text]).status_code == status
        metrics = read_metrics(url)
        assert (metrics["waiting_texts"], metrics["waiting_tokens"]) == (0, 0)
        assert post(url, "1").status_code == 200
