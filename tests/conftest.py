"""The running parts that tests talk to: real servers on free ports, a real store in a folder."""

import gc
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest
from hypothesis import HealthCheck
from xdist.remote import Producer

from service.settings import Settings
from tests.effort import IS_SOAK, IS_WHOLE, examples, is_left_out
from tests.servers.keyed import KeyedService, keyed_service
from tests.servers.running import RunningService, embedding_server, running_service
from tests.sharing import SharingScheduler, turn_of

# What is collected lives to the end: to look through 6,000 tests and all libraries for garbage,
# again and again while they grow, is a fifth of the time that a process takes to collect them.
gc.disable()

# torch's threads else spin while they wait, which on two cores takes them from the servers here.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# httpx reads a file of certificates anew for each client, those of a folder only when they are
# asked for; and every server here speaks plain HTTP.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

# Settings of whoever runs the tests must not leak into them.
for _name in [n for n in os.environ if n.startswith(("MEMORY_", "EMBEDDING_"))]:
    del os.environ[_name]

# Beside another process of tests an example takes as long as it takes.
hypothesis.settings.register_profile(
    "effort", deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None,
    derandomize=not IS_SOAK, max_examples=examples(100), print_blob=IS_SOAK,
)  # fmt: skip
hypothesis.settings.load_profile("effort")

DEFAULT_ENGINE = Settings(_env_file=None).search_engine
REPOSITORY = Path(__file__).resolve().parents[1]

Start = Callable[..., RunningService]


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Fail a test after which the service, in this process, says less than before it."""
    ours = logging.getLogger("service")
    before = (ours.level, ours.disabled, ours.propagate, logging.root.manager.disable)
    yield
    assert (ours.level, ours.disabled, ours.propagate, logging.root.manager.disable) == before


@pytest.fixture(scope="session")
def embedding_url() -> Iterator[str]:
    """Yield the base URL of a real embedding server with the encoder that has no weights."""
    with embedding_server("hashing-256") as url:
        yield url


@pytest.fixture(scope="session")
def minilm_url() -> Iterator[str]:
    """Yield the base URL of a real embedding server with the packaged MiniLM."""
    with embedding_server("all-MiniLM-L6-v2") as url:
        yield url


@pytest.fixture
def start(tmp_path: Path, embedding_url: str) -> Iterator[Start]:
    """Yield a function that starts a service on a store of its own; all stop with the test."""
    with ExitStack() as stack:

        def begin(**settings: Any) -> RunningService:
            given: dict[str, Any] = {
                "data_dir": tmp_path / "data",
                "embedding_url": embedding_url,
            } | settings
            service: AbstractContextManager[RunningService] = running_service(**given)
            return stack.enter_context(service)

        yield begin


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what the soak repeats, leave out of the gate what is too long; the longest first."""
    left_out = [] if IS_WHOLE else [item for item in items if is_left_out(item.nodeid)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        is_property = hypothesis.is_hypothesis_test(getattr(item, "obj", None))
        if is_property or is_left_out(item.nodeid):
            item.add_marker(pytest.mark.soak)
    items.sort(key=lambda item: turn_of(item.nodeid))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """From now on garbage is collected, but not among what was there before the first test."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharingScheduler:
    """Share the tests out among processes."""
    return SharingScheduler(config, log)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a module on every engine that its ENGINES names; without one, on the default engine."""
    if "engine" in metafunc.fixturenames:
        engines = getattr(metafunc.module, "ENGINES", (DEFAULT_ENGINE,))
        metafunc.parametrize("engine", engines, scope="module")


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, embedding_url: str, engine: str
) -> Iterator[RunningService]:
    """Yield one service for the tests of a module; they keep apart by agent."""
    folder = tmp_path_factory.mktemp("service")
    with running_service(
        data_dir=folder, embedding_url=embedding_url, search_engine=engine
    ) as running:
        yield running


@pytest.fixture(scope="module")
def client(service: RunningService) -> httpx.Client:
    """Yield an HTTP client of that service."""
    return service.client


@pytest.fixture(scope="module")
def keyed(
    tmp_path_factory: pytest.TempPathFactory, embedding_url: str, engine: str
) -> Iterator[KeyedService]:
    """Yield one service with keys for the tests of a module; they keep apart by agent."""
    folder = tmp_path_factory.mktemp("keyed")
    with keyed_service(
        data_dir=folder / "data", embedding_url=embedding_url, search_engine=engine
    ) as running:
        yield running


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> str:
    """Return an agent of this test alone."""
    return re.sub(r"\W", "-", request.node.name)[:80]
