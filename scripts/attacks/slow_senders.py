"""Finding 18: slow headers and bodies, lax types, many quotes, no content type."""

import json
import select
import socket
import time
from collections.abc import Sequence
from statistics import median

from scripts.attacks.arena import Arena, Target, megabytes
from scripts.attacks.figures import Aim, Figure, count, seconds, status

_OPEN_SECONDS = 45
_BODY_BYTES = 31_000_000
_HEAD = b"POST /memories HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


def attack(arena: Arena) -> list[Figure]:
    """Open connections that never finish what they say; then the small ones of the finding."""
    with arena.target() as target:
        heads = _open(target, arena.sized(800), _HEAD)
        time.sleep(_OPEN_SECONDS)
        still = _still_open(heads)
    figures = [count(18, f"connections with half a head open after {_OPEN_SECONDS} s", still,
                     note=f"of {len(heads)}")]  # fmt: skip
    with arena.target() as target:
        figures += _bodies(target, arena.sized(20))
    with arena.target() as target:
        return [*figures, *_small(target)]


def _open(target: Target, number: int, sent: bytes) -> list[socket.socket]:
    opened = []
    for _ in range(number):
        connection = socket.create_connection(("127.0.0.1", target.port), timeout=10)
        try:
            connection.sendall(sent)
        except OSError:
            connection.close()
        else:
            opened.append(connection)
    return opened


def _still_open(connections: Sequence[socket.socket]) -> int:
    poller = select.poll()
    for connection in connections:
        poller.register(connection, select.POLLIN | select.POLLHUP)
    still = len(connections) - len(poller.poll(0))
    for connection in connections:
        connection.close()
    return still


def _bodies(target: Target, number: int) -> list[Figure]:
    before = target.resident()
    head = _HEAD + f"content-length: {_BODY_BYTES + 1000}\r\n\r\n".encode()
    opened = _open(target, number, head + b'{"text": "' + b"x" * _BODY_BYTES)
    time.sleep(2)
    grown = megabytes(before, target.resident())
    for connection in opened:
        connection.close()
    what = f"growth of RSS by {number} unfinished bodies of 31 MB"
    return [Figure(18, what, grown, "MB", Aim(most=200), note=f"{len(opened)} taken whole")]


def _small(target: Target) -> list[Figure]:
    target.post("/memories", text="words to find")
    lax = target.ask("POST", "/consolidate", json={"dry_run": "off"})
    bare = target.ask(
        "POST", "/memories", content=json.dumps({"text": "no type"}).encode(), headers={}
    )
    plain = median(target.post("/search", query="plain words").seconds for _ in range(5))
    quotes = median(target.post("/search", query="\u201c" * 10_000).seconds for _ in range(3))
    return [
        status(18, 'POST /consolidate {"dry_run": "off"}', lax.status),
        status(18, "POST /memories without a content type", bare.status),
        seconds(
            18,
            "10,000 opening quotes in a search, beside plain words",
            max(0.0, quotes - plain),
            0.1,
        ),
    ]
