"""A program gets a key of its own where keys are in use, with the least rights; it ends with it."""

import json
from pathlib import Path

import pytest

from tests.clients.conftest import Machine
from tests.servers.keyed import KeyedService, keyed_service
from tests.servers.real_programs import program


@pytest.mark.slow
def test_a_key_is_made_for_the_program_alone_and_ends_with_it(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    machine.put("claude", program("claude"))
    own = machine.home / ".claude" / "graph-memory" / "client.json"
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        machine.more |= {
            "MEMORY_PORT": keyed.url.rpartition(":")[2], "MEMORY_DATA_DIR": str(tmp_path / "data"),
        }  # fmt: skip
        refused = machine.graph_memory("connect", "claude-code", checked=False)
        assert refused.returncode == 1
        assert "MEMORY_API_KEY" in refused.stderr
        assert not own.exists()
        machine.more["MEMORY_API_KEY"] = keyed.admin
        told = machine.graph_memory("connect", "claude-code").stdout
        assert "read, write, agent main alone" in told
        assert keyed.admin not in own.read_text()
        assert own.stat().st_mode & 0o777 == 0o600
        [made] = _keys(keyed, "claude-code on")
        assert (made["scopes"], made["agents"]) == (["read", "write"], ["main"])
        machine.graph_memory("connect", "claude-code")
        assert len(_keys(keyed, "claude-code on")) == 1
        machine.claude("Please remember that the gate of the harbour is red.")
        with keyed.client(json.loads(own.read_text())["key"]) as client:
            assert client.get("/stats").status_code == 200
            assert client.get("/keys").status_code == 403
            [seen] = client.get("/clients").json()["clients"]
            assert (seen["client"], seen["sessions"]) == ("claude-code", 1)
        well = machine.graph_memory("doctor", "claude-code", checked=False).stdout
        assert "the key is good" in well
        machine.graph_memory("disconnect", "claude-code")
        assert _keys(keyed, "claude-code on") == []
        assert not own.parent.exists()


def test_a_client_of_mcp_is_told_what_to_write_and_its_key_can_be_ended(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        machine.more |= {
            "MEMORY_PORT": keyed.url.rpartition(":")[2], "MEMORY_DATA_DIR": str(tmp_path / "data"),
            "MEMORY_API_KEY": keyed.admin,
        }  # fmt: skip
        told = json.loads(machine.graph_memory("connect", "mcp").stdout)
        server = told["mcpServers"]["graph-memory"]
        assert server["url"] == f"{keyed.url}/mcp"
        assert server["headers"]["Authorization"].startswith("Bearer gm_")
        assert len(_keys(keyed, "mcp on")) == 1
        assert "canary" in machine.graph_memory("doctor", "mcp", checked=False).stdout
        tried = machine.graph_memory("disconnect", "mcp", "--dry-run")
        assert tried.stdout.startswith("would end the keys 'mcp on ")
        assert len(_keys(keyed, "mcp on")) == 1
        machine.graph_memory("disconnect", "mcp")
        assert _keys(keyed, "mcp on") == []


@pytest.mark.usefixtures("memory")
def test_an_agent_that_nothing_holds_a_client_of_mcp_to_is_refused(machine: Machine) -> None:
    refused = machine.graph_memory("connect", "mcp", "--agent", "ann", checked=False)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "graph-memory mcp --agent ann" in " ".join(refused.stderr.split())


def test_a_key_is_made_where_the_service_is_and_nowhere_else(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    """`--url` names another machine: a key of the store here would open nothing there."""
    here = tmp_path / "here"
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        machine.more |= {"MEMORY_DATA_DIR": str(here)}
        there = ("mcp", "--url", keyed.url)
        refused = machine.graph_memory("connect", *there, checked=False)
        assert refused.returncode == 1
        assert f"MEMORY_API_KEY to a key of {keyed.url}" in " ".join(refused.stderr.split())
        machine.more["MEMORY_API_KEY"] = keyed.admin
        told = json.loads(machine.graph_memory("connect", *there).stdout)
        header = told["mcpServers"]["graph-memory"]["headers"]["Authorization"]
        with keyed.client(header.removeprefix("Bearer ")) as client:
            assert client.get("/stats").status_code == 200
        assert len(_keys(keyed, "mcp on")) == 1
        assert not here.exists()
        machine.graph_memory("disconnect", *there)
        assert _keys(keyed, "mcp on") == []
        machine.more["MEMORY_API_KEY"] = "gm_wrong"
        failed = machine.graph_memory("disconnect", *there, checked=False)
        assert failed.returncode == 1
        assert "have ended" not in failed.stdout


def test_the_old_key_ends_only_once_there_is_another(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    machine.put("claude", Path("/bin/true"))
    own = machine.home / ".claude" / "graph-memory" / "client.json"
    with (
        keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as here,
        keyed_service(data_dir=tmp_path / "there", embedding_url=embedding_url) as there,
    ):
        machine.find(here.service, tmp_path / "data")
        machine.more["MEMORY_API_KEY"] = here.admin
        machine.graph_memory("connect", "claude-code")
        written = own.read_text()
        moving = ("connect", "claude-code", "--url", there.url)
        refused = machine.graph_memory(*moving, checked=False)
        assert (refused.returncode, own.read_text()) == (1, written)
        assert len(_keys(here, "claude-code on")) == 1
        machine.find(there.service, tmp_path / "there")
        machine.more["MEMORY_API_KEY"] = there.admin
        told = machine.graph_memory(*moving)
        # The key of one service ends no key of the other, which is said.
        assert "could not be ended" in told.stderr
        assert len(_keys(there, "claude-code on")) == 1


def test_a_key_that_cannot_be_written_down_ends(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    machine.put("claude", Path("/bin/true"))
    own = machine.home / ".claude" / "graph-memory"
    own.parent.mkdir()
    own.symlink_to(tmp_path / "nowhere" / "else")
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        machine.find(keyed.service, tmp_path / "data")
        machine.more["MEMORY_API_KEY"] = keyed.admin
        refused = machine.graph_memory("connect", "claude-code", checked=False)
        assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
        assert _keys(keyed, "claude-code on") == []


@pytest.mark.parametrize("file", ["client.json", "python"])
def test_whatever_cannot_be_written_the_key_that_stands_there_is_good(
    machine: Machine, tmp_path: Path, embedding_url: str, file: str
) -> None:
    machine.put("claude", Path("/bin/true"))
    own = machine.home / ".claude" / "graph-memory"
    # The new text of a file is written beside it first.
    in_its_way = own / f".{file}.new"
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        machine.find(keyed.service, tmp_path / "data")
        machine.more["MEMORY_API_KEY"] = keyed.admin
        machine.graph_memory("connect", "claude-code")
        first = _the_one_key(keyed, own)
        in_its_way.mkdir()
        another = ("connect", "claude-code", "--agent", "ann")
        refused = machine.graph_memory(*another, checked=False)
        assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
        assert _the_one_key(keyed, own)["id"] == first["id"]
        in_its_way.rmdir()
        machine.graph_memory(*another)
        second = _the_one_key(keyed, own)
        assert (second["id"] != first["id"], second["agents"]) == (True, ["ann"])


def test_a_key_that_has_ended_is_replaced_and_nothing_is_said_of_its_end(
    machine: Machine, tmp_path: Path, embedding_url: str
) -> None:
    machine.put("claude", Path("/bin/true"))
    own = machine.home / ".claude" / "graph-memory"
    with keyed_service(data_dir=tmp_path / "data", embedding_url=embedding_url) as keyed:
        machine.find(keyed.service, tmp_path / "data")
        machine.more["MEMORY_API_KEY"] = keyed.admin
        machine.graph_memory("connect", "claude-code")
        first = _the_one_key(keyed, own)
        with keyed.client() as admin:
            assert admin.delete(f"/keys/{first['id']}").status_code == 204
        told = machine.graph_memory("connect", "claude-code")
        assert "could not be ended" not in told.stdout + told.stderr
        assert _the_one_key(keyed, own)["id"] != first["id"]


def _the_one_key(keyed: KeyedService, own: Path) -> dict[str, object]:
    """Return the program's key: there is no other one, and the one written down is good."""
    [key] = _keys(keyed, "claude-code on")
    written = json.loads((own / "client.json").read_text())
    assert written["key_id"] == key["id"]
    with keyed.client(written["key"]) as client:
        assert client.get("/clients").status_code == 200
    return key


def _keys(keyed: KeyedService, name: str) -> list[dict[str, object]]:
    with keyed.client() as admin:
        listed = admin.get("/keys").json()["keys"]
    return [one for one in listed if one["name"].startswith(name) and not one["revoked_at"]]
