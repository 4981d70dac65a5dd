"""The rerank client against real HTTP servers of every temper."""

import asyncio
import gzip
import json
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from service.inference.reranker import Reranker, RerankerAddress, RerankFailed
from tests.servers.outer_embeddings import Answer
from tests.servers.outer_reranker import OuterReranker, outer_reranker
from tests.servers.running import free_port

pytestmark = pytest.mark.anyio

QUESTION = "code phrase of the bunny"
DOCUMENTS = ["bread and salt", "the code phrase is blue bunny", "a bunny"]
SCORES = [0.0, 1.0, pytest.approx(1 / 3)]


@pytest.fixture
def outer() -> Iterator[OuterReranker]:
    with outer_reranker() as server:
        yield server


@asynccontextmanager
async def client_of(url: str, **settings: Any) -> AsyncIterator[Reranker]:
    reranker = Reranker(RerankerAddress(url, **settings))
    try:
        yield reranker
    finally:
        await reranker.close()


async def _failure(reranker: Reranker) -> str:
    with pytest.raises(RerankFailed) as failed:
        await reranker.score(QUESTION, DOCUMENTS)
    return str(failed.value)


async def test_scores_come_in_the_order_of_the_documents(outer: OuterReranker) -> None:
    async with client_of(outer.url, model="m", api_key="key-1") as reranker:
        assert await reranker.score(QUESTION, DOCUMENTS) == SCORES
    [asked] = outer.requests
    assert (asked.method, asked.path) == ("POST", "/v1/rerank")
    assert asked.headers["authorization"] == "Bearer key-1"
    assert asked.headers["content-type"] == "application/json"
    assert asked.body == {"model": "m", "query": QUESTION, "documents": DOCUMENTS, "top_n": 3}


async def test_without_a_model_or_key_none_is_sent(outer: OuterReranker) -> None:
    async with client_of(outer.url) as reranker:
        await reranker.score(QUESTION, DOCUMENTS)
    assert "model" not in outer.requests[0].body
    assert "authorization" not in outer.requests[0].headers


async def test_a_whole_address_is_taken_as_it_is(outer: OuterReranker) -> None:
    async with client_of(f"{outer.url}/v1/rerank") as reranker:
        assert await reranker.score(QUESTION, DOCUMENTS) == SCORES
    assert [asked.path for asked in outer.requests] == ["/v1/rerank"]


@pytest.mark.parametrize("path", ["", "/rerank"])
async def test_tei_is_found_out_once(path: str) -> None:
    with outer_reranker(speaks_tei=True) as outer:
        async with client_of(f"{outer.url}{path}") as reranker:
            for _ in range(3):
                assert await reranker.score(QUESTION, DOCUMENTS) == SCORES
    first = path or "/v1/rerank"
    assert [asked.path for asked in outer.requests] == [first, *["/rerank"] * 3]
    assert outer.requests[-1].body == {"query": QUESTION, "texts": DOCUMENTS, "truncate": True}


async def test_another_server_at_the_same_address_is_found_out_too(outer: OuterReranker) -> None:
    async with client_of(outer.url) as reranker:
        for speaks_tei in (True, False, True):
            outer.speaks_tei = speaks_tei
            assert await reranker.score(QUESTION, DOCUMENTS) == SCORES


async def test_a_score_may_be_a_logit(outer: OuterReranker) -> None:
    outer.score = lambda _, document: 7.5 if "blue" in document else -11
    async with client_of(outer.url) as reranker:
        assert await reranker.score(QUESTION, DOCUMENTS) == [-11.0, 7.5, -11.0]


def _ranks(*scores: Any, name: str = "relevance_score") -> list[dict[str, Any]]:
    return [{"index": index, name: score} for index, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"results": _ranks(0.1, 0.2)}, "each `index` of 3 texts once"),
        ({"results": _ranks(0.1, 0.2, 0.3, 0.4)}, "each `index` of 3 texts once"),
        ({"results": [*_ranks(0.1, 0.2), {"index": 1, "score": 0.3}]}, "once"),
        ({"results": [*_ranks(0.1, 0.2), {"index": -1, "score": 0.3}]}, "once"),
        ({"results": [*_ranks(0.1, 0.2), {"index": 3, "score": 0.3}]}, "once"),
        ({"results": [*_ranks(0.1, 0.2), {"score": 0.3}]}, "of no use"),
        ({"results": [*_ranks(0.1, 0.2), {"index": "2", "score": 0.3}]}, "of no use"),
        ({"results": [*_ranks(0.1, 0.2), {"index": [2], "score": 0.3}]}, "of no use"),
        ({"results": [{"index": False, "score": 1}, *_ranks(0.1, 0.2)[1:]]}, "of no use"),
        ({"results": _ranks(0.1, 0.2, None)}, "of no use"),
        ({"results": _ranks(0.1, 0.2, "0.3")}, "of no use"),
        ({"results": _ranks(0.1, 0.2, True)}, "of no use"),
        ({"results": _ranks(0.1, 0.2, 0.3, name="relevance")}, "of no use"),
        (json.dumps({"results": _ranks(0.1, 0.2, math.nan)}).encode(), "not JSON"),
        (b'{"results": [{"index": 0, "score": 1e999}]}', "not JSON"),
        (b"<html>", "not JSON"),
        (b"", "not JSON"),
        ({"results": [1, 2, 3]}, "no list of objects"),
        ({"results": {}}, "no list of objects"),
        ({"scores": [1, 2, 3]}, "no list of objects"),
        ("fine", "no list of objects"),
    ],
)
async def test_an_answer_of_no_use_is_refused(
    outer: OuterReranker, body: object, complaint: str
) -> None:
    outer.next_answers.append(Answer(body))
    async with client_of(outer.url) as reranker:
        assert complaint in await _failure(reranker)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (Answer({"error": {"message": "overloaded"}}, 503), "503: overloaded"),
        (Answer({"message": "invalid api token"}, 401), "401: invalid api token"),
        (Answer({"detail": "no"}, 400), "400: no"),
        (Answer({"error": "batch size 50 > 32", "error_type": "Validation"}, 413), "413: batch"),
        (Answer(b"gone", 500), "500: gone"),
    ],
)
async def test_a_refusal_is_told_and_not_repeated(
    outer: OuterReranker, answer: Answer, complaint: str
) -> None:
    outer.next_answers.append(answer)
    async with client_of(outer.url) as reranker:
        assert complaint in await _failure(reranker)
    assert len(outer.requests) == 1


async def test_a_server_that_takes_neither_shape_is_told_with_both_refusals(
    outer: OuterReranker,
) -> None:
    outer.next_answers.append(Answer({"error": {"message": "no model m"}}, 404))
    outer.next_answers.append(Answer({"detail": "documents: field required"}, 400))
    async with client_of(outer.url) as reranker:
        failure = await _failure(reranker)
    assert f"404: no model m ({outer.url}/v1/rerank)" in failure
    assert f"400: documents: field required ({outer.url}/rerank)" in failure


async def test_a_slow_server_costs_no_more_than_the_limit(outer: OuterReranker) -> None:
    outer.before_answering = lambda: time.sleep(5)
    async with client_of(outer.url, timeout_seconds=0.1) as reranker:
        started = time.monotonic()
        assert "within 0.1 s" in await _failure(reranker)
        assert time.monotonic() - started < 3


async def test_a_server_that_dies_amid_its_answers_keeps_no_connection(
    outer: OuterReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More often than a client may have connections: one that was kept would be missing."""
    monkeypatch.setattr("service.inference.reranker._REST_SECONDS", 0)
    dying = [Answer({"results": _ranks(0.1, 0.2, 0.3)}, breaks_off=True) for _ in range(101)]
    outer.next_answers.extend(dying)
    async with client_of(outer.url) as reranker:
        for answer in dying:
            assert "broke off" in await _failure(reranker)
            assert await asyncio.to_thread(answer.let_go.wait, 5)
        assert await reranker.score(QUESTION, DOCUMENTS) == SCORES
    assert len(outer.requests) == len(dying) + 1


async def test_after_a_failure_it_is_left_alone(
    outer: OuterReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer.next_answers.append(Answer(b"", 500))
    async with client_of(outer.url) as reranker:
        first = await _failure(reranker)
        for _ in range(20):
            assert await _failure(reranker) == f"{first} It is left alone for 30 s."
    assert len(outer.requests) == 1
    monkeypatch.setattr("service.inference.reranker._REST_SECONDS", 0.3)
    outer.next_answers.append(Answer(b"", 500))
    async with client_of(outer.url) as reranker:
        await _failure(reranker)
        await asyncio.sleep(0.35)
        for _ in range(2):
            assert await reranker.score(QUESTION, DOCUMENTS) == SCORES
    assert len(outer.requests) == 4


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "http://", "http://box:port"])
async def test_a_server_that_is_away_is_told_and_left_alone(url: str) -> None:
    async with client_of(url.format(port=free_port())) as reranker:
        assert "cannot be reached" in await _failure(reranker)
        assert "left alone" in await _failure(reranker)


async def test_a_search_that_is_given_up_says_nothing_against_the_server(
    outer: OuterReranker,
) -> None:
    outer.before_answering = lambda: time.sleep(0.3)
    async with client_of(outer.url) as reranker:
        asking = asyncio.create_task(reranker.score(QUESTION, DOCUMENTS))
        await asyncio.sleep(0.1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await reranker.score(QUESTION, DOCUMENTS) == SCORES


async def test_an_answer_that_drips_or_grows_is_given_up() -> None:
    answers = (
        Answer({"results": []}, drips_seconds=0.05),
        Answer(b" " * 2_000_000),
        Answer(gzip.compress(bytes(30_000_000)), headers={"content-encoding": "gzip"}),
    )
    for answer in answers:
        with outer_reranker() as outer:
            outer.next_answers.append(answer)
            async with client_of(outer.url, timeout_seconds=0.4) as reranker:
                with pytest.raises(RerankFailed, match=r"within 0\.4 s|has more than"):
                    await reranker.score("q", ["a"])
