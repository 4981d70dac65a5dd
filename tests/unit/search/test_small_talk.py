"""Greetings, thanks and the like ask for nothing; anything else is asked."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.search.small_talk import is_small_talk

_GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "queries.jsonl"


SMALL_TALK = """
hi | Hello! | hey there | Good morning :) | thanks | Thanks!! | Thank you so much! | thx 🙏 | ok
OK. | okkkk | k | ok go on | Okay, please continue. | yes please | yep, sounds good | no, thanks
got it, thanks a lot! | lgtm | great job! | Perfect, thank you very much. | hahaha | Hmmm...
never mind | you’re welcome | go ahead | bye, see you tomorrow! | 👍 | 🎉🎉 👏🏽 | ❤️ | ... | ?! | ;)
안녕하세요 | 안녕하세요! | 고마워요 ㅎㅎ | 감사합니다. | 네, 알겠습니다 | ㅋㅋㅋㅋ | ㅇㅋ
정말 고마워 | 좋아요 계속해 주세요 | 수고하셨습니다~ | 你好 | 谢谢！ | 好的，谢谢 | 好的谢谢
好的👌 | 嗯嗯 | 明白了，继续吧 | 哈哈哈哈 | 辛苦了，非常感谢！ | OK 好的
"""
NO_SMALL_TALK = """
ok? | what | who are you | how are you? | thanks, now fix the build | ok deploy it | go | a | OKR
ok, and Northmoor | thanks for the VRAM fix | thanks Kit | hello world example | yes, port 8080
good morning briefing | ok E1234 | go on with the migration | continue where we stopped yesterday
next sprint | nice try, Ada | remember | remember this | previously | as previously | decision
that decision | the last one | do it again | ok `make` | fine @kit | sure, src/app.py | hiking
blue bunny | good or bad | 1 | 👍 for plan 2 | #42 | x_y | 기억 | 기억해 | 네 기억해 주세요 | 서버
안녕 프로젝트 | 네오 | 감사 로그 | 감사팀 | 계속 실패해 | 확인 코드 | 좋아하는 음식 | 결정 | 记得
你记得吗 | 好的，端口是多少 | 好友 | 谢谢你记得我 | 继续部署 | 可以用哪个模型 | 是什么 | 对比 | 早餐
行程 | 不锈钢 | 请假
"""


def _each(table: str) -> list[str]:
    return [text.strip() for line in table.strip().splitlines() for text in line.split("|")]


@pytest.mark.parametrize("text", _each(SMALL_TALK))
def test_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize("text", _each(NO_SMALL_TALK))
def test_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


def test_no_golden_question_is_small_talk() -> None:
    questions = [json.loads(line)["question"] for line in _GOLDEN.read_text("utf-8").splitlines()]
    assert len(questions) > 50
    assert [question for question in questions if is_small_talk(question)] == []


@given(st.text(max_size=80))
def test_any_text_is_judged_and_a_word_more_is_asked(text: str) -> None:
    assert is_small_talk(text) in {True, False}
    assert not is_small_talk(f"{text} migration")


@pytest.mark.parametrize(
    "text", ["哈哈呵呵" * 14 + "x", "good " * 11 + "x", "!" * 10_000, "ok " * 3333]
)
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    for _ in range(20):
        is_small_talk(text)
    # 0.01 s when written.
    assert time.process_time() - started < 1
