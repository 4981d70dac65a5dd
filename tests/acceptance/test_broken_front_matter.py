"""A front matter with one broken line: its other fields hold, all of it is found, and told."""

from pathlib import Path

from tests.conftest import Start

_NOTE = "---\ntitle: Gateway\nscope: lab\nowner: [zebulon, mina\ntags: [ops]\n---\nIt is at home.\n"
_TOLD = "front matter kept as text: expected ',' or ']', but got ':', line 5"


def test_what_can_be_read_is_read_and_what_cannot_is_found(start: Start, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "scanned.md").write_text(
        _NOTE + "It was moved on Friday, to the rack.\n", encoding="utf-8"
    )
    client = start(sources=(notes,)).client
    pushed = client.post("/ingest", json={"source": "pushed.md", "text": _NOTE}).json()
    scanned = client.post("/ingest/scan", json={}).json()
    for name, answer in (("pushed", pushed), ("scanned", scanned)):
        assert [f"{name}.md: {_TOLD}; read of it: title, scope, tags"] == answer["warnings"]
    found = client.post("/search", json={"query": "zebulon", "scope": "lab", "tags": ["ops"]})
    memories = found.json()["results"]
    assert {memory["source"]["uri"] for memory in memories} == {"pushed.md", "scanned.md"}
    assert {memory["title"] for memory in memories} == {"Gateway"}
