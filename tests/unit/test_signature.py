"""Which line of an output says what is wrong, and by what it is known again."""

from typing import Final

import pytest

from service.fixes.shell import command_of
from service.fixes.signature import error_of, signature_of

COLLECTING: Final = """
==================================== ERRORS ====================================
_____________________ ERROR collecting tests/{file}.py ______________________
ImportError while importing test module '/home/me/tests/{file}.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
tests/{file}.py:1: in <module>
    import {module}
E   ModuleNotFoundError: No module named '{module}'
=========================== short test summary info ============================
ERROR tests/{file}.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.06s ===============================
"""
UNUSED: Final = './shop.go:3:5: "os" imported and not used'


@pytest.mark.parametrize(
    "line",
    [
        "x.py:12: ImportError: cannot import name y", "src/a.py:3: KeyError: 'a'",
        "C:\\src\\a.py:3: json.JSONDecodeError: Extra data", "foo.go:3:5: undefined: bar", UNUSED,
        "error TS2304: Cannot find name 'x'.", "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
        "error[E0425]: cannot find value `x`", "E   ModuleNotFoundError: No module named 'x'",
        "Uncaught TypeError: x is not a function",
        'Exception in thread "main" java.lang.NullPointerException: x',
        "TimeoutException after 0:00:30.000000: Future not completed",
        "OperationalError at /polls/", "AssertionError [ERR_ASSERTION]: 1 == 2", "KeyError",
        "ImportError: y is missing and z may be", "Makefile:12: *** missing separator.  Stop.",
        "make[1]: *** No rule to make target 'x.o', needed by 'x'.  Stop.",
    ],
)  # fmt: skip
def test_an_error_amid_a_line_is_known(line: str) -> None:
    assert error_of(f"# shop\n  {line}\n1 error generated") == line


@pytest.mark.parametrize(
    "line",
    [
        "ImportError is what Python raises when y is missing", "OSError and KeyError are raised",
        "errors.MyWarning means that y is old", "This raises an ImportError when y is missing",
        "We saw ImportError: in the log",
        "docs/a.md:12: see ImportError for details", "docs/a.md:12: an ImportError: says so",
        "a.py:12: class MyError(Exception):", "a.py:12: DeprecationWarning: x is deprecated",
        "a.c:12:3: warning: unused variable", "a.c:12:3: note: declared here",
        "12:30:05: started", "E   and no name of anything: so", "*** Stop.", "a: *** Stop. Go on",
        # Which assertion it was they do not say; the line of the test does.
        "tests/test_a.py:12: AssertionError", "E   AssertionError: assert 1 == 2",
    ],
)  # fmt: skip
def test_what_speaks_of_an_error_is_none(line: str) -> None:
    assert error_of(f"{line}\nall is well") is None


def test_another_module_that_is_missing_in_the_same_file_is_another_error() -> None:
    told = {
        (file, module): error_of(COLLECTING.format(file=file, module=module)) or ""
        for file in ("test_a", "test_b")
        for module in ("numpy", "pandas")
    }
    known = {place: signature_of(error) for place, error in told.items()}
    assert known["test_a", "numpy"] == known["test_b", "numpy"]
    assert known["test_a", "numpy"] != known["test_a", "pandas"]
    raised = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'numpy'"
    assert known["test_a", "numpy"] == signature_of(error_of(raised) or "")


def test_folders_numbers_and_capitals_make_no_other_error() -> None:
    error = signature_of("error: cannot open /srv/log.txt at 3.5 of 0x11c0ffee22")
    assert error == signature_of("ERROR: Cannot  open /home/me/log.txt at 12 of 0x7f3a9c2b1d")
    assert error != signature_of("error: cannot open /srv/log.md at 3.5 of 0x11c0ffee22")


def test_of_errors_that_led_to_each_other_the_last_is_told() -> None:
    output = "KeyError: 'a'\n\nDuring handling of it another one occurred:\n\nValueError: no a"
    assert error_of(output) == "ValueError: no a"


def test_a_line_that_names_its_test_says_more_than_what_was_raised() -> None:
    output = "E   KeyError: 'a'\nFAILED tests/test_a.py::test_k - KeyError: 'a'"
    assert error_of(output) == "FAILED tests/test_a.py::test_k - KeyError: 'a'"


def test_an_end_of_an_output_with_an_error_amid_a_line_proves_nothing() -> None:
    assert command_of("go build | tail -3").outcome(UNUSED, failed=False) is None
