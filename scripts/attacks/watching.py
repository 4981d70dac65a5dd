"""Ask a URL again and again, from a process of its own, and tell the longest answer.

    scripts/attacks/watching.py http://127.0.0.1:8080/health/live

Ends with its input; prints the longest time in seconds, that of a question still open included.
"""

import argparse
import http.client
import os
import sys
import threading
import time
from urllib.parse import urlsplit

POLL_SECONDS = 0.05
# A connection that is refused or hangs longer is told as it is when the watch ends.
PATIENCE_SECONDS = 600.0


class Watch:
    """The longest answer until now, and since when one is waited for."""

    def __init__(self, url: str) -> None:
        self.address = urlsplit(url)
        self.longest = 0.0
        self.asked: float | None = None

    def run(self) -> None:
        """Ask for ever; a refused connection is no answer, and is asked again."""
        while True:
            self.asked = time.monotonic()
            while not self._is_answered():
                time.sleep(POLL_SECONDS)
            self.longest, self.asked = max(self.longest, time.monotonic() - self.asked), None
            time.sleep(POLL_SECONDS)

    def _is_answered(self) -> bool:
        host, port = self.address.hostname or "", self.address.port
        connection = http.client.HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
        try:
            connection.request("GET", self.address.path)
            return connection.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def told(self) -> float:
        """Return the longest, or what is being waited for when that is longer."""
        asked = self.asked
        return max(self.longest, time.monotonic() - asked if asked else 0.0)


def main() -> None:
    """Watch until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    watch = Watch(parser.parse_args().url)
    threading.Thread(target=watch.run, daemon=True).start()
    sys.stdin.read()
    print(f"{watch.told():.3f}", flush=True)
    os._exit(0)  # the thread may be waiting for an answer


if __name__ == "__main__":
    main()
