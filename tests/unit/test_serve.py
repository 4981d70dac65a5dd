"""What a start tells when the sums of a search are not compiled."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from service.commands import serve
from service.compiled import INTERPRETED
from service.errors import CannotStart
from service.settings import Settings


async def started(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "lifespan.startup.complete"})


async def nothing() -> Message:
    return {"type": "lifespan.startup"}


def test_a_start_that_a_defect_ends_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_app: Starlette) -> AsyncIterator[None]:
        yield dict[str, None]()["of a defect"]

    told = list[str]()

    async def send(message: Message) -> None:
        told.append(message["type"])

    app = Starlette(lifespan=asynccontextmanager(broken))
    starting = serve._Starting(app, "http://here")
    with pytest.raises(KeyError):
        starting({"type": "lifespan", "app": app}, nothing, send).send(None)
    assert told == ["lifespan.startup.failed"]
    [line] = caplog.records
    assert line.exc_info is not None
    assert line.exc_info[0] is KeyError


def test_a_socket_without_a_path_is_refused() -> None:
    with pytest.raises(CannotStart, match="MEMORY_HOST: a socket's path"):
        serve._listen(Settings.model_validate({"host": "unix:"}))


@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_start_says_once_that_sums_are_not_compiled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, is_compiled: bool
) -> None:
    monkeypatch.setattr(serve, "is_compiled", lambda: is_compiled)
    monkeypatch.setattr(serve, "settle", lambda: None)

    async def send(_message: Message) -> None:
        return

    with pytest.raises(StopIteration), caplog.at_level("INFO", "service"):
        serve._Starting(started, "http://here")({"type": "lifespan"}, nothing, send).send(None)
    told = [record.getMessage() for record in caplog.records]
    assert told.count("listening on http://here") == 1
    assert told.count(INTERPRETED) == (0 if is_compiled else 1)
