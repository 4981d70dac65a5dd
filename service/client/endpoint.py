"""An endpoint: a method that describes a request, and a call of it on whoever sends it."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from service.client.sending import AsyncSender, Request, Sender

P = ParamSpec("P")
Answer = TypeVar("Answer")


class Endpoint(Generic[P, Answer]):
    """A method that describes a request: a Sender returns its answer, an AsyncSender an awaitable.

    Looked up on the class it is the description itself.
    """

    def __init__(self, describe: Callable[Concatenate[Any, P], Request[Answer]]) -> None:
        self._describe = describe

    @overload
    def __get__(
        self, sender: None, owner: type
    ) -> Callable[Concatenate[Any, P], Request[Answer]]: ...

    @overload
    def __get__(self, sender: Sender, owner: type) -> Callable[P, Answer]: ...

    @overload
    def __get__(self, sender: AsyncSender, owner: type) -> Callable[P, Awaitable[Answer]]: ...

    def __get__(self, sender: Sender | AsyncSender | None, owner: type) -> Callable[..., Any]:
        """Return the description, or the call of this sender."""
        if sender is None:
            return self._describe

        @wraps(self._describe)
        def call(*args: P.args, **kwargs: P.kwargs) -> Answer | Awaitable[Answer]:
            return sender.send(self._describe(sender, *args, **kwargs))

        return call
