"""Finding 4: the clock is set back while the service runs, or before it starts again."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.attacks.arena import Arena, Target
from scripts.attacks.figures import Figure, count, seconds
from tests.servers.clock_shim import ClockShim, NoClockShim, build_clock_shim

_STEPS = (("-2 s", -2), ("-40 s", -40), ("-1 h", -3_600), ("-10 d", -864_000), ("+10 d", 864_000))
_MOST_SECONDS = 1.0
_FOUND_SECONDS = 5.0


def attack(arena: Arena) -> list[Figure]:
    """Move the clock under a running service, then between two runs on one store."""
    with TemporaryDirectory() as place:
        try:
            shim = build_clock_shim(Path(place))
        except NoClockShim as missing:
            return [Figure(4, "the clock", None, "", count(4, "", 0).aim, note=str(missing))]
        running = [
            figure for name, step in _STEPS for figure in _while_running(arena, shim, name, step)
        ]
        return [*running, *_between_runs(arena, shim, "-1 h", -3_600),
                *_between_runs(arena, shim, "-10 d", -864_000)]  # fmt: skip


def _while_running(arena: Arena, shim: ClockShim, name: str, step: float) -> list[Figure]:
    shim.move(0)
    with arena.target(**shim.environment) as target:
        target.post("/memories", text="before the clock moved")
        shim.move(step)
        told = target.post("/memories", text="after the clock moved: zebra")
        found = _seconds_until_found(target, arena.patience) if told.status == 201 else 0.0
    what = f"clock {name} while running"
    is_late = found >= arena.patience
    return [
        seconds(4, f"{what}: a write", told.seconds, _MOST_SECONDS, is_cut=told.is_cut),
        seconds(4, f"{what}: until it is found", found, _FOUND_SECONDS,
                is_cut=told.is_cut or is_late),
    ]  # fmt: skip


def _between_runs(arena: Arena, shim: ClockShim, name: str, step: float) -> list[Figure]:
    shim.move(0)
    with TemporaryDirectory() as place:
        folder = Path(place)
        with arena.target(folder, **shim.environment) as target:
            target.post("/memories", text="written in the first run")
        shim.move(step)
        with arena.target(folder, **shim.environment) as target:
            told = target.post("/memories", text="written in the second run: zebra")
            found = _seconds_until_found(target, arena.patience)
            ready = target.ask("GET", "/health/ready").status
    what = f"started with the clock {name} behind the last run"
    is_late = found >= arena.patience
    return [
        seconds(4, f"{what}: a write", told.seconds, _MOST_SECONDS, is_cut=told.is_cut),
        seconds(4, f"{what}: until it is found", found, _FOUND_SECONDS, is_cut=is_late),
        count(4, f"{what}: `ready` 200 while it is not found", int(is_late and ready == 200)),
    ]


def _seconds_until_found(target: Target, patience: float) -> float:
    started = time.monotonic()
    asked = {"query": "zebra", "weights": {"vector": 0, "text": 1, "graph": 0}}
    while time.monotonic() - started < patience:
        answer = target.post("/search", **asked)
        if answer.status == 200 and any(
            "zebra" in one["content"] for one in answer.body["results"]
        ):
            break
        time.sleep(0.1)
    return time.monotonic() - started
