"""What waits beside a gateway is sent when it is disconnected: all that can be, in its order."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from service.commands.connections import Connection
from service.commands.programs import OPENCLAW
from service.commands.spooled import send_captures
from tests.clients.conftest import contents
from tests.conftest import Start
from tests.servers.keyed import keyed_service
from tests.servers.stranger import stranger

GATES = [f"Please remember that gate {number} is red." for number in range(4)]


def spooled(spool: Path, number: int, text: str, **more: Any) -> Path:
    """Write a capture down as the plugin does; returns its file."""
    spool.mkdir(parents=True, exist_ok=True)
    entry = {"role": "user", "content": [{"type": "text", "text": text}]}
    item = {"session": "s1", "client": "openclaw", "agent": "main", "offset": 0, "entries": [entry]}
    item |= more
    path = spool / f"{number:012}-{abs(hash((item['session'], item['agent']))):x}.json"
    path.write_text(json.dumps(item))
    return path


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of what waits beside a gateway."""
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "claw"))
    return OPENCLAW.own / "spool"


def test_what_nobody_will_ever_take_keeps_nothing_behind_it(spool: Path, start: Start) -> None:
    spooled(spool, 1, GATES[0]).write_text('{"half')
    spooled(spool, 2, GATES[1], session="s" * 300)
    spooled(spool, 3, GATES[2], session="s2", project={"name": "off"})
    spooled(spool, 4, GATES[3])
    service = start()
    off = {"agent": "main", "project": {"name": "off"}}
    assert service.client.post("/opt-outs", json=off).is_success
    asyncio.run(send_captures(OPENCLAW, Connection(service.url)))
    assert list(spool.iterdir()) == []
    assert contents(service.client) == [GATES[3]]
    assert not (OPENCLAW.own / "drain.lock").exists()


def test_a_session_that_is_refused_waits_and_holds_up_no_other(
    spool: Path, tmp_path: Path, embedding_url: str
) -> None:
    held = [
        spooled(spool, number, GATES[number], agent="work", session="s0", offset=number)
        for number in range(2)
    ]
    spooled(spool, 2, GATES[2])
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        key = keyed.key(["read", "write"], ["main"])[1]
        asyncio.run(send_captures(OPENCLAW, Connection(keyed.url, key=key)))
        assert sorted(spool.iterdir()) == held
        with keyed.client(key) as client:
            assert contents(client) == [GATES[2]]


def test_who_listens_where_the_service_was_takes_nothing_away(spool: Path) -> None:
    path = spooled(spool, 1, GATES[0])
    with stranger(404) as url:
        asyncio.run(send_captures(OPENCLAW, Connection(url)))
    assert list(spool.iterdir()) == [path]


def test_without_a_service_all_of_it_stays(spool: Path) -> None:
    path = spooled(spool, 1, GATES[0])
    asyncio.run(send_captures(OPENCLAW, Connection("http://127.0.0.1:9")))
    assert list(spool.iterdir()) == [path]
