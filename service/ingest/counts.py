"""What a scan has done so far, and what it could not do."""

from dataclasses import dataclass, field
from typing import Final

from service.writing.pipeline import Synced

# Of failures, and of warnings, so many are told: a folder of a hundred thousand pictures that are
# named .md is no answer of ten megabytes.
_MOST_TOLD: Final = 1000
_MOST_WARNINGS_OF_ONE: Final = 20


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be taken in, and why."""

    source: str
    detail: str


@dataclass(slots=True)
class ScanCounts:
    """What a scan has done so far; sections are counted, but for `files`.

    `left_out` counts the failures and warnings that are not told: of each the first 1,000 are.
    """

    files: int = 0
    done: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    concepts_linked: int = 0
    embedded: int = 0
    failed: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    left_out: int = 0
    took_ms: float = 0.0

    def add(self, synced: Synced) -> None:
        """Add what became of one document."""
        self.done += 1
        for name in ("created", "updated", "unchanged", "removed", "concepts_linked", "embedded"):
            setattr(self, name, getattr(self, name) + getattr(synced, name))
        new = [told for told in synced.warnings if told not in self.warnings]
        told = new[: min(_MOST_WARNINGS_OF_ONE, _MOST_TOLD - len(self.warnings))]
        self.warnings += told
        self.left_out += len(new) - len(told)

    def fail(self, source: object, detail: str) -> None:
        """Note what could not be taken in, and why."""
        if len(self.failed) < _MOST_TOLD:
            self.failed.append(Failure(str(source), detail))
        else:
            self.left_out += 1
