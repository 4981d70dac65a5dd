"""How much a passage tells, what decides and what is a fact, in English, Korean and Chinese."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.consolidate.summary.density import density, facts, is_decision
from service.consolidate.summary.passages import Passage, read_passages
from service.names.names import proper_names


def test_the_density_is_the_sum_of_its_shares() -> None:
    # 4 of 20 words.
    assert density(Passage("went home very late")) == pytest.approx(0.3 * 4 / 20)
    # 6 words, one of them a cue; one of 5 names; 2 of 3 numbers.
    fixed = density(Passage("Fixed 12 errors in `shelf` 3"))
    assert fixed == pytest.approx(0.3 * 6 / 20 + 0.4 + 0.2 * 1 / 5 + 0.1 * 2 / 3)
    # More than 20 words count as 20.
    assert density(Passage("went " * 40)) == pytest.approx(0.3)
    # Pairs of Korean letters share each letter: 8 letters are 7 halves.
    assert density(Passage("아침에밥을먹었")) == pytest.approx(0.3 * 3 / 20)
    assert density(Passage("went home", is_done=True)) == pytest.approx(0.3 * 2 / 20 + 0.3)
    assert density(Passage("what came home:")) == pytest.approx(0.5 * 0.3 * 3 / 20)
    assert density(Passage("🎉🎉")) == 0


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("Fixed the leak in the gateway.", "Looked at the leek in the garden."),
        ("The deploy failed at night.", "The weather was bad at night."),
        ("The RTX 5070 Ti has 12 GB.", "The new card has some memory."),
        ("Root cause: a stale session file.", "Lunch: a stale cheese sandwich."),
        ("게이트웨이 오류를 고쳤다.", "오늘 점심을 맛있게 먹었다."),
        ("修复了网关的错误。", "今天天气真的很不错。"),
        ("エラーを直した。", "散歩に行ってきた。"),
        ("went home very late", "🎉🎉🎉"),
    ],
)
def test_what_tells_more(more: str, less: str) -> None:
    assert density(Passage(more)) > density(Passage(less))


@pytest.mark.parametrize(
    "text",
    [
        "We decided on Redis.",
        "JR chose the 4B model.",
        "Agreed with Mina: no LLM.",
        "We will use Postgres.",
        "We will not use Postgres.",
        "From now on backups run at 03:30.",
        "Switched the queue from Redis to Kafka.",
        "Settled on batches of 8.",
        "Redis instead of Kafka.",
        "Replaced the old cache with Redis.",
        "We'll keep the old disk.",
        "**Decision.** SurrealDB over SQLite.",
        "Redis를 쓰기로 했다.",
        "모델은 4B로 결정.",
        "A안을 선택함.",
        "我们决定用Redis。",
        "改用新的网关。",
        "選擇了第二個方案。",
        "Redisを採用した。",
    ],
)
def test_decisions(text: str) -> None:
    assert is_decision(Passage(text))


@pytest.mark.parametrize(
    "text",
    [
        "Went home.",
        "Recorded in `decisions.md`.",
        "Decisions:",
        "#### Decision (2026-02-12)",
        "The switch is broken.",
        "He will be late.",
        "The disagreed undecidedness",
        "오늘 점심을 먹었다.",
        "今天天气很好。",
    ],
)
def test_no_decisions(text: str) -> None:
    assert not is_decision(Passage(text))


def test_what_stands_under_a_decision_is_one() -> None:
    assert is_decision(Passage("Redis.", label="Decisions:"))
    assert is_decision(Passage("Redis.", label="2026-02-12 결정"))
    assert not is_decision(Passage("Redis.", label="Decisions that we put off"))
    code = "We met.\n\nDecision:\n\n- Redis\n\n```\nwe decided\n```"
    assert [is_decision(passage) for passage in read_passages(code)] == [False, False, True, False]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("went home", set()),
        ("It needs 11.2 GB, 1,140 rows and 4 %.", {"11.2gb", "1140rows", "4%"}),
        ("it needs 11.2GB", {"11.2gb"}),
        ("on 2026-02-13 at 09:15 (5070)", {"2026-02-13", "09:15", "5070"}),
        ("now v1.2.3.", {"v1.2.3"}),
        ("now v1.2.3-rc.1으로", {"v1.2.3-rc.1"}),
        ("in `src/app.py` on `shelf`", {"src_app_py", "src/app.py", "shelf"}),
        ("the gateway met Mina Lee in Paris", {"mina_lee", "paris"}),
        ("with FN-88 and page_size", {"fn_88", "fn-88", "page_size"}),
        ("메모리 11.2GB, 5070 사용", {"11.2gb", "5070"}),
        ("缓存在10.2版本", {"10.2"}),
        ("at commit 4f9c2d1", {"4f9c2d1"}),
    ],
)
def test_facts(text: str, known: set[str]) -> None:
    assert facts(Passage(text)) == known


def test_the_facts_of_code_are_its_numbers_and_identifiers() -> None:
    (code,) = read_passages("```text\nsession.py failed 3 times\nCode code=440\n```")
    assert facts(code) == {"session.py", "3", "code=440"}


@settings(deadline=None)
@given(st.text(alphabet="aBcD 1-_/:@~`\"'(\n가", max_size=24))
def test_no_name_is_missed(text: str) -> None:
    assert facts(Passage(text)) >= set(proper_names(text))
