"""What is private is stored nowhere: sent by every way in, looked for in every byte kept."""

from pathlib import Path

import httpx

from tests.servers.running import running_service

WORD = "zebrafinch"
TEXT = f"The crane.\n<private>\nIts code is {WORD}.\n</private>\nIt is red."


def _all(answer: httpx.Response) -> str:
    assert answer.status_code in {200, 201}, answer.text
    assert WORD not in answer.text.lower()
    return answer.text


def test_nothing_private_is_kept(tmp_path: Path, embedding_url: str) -> None:
    notes, data = tmp_path / "notes", tmp_path / "data"
    notes.mkdir()
    (notes / "crane.md").write_text(f"# Crane\n\n{TEXT}\n", encoding="utf-8")
    with running_service(data_dir=data, embedding_url=embedding_url, sources=(notes,)) as running:
        ask = running.client
        told = ask.post("/memories", json={"text": TEXT, "title": f"<private>{WORD}</private> X"})
        assert "private block" in _all(told)
        key = told.json()["id"]
        _all(ask.post("/memories/batch", json={"memories": [{"text": f"2 {TEXT}"}]}))
        _all(ask.patch(f"/memories/{key}", json={"text": f"3 {TEXT}"}))
        _all(ask.post("/ingest", json={"source": "a.md", "text": f"# A\n\n{TEXT}\n"}))
        named = {"source": f"b<private>{WORD}</private>.md", "scope": f"<private>{WORD}</private>"}
        told = ask.post("/ingest", json={**named, "text": "# B\n\nThe quay.\n"})
        assert ask.get("/documents", params={"path": told.json()["source"]}).status_code == 200
        _all(told)
        nameless = {"source": f"<private>{WORD}</private>", "text": "# C\n\nThe mast.\n"}
        refused = ask.post("/ingest", json=nameless)
        assert (refused.status_code, WORD in refused.text) == (422, False)
        assert [one["pointer"] for one in refused.json()["errors"]] == ["/source"]
        assert ask.post("/ingest/scan", json={}).json()["failed"] == []
        for path in ("/handoff", "/decisions"):
            _all(ask.post(path, json={"text": TEXT}))
        _all(ask.post("/intents", json={"text": TEXT, "when": [f"<private>{WORD}</private> quay"]}))
        _all(
            ask.post("/memories", json={"text": "Tagged.", "tags": [f"<private>{WORD}</private>x"]})
        )
        said = [
            {"role": "user", "text": f"From now on: {TEXT} From now on use tabs."},
            {"role": "assistant", "command": f"make <private>{WORD}</private>", "call": "1"},
            {"role": "tool", "call": "1", "exit": 2, "text": f"Error: <private>{WORD}</private>"},
            {"role": "assistant", "tool": "TodoWrite",
             "todos": [{"content": f"<private>{WORD}</private> paint", "status": "pending"}]},
        ]  # fmt: skip
        lines = {"session": "s", "client": "generic", "entries": said, "final": True}
        _all(ask.post("/observe", json=lines))
        pack = {"messages": [{"role": "user", "content": "The crane?"}], "session": "s"}
        _all(ask.post("/context/pack", json=pack))
        ended = ask.post("/session-end", json={"session": "s", "threshold": 0})
        _all(ended)
        _all(ask.put("/working-memory", json={"text": TEXT}))
        _all(ask.patch("/working-memory", json={"text": TEXT}))
        refused = ask.post("/memories", json={"text": f"<private>{WORD}</private>"})
        assert (refused.status_code, WORD in refused.text) == (422, False)
        # The lines of the document are where they were.
        read = ask.get("/documents", params={"path": "crane.md"}).json()["text"]
        assert read.split("\n") == ["# Crane", "", "The crane.", "", "", "", "It is red."]
        for path, params in (
            ("/search", {"q": WORD}), ("/memories", {}), ("/session-context", {}),
            ("/graph-recall", {"q": WORD}), ("/decisions", {}), ("/handoff", {}), ("/intents", {}),
        ):  # fmt: skip
            _all(ask.get(path, params=params))
    found = [path for path in data.rglob("*") if path.is_file()]
    assert found
    for file in found:
        assert WORD.encode() not in file.read_bytes().lower(), file
