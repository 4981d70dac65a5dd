"""The command: starts that fail in one line, starts without an embedder, scans from a shell."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.plurals import how_many
from tests.conftest import REPOSITORY, Start
from tests.servers.running import embedding_server, free_port, service_process, wait_for
from tests.waiting import until

Json = dict[str, Any]
NOBODY = "http://127.0.0.1:9"

WRONG_SETTINGS = {
    "MEMORY_EMBEDDING_URL": ("localhost:8001", "http://"),
    "MEMORY_SEARCH_ENGINE": ("ram", "resident"),
    "MEMORY_AGENT": ("my agent", "MEMORY_AGENT"),
    "MEMORY_PLACES": ("[" * 100_000, "MEMORY_PLACES: must be JSON"),
    "MEMORY_HOST": ("\u00fc..b", "no name of a host"),
    "MEMORY_READ_TIMEOUT_SECONDS": ("inf", "MEMORY_READ_TIMEOUT_SECONDS: Input should be a finite"),
    "MEMORY_INSTRUCTIONS": ("reject", "MEMORY_INSTRUCTIONS, at 'reject': "),
    "MEMORY_API_KEY": ("gm_\u00e9", "MEMORY_API_KEY: holds"),
    "MEMORY_EMBEDDING_API_KEY": ("k\n", "MEMORY_EMBEDDING_API_KEY: holds"),
    "MEMORY_DATABASE_PASSWORD": ("\udcff", "UTF-8"),
    "MEMORY_SOURCES": ("~nobody-here/notes", "MEMORY_SOURCES: whose home ~ is"),
    "MEMORY_DATA_DIR": ("~nobody-here/data", "MEMORY_DATA_DIR: whose home ~ is"),
    "MEMORY_SCHEMA_FILE": ("/none/schema.surql", "MEMORY_SCHEMA_FILE: /none/schema.surql cannot"),
}


def _environment(folder: Path, **more: str) -> dict[str, str]:
    own = {"MEMORY_DATA_DIR": str(folder / "data"), "MEMORY_EMBEDDING_URL": NOBODY}
    return {**own, "MEMORY_PORT": str(free_port()), **more}


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return _run_in(REPOSITORY, *arguments, **environment)


def _run_in(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")}
    return subprocess.run(
        [sys.executable, "-m", "service", *arguments], cwd=folder,
        env=given | {"PYTHONPATH": str(REPOSITORY)} | environment,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def _one_line(process: subprocess.Popen[str]) -> str:
    """Return the only line of a start that failed."""
    told = process.communicate(timeout=60)[0]
    assert process.returncode == 1, told
    assert told.count("\n") == 1, told
    assert told.startswith("graph-memory: ")
    return told


@contextmanager
def _serving(environment: dict[str, str]) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    url = f"http://127.0.0.1:{environment['MEMORY_PORT']}"
    with (
        service_process(**environment) as process,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        wait_for(f"{url}/health/live", lambda: process.poll() is None)
        yield client, process


@pytest.mark.parametrize(
    ("encoding", "told"),
    [("utf-8-sig", "MEMORY_SEARCH_ENGINE: "), ("utf-16", ".env is no text in UTF-8")],
)
def test_a_file_of_settings_is_read_as_windows_writes_it_or_told(
    tmp_path: Path, encoding: str, told: str
) -> None:
    (tmp_path / ".env").write_text("MEMORY_SEARCH_ENGINE=ram\n", encoding=encoding)
    ended = _run_in(tmp_path, "serve")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert told in ended.stderr


def test_a_wrong_setting_stops_the_start_in_one_line(tmp_path: Path) -> None:
    with ExitStack() as stack:
        begun = {
            name: stack.enter_context(service_process(**_environment(tmp_path, **{name: value})))
            for name, (value, _) in WRONG_SETTINGS.items()
        }
        for name, process in begun.items():
            assert WRONG_SETTINGS[name][1] in _one_line(process)
    assert not (tmp_path / "data").exists()


def test_a_path_that_leads_nowhere_is_told_in_one_line(tmp_path: Path) -> None:
    (circle := tmp_path / "circle").symlink_to(circle)
    for path in ("~nobody-here/notes", str(circle)):
        ended = _run("ingest", path, **_environment(tmp_path))
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1), ended.stderr
        assert f"{path} leads nowhere" in ended.stderr


def test_what_cannot_be_had_stops_the_start_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    below = {"MEMORY_DATA_DIR": str(tmp_path / "file" / "below")}
    given = {"MEMORY_DATABASE_URL": f"surrealkv://{tmp_path / 'file'}"}
    away = {"MEMORY_DATABASE_URL": "ws://127.0.0.1:9/rpc"}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with (
            service_process(**_environment(tmp_path, MEMORY_PORT=port)) as on_port,
            service_process(**_environment(tmp_path, **below)) as in_folder,
            service_process(**_environment(tmp_path, **given)) as in_given,
            service_process(**_environment(tmp_path, **away)) as without_database,
        ):
            assert f"127.0.0.1:{port}" in (told := _one_line(on_port))
            assert "MEMORY_PORT" in told
            told = _one_line(in_folder)
            assert "cannot be written" in told
            assert "MEMORY_DATA_DIR" in told
            told = _one_line(in_given)
            assert ("MEMORY_DATABASE_URL" in told, "MEMORY_DATA_DIR" in told) == (True, False)
            assert "ws://127.0.0.1:9/rpc" in _one_line(without_database)


def test_a_variable_that_is_nearly_a_setting_is_told(tmp_path: Path) -> None:
    given = _environment(tmp_path, MEMORY_SOURCE=str(tmp_path), MEMORY_DATABASE_URL="ws://[/rpc")
    told = _run("serve", **given).stderr.splitlines()
    assert len(told) == 2
    assert "MEMORY_SOURCE is no setting" in told[0]
    assert told[0].endswith("MEMORY_SOURCES")


def test_a_second_process_on_the_store_stops_and_leaves_the_first_alone(tmp_path: Path) -> None:
    first = _environment(tmp_path)
    with _serving(first) as (client, _):
        client.post("/memories", json={"text": "mine"})
        second = first | {"MEMORY_PORT": str(free_port())}
        with service_process(**second) as process:
            told = _one_line(process)
        assert "Another process holds the store" in told
        assert str(tmp_path / "data") in told
        reembed = _run("reembed", **second)
        assert (reembed.returncode, "Another process" in reembed.stderr) == (1, True)
        assert client.get("/stats").json()["memories"] == 1


def test_a_service_ends_cleanly_and_finds_its_store_again(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    with _serving(environment) as (client, process):
        client.post("/memories", json={"text": "what lasts"})
        process.terminate()
        told = process.communicate(timeout=30)[0]
    assert f"listening on http://127.0.0.1:{environment['MEMORY_PORT']}" in told
    assert "Traceback" not in told
    with _serving(environment) as (client, _):
        found = client.post("/search", json={"query": "lasts"}).json()["results"]
        assert [hit["content"] for hit in found] == ["what lasts"]


def _search(client: httpx.Client, query: str) -> Any:
    return client.post("/search", json={"query": query}).json()


def test_without_an_embedder_words_answer_and_vectors_come_later(tmp_path: Path) -> None:
    port = free_port()
    environment = _environment(tmp_path, MEMORY_EMBEDDING_URL=f"http://127.0.0.1:{port}")
    with _serving(environment) as (client, _):
        ready = client.get("/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "degraded")
        assert any(str(port) in reason for reason in ready.json()["reasons"])
        assert ready.headers["retry-after"]
        stored = client.post("/memories", json={"text": "the heron stands still"})
        assert stored.status_code == 201
        assert "without vectors" in stored.json()["warnings"][0]
        found = client.post("/search", json={"query": "heron"}).json()
        assert found["results"][0]["content"] == "the heron stands still"
        assert found["receipt"]["missing_signals"] == ["vector"]
        assert str(port) in found["receipt"]["fallback_reason"]
        assert client.get("/stats").json()["without_vector"] == 1
        with embedding_server("hashing-256", port):
            until(lambda: client.get("/health/ready").status_code == 200)
            until(lambda: client.get("/stats").json()["without_vector"] == 0)
            # The index has it a moment after the store.
            until(lambda: "vector" in _search(client, "heron")["results"][0]["signals"])
            assert _search(client, "heron")["receipt"]["missing_signals"] == []
        gone = client.post("/search", json={"query": "heron"}).json()
        assert gone["receipt"]["missing_signals"] == ["vector"]
        assert gone["results"] != []
        assert client.get("/health/ready").status_code == 503


def test_another_model_is_refused_until_everything_is_embedded_anew(
    tmp_path: Path, minilm_url: str, start: Start
) -> None:
    first = start()
    for text in ("a bicycle", "an umbrella"):
        first.client.post("/memories", json={"text": text})
    environment = _environment(tmp_path, MEMORY_EMBEDDING_URL=minilm_url)
    # The store is the first service's: copied, as two may not hold it.
    subprocess.run(["cp", "-r", str(tmp_path / "data"), str(tmp_path / "copy")], check=True)
    environment["MEMORY_DATA_DIR"] = str(tmp_path / "copy")
    with _serving(environment) as (client, _):
        until(lambda: "reembed" in client.get("/health/ready").text)
        ready = client.get("/health/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "degraded")
        assert ready.json()["checks"]["fingerprint"]["ok"] is False
        assert "hashing-256" in ready.text
        client.post("/memories", json={"text": "a parasol"})
        found = client.post("/search", json={"query": "umbrella"}).json()
        assert found["receipt"]["missing_signals"] == ["vector"]
        assert "reembed" in found["receipt"]["fallback_reason"]
        assert [hit["content"] for hit in found["results"]] == ["an umbrella"]
    done = _run("reembed", **environment)
    assert (done.returncode, done.stdout.startswith("Embedded 3 memories in")) == (0, True)
    with _serving(environment) as (client, _):
        until(lambda: client.get("/health/ready").status_code == 200)
        found = client.post("/search", json={"query": "shelter from rain", "limit": 2}).json()
        assert found["receipt"]["missing_signals"] == []
        assert {hit["content"] for hit in found["results"]} == {"an umbrella", "a parasol"}


def _notes(folder: Path) -> Path:
    (folder / "memory").mkdir(parents=True)
    for day in (13, 14):
        text = f"# 2026-02-{day}\n\n## Alpha Centauri\n\nfirst {day}\n\n## Beta\n\nsecond\n"
        (folder / "memory" / f"2026-02-{day}.md").write_text(text, encoding="utf-8")
    return folder


def _check_summary(told: str, files: int, chunks: int, updated: int) -> None:
    lines = told.splitlines()
    assert lines[0] == f"Scanning {how_many(files, 'file')}..."
    assert re.fullmatch(rf"{how_many(chunks, 'chunk')} found, \d+ concepts? linked", lines[1])
    assert lines[2] == f"{how_many(updated, 'chunk')} updated ({chunks - updated} unchanged)"
    assert re.fullmatch(rf"Embedded {how_many(updated, 'chunk')} in \d+\.\ds", lines[3])


def test_a_scan_from_a_shell_tells_what_it_did(tmp_path: Path, embedding_url: str) -> None:
    notes = _notes(tmp_path / "notes")
    environment = _environment(tmp_path, MEMORY_EMBEDDING_URL=embedding_url)
    nothing = _run("ingest", "--once", **environment)
    assert (nothing.returncode, "MEMORY_SOURCES" in nothing.stderr) == (1, True)
    first = _run("ingest", "--once", str(notes), **environment)
    assert first.returncode == 0, first.stderr
    _check_summary(first.stdout, 2, 4, 4)
    environment["MEMORY_SOURCES"] = str(notes)
    edited = notes / "memory" / "2026-02-14.md"
    edited.write_text(edited.read_text(encoding="utf-8").replace("second", "changed"), "utf-8")
    # A place below a configured folder keeps its name there: the same memories, not new ones.
    narrow = _run("ingest", "--once", str(edited), **environment)
    _check_summary(narrow.stdout, 1, 2, 1)
    (notes / "bad.md").write_bytes(b"\x00\x01\x02")
    (notes / "memory" / "2026-02-13.md").unlink()
    failing = _run("ingest", "--once", **environment)
    assert failing.returncode == 1
    _check_summary(failing.stdout, 2, 2, 0)
    assert "2 chunks removed" in failing.stdout
    assert "failed: bad.md" in failing.stdout
    missing = _run("ingest", "--once", str(tmp_path / "nowhere"), **environment)
    assert (missing.returncode, "nowhere" in missing.stdout + missing.stderr) == (1, True)


def test_a_scan_from_a_shell_goes_through_the_running_service(
    tmp_path: Path, embedding_url: str
) -> None:
    notes = _notes(tmp_path / "notes")
    sources = {"MEMORY_SOURCES": str(notes), "MEMORY_EMBEDDING_URL": embedding_url}
    environment = _environment(tmp_path, **sources)
    with _serving(environment) as (client, _):
        wait_for(f"{client.base_url}/health/ready")
        done = _run("ingest", "--once", **environment)
        assert done.returncode == 0, done.stderr
        _check_summary(done.stdout, 2, 4, 4)
        assert client.get("/stats").json()["memories"] == 4
        # The folders are the service's: ./scripts/run gives them to nobody else.
        bare = {name: value for name, value in environment.items() if name != "MEMORY_SOURCES"}
        again = _run("ingest", "--once", **bare)
        assert again.returncode == 0, again.stderr
        _check_summary(again.stdout, 2, 4, 0)
        (notes / "memory" / "2026-02-14.md").write_text("# 2026-02-14\n\nnew\n", encoding="utf-8")
        one = _run("ingest", "--once", str(notes / "memory" / "2026-02-14.md"), **environment)
        assert one.returncode == 0, one.stderr
        assert "Scanning 1 file..." in one.stdout
        outside = _run("ingest", "--once", str(tmp_path), **environment)
        assert (outside.returncode, "MEMORY_SOURCES" in outside.stderr) == (1, True)
        elsewhere = environment | {"MEMORY_PORT": str(free_port())}
        lost = _run("ingest", "--once", **elsewhere)
        assert (lost.returncode, "Another process holds" in lost.stderr) == (1, True)


def _logs(folder: Path) -> Path:
    notes = folder / "notes"
    for day, text in (
        ("09", "Osprey-2 came. Decided to use Osprey-2 instead of Heron."),
        ("10", "Osprey-2 stopped with E1234."),
    ):
        path = notes / "memory" / f"2026-02-{day}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# 2026-02-{day}\n\n{text}\n", encoding="utf-8")
    return notes


def test_a_consolidation_from_a_shell_shows_its_plan_and_then_does_it(
    tmp_path: Path, embedding_url: str
) -> None:
    environment = _environment(
        tmp_path, MEMORY_SOURCES=str(_logs(tmp_path)), MEMORY_EMBEDDING_URL=embedding_url
    )
    assert _run("ingest", "--once", **environment).returncode == 0
    shown = _run("consolidate", **environment)
    assert (shown.returncode, shown.stderr.strip()) == (0, "")
    assert "Osprey-2, 2026-02-09 to 2026-02-10" in shown.stdout
    assert "2 memories would be consolidated into 1 summary (1 new)" in shown.stdout
    assert "Nothing was changed: run it again with --execute." in shown.stdout
    young = _run("consolidate", "--older-than", "5200w", **environment)
    assert "There is nothing to consolidate; 0 share nothing" in young.stdout
    wrong = _run("consolidate", "--older-than", "3x", **environment)
    assert (wrong.returncode, "write 12h, 3d or 2w" in wrong.stderr) == (2, True)
    done = _run("consolidate", "--execute", **environment)
    assert "2 memories were consolidated into 1 summary (1 new)" in done.stdout
    again = _run("consolidate", "--execute", **environment)
    assert "There is nothing to consolidate; 0 share nothing" in again.stdout
    back = _run("consolidate", "--undo", _run_told(done.stdout), **environment)
    assert "The next run takes them again but for what is pinned (--pin)." in back.stdout
    done = _run("consolidate", "--execute", **environment)
    run = _run_told(done.stdout)
    assert f"`graph-memory consolidate --undo {run}` takes it back" in done.stdout
    for misused in (["--undo", run, "--execute"], ["--undo", run, "--older-than", "3d"], ["--pin"]):
        assert _run("consolidate", *misused, **environment).returncode == 2
    back = _run("consolidate", "--undo", run, "--pin", **environment)
    assert f"run {run} is taken back: 2 memories are as before, 1 summary is gone" in back.stdout
    assert "takes them again" not in back.stdout
    unknown = _run("consolidate", "--undo", run, **environment)
    assert (unknown.returncode, "was undone already" in unknown.stderr) == (1, True)
    pinned = _run("consolidate", "--execute", **environment)
    assert "There is nothing to consolidate; 0 share nothing" in pinned.stdout


def _run_told(told: str) -> str:
    return told.rpartition("`graph-memory consolidate --undo ")[2].partition("`")[0]


def test_a_consolidation_from_a_shell_goes_through_the_running_service(
    tmp_path: Path, embedding_url: str
) -> None:
    environment = _environment(
        tmp_path, MEMORY_SOURCES=str(_logs(tmp_path)), MEMORY_EMBEDDING_URL=embedding_url
    )
    with _serving(environment) as (client, _):
        wait_for(f"{client.base_url}/health/ready")
        client.post("/ingest/scan", json={})
        assert "would be consolidated" in _run("consolidate", **environment).stdout
        done = _run("consolidate", "--execute", "--agent", "main", **environment)
        assert "2 memories were consolidated into 1 summary (1 new)" in done.stdout
        assert client.get("/stats").json()["kinds"] == {"daily_log": 2, "summary": 1}
        refused = _run("consolidate", "--agent", "nobody", **environment)
        assert (refused.returncode, "The running service refused" in refused.stderr) == (1, True)
    elsewhere = environment | {"MEMORY_DATA_DIR": str(tmp_path / "elsewhere")}
    alone = _run("consolidate", **elsewhere)
    assert "There is nothing to consolidate; 0 share nothing" in alone.stdout


def test_a_command_ends_before_the_interpreter_does() -> None:
    code = (
        "import atexit, sys; from service.commands.main import main;"
        "atexit.register(print, 'late');"
        "sys.argv = ['graph-memory', *sys.argv[1:]]; main()"
    )
    for words, status, said in (
        (["--help"], 0, "consolidate"), (["--version"], 0, version("graph-memory")),
        (["dance"], 2, ""),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=REPOSITORY, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, said in done.stdout, "late" in done.stdout) == (
            status,
            True,
            False,
        )
