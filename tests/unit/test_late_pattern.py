"""What is compiled when it is first asked."""

import re
import subprocess
import sys

import pytest

from service.late_pattern import LatePattern
from service.observe.chinese_cues import CHINESE
from service.observe.english_cues import ENGLISH
from service.observe.korean_cues import KOREAN
from service.observe.lasting import Cues


def test_an_expression_is_the_one_that_it_says() -> None:
    late = LatePattern(r"(?P<word>ab)+", re.IGNORECASE)
    assert late.compiled.fullmatch("ABab")
    assert late.compiled is late.compiled
    assert late.compiled.flags & re.IGNORECASE


def test_what_is_none_is_told_when_it_is_asked() -> None:
    late = LatePattern("(")
    with pytest.raises(re.error):
        _ = late.compiled


def test_a_start_compiles_no_row_of_the_tables() -> None:
    program = (
        "import service.app\n"
        "from service.sanitise.secrets import mask_secrets\n"
        "from service.sanitise.service_rules import TOKENS\n"
        "def known(): return {r.kind for r in TOKENS if 'compiled' in vars(r.pattern)}\n"
        "print(known())\n"
        "mask_secrets('figd_' + 'aB3dE5' * 8)\n"
        "print(known())\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout.splitlines() == ["set()", "{'figma-token'}"]


@pytest.mark.parametrize("cues", [ENGLISH, KOREAN, CHINESE], ids=lambda cues: cues.language)
def test_each_row_of_the_observers_tables_is_an_expression(cues: Cues) -> None:
    rows = [*cues.said.values(), *cues.without]
    rows += [row for weighed in cues.by_kind.values() for _, row in weighed]
    assert all(row.compiled.pattern for row in rows)
    assert len(rows) > 10
