"""A dry run changes nothing: no line of the audit says that something was done to a memory."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.servers.running import running_service

SELECTION = {"session": "trip"}


@pytest.mark.parametrize(("mode", "operations"), [("writes", []), ("all", ["quarantine"])])
def test_what_was_only_told_is_no_change(
    tmp_path: Path, embedding_url: str, mode: str, operations: list[str]
) -> None:
    with running_service(data_dir=tmp_path, embedding_url=embedding_url, audit=mode) as service:
        client = service.client
        pushed = {"text": "The ferry leaves at 19:40.", **SELECTION}
        made = client.post("/memories", json=pushed).json()["id"]
        told = client.post("/trust/quarantine", json=SELECTION).json()
        assert (told["dry_run"], told["ids"]) == (True, [made])
        assert client.post("/reflect", json={}).json()["dry_run"] is True
        time.sleep(1.5)
        lines: list[dict[str, Any]] = client.get("/audit").json()["entries"]
        trust = [one for one in lines if one["operation"] == "quarantine"]
        assert [one["operation"] for one in trust] == operations
        assert [one["ids"] for one in trust] == [[] for _ in operations]
        assert _written(client, made) == ["store_memory"]

        done = client.post("/trust/quarantine", json={**SELECTION, "dry_run": False})
        assert done.json()["ids"] == [made]
        time.sleep(1.5)
        assert _written(client, made) == ["quarantine", "store_memory"]


def test_a_plan_that_was_made_has_its_line(tmp_path: Path, embedding_url: str) -> None:
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as service:
        client = service.client
        for day in (1, 2):
            log = {"text": f"Harbour day {day}: the crane was mended.", "kind": "daily_log"}
            log |= {"occurred_at": f"2020-01-0{day}", "session": "harbour"}
            assert client.post("/memories", json=log).status_code == 201
        plan = client.post("/consolidate", json={}).json()["plan"]
        assert plan
        time.sleep(1.5)
        lines = client.get("/audit", params={"operation": "consolidate"}).json()["entries"]
        assert [one["ids"] for one in lines] == [[plan]]


def _written(client: Any, memory: str) -> list[str]:
    lineage = client.get(f"/memories/{memory}/lineage").json()
    return sorted(one["operation"] for one in lineage["written"])
