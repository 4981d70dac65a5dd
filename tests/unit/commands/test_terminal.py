"""What a command says at its end: in the words of whoever types commands."""

import pytest

from service.access.caller import Caller
from service.access.errors import KeyNotFound
from service.commands.terminal import one_line


def test_a_refused_project_is_told_as_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), one_line():
        Caller("k", "laptop", memory_scopes=("harbour",)).check_project("zoo")
    told = capsys.readouterr().err
    assert "for these scopes alone: harbour. Say `--project none`, and name one" in told


def test_an_endpoint_is_told_as_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), one_line():
        raise KeyNotFound("There is no key 'x': GET /keys lists those there are.")
    assert "`graph-memory keys list` lists those there are" in capsys.readouterr().err
