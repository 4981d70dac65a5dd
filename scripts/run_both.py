"""Run everything in the foreground: the embedding server and the service, on an embedded store.

Called by scripts/run. Without MEMORY_SOURCES the example notes are scanned; with it they go again.
"""

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from itertools import zip_longest
from pathlib import Path

import httpx
from dotenv import dotenv_values
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from service.access.addresses import UNIX
from service.client.sending import is_here

REPOSITORY = Path(__file__).resolve().parents[1]
EXAMPLES = REPOSITORY / "examples" / "notes"
OURS = ("MEMORY_", "EMBEDDING_")
STOP_SECONDS = 20
# A first scan embeds everything: on a CPU some thirty sections a second.
SCAN_SECONDS = 24 * 3600
# The packaged model loads in about 10 s; what is missing after twice that needs somebody.
PATIENCE_SECONDS = 20

console = Console()


def main() -> int:
    """Start both, scan, say where to look, and wait for Ctrl-C; returns the exit status."""
    environment = settings()
    processes: list[subprocess.Popen[bytes]] = []
    # A terminal's Ctrl-C reaches the whole group; each server is stopped by us, in order. A shell
    # that starts us in the background has SIGINT ignored: it must stop us all the same.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        url = place(environment["MEMORY_HOST"], environment["MEMORY_PORT"])
        with service_at(url, environment) as service:
            if is_there(service):
                console.print(
                    f"[red]Something answers at {where(url, environment)} already: stop it, or set "
                    "another MEMORY_PORT or MEMORY_HOST."
                )
                return 1
            if not is_answering(environment["MEMORY_EMBEDDING_URL"]):
                console.print("Starting the embedding server (the model loads in about 10 s) ...")
                processes.append(begin("embedding_server", [], environment))
            processes.append(begin("service", ["serve"], environment))
            if not wait_until_ready(service, processes):
                return 1
            drop_examples(service, environment)
            scan(service, environment)
        greet(url, environment)
        while all(process.poll() is None for process in processes):
            time.sleep(0.3)
        console.print("[red]A server has ended by itself; stopping the other.")
    except KeyboardInterrupt:
        console.print("\nStopping ...")
        return 0
    else:
        return 1
    finally:
        stop(processes)


def settings() -> dict[str, str]:
    """Return the environment of both servers, with what is left open filled in."""
    # Both servers take a variable without a value for unset, and so what .env says.
    given = {n: v for n, v in os.environ.items() if v or not n.upper().startswith(OURS)}
    found = {**read_env_file(), **given}
    found.setdefault("EMBEDDING_HOST", "127.0.0.1")
    found.setdefault("EMBEDDING_PORT", "8001")
    found.setdefault("MEMORY_HOST", "127.0.0.1")
    found.setdefault("MEMORY_PORT", "8080")
    for port in ("EMBEDDING_PORT", "MEMORY_PORT"):
        # A server that takes one by itself tells nobody but its log.
        found[port] = free_port() if found[port].strip() == "0" else found[port]
    if "MEMORY_EMBEDDING_URL" not in found:
        found["MEMORY_EMBEDDING_URL"] = place(found["EMBEDDING_HOST"], found["EMBEDDING_PORT"])
        if "EMBEDDING_API_KEY" in found:
            found.setdefault("MEMORY_EMBEDDING_API_KEY", found["EMBEDDING_API_KEY"])
    if not found.get("MEMORY_SOURCES"):
        found["MEMORY_SOURCES"] = str(EXAMPLES)
        found.setdefault("MEMORY_CONCEPTS_FILE", str(EXAMPLES / "concepts.toml"))
    return found


def read_env_file() -> dict[str, str]:
    """Return the variables of .env in the repository as both servers read it, if there is one."""
    found = dotenv_values(REPOSITORY / ".env", encoding="utf-8-sig")
    return {name.upper(): value for name, value in found.items() if value}


def begin(
    module: str, arguments: list[str], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start one server in a group of its own, so that Ctrl-C reaches it through us only."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments], env=environment, start_new_session=True
    )


def free_port() -> str:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def place(host: str, port: str) -> str:
    """Return where a server that listens there is asked from this machine."""
    if host.startswith(UNIX):
        return "http://localhost"
    here = "127.0.0.1" if host in {"0.0.0.0", "::"} else host  # noqa: S104 - compared, not bound
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


def is_answering(url: str) -> bool:
    """Say whether an embedding server is there already."""
    try:
        asked = httpx.get(f"{url}/v1/models", timeout=1, trust_env=not is_here(url))
    except httpx.TransportError:
        return False
    return asked.status_code < 500


def service_at(url: str, environment: dict[str, str]) -> httpx.Client:
    """Return a client of the service, with the key that commands show to it."""
    key = environment.get("MEMORY_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    host = environment["MEMORY_HOST"]
    path = host.removeprefix(UNIX) if host.startswith(UNIX) else None
    transport = httpx.HTTPTransport(uds=path)
    return httpx.Client(base_url=url, headers=headers, trust_env=False, transport=transport)


def is_there(service: httpx.Client) -> bool:
    """Say whether somebody answers where the service is to listen: it would be taken for ours."""
    try:
        service.get("/health/live", timeout=1)
    except httpx.TransportError:
        return False
    return True


def where(url: str, environment: dict[str, str]) -> str:
    """Return how a person names the service's place: its address, or its socket."""
    host = environment["MEMORY_HOST"]
    return host if host.startswith(UNIX) else url


def wait_until_ready(service: httpx.Client, processes: list[subprocess.Popen[bytes]]) -> bool:
    """Wait for both servers; false when one has ended, which has said why itself.

    What keeps the service from being ready is told after a while, once for each reason.
    """
    begun, told = time.monotonic(), set[str]()
    with console.status("Waiting until everything is ready ..."):
        while all(process.poll() is None for process in processes):
            try:
                answer = service.get("/health/ready", timeout=5)
            except httpx.TransportError:
                time.sleep(0.2)
                continue
            if answer.status_code == 200:
                return True
            for reason in answer.json().get("reasons", []):
                if time.monotonic() - begun > PATIENCE_SECONDS and reason not in told:
                    told.add(reason)
                    console.print(f"Not ready yet: {reason}", style="yellow", markup=False)
            time.sleep(0.2)
    return False


def drop_examples(service: httpx.Client, environment: dict[str, str]) -> None:
    """Empty the example notes that an earlier start read, where folders of somebody's are named.

    An agent would be told them as its own for ever: what a folder gave that is no longer named
    stays. A note that is in the first of the folders, or says something else, is somebody's own.
    """
    first = Path(environment["MEMORY_SOURCES"].partition(",")[0].strip()).expanduser()
    whose = {"agent": environment["MEMORY_AGENT"]} if environment.get("MEMORY_AGENT") else {}
    try:
        for note in sorted(EXAMPLES.rglob("*.md")):
            name = note.relative_to(EXAMPLES).as_posix()
            if (first / name).exists():
                continue
            answer = service.get("/documents", params={"path": name, **whose})
            if answer.status_code == 200 and says(answer.json()["text"], note.read_text("utf-8")):
                gone = {"source": name, "text": "", **whose}
                service.post("/ingest", json=gone, timeout=60).raise_for_status()
    except httpx.HTTPError as error:
        told = f"Example notes may be left; the next start looks again: {error}"
        console.print(told, style="yellow", markup=False)


def says(stored: str, note: str) -> bool:
    """Say whether a stored document is this note; lines that were deleted from it are empty."""
    lines, told = note.splitlines(), stored.splitlines()
    return (
        bool(told)
        and len(told) >= len(lines)
        and all(line in {"", own} for line, own in zip_longest(told, lines, fillvalue=""))
    )


def scan(service: httpx.Client, environment: dict[str, str]) -> None:
    """Scan the folders and tell what came in."""
    with console.status(f"Reading {environment['MEMORY_SOURCES']} ..."):
        answer = service.post("/ingest/scan", json={}, timeout=SCAN_SECONDS)
    if answer.status_code != 200:
        console.print(f"[red]The scan failed: {answer.json().get('detail')}")
        return
    counts = answer.json()
    chunks = counts["created"] + counts["updated"] + counts["unchanged"]
    console.print(
        f"{counts['files']} files, {chunks} memories ({counts['created']} new, "
        f"{counts['updated']} changed, {counts['removed']} removed), "
        f"{counts['took_ms'] / 1000:.1f} s"
    )
    for failure in counts["failed"]:
        console.print(f"[red]failed: {failure['source']}: {failure['detail']}")


def greet(url: str, environment: dict[str, str]) -> None:
    """Print the addresses and lines to try."""
    named, curl = where(url, environment), "curl"
    is_socket = named.startswith(UNIX)
    if is_socket:
        curl += f" --unix-socket {shlex.quote(named.removeprefix(UNIX))}"
    console.print(f"\nService           {named if is_socket else f'{url}      (API: {url}/docs)'}")
    console.print(f"Embedding server  {environment['MEMORY_EMBEDDING_URL']}\n\nTry:")
    for path in ("search?q=what+is+the+code+phrase", "graph-recall?q=why+did+we+choose+Qwen3"):
        print(f"  {curl} '{url}/{path}'")
    connect = "connect claude-code    # or codex, openclaw, mcp --for cursor"
    if not is_socket:  # Programs ask by an address.
        print(f"  ./scripts/graph-memory {connect}")
    if environment["MEMORY_SOURCES"] == str(EXAMPLES):
        console.print(
            "\nThese are example notes, which an agent would be told as its own. Your folder takes "
            "their place, an empty one too:\n  MEMORY_SOURCES=~/notes ./scripts/run"
        )
    console.print("\nCtrl-C stops both.")


def stop(processes: list[subprocess.Popen[bytes]]) -> None:
    """Stop the servers in the reverse order of their start.

    Who asks again meanwhile must not leave one behind: each has STOP_SECONDS, then it is killed.
    """
    for asked in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked, signal.SIG_IGN)
    for process in reversed(processes):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


if __name__ == "__main__":
    sys.exit(main())
