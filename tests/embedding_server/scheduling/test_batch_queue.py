"""Which texts go next: fair among requests, close in length, within the limits."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from embedding_server.scheduling.batch_queue import (
    BatchLimits,
    BatchQueue,
    WaitingRequest,
    WaitingText,
    new_request,
)

LIMITS = BatchLimits(texts=8, tokens=1000, padding_tokens=64)


def add(waiting: BatchQueue, lengths: Sequence[int]) -> WaitingRequest:
    request = new_request(len(lengths), 2, finish=lambda: None, fail=lambda _error: None)
    waiting.add(request, [[0] * length for length in lengths])
    return request


def lengths_of(batch: list[WaitingText]) -> list[int]:
    return [len(text.tokens) for text in batch]


def drain(waiting: BatchQueue) -> list[list[WaitingText]]:
    batches = []
    while batch := waiting.take():
        batches.append(batch)
    return batches


def test_nothing_waits_at_first() -> None:
    assert BatchQueue(LIMITS).take() == []


def test_the_longest_go_first() -> None:
    waiting = BatchQueue(LIMITS)
    add(waiting, [10, 50, 20, 40, 30, 60, 70, 15, 25, 35])
    assert [lengths_of(batch) for batch in drain(waiting)] == [
        [20, 25, 30, 35, 40, 50, 60, 70],
        [10, 15],
    ]


def test_a_batch_stays_within_its_padded_tokens() -> None:
    waiting = BatchQueue(LIMITS)
    add(waiting, [300] * 5)
    assert [lengths_of(batch) for batch in drain(waiting)] == [[300] * 3, [300] * 2]


def test_a_text_over_the_budget_goes_alone() -> None:
    waiting = BatchQueue(LIMITS)
    add(waiting, [5000, 4990, 10])
    assert [lengths_of(batch) for batch in drain(waiting)] == [[5000], [4990], [10]]


def test_a_short_text_does_not_pad_a_long_batch() -> None:
    waiting = BatchQueue(LIMITS)
    add(waiting, [200, 190, 10])
    assert [lengths_of(batch) for batch in drain(waiting)] == [[190, 200], [10]]


def test_single_texts_of_many_clients_share_a_batch() -> None:
    waiting = BatchQueue(LIMITS)
    requests = [add(waiting, [length]) for length in (12, 9, 14, 11, 10)]
    batch = waiting.take()
    assert {id(text.request) for text in batch} == {id(request) for request in requests}
    assert not waiting.take()


def test_a_query_does_not_wait_for_a_long_list() -> None:
    waiting = BatchQueue(LIMITS)
    add(waiting, [100] * 2000)
    waiting.take()
    query = add(waiting, [9])
    batches = [waiting.take(), waiting.take()]
    assert any(text.request is query for batch in batches for text in batch)


def test_dropped_texts_never_go() -> None:
    waiting = BatchQueue(LIMITS)
    dropped, kept = add(waiting, [10] * 20), add(waiting, [10] * 3)
    waiting.take()
    waiting.drop(dropped)
    left = [text for batch in drain(waiting) for text in batch]
    assert all(text.request is kept for text in left)
    assert len(waiting) == 0


@given(
    requests=st.lists(
        st.lists(st.integers(1, 400), min_size=1, max_size=30), min_size=1, max_size=12
    ),
    texts=st.integers(1, 10),
    tokens=st.integers(1, 2000),
    padding=st.integers(0, 300),
)
def test_every_text_goes_once_and_every_batch_fits(
    requests: list[list[int]], texts: int, tokens: int, padding: int
) -> None:
    waiting = BatchQueue(BatchLimits(texts, tokens, padding))
    added = [add(waiting, lengths) for lengths in requests]
    batches = drain(waiting)
    gone = [(id(text.request), text.row) for batch in batches for text in batch]
    expected = [(id(request), row) for request in added for row in range(request.rows_left)]
    assert sorted(gone) == sorted(expected)
    for batch in batches:
        lengths = lengths_of(batch)
        assert len(batch) <= texts
        assert len(batch) == 1 or max(lengths) * len(batch) <= tokens
        assert max(lengths) - min(lengths) <= padding
    # A client waits for at most one batch of each of the others.
    for request in added:
        first = next(
            n for n, batch in enumerate(batches) if any(t.request is request for t in batch)
        )
        assert first < len(added)
