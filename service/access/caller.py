"""Who sent a request, and what they may do; pure."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Literal

from service.access.errors import Forbidden
from service.access.origins import Origin, Provenance, is_raised
from service.access.quota import UNBOUNDED, Quota

# What a key is good for; as in OAuth, and no matter of a memory's `scope`.
Scope = Literal["read", "write", "admin"]
SCOPES: Final[tuple[Scope, ...]] = ("read", "write", "admin")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a request.

    `key` is the id of their key, None for a program of this machine in a service without keys, and
    for the service itself; `scopes` is what it is good for. `agents` are those whose memories they
    may use, the first of them where a request names none; None for every agent, `main` first.
    `address` is where they ask from, `origin` whose words they send, `client` what they are called
    in what they store, `quota` how much they may ask and store.
    `memory_scopes` are the scopes of memories that they may use, None for all of them.
    """

    key: str | None = None
    name: str = "local"
    scopes: frozenset[Scope] = frozenset(SCOPES)
    agents: tuple[str, ...] | None = None
    address: str | None = None
    origin: Origin = "agent"
    client: str | None = None
    quota: Quota = UNBOUNDED
    memory_scopes: tuple[str, ...] | None = None

    @property
    def rival(self) -> str:
        """Who shares what there is with others: a key, or a program of an address."""
        return self.key or f"{self.client} {self.address}"

    @property
    def provenance(self) -> Provenance:
        """What is stored of them with the texts that they send."""
        return Provenance(self.origin, self.client, self.key)

    @property
    def senders(self) -> dict[str, list[str]]:
        """What is stored of them where words of several stand together."""
        return {
            "clients": [self.client] if self.client else [],
            "keys": [self.key] if self.key else [],
        }

    @property
    def agent(self) -> str:
        """The agent that a request means which names none."""
        return self.agents[0] if self.agents else "main"

    def check_scopes(self, needed: Iterable[Scope]) -> None:
        """Raise Forbidden if one of these is lacking."""
        if lacking := [scope for scope in needed if scope not in self.scopes]:
            msg = (
                f"The key {self.name!r} is not good for {' and '.join(lacking)}: an admin can "
                "make one that is."
            )
            raise Forbidden(msg)

    def check_agent(self, agent: str) -> str:
        """Return the agent; raise Forbidden for one that is none of the caller's."""
        if self.agents is not None and agent not in self.agents:
            msg = f"The key {self.name!r} is not for agent {agent!r}, but for: {self._own()}."
            raise Forbidden(msg)
        return agent

    def own_scope(self, scope: str | None) -> str | None:
        """Return the scope of memories that a request means: where it names none, the only one.

        Raises Forbidden for one that is none of the caller's, and where several could be meant.
        """
        if scope is None and self.memory_scopes is not None and len(self.memory_scopes) == 1:
            return self.memory_scopes[0]
        self.check_scope(scope)
        return scope

    def check_scope(self, scope: str | None, how: str = "Name one of them as `scope`.") -> None:
        """Raise Forbidden for a scope of memories that is none of the caller's; `how` to ask."""
        if self.memory_scopes is None or scope in self.memory_scopes:
            return
        msg = f"The key {self.name!r} is for these scopes alone: {', '.join(self.memory_scopes)}."
        raise Forbidden(f"{msg} {how}")

    def check_project(self, scope: str) -> None:
        """Raise Forbidden for a project whose scope of memories is none of the caller's."""
        self.check_scope(scope, "Leave out `project`, and name one of them as `scope`.")

    def sees(self, scope: str | None) -> bool:
        """Return whether memories of this scope are the caller's to use."""
        return self.memory_scopes is None or scope in self.memory_scopes

    def check_tier(self, trust_tier: str | None, follows: str) -> str:
        """Return the trust tier that they say, or else what follows from where the words are from.

        Raises Forbidden if they say a higher one and are no admin.
        """
        if trust_tier is None:
            return follows
        if is_raised(trust_tier, follows) and "admin" not in self.scopes:
            msg = (
                f"The key {self.name!r} is not good for admin, so it cannot raise trust_tier from "
                f"{follows} to {trust_tier}: leave it out, or ask an admin for POST /trust/release."
            )
            raise Forbidden(msg)
        return trust_tier

    def only_own(self, agents: Iterable[str]) -> list[str]:
        """Return those of the agents that the caller may use, in their order."""
        return [one for one in agents if self.agents is None or one in self.agents]

    def covers(self, scopes: Iterable[Scope], agents: Iterable[str] | None) -> bool:
        """Return whether the caller has all of this: nobody gives, or takes away, what they lack.

        `agents` is None for all of them.
        """
        if not self.scopes.issuperset(scopes):
            return False
        return self.agents is None or (agents is not None and set(agents) <= set(self.agents))

    def _own(self) -> str:
        return ", ".join(self.agents or ())


# Whoever shows no key where keys are.
NOBODY: Final = Caller(None, "nobody", frozenset(), ())
# The service itself, and a program of this machine where no keys are.
LOCAL: Final = Caller()
_CALLER: Final[ContextVar[Caller]] = ContextVar("caller", default=LOCAL)


def caller() -> Caller:
    """Return who sent the request that is being answered; LOCAL outside of any."""
    return _CALLER.get()


def own_scopes() -> frozenset[str] | None:
    """Return the scopes of memories that whoever asks may use; None for all."""
    scopes = caller().memory_scopes
    return None if scopes is None else frozenset(scopes)


@contextmanager
def called_by(one: Caller) -> Iterator[None]:
    """Let all that is done meanwhile be done for this caller."""
    token = _CALLER.set(one)
    try:
        yield
    finally:
        _CALLER.reset(token)
