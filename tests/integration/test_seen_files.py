"""A file that is as it was is read and hashed, and not screened again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from service.access.origins import Origin
from service.ingest.counts import ScanCounts
from service.ingest.scan import Scanner, scan_request
from service.sanitise.sanitiser import Sanitiser, Screened
from service.settings import Settings
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio

SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@dataclass(frozen=True, slots=True)
class Counting(Sanitiser):
    """A sanitiser that notes what it screens."""

    screened: list[str] = field(default_factory=list)

    def screen(
        self,
        texts: Mapping[str, str],
        origin: Origin,
        *,
        prose: frozenset[str] = frozenset({"text"}),
    ) -> Screened:
        """Screen, and note the source."""
        self.screened.append(texts["source"])
        return super(Counting, self).screen(texts, origin, prose=prose)


async def test_only_what_changed_is_screened_again(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(5):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nA crane.\n", encoding="utf-8")
    (notes / "secret.md").write_text(f"# Token\n\nThe token is {SECRET}.\n", encoding="utf-8")
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", sources=(notes,))
    async with open_store(tmp_path) as opened:
        counting = opened.pipeline.sanitiser = Counting()
        scanner, request = Scanner(opened.pipeline, settings), scan_request(settings, None)

        async def scan(by: Scanner) -> tuple[ScanCounts, list[str]]:
            counting.screened.clear()
            counts = await by.scan(request)
            assert (counts.done, counts.failed) == (counts.files, [])
            return counts, sorted(counting.screened)

        first, screened = await scan(scanner)
        assert (first.created, len(screened)) == (6, 6)
        again, screened = await scan(scanner)
        assert (again.unchanged, again.created, again.updated, screened) == (6, 0, 0, [])
        (notes / "3.md").write_text("# Note 3\n\nThe crane fell.\n", encoding="utf-8")
        (notes / "4.md").unlink()
        edited, screened = await scan(scanner)
        assert (edited.updated, edited.removed, screened) == (1, 1, ["3.md"])
        # Whoever has not seen them screens all, and stores nothing anew.
        other, screened = await scan(Scanner(opened.pipeline, settings))
        assert (other.unchanged, other.updated, len(screened)) == (5, 0, 5)
        held = repr(scanner.seen._text_hashes)
        assert SECRET not in held
