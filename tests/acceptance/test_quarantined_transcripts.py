"""What a quarantined session said before is told of no handoff that is made of it later."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers.running import running_service

Json = dict[str, Any]

REQUEST = "Wire the quokkaville gateway to the new ledger, please."
DECIDED = "We decided to keep the invoices of the harbour in Postgres."


def _observe(client: httpx.Client, agent: str, session: str, *said: str, **more: object) -> Json:
    entries = [{"role": "user", "content": text} for text in said]
    sent: Json = {"agent": agent, "session": session, "client": "generic", "entries": entries}
    answer = client.post("/observe", json={**sent, **more}, headers={"User-Agent": "mallory/1"})
    told: Json = answer.raise_for_status().json()
    return told


@pytest.mark.parametrize("is_released", [False, True])
@pytest.mark.parametrize(
    ("way", "is_meant"),
    [
        ({"session": "s"}, True),
        ({"client": "mallory"}, True),
        ({"since": "2026-01-01T00:00:00Z"}, True),
        ({"session": "other"}, False),
        ({"client": "alice"}, False),
        ({"key": "of-nobody"}, False),
        ({"source": "notes/"}, False),
        ({"since": "2999-01-01T00:00:00Z"}, False),
    ],
)
def test_a_handoff_of_a_quarantined_session(
    client: httpx.Client, agent: str, way: Json, is_meant: bool, is_released: bool
) -> None:
    _observe(client, agent, "s", REQUEST)
    asked = {"agent": agent, **way, "dry_run": False}
    for ask in ({**asked, "dry_run": True}, asked):
        told = client.post("/trust/quarantine", json=ask).raise_for_status().json()
        assert told["transcripts"] == int(is_meant)
    if is_released:
        told = client.post("/trust/release", json=asked).raise_for_status().json()
        assert told["transcripts"] == int(is_meant)
    is_hidden = is_meant and not is_released
    observed = _observe(client, agent, "s", final=True)
    assert any("quarantined" in one for one in observed["warnings"]) is is_hidden
    told = client.post("/session-context", json={"agent": agent, "session": "next"}).json()
    assert ("quokkaville" in told["text"]) is not is_hidden


def test_what_others_said_too_stays_trusted(client: httpx.Client, agent: str) -> None:
    [known] = _observe(client, agent, "good", DECIDED)["memories"]
    _observe(client, agent, "s", REQUEST)
    where = {"agent": agent, "session": "s", "dry_run": False}
    client.post("/trust/quarantine", json=where).raise_for_status()
    _observe(client, agent, "s", DECIDED)
    memory = client.get(f"/memories/{known}", params={"agent": agent}).raise_for_status().json()
    assert memory["trust_tier"] == "trusted"


def test_it_stays_so_after_a_restart(tmp_path: Path, embedding_url: str) -> None:
    where = {"agent": "main", "session": "s", "dry_run": False}
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as service:
        _observe(service.client, "main", "s", REQUEST)
        service.client.post("/trust/quarantine", json=where).raise_for_status()
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as service:
        client = service.client
        [made] = _observe(client, "main", "s", final=True)["memories"]
        asked = {"agent": "main", "session": "next"}
        told = client.post("/session-context", json=asked).raise_for_status()
        assert "quokkaville" not in told.text
        assert client.post("/trust/release", json=where).json()["ids"] == [made]
        assert "quokkaville" in client.post("/session-context", json=asked).text
