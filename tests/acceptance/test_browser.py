"""What a page can do in a real browser on this machine: of another origin, and by a rebound name.

Each page tries the same; at the service's own origin the same page must succeed, or nothing would
be shown by the failures of the others.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.servers.browser import HostileServer, find_browser, rendered
from tests.servers.running import RunningService

ENGINES = ("resident",)
PRIVATE: Final = "The crane's code is hunter-seven."
READS: Final = (
    "reads memories",
    "reads a memory",
    "reads the store's state",
    "asks",
    "reads the description",
)


@pytest.fixture(scope="module")
def browser() -> str:
    found = find_browser()
    if found is None:
        pytest.skip("NOT TRIED: no Chromium is installed, and CHROME_PATH names none")
    return found


@pytest.fixture(scope="module")
def hostile(service: RunningService) -> Iterator[HostileServer]:
    with HostileServer.running(int(service.url.rpartition(":")[2])) as server:
        yield server


def _stored(client: httpx.Client) -> list[str]:
    return sorted(one["content"] for one in client.get("/memories").json()["memories"])


def _refusals(client: httpx.Client) -> float:
    """Return how many requests the door and the rest have refused so far."""
    told = client.get("/metrics").text
    refused = re.findall(r'requests_total\{.*status="(?:403|421)"\} (\d+)', told)
    return sum(map(float, refused))


@pytest.fixture
def memory(client: httpx.Client) -> Iterator[str]:
    stored = client.post("/memories", json={"text": PRIVATE}).json()
    yield stored["id"]
    for one in client.get("/memories").json()["memories"]:
        client.delete(f"/memories/{one['id']}")


@pytest.mark.parametrize(
    ("host", "is_rebound"), [("evil.example", False), ("127.0.0.1", False), ("evil.example", True)],
    ids=["another site", "another port", "a rebound name"],
)  # fmt: skip
def test_a_foreign_page_neither_reads_nor_writes(
    browser: str, hostile: HostileServer, client: httpx.Client, memory: str, tmp_path: Path,
    *, host: str, is_rebound: bool,
) -> None:  # fmt: skip
    stored, keys, refusals = _stored(client), client.get("/keys").json(), _refusals(client)
    target = "" if is_rebound else str(client.base_url).rstrip("/")
    url = f"http://{host}:{hostile.server_port}/page?target={target}&memory={memory}"
    learned = hostile.visit(browser, url, tmp_path)
    succeeded = {name: told for name, told in learned.items() if told["status"] in range(1, 400)}
    assert succeeded == {}
    assert "hunter-seven" not in str(learned)
    assert (_stored(client), client.get("/keys").json()) == (stored, keys)
    # They did arrive, and the door refused them: the browser alone would keep a page from reading.
    assert _refusals(client) - refusals >= 15


def test_the_same_page_succeeds_where_it_is_at_home(
    browser: str, hostile: HostileServer, client: httpx.Client, memory: str, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{hostile.server_port}/page?memory={memory}"
    learned = hostile.visit(browser, url, tmp_path)
    assert [learned[name]["status"] for name in READS] == [200] * len(READS)
    assert "hunter-seven" in learned["reads a memory"]["text"]
    assert (learned["stores"]["status"], learned["deletes"]["status"]) == (201, 204)
    assert learned["loads a script"]["status"] == 200
    assert "Planted by a page." in _stored(client)
    # A text and a form are refused here too.
    assert (learned["stores as text"]["status"], learned["stores as a form"]["status"]) == (
        415,
        415,
    )


@pytest.mark.parametrize(("path", "mark"), [("/docs", 'class="opblock '), ("/redoc", "operation/")])
def test_the_pages_of_the_api_work_under_their_policy(
    browser: str, client: httpx.Client, tmp_path: Path, path: str, mark: str
) -> None:
    page = rendered(browser, str(client.base_url.join(path)), tmp_path)
    assert page.count(mark) > 20
