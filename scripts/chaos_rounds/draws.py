"""What a round is: everything that chance decides beforehand, by its seed alone; pure."""

from dataclasses import dataclass
from random import Random
from typing import Final, Literal, get_args

Engine = Literal["resident", "database"]
Store = Literal["embedded", "server"]
Kind = Literal[
    "kill", "terminate", "freeze", "full disk", "clock", "clock between runs", "embedder",
    "database killed", "database frozen",
]  # fmt: skip
# What the embedding server can do but answer well; scripts/servers/hostile_embedder.py.
Mood = Literal[
    "hung", "dripping", "gone", "500", "401", "429", "not numbers", "other length", "other model",
]  # fmt: skip

ENGINES: Final[tuple[Engine, ...]] = get_args(Engine)
MOODS: Final[tuple[Mood, ...]] = get_args(Mood)
_HOUR, _DAY = 3600.0, 86_400.0
# By how many seconds a clock is moved.
MOVES: Final = (-_HOUR, -2.0, -40.0, -10 * _DAY, 10 * _DAY)
OF_SERVER: Final[frozenset[Kind]] = frozenset({"database killed", "database frozen"})
OF_CLOCK: Final[frozenset[Kind]] = frozenset({"clock", "clock between runs"})
# Seconds that writers and readers go on; a fault begins within, and may last beyond.
_SHORTEST_SECONDS, _LONGEST_SECONDS = 4.0, 8.0
_MOST_FAULTS: Final = 4
# A frozen process and a full disk must not outlast what their clients wait for.
_LASTS: Final[dict[Kind, tuple[float, float]]] = {
    "kill": (0.0, 0.0), "terminate": (0.0, 0.0), "freeze": (0.3, 3.0), "full disk": (0.5, 3.0),
    "clock": (0.5, 9.0), "clock between runs": (0.5, 9.0), "embedder": (0.5, 6.0),
    "database killed": (0.0, 2.0), "database frozen": (0.3, 4.0),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong, `at` seconds into the round, and is mended `lasts` later."""

    kind: Kind
    at: float
    lasts: float
    mood: Mood | None = None
    move: float = 0.0

    def __str__(self) -> str:
        """Return it in a few words."""
        what = f"embedder {self.mood}" if self.mood else self.kind
        moved = f" {self.move:+,.0f} s" if self.kind in OF_CLOCK else ""
        return f"{what}{moved} at {self.at:.1f} for {self.lasts:.1f}"


@dataclass(frozen=True, slots=True)
class Round:
    """One round; `ends_by_restart` says whether what follows is asked of a new process."""

    seed: int
    engine: Engine
    store: Store
    seconds: float
    faults: tuple[Fault, ...]
    ends_by_restart: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be drawn on this machine."""

    engines: tuple[Engine, ...] = ENGINES
    has_clock: bool = True


def draw_round(seed: int, scope: Scope) -> Round:
    """Draw a round; the same seed in the same scope gives the same round."""
    chance = Random(seed)
    engine = chance.choice(scope.engines)
    # A server is asked by the same code, only later: one round of four.
    store: Store = "server" if chance.random() < 0.25 else "embedded"
    seconds = chance.uniform(_SHORTEST_SECONDS, _LONGEST_SECONDS)
    kinds = [kind for kind in _LASTS if _is_possible(kind, store, scope)]
    faults = [_fault(chance, kinds, seconds) for _ in range(chance.randint(1, _MOST_FAULTS))]
    return Round(
        seed, engine, store, seconds, tuple(sorted(faults, key=lambda fault: fault.at)),
        chance.random() < 0.5,
    )  # fmt: skip


def _is_possible(kind: Kind, store: Store, scope: Scope) -> bool:
    if kind in OF_CLOCK:
        return scope.has_clock
    return store == "server" or kind not in OF_SERVER


def _fault(chance: Random, kinds: list[Kind], seconds: float) -> Fault:
    kind = chance.choice(kinds)
    return Fault(
        kind, chance.uniform(0.2, seconds * 0.9), chance.uniform(*_LASTS[kind]),
        chance.choice(MOODS) if kind == "embedder" else None,
        chance.choice(MOVES) if kind in OF_CLOCK else 0.0,
    )  # fmt: skip
