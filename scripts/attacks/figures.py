"""What an attack measures, what is wanted of it, and the verdict; pure."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

# What a refusal of a client's fault may be, and what any answer may be that is no defect.
REFUSED: Final = (400, 499)


@dataclass(frozen=True, slots=True)
class Aim:
    """The least and the most that a figure may be; both count as kept."""

    least: float = 0
    most: float = 0

    def __str__(self) -> str:
        if self.least == self.most:
            return plain(self.most)
        if self.least == 0:
            return f"≤ {plain(self.most)}"
        return f"{plain(self.least)} to {plain(self.most)}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one finding.

    A figure that `is_cut` reached the attack's patience: the true one is larger. `value` None is a
    figure that could not be taken; `note` says why, or what was seen.
    """

    finding: int
    what: str
    value: float | None
    unit: str
    aim: Aim
    is_cut: bool = False
    note: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether the aim is kept; a figure that was cut or not taken keeps nothing."""
        if self.value is None or self.is_cut:
            return False
        return self.aim.least <= self.value <= self.aim.most

    @property
    def told(self) -> str:
        """The value as a reader sees it."""
        if self.value is None:
            return "not taken"
        more = "> " if self.is_cut else ""
        return f"{more}{plain(self.value)} {self.unit}".strip()

    @property
    def key(self) -> tuple[int, str]:
        """What the same figure of another checkout is found by."""
        return self.finding, self.what


def plain(value: float) -> str:
    """Return a number with as many digits as mean something."""
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.2f}"


def seconds(finding: int, what: str, value: float, most: float, *, is_cut: bool = False) -> Figure:
    """Return a figure in seconds."""
    return Figure(finding, what, round(value, 2), "s", Aim(most=most), is_cut)


def count(finding: int, what: str, value: float, note: str = "", most: float = 0) -> Figure:
    """Return how many of something were seen; none is wanted unless `most` says more."""
    return Figure(finding, what, value, "", Aim(most=most), note=note)


def status(finding: int, what: str, value: int, wanted: tuple[int, int] = REFUSED) -> Figure:
    """Return the status of an answer; 0 stands for none in time."""
    return Figure(finding, what, value, "", Aim(*wanted), is_cut=value == 0)


def as_json(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    """Return figures as JSON has them."""
    return [asdict(figure) for figure in figures]


def from_json(rows: Iterable[dict[str, Any]]) -> list[Figure]:
    """Return the figures of a file that `as_json` made."""
    return [Figure(**{**row, "aim": Aim(**row["aim"])}) for row in rows]
