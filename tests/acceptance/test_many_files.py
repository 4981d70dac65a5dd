"""A folder of many small files: nothing fails, and what did not change costs nothing."""

from pathlib import Path

import pytest

from tests.conftest import Start
from tests.effort import amount

FILES = amount("files")


@pytest.mark.soak
def test_a_second_scan_embeds_nothing_and_an_edit_one(start: Start, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    for number in range(FILES):
        note = notes / f"topic-{number % 25}" / f"note-{number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(
            f"# How to do thing {number}\n\nUse `tool-{number % 40} --flag` and wait.\n\n"
            f"```bash\n$ tool-{number % 40} --flag\n## not a heading\n```\n\n"
            f"## See also\n\nThe page of Project {chr(65 + number % 26)}ldebaran.\n"
        )
    service = start(sources=(notes,))

    def scan() -> dict[str, object]:
        answer = service.client.post("/ingest/scan", json={}, timeout=300)
        assert answer.status_code == 200, answer.text
        counts: dict[str, object] = answer.json()
        assert counts["failed"] == []
        return counts

    first = scan()
    assert (first["files"], first["created"], first["embedded"]) == (FILES, 2 * FILES, 2 * FILES)
    again = scan()
    assert (again["unchanged"], again["embedded"]) == (2 * FILES, 0)
    edited = notes / "topic-3" / "note-3.md"
    edited.write_text(edited.read_text().replace("and wait", "and wait a little"))
    after_edit = scan()
    assert (after_edit["updated"], after_edit["embedded"]) == (1, 1)
    edited.unlink()
    assert scan()["removed"] == 2
    assert service.client.get("/stats").json()["memories"] == 2 * (FILES - 1)
