"""`graph-memory keys` from a shell, with and without a service, and what an address needs first."""

import re
import socket
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx

from tests.acceptance.test_command import _environment, _one_line, _run, _serving
from tests.servers.running import service_process
from tests.waiting import until

KEY = re.compile(r"gm_[0-9a-f]{12}_[A-Za-z0-9_-]{43}\n")
EVERYTHING = ("--scopes", "read,write,admin")
ANYWHERE = ".".join("0000")


def test_keys_from_a_shell_with_and_without_a_service(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    first = _run("keys", "create", "--name", "first", *EVERYTHING, **own)
    assert (first.returncode, bool(KEY.fullmatch(first.stdout))) == (0, True), first
    admin = {"MEMORY_API_KEY": first.stdout.strip()}
    with _serving(own) as (client, _):
        assert client.get("/memories").status_code == 401
        refused = _run("keys", "list", **own)
        assert (refused.returncode, "MEMORY_API_KEY" in refused.stderr) == (1, True)
        made = _run(
            "keys", "create", "--name", "laptop", "--agent", "anna", "--agent", "bob",
            "--expires", "90d", "--only", "rate=100", **own | admin,
        )  # fmt: skip
        assert made.stderr.endswith("It is shown this once; the service asks for a key.\n")
        key = made.stdout.strip()
        used = client.get("/stats?agent=bob", headers={"Authorization": f"Bearer {key}"})
        assert used.status_code == 404  # bob has stored nothing
        listed = _run("keys", "list", **own | admin)
        assert "laptop" in listed.stdout
        assert key.split("_", 2)[2] not in listed.stdout
        scoped = ("--agent", "bob", "--only", "memory_scopes=harbour,quay")
        one = _run("keys", "create", "--name", "scoped", *scoped, **own | admin).stdout.strip()
        told = {"Authorization": f"Bearer {one}"}
        statuses = [
            client.post("/memories", json={"text": "A crane.", "scope": scope}, headers=told)
            for scope in ("harbour", "quay", "yard")
        ]
        assert [answer.status_code for answer in statuses] == [201, 201, 403]
        name = key.split("_")[1]
        again = _run("keys", "rotate", name, **own | admin).stdout.strip()
        assert again != key
        for old, status in ((key, 401), (again, 200)):
            told = {"Authorization": f"Bearer {old}"}
            assert client.get("/stats?agent=bob", headers=told).status_code == status
        assert _run("keys", "revoke", name, **own | admin).returncode == 0
        assert client.get("/stats", headers={"Authorization": f"Bearer {again}"}).status_code == 401
    # Whoever may open the store needs no key.
    listed = _run("keys", "list", **own)
    assert "revoked" in listed.stdout


def test_what_is_wrong_is_told_in_one_line(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    for wrong, why in (
        (("--expires", "soon"), "30d"), (("--expires", "0d"), "at once"),
        (("--expires", "99999999d"), "36500d at most"), (("--expires", "36501d"), "36500d at most"),
        (("--scopes", "root"), "scopes"),
        (("--agent", "two words"), "agents"), (("--only", "rate=0"), "rate"),
        (("--only", "speed=9"), "max_memories"),
        (("--only", "memory_scopes="), "memory_scopes"), (("--origin", "mine"), "origin"),
    ):  # fmt: skip
        done = _run("keys", "create", "--name", "x", *wrong, **own)
        assert done.returncode == 2
        assert (done.stdout, why in done.stderr) == ("", True), done.stderr


def test_an_address_for_other_machines_needs_a_key_first(tmp_path: Path) -> None:
    own = _environment(tmp_path, MEMORY_HOST=ANYWHERE)
    with service_process(**own) as process:
        assert "graph-memory keys create --name NAME" in _one_line(process)
    key = _run("keys", "create", "--name", "first", *EVERYTHING, **own).stdout.strip()
    with _serving(own) as (client, _):
        assert client.get("/memories").status_code == 401
        told = {"Authorization": f"Bearer {key}"}
        assert client.get("/memories", headers=told).status_code == 200
        listed = _run("keys", "list", **own | {"MEMORY_API_KEY": key})
        assert listed.returncode == 0, listed.stderr


def test_a_unix_socket_is_its_users_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.sock"
    own = _environment(tmp_path, MEMORY_HOST=f"unix:{path}")
    # Left by a process that was killed.
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with (
        service_process(**own),
        httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://any") as client,
    ):
        until(lambda: _is_live(path))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert client.post("/memories", json={"text": "By a socket."}).status_code == 201
        # No browser speaks over one, but a page's request that is handed on is a page's.
        foreign = client.get("/memories", headers={"Origin": "http://evil.example"})
        assert foreign.status_code == 403
        assert client.get("/memories", headers={"X-Forwarded-For": "10.1.1.1"}).status_code == 401
        assert _run("keys", "list", **own).returncode == 0
        with service_process(**own | {"MEMORY_DATA_DIR": str(tmp_path / "other")}) as second:
            assert "Another process listens on" in _one_line(second)
    assert not path.exists()
    with service_process(**own | {"MEMORY_HOST": f"unix:{tmp_path}/{'x' * 120}"}) as third:
        assert "107 bytes" in _one_line(third)


def test_a_socket_that_is_too_busy_to_answer_is_not_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "busy.sock"
    with socket.socket(socket.AF_UNIX) as busy, ExitStack() as waiting:
        busy.bind(str(path))
        busy.listen(0)
        with suppress(BlockingIOError):
            for _ in range(20):
                one = waiting.enter_context(socket.socket(socket.AF_UNIX))
                one.setblocking(False)
                one.connect(str(path))
            raise AssertionError("it takes any number")
        with service_process(**_environment(tmp_path, MEMORY_HOST=f"unix:{path}")) as refused:
            assert "Another process listens on" in _one_line(refused)
        assert path.exists()


def _is_live(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe, suppress(OSError):
        probe.connect(str(path))
        return True
    return False


def test_trust_from_a_shell_tells_first_and_does_with_yes(tmp_path: Path) -> None:
    own = _environment(tmp_path)
    with _serving(own) as (client, _):
        told_by = {"User-Agent": "crow/1"}
        sent = client.post("/memories", json={"text": "The crane."}, headers=told_by)
        key = sent.json()["id"]
        told = _run("trust", "quarantine", "client=crow", **own)
        assert (told.returncode, "1 memory (main: 1)" in told.stdout) == (0, True), told
        # Whatever the width of a terminal, a pipe gets a sentence as one line.
        assert told.stdout.splitlines()[0].endswith("0 intents, 0 transcripts."), told
        assert client.get(f"/memories/{key}").json()["trust_tier"] == "trusted"
        done = _run("trust", "quarantine", "client=crow", "--yes", **own)
        assert done.returncode == 0, done
        assert client.get(f"/memories/{key}").json()["trust_tier"] == "quarantined"
        nothing = _run("trust", "quarantine", "agent=main", **own)
        assert (nothing.returncode, "at least one of" in nothing.stderr) == (2, True), nothing
    # Whoever may open the store needs no service.
    assert _run("trust", "release", "client=crow", "--yes", **own).returncode == 0
    with _serving(own) as (client, _):
        assert client.get(f"/memories/{key}").json()["trust_tier"] == "trusted"
