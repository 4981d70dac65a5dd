"""Commands in one spelling, and by what it is known whether they passed."""

import pytest

from service.fixes.shell import command_of

ERROR = "src/a.ts(1,2): error TS2304: Cannot find name 'x'.\n"


@pytest.mark.parametrize(
    "line",
    [
        "npm run check", "  npm   run check ", "cd packages/a && npm run check",
        "cd /a && cd b && npm run check", "CI=1 NODE_ENV='a b' npm run check",
        "env CI=1 npm run check 2>&1", "time npm run check", "timeout 60 npm run check",
        "npm run check 2>&1 | tail -20", "npm run check 2>&1 | grep -E '(error|warning)' | head -5",
        "npm run check | tee out.txt | tail", "npm run check; echo \"exit=$?\"",
        "cd a && npm run check 2>&1 | cat", "  cd a && npm run check", "npm run check|tail -3",
        "npm run check | tail -3 2>&1",
    ],
)  # fmt: skip
def test_a_command_has_one_spelling(line: str) -> None:
    assert command_of(line).text == "npm run check"


@pytest.mark.parametrize(
    "line",
    ["make || true", "make && make test", "a | b", "a | tail && b", "echo 'a | tail'", "cd a",
     "cat x | ./run", "A=1", "make; make install", "make || cat log"],
)  # fmt: skip
def test_what_is_more_than_one_command_stays_as_it_is(line: str) -> None:
    assert command_of(line).text == line


def test_a_filter_shows_the_end_of_all_that_stands_before_it() -> None:
    command = command_of("make clean && make | tail")
    assert (command.text, command.shows_end) == ("make clean && make", True)


@pytest.mark.parametrize(
    ("line", "failed", "output", "outcome"),
    [
        ("make", True, "", True), ("make", False, ERROR, False), ("make", None, "ok", None),
        # The exit code is that of the filter.
        ("make | tail", False, ERROR, True), ("make | tail", False, "built in 3.2s", False),
        ("make | tail", None, "1 failed, 3 passed", True),
        ("make | tail", False, "make: *** No rule to make target 'x'.  Stop.", True),
        ("make | tail", False, "ok. 14 passed; 0 failed", False),
        ("make | tail", False, "", None), ("make | tail", False, " \n", None),
        ("make | tail", False, "see error handling", None),
        ("make | tail", True, "", True),
        ("make | grep error", False, ERROR, None), ("make | grep error", True, "", None),
        ("make; echo exit=$?", False, "all good\nexit=2", True),
        ("make; echo $?", False, "Error: no\n0\n", False), ("make; echo $?", False, "", None),
    ],
)  # fmt: skip
def test_whether_it_passed(
    line: str, failed: bool | None, output: str, outcome: bool | None
) -> None:
    assert command_of(line).outcome(output, failed=failed) is outcome


def test_a_line_of_nothing_but_signs_is_read() -> None:
    for line in (
        "|" * 100_000,
        "a | " * 30_000,
        "A=1 " * 30_000,
        "cd a && " * 30_000,
        "'" * 99_999,
    ):
        assert not command_of(line[:4_000]).echoes
