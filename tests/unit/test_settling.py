"""How often a process looks for garbage: seldom while it starts."""

import subprocess
import sys

# What `app_of` is asked to load is not loaded; the threshold of that moment is printed.
_LOADING = """
import gc
from service.commands import main
usual = gc.get_threshold()[0]
main.app_of = lambda _: lambda: print(gc.get_threshold()[0] > usual)
main.main()
"""


def test_a_command_begins_before_its_rooms_are_loaded() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _LOADING], capture_output=True, text=True, check=True
    )
    assert run.stdout == "True\n"
