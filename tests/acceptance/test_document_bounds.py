"""A document that is too much is cut with a warning, is served whole, and nobody waits for it."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start
from tests.waiting import until

_WARNING = "long.md: line 21: more than 10 sections (MEMORY_MAX_DOCUMENT_SECTIONS)"
_HEADINGS = "".join(f"# Heading {n}\n\n" for n in range(30))


def test_a_pushed_document_is_cut_and_served_whole(start: Start) -> None:
    client = start(max_document_sections=10).client
    body = {"source": "long.md", "text": _HEADINGS}
    answer = client.post("/ingest", json=body).json()
    assert answer["created"] == 10
    assert [w[: len(_WARNING)] for w in answer["warnings"]] == [_WARNING]
    assert client.get("/documents", params={"path": "long.md"}).json()["text"] == _HEADINGS[:-1]
    titles = {m["title"] for m in client.get("/memories", params={"limit": 100}).json()["memories"]}
    assert titles == {f"Heading {n}" for n in range(10)}


def test_a_scan_and_its_job_tell_what_was_cut(start: Start, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "long.md").write_text(_HEADINGS, encoding="utf-8")
    client = start(max_document_sections=10, sources=(notes,)).client
    job = client.post("/ingest/scan", json={"wait": False}).json()["job"]

    def ended() -> dict[str, Any]:
        status: dict[str, Any] = client.get(f"/ingest/jobs/{job}").json()
        return status if status["state"] in {"done", "failed"} else {}

    told = until(ended)
    assert told["created"] == 10
    assert any(_WARNING in warning for warning in told["warnings"])


@pytest.mark.parametrize(
    "text",
    [
        ">" * 1000 + "x\n" + "y\n" * 20_000,
        "|a" * 80_000 + "\n" + "|-" * 80_000,
    ],
    ids=["lazy lines below quotes", "a row of many cells"],
)
def test_too_much_structure_is_remembered_as_plain_text(start: Start, text: str) -> None:
    client = start(max_document_sections=20).client
    answer = client.post("/ingest", json={"source": "dense.md", "text": text})
    assert answer.status_code == 200
    counts = answer.json()
    assert counts["created"] == 20
    assert any("from here on it is plain text" in warning for warning in counts["warnings"])
