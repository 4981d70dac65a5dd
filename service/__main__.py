"""`python -m service`: the same as the command `graph-memory`."""

import signal
from importlib import import_module


def main() -> None:
    """Run the command; Ctrl-C ends it quietly while it loads, too, which takes a second."""
    # Where signals are ignored, as in the background of a script, they stay so.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = import_module("service.commands.main").main
    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
