"""Evidence: how a question is read, and how the evidence of several indexes becomes one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.index.evidence import Corpus, Evidence, Question, join
from tests.effort import examples

WORDS = 2
REACH = 2


def evidence(
    keys: str, within: tuple[int, int], rows: list[list[int]], documents: int = 10
) -> Evidence:
    """Return evidence whose numbers tell of which key they are; `rows`: before, then after.

    `within` says how many are candidates and how many of all stand no farther than beside one.
    """
    candidates, near = within
    numbers = np.array([ord(key) for key in keys], np.float32)
    ways = np.array(rows[:candidates], np.int32).reshape(candidates, 2, REACH)
    return Evidence(
        keys=tuple(keys),
        within=(candidates, near, len(keys)),
        before=ways[:, 0],
        after=ways[:, 1],
        values={
            "counts": np.repeat(numbers[:, None], WORDS, axis=1),
            "lengths": numbers + 1,
            "cosines": numbers[:near] / 200,
            "of any name": numbers[:candidates] % 2 == 0,
        },
        corpus=Corpus(
            np.array([1, 2], np.float32),
            np.array([0, 5], np.float32),
            np.array([True, False]),
            documents,
            100.0,
        ),
    )


@st.composite
def parts(draw: st.DrawFn) -> list[Evidence]:
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    made = []
    for size in draw(st.lists(st.integers(0, 5), min_size=1, max_size=4)):
        keys = "".join(next(letters) for _ in range(size))
        row = st.lists(st.integers(-1, max(size - 1, -1)), min_size=4, max_size=4)
        rows = [draw(row) if size else [] for _ in range(size)]
        near = draw(st.integers(0, size))
        made.append(evidence(keys, (draw(st.integers(0, near)), near), rows))
    return made


def by_key(one: Evidence) -> dict[str, tuple[object, ...]]:
    """Return what evidence says of each key, neighbours by key, so that rows do not matter."""

    def names(ways: np.ndarray[tuple[int, int], np.dtype[np.int32]], row: int) -> list[str]:
        steps = ways[row].tolist() if row < one.candidates else []
        return [one.keys[other] if other >= 0 else "" for other in steps]

    return {
        key: (
            {
                name: values[row].tolist()
                for name, values in one.values.items()
                if row < len(values)
            },
            names(one.before, row),
            names(one.after, row),
            [row < count for count in one.within],
        )
        for row, key in enumerate(one.keys)
    }


@settings(max_examples=examples(50))
@given(parts())
def test_joined_parts_say_of_each_memory_what_each_part_says(found: list[Evidence]) -> None:
    joined = join(found)
    assert by_key(joined) == {key: row for one in found for key, row in by_key(one).items()}
    assert joined.candidates == sum(one.candidates for one in found)
    assert joined.corpus.documents == 10 * len(found)
    assert joined.corpus.words == 100.0 * len(found)
    assert joined.corpus.document_frequencies.tolist() == [len(found), 2 * len(found)]


def test_one_part_is_itself() -> None:
    one = evidence("ab", (1, 2), [[1, -1, -1, -1], [-1, -1, 0, -1]])
    assert join([one]) is one


def test_candidates_come_first_then_what_is_beside_them() -> None:
    first = evidence("ab", (1, 2), [[1, -1, -1, -1], [-1, -1, 0, -1]])
    second = evidence("cd", (1, 1), [[-1, -1, 1, -1], [0, -1, -1, -1]])
    joined = join([first, second])
    assert joined.keys == ("a", "c", "b", "d")
    assert joined.within == (2, 3, 4)
    assert joined.before[0].tolist() == [2, -1]
    assert joined.after[1].tolist() == [3, -1]


def test_a_question_has_each_stem_once() -> None:
    question = Question.read("memory memories running the runs", None)
    assert len(question.words) == 2
    assert set(question.words) == {"memory", "running"}


def test_a_question_of_stop_words_keeps_them_and_one_of_marks_has_none() -> None:
    assert Question.read("who are you", None).words == ("who", "are", "you")
    empty = Question.read("?!", None)
    assert (empty.words, empty.names, empty.cjk_share) == ((), {}, 0.0)


def test_the_names_of_a_question_are_its_runs_of_tokens() -> None:
    assert set(Question.read("Anna Berg?", None).names) == {"anna", "berg", "anna_berg"}


def test_a_name_stands_before_particles_and_within_a_run_of_letters() -> None:
    korean = Question.read("데이터베이스 마이그레이션에는 뭐가 필요했지", None).names
    assert "데이터베이스_마이그레이션" in korean
    assert "데이터베이스_마이그레이션에는" in korean
    assert korean["데이터베이스_마이그레이션"] < korean["데이터베이스_마이그레이션에는"]
    chinese = Question.read("数据库迁移由谁负责", None).names
    assert {"数据库迁移", "负责", "数据库迁移由谁负责"} <= chinese.keys()
    assert len(Question.read("长" * 5000, None).names) == 1


def test_each_name_knows_the_words_it_is_made_of() -> None:
    question = Question.read("the backups of Anna's backup.sh at home", None)
    words = {
        name: {question.words[place] for place in places}
        for name, places in question.names.items()
        if len(name.split("_")) < 3
    }
    assert words["anna"] == {"Anna".lower()}
    assert words["the_backups"] == words["backups"] == words["backup"] == {"backups"}
    assert words["backup_sh"] == {"backups", "sh"}
    assert words["of"] == words["at"] == set()


@pytest.mark.parametrize(
    ("text", "share"), [("memory", 0.0), ("기억", 1.0), ("東京", 1.0), ("기억 memory", 0.5)]
)
def test_cjk_letters_are_counted_by_words(text: str, share: float) -> None:
    assert Question.read(text, None).cjk_share == share


def test_a_pasted_text_has_no_endless_list_of_names() -> None:
    question = Question.read(" ".join(f"word{n}" for n in range(5000)), None)
    assert len(question.names) <= 64 * 12
