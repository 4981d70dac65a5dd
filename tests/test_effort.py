"""The two efforts: their numbers are told, used and not turned round; who shares a process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

from tests.effort import AMOUNTS, IS_SOAK, LEFT_OUT, examples, is_left_out, table
from tests.sharing import group_of, turn_of

TESTS = Path(__file__).parent
PROGRAM = """
import random
from tests import effort
own = effort.chance(1).random() == random.Random(1).random()
print(effort.amount("kills"), effort.examples(10), own, effort.IS_WHOLE)
"""


def told(**environment: str) -> str:
    """Return what a process says of its effort."""
    mine = {name: value for name, value in os.environ.items() if "GRAPH_MEMORY" not in name}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=mine | environment, cwd=TESTS.parent,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_the_readme_has_the_table() -> None:
    assert table() in (TESTS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", AMOUNTS)
def test_the_soak_does_no_less_than_every_run_did(name: str) -> None:
    given = AMOUNTS[name]
    assert 0 < given.gate <= given.before <= given.soak
    if name != "examples":
        text = (TESTS / given.tests).read_text(encoding="utf-8")
        assert f'amount("{name}")' in text
        assert re.search(r"mark\.soak|@given|Soundness\.settings", text)


def test_without_a_word_the_effort_is_the_gates() -> None:
    gate = f"{AMOUNTS['kills'].gate} 2 True"
    nothing_more = told(GRAPH_MEMORY_EFFORT="gate", GRAPH_MEMORY_SEED="7")
    assert told() == nothing_more == f"{gate} False"
    soak = told(GRAPH_MEMORY_EFFORT="soak", GRAPH_MEMORY_SEED="7")
    assert soak == f"{AMOUNTS['kills'].soak} 30 False True"
    assert told(GRAPH_MEMORY_EFFORT="whole") == f"{gate} True"


def test_a_property_without_a_number_follows_the_effort() -> None:
    now = hypothesis.settings()
    assert (now.max_examples, now.derandomize) == (examples(100), not IS_SOAK)


def test_tests_of_one_file_share_a_process_unless_they_share_nothing() -> None:
    first, second = "tests/acceptance/test_search.py::a", "tests/acceptance/test_search.py::b[1]"
    assert group_of(first) == group_of(second) == "tests/acceptance/test_search.py"
    alone = "tests/integration/test_crash.py::"
    assert group_of(f"{alone}a") != group_of(f"{alone}b")
    assert turn_of(first) < turn_of("tests/unit/text/test_words.py::a")


@pytest.mark.parametrize("start", LEFT_OUT)
def test_what_the_gate_leaves_out_is_there(start: str) -> None:
    file, _, rest = start.partition("::")
    assert f"def {rest.partition('[')[0]}" in (TESTS / file).read_text(encoding="utf-8")
    assert is_left_out(f"tests/{start}")
    assert not is_left_out(f"tests/{file}::test_another")
