"""The smoke test of the whole: write it into a note, begin a session, ask for it."""

import time
from pathlib import Path

from tests.conftest import REPOSITORY, Start
from tests.servers.running import RunningService

QUESTION = "what is JR's code phrase?"


def _finish(service: RunningService, job: str) -> dict[str, object]:
    for _ in range(600):
        status: dict[str, object] = service.client.get(f"/ingest/jobs/{job}").json()
        if status["state"] in {"done", "failed"}:
            return status
        time.sleep(0.05)
    raise TimeoutError(job)


def test_what_was_written_before_a_session_is_recalled_in_it(
    start: Start, tmp_path: Path, minilm_url: str
) -> None:
    notes = tmp_path / "notes" / "memory"
    notes.mkdir(parents=True)
    for example in (REPOSITORY / "examples" / "notes" / "memory").glob("*.md"):
        text = example.read_text(encoding="utf-8")
        if "blue bunny" not in text:
            (notes / example.name).write_text(text, encoding="utf-8")
    service = start(embedding_url=minilm_url, sources=(tmp_path / "notes",))
    begun = service.client.post("/hooks/session-start", json={"event": "command:new"})
    assert begun.status_code == 202
    assert _finish(service, begun.json()["job"])["state"] == "done"

    today = notes / "2026-02-15.md"
    today.write_text("# 2026-02-15\n\n## 09:00 Smoke test\n\nJR's code phrase is blue bunny.\n")
    begun = service.client.post("/hooks/session-start", json={"event": "command:new"})
    status = _finish(service, begun.json()["job"])
    assert (status["created"], status["embedded"]) == (1, 1)

    for answer in (
        service.client.post("/search", json={"query": QUESTION}),
        service.client.get("/search", params={"q": QUESTION}),
    ):
        best = answer.json()["results"][0]
        assert "blue bunny" in best["content"]
        assert best["source"]["uri"] == "memory/2026-02-15.md"
        assert set(best["signals"]) >= {"vector", "text"}
