"""How often a process looks for garbage, and how soon its threads take turns."""

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


def test_threads_take_turns_soon_once_a_process_serves() -> None:
    code = (
        "import sys; from service.settling import settle; settle(); print(sys.getswitchinterval())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) <= 0.001
