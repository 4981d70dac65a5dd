"""A program that is not there."""

import pytest

from service.commands.program import Program
from service.commands.programs import CLAUDE_CODE, CODEX, OPENCLAW
from service.errors import InvalidRequest


@pytest.mark.parametrize("program", [CLAUDE_CODE, CODEX, OPENCLAW])
def test_what_is_not_installed_is_told_with_what_to_do(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InvalidRequest, match=r"no command .*Install it, or put its folder on"):
        program.find()
