"""The progress bar: seen at a terminal, silent where nobody looks."""

import io

import pytest
from rich.console import Console

from service.commands.progress import progress_bar


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_writes_to_a_terminal_alone(*, is_terminal: bool) -> None:
    told = io.StringIO()
    with progress_bar(Console(file=told, force_terminal=is_terminal), "Scanning", 2) as show:
        show(advance=1)
    assert bool(told.getvalue()) == is_terminal
