"""Repetitions are noticed, and nothing that adds a fact is taken for one."""

import pytest

from service.consolidate.summary.novelty import NoveltyFilter, score_passage
from service.consolidate.summary.passages import Passage


def _repeats(first: str, second: str) -> bool:
    novelty = NoveltyFilter()
    assert novelty.is_new(score_passage(Passage(first)))
    return not novelty.is_new(score_passage(Passage(second)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Backup ran, nothing new.", "backup ran; **nothing new**!"),
        ("The backup ran.", "Backup ran."),
        ("Read the mail of Mina, nothing new today.", "Read the mail of Mina, nothing new."),
        ("We decided to use Redis.", "we decided to use Redis"),
        ("서버를 다시 시작했다.", "서버를 다시 시작했다"),
        ("今天没有新的邮件。", "今天没有新的邮件"),
    ],
)
def test_a_repetition(first: str, second: str) -> None:
    assert _repeats(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Backup ran in 32 s.", "Backup ran in 34 s."),
        ("Redis died after the nightly backup.", "Kafka died after the nightly backup."),
        ("Hosts went up with the new, big disk.", "Hosts went down with the new, big disk."),
        ("The test of the gateway did not pass today.", "The test of the gateway did pass today."),
        ("We decided to move from Redis to Kafka.", "We decided to move from Kafka to Redis."),
        ("We decided to use it for all new jobs now.", "We decided to use it for all new jobs."),
        ("We can use Redis.", "We can't use Redis."),
        ("Will it hold?", "Will it hold."),
        ("Latency is <5 there.", "Latency is >5 there."),
        ("Checked the mail.", "Checked the mail of the week, nothing new today."),
        ("서버를 켰다.", "서버를 껐다."),
        ("今天没有新邮件。", "今天有新邮件。"),
    ],
)
def test_no_repetition(first: str, second: str) -> None:
    assert not _repeats(first, second)


def test_code_is_the_same_only_if_every_letter_is() -> None:
    novelty = NoveltyFilter()
    code = score_passage(Passage("```\na = b\n```", is_code=True))
    assert [novelty.is_new(code), novelty.is_new(code)] == [True, False]
    assert novelty.is_new(score_passage(Passage("```\na = B\n```", is_code=True)))


def test_a_word_that_negates() -> None:
    negated = [
        score_passage(Passage(text)).is_negated
        for text in ("we don't", "it isn’t", "not now", "未完成", "안 된다", "now", "done")
    ]
    assert negated == [True] * 5 + [False] * 2
