"""Who sent a request, and what they may do; pure."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal

from service.errors import Forbidden

Right = Literal["read", "write", "admin"]
RIGHTS: Final[tuple[Right, ...]] = ("read", "write", "admin")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request.

    `key` is the id of their key, None for a program of this machine in a service without keys, and
    for the service itself. `agents` are those whose memories they may use, the first of them where
    a request names none; None for every agent, `main` first. `address` is where they ask from.
    """

    key: str | None = None
    name: str = "local"
    rights: frozenset[Right] = frozenset(RIGHTS)
    agents: tuple[str, ...] | None = None
    address: str | None = None

    @property
    def agent(self) -> str:
        """The agent that a request means which names none."""
        return self.agents[0] if self.agents else "main"

    def check_right(self, right: Right) -> None:
        """Raise Forbidden without this right."""
        if right not in self.rights:
            msg = f"The key {self.name!r} lacks the right {right!r}: an admin can make one with it."
            raise Forbidden(msg)

    def check_agent(self, agent: str) -> str:
        """Return the agent; raise Forbidden for one that is none of the caller's."""
        if self.agents is not None and agent not in self.agents:
            msg = f"The key {self.name!r} is not for agent {agent!r}, but for: {self._own()}."
            raise Forbidden(msg)
        return agent

    def _own(self) -> str:
        return ", ".join(self.agents or ())


# The service itself, and a program of this machine where no keys are.
LOCAL: Final = Caller()
_CALLER: Final[ContextVar[Caller]] = ContextVar("caller", default=LOCAL)


def caller() -> Caller:
    """Return who sent the request that is being answered; LOCAL outside of any."""
    return _CALLER.get()


@contextmanager
def called_by(one: Caller) -> Iterator[None]:
    """Let all that is done meanwhile be done for this caller."""
    token = _CALLER.set(one)
    try:
        yield
    finally:
        _CALLER.reset(token)
