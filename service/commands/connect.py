"""A client for a command: of the app in its own process, or of the service that holds the store."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import Final

import httpx

from service.access.addresses import UNIX, is_any
from service.client.endpoints import AsyncGraphMemory
from service.client.errors import Problem, TimedOut
from service.client.errors import Unavailable as NoAnswer
from service.commands.misused import Misused, is_misuse
from service.errors import InvalidRequest, StoreInUse, Unavailable
from service.settings import Settings
from service.store.address import StoreAddress

log = logging.getLogger(__name__)

_UNAUTHORIZED: Final = 401
_OWN_URL: Final = "http://own-process"
# What commands call themselves: a memory says which program stored it.
CLIENT: Final = "graph-memory"
# Between processes of one machine only a dead one does not answer; a large store takes minutes.
_TIMEOUT_SECONDS: Final = 600.0
# Only whether somebody is there: a command that opens its store does not wait for who is busy.
_GLANCE_SECONDS: Final = 1.0
_MOST_BYTES: Final = 100


@asynccontextmanager
async def connect(settings: Settings) -> AsyncIterator[AsyncGraphMemory]:
    """Yield a client of the app on the configured store, opened here and closed at the end.

    When another process holds the store, that is asked where the settings say. Raises what opening
    raises, StoreInUse when the holder does not answer, InvalidRequest when it refuses.
    """
    async with AsyncExitStack() as opened:
        store = StoreAddress(settings.store_url)
        # Whoever only asks need not load all that the service is.
        if store.is_held():
            yield await opened.enter_async_context(_connect_to_holder(settings))
            return
        # A service that writes out lets go of its store for a moment: then it is held again.
        if store.folder is not None and await _answers(settings) and not store.is_held():
            log.warning(
                "a service answers on %s, and it holds another store than %s, which is opened "
                "here: set MEMORY_DATA_DIR (or MEMORY_DATABASE_URL) as it is set for that service",
                _told(settings), store.folder,
            )  # fmt: skip
        open_own = import_module("service.commands.own_app").open_own
        try:
            memory = await opened.enter_async_context(open_own(settings, _OWN_URL, CLIENT))
        except StoreInUse:
            memory = await opened.enter_async_context(_connect_to_holder(settings))
        yield memory


def is_own(memory: AsyncGraphMemory) -> bool:
    """Return whether this client's app is in this process."""
    return memory.url == _OWN_URL


@asynccontextmanager
async def connect_to_service(settings: Settings) -> AsyncIterator[AsyncGraphMemory]:
    """Yield a client of the running service.

    Raises Unavailable when none answers where the settings say, InvalidRequest with its own words
    when it refuses, and when it takes too long.
    """
    url, transport = place_of(settings)
    try:
        key = settings.api_key.get_secret_value() if settings.api_key else None
        async with AsyncGraphMemory(
            url, key=key, timeout_seconds=_TIMEOUT_SECONDS, transport=transport, client=CLIENT
        ) as memory:
            yield memory
    except Problem as problem:
        kind = Misused if is_misuse(problem) else InvalidRequest
        raise kind(_refused(settings, problem)) from problem
    except TimedOut as error:
        msg = (
            f"What listens on {_told(settings)} gave no answer in {_TIMEOUT_SECONDS:.0f} s; what "
            "was asked for may still be done: look at the service's log."
        )
        raise InvalidRequest(msg) from error
    except NoAnswer as error:
        msg = (
            f"No service answers on {_told(settings)}: start it with `graph-memory "
            "serve`, or set MEMORY_HOST and MEMORY_PORT to where it runs."
        )
        raise Unavailable(msg) from error


async def _answers(settings: Settings) -> bool:
    """Say whether a service of ours answers where the settings say; whoever it is, for a moment."""
    url, transport = place_of(settings)
    body = b""
    try:
        async with (
            asyncio.timeout(_GLANCE_SECONDS),
            httpx.AsyncClient(base_url=url, transport=transport, trust_env=False) as client,
            client.stream("GET", "/health/live") as answer,
        ):
            async for part in answer.aiter_raw():
                body += part
                if len(body) > _MOST_BYTES:
                    return False
        return bool(json.loads(body) == {"status": "alive"})
    except (httpx.HTTPError, TimeoutError, ValueError):
        return False


def _refused(settings: Settings, problem: Problem) -> str:
    """Return what a refusal means for whoever runs a command."""
    if problem.refusal.request_id is None:  # ours says one each time
        return f"{_told(settings)} answers {problem.detail}"
    if problem.status != _UNAUTHORIZED:
        return f"The running service refused: {problem.detail}"
    if settings.api_key:
        return f"{problem.detail} Set MEMORY_API_KEY to a good one, or stop the service first."
    return "The running service wants a key: set MEMORY_API_KEY to one, or stop the service first."


def url_of(settings: Settings) -> str:
    """Return where the settings say that the service is; of a Unix socket a name for it."""
    return place_of(settings)[0]


def address_of(settings: Settings) -> str:
    """Return where the settings say that programs ask the service; raises InvalidRequest."""
    if settings.host.startswith(UNIX):
        msg = (
            f"The service listens on {settings.host}, and programs ask at an address: start it "
            "with another MEMORY_HOST, such as 127.0.0.1, or say by --url what leads to the "
            "socket. A program that speaks MCP may start `graph-memory mcp`, which asks over it."
        )
        raise InvalidRequest(msg)
    return url_of(settings)


@asynccontextmanager
async def _connect_to_holder(settings: Settings) -> AsyncIterator[AsyncGraphMemory]:
    try:
        async with connect_to_service(settings) as memory:
            yield memory
    except Unavailable as error:
        msg = (
            f"Another process holds the store, and no service answers on {_told(settings)}: stop "
            "that process, or set MEMORY_PORT to its port."
        )
        raise StoreInUse(msg) from error


def place_of(settings: Settings) -> tuple[str, httpx.AsyncBaseTransport | None]:
    """Return where a running service listens: an address, or a Unix socket and a name for it."""
    host = settings.host
    if host.startswith(UNIX):
        return "http://localhost", httpx.AsyncHTTPTransport(uds=host.removeprefix(UNIX))
    # What listens everywhere is asked here.
    here = "127.0.0.1" if is_any(host) else f"[{host}]" if ":" in host else host
    return f"http://{here}:{settings.port}", None


def _told(settings: Settings) -> str:
    is_path = settings.host.startswith(UNIX)
    return settings.host if is_path else f"{settings.host}:{settings.port}"
