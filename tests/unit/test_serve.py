"""What a start tells when the sums of a search are not compiled."""

import pytest
from starlette.types import Message, Receive, Scope, Send

from service.commands import serve
from service.compiled import INTERPRETED
from service.errors import CannotStart
from service.settings import Settings


async def started(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "lifespan.startup.complete"})


async def nothing() -> Message:
    return {"type": "lifespan.startup"}


def test_whatever_ended_a_start_is_kept_to_be_told() -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise KeyError("of a defect")

    async def send(_message: Message) -> None:
        return

    starting = serve._Starting(broken, "http://here")
    with pytest.raises(StopIteration):
        starting({"type": "lifespan"}, nothing, send).send(None)
    assert isinstance(starting.failure, KeyError)


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
