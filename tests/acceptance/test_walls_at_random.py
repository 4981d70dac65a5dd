"""Random keys, grants, reads and writes of several agents: no answer ever crosses a wall.

What is held against the service is a model of a few lines: who may read whose, by the rules of
docs/keys-and-grants.md.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import httpx
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.effort import amount
from tests.plays import check_plays
from tests.servers.keyed import KeyedService

ENGINES = ("resident", "database")
pytestmark = pytest.mark.soak

PEOPLE = ("anna", "bob", "carl")
SCOPES = (None, "open", "closed")
AGENTS, KEYS, SCOPE = (
    st.sampled_from(range(len(PEOPLE))),
    st.integers(0, 5),
    st.sampled_from(SCOPES),
)
_RUNS = itertools.count()


@dataclass
class Held:
    """A key as the model knows it; `agents` None is all."""

    id: str
    client: httpx.Client
    agents: tuple[str, ...] | None
    scopes: frozenset[str]
    is_revoked: bool = False

    def may(self, scope: str, agent: str) -> bool:
        return scope in self.scopes and (self.agents is None or agent in self.agents)


@dataclass
class Told:
    """A memory that was stored: its id, its owner, its scope, and the word that it alone holds."""

    id: str
    owner: str
    scope: str | None
    mark: str


@dataclass
class Model:
    """What was done so far."""

    keys: list[Held] = field(default_factory=list)
    memories: list[Told] = field(default_factory=list)
    grants: dict[tuple[str, str, str | None], str] = field(default_factory=dict)

    def may_read(self, reader: str, owner: str, scope: str | None) -> bool:
        """Return whether a question of the reader may be asked of an owner."""
        granted = {(reader, owner, None), (reader, owner, scope)} & self.grants.keys()
        return reader == owner or bool(granted)


class Walls(RuleBasedStateMachine):
    """Plays against one service; every play has agents of its own."""

    keyed: ClassVar[KeyedService]

    def __init__(self) -> None:
        super().__init__()
        run = next(_RUNS)
        self.agents = [f"{name}{run}" for name in PEOPLE]
        self.model = Model()
        self.admin = self.keyed.client()
        self.marks = itertools.count()

    def teardown(self) -> None:
        self.admin.close()
        for key in self.model.keys:
            key.client.close()

    @initialize()
    def begin(self) -> None:
        for agent in self.agents:
            self._make(["read", "write"], [agent])
            self._put(self.admin, agent, None)

    @rule(agents=st.lists(AGENTS, min_size=1, max_size=2, unique=True), scopes=st.sets(
        st.sampled_from(["read", "write"]), min_size=1))  # fmt: skip
    def make_a_key(self, agents: list[int], scopes: set[str]) -> None:
        self._make(sorted(scopes), [self.agents[one] for one in agents])

    @rule(key=KEYS)
    def revoke_a_key(self, key: int) -> None:
        # Those of the beginning stay, so that somebody is there.
        if len(self.model.keys) > len(PEOPLE) + key:
            held = self.model.keys[len(PEOPLE) + key]
            assert self.admin.delete(f"/keys/{held.id}").status_code == 204
            held.is_revoked = True

    @rule(reader=AGENTS, owner=AGENTS, scope=SCOPE)
    def give_a_grant(self, reader: int, owner: int, scope: str | None) -> None:
        one, other = self.agents[reader], self.agents[owner]
        body = {"reader": one, "owner": other, "scope": scope}
        given = self.admin.post("/grants", json=body)
        assert given.status_code == (409 if one == other else 201)
        if one != other:
            self.model.grants[one, other, scope] = given.json()["id"]

    @rule(which=st.integers(0, 20))
    def take_a_grant_back(self, which: int) -> None:
        if self.model.grants:
            told = sorted(self.model.grants, key=str)[which % len(self.model.grants)]
            given = self.model.grants.pop(told)
            assert self.admin.delete(f"/grants/{given}").status_code == 204

    @rule(key=KEYS, agent=AGENTS, scope=SCOPE)
    def store(self, key: int, agent: int, scope: str | None) -> None:
        held, owner = self._held(key), self.agents[agent]
        answer = self._put(held.client, owner, scope)
        self._check_write(held, owner, answer, 201)

    @rule(key=KEYS, agent=AGENTS, which=st.integers(0, 99), deletes=st.booleans())
    def change(self, key: int, agent: int, which: int, *, deletes: bool) -> None:
        held, owner = self._held(key), self.agents[agent]
        memory = self.model.memories[which % len(self.model.memories)]
        path, params = f"/memories/{memory.id}", {"agent": owner}
        # One is left to be asked for.
        deletes = deletes and len(self.model.memories) > 1
        if deletes:
            answer = held.client.delete(path, params=params)
            is_good = held.may("write", owner)
        else:
            answer = held.client.patch(path, params=params, json={"importance": 0.4})
            is_good = held.may("write", owner) and held.may("read", owner)
        if held.is_revoked:
            assert answer.status_code == 401
        elif not is_good:
            assert answer.status_code == 403
        elif memory.owner != owner:
            assert answer.status_code == 404
        else:
            assert answer.status_code in {200, 204}
            if deletes:
                self.model.memories.remove(memory)

    @rule(key=KEYS, agent=AGENTS, others=st.lists(AGENTS, max_size=2), scope=SCOPE,
          how=st.sampled_from(["search", "rrf", "list", "recall"]))  # fmt: skip
    def read(self, key: int, agent: int, others: list[int], scope: str | None, how: str) -> None:
        held, reader = self._held(key), self.agents[agent]
        owners = [self.agents[one] for one in others]
        told: dict[str, Any] = {"agent": reader, "read_from": owners, "limit": 50}
        told |= {"scope": scope} if scope else {}
        question = {"query": "the lighthouse of everyone"} | told
        if how == "list":
            answer = held.client.get("/memories", params=told)
        elif how == "recall":
            answer = held.client.post("/graph-recall", json=question)
        else:
            fusion = "rrf" if how == "rrf" else "default"
            answer = held.client.post("/search", json=question | {"fusion": fusion})
        of_scope = None if how == "recall" else scope
        self._check_read(held, reader, owners, of_scope, answer)

    @rule(key=KEYS, agent=AGENTS, which=st.integers(0, 99), others=st.lists(AGENTS, max_size=2))
    def read_one(self, key: int, agent: int, which: int, others: list[int]) -> None:
        held, reader = self._held(key), self.agents[agent]
        memory = self.model.memories[which % len(self.model.memories)]
        owners = [self.agents[one] for one in others]
        answer = held.client.get(
            f"/memories/{memory.id}", params={"agent": reader, "read_from": owners}
        )
        is_seen = memory.owner in {reader, *owners} and self.model.may_read(
            reader, memory.owner, memory.scope
        )
        if held.is_revoked:
            assert answer.status_code == 401
        elif not held.may("read", reader):
            assert answer.status_code == 403
        else:
            assert (answer.status_code == 200) is is_seen
        assert (memory.mark in answer.text) is (answer.status_code == 200)

    def _make(self, scopes: Sequence[str], agents: Sequence[str]) -> None:
        key, told = self.keyed.key(scopes, agents)
        self.model.keys.append(Held(key, self.keyed.client(told), tuple(agents), frozenset(scopes)))

    def _held(self, key: int) -> Held:
        return self.model.keys[key % len(self.model.keys)]

    def _put(self, client: httpx.Client, owner: str, scope: str | None) -> httpx.Response:
        mark = f"mark{owner}n{next(self.marks)}q"
        body = {
            "agent": owner, "scope": scope,
            "text": f"The Lighthouse of Everyone told {mark} to [[Quayside]].",
        }  # fmt: skip
        answer = client.post("/memories", json=body)
        if answer.is_success:
            self.model.memories.append(Told(answer.json()["id"], owner, scope, mark))
        return answer

    def _check_write(self, held: Held, owner: str, answer: httpx.Response, good: int) -> None:
        if held.is_revoked:
            assert answer.status_code == 401
        else:
            assert answer.status_code == (good if held.may("write", owner) else 403)

    def _check_read(
        self, held: Held, reader: str, owners: list[str], scope: str | None,
        answer: httpx.Response,
    ) -> None:  # fmt: skip
        seen = set(re.findall(r"mark\w+q", answer.text))
        if held.is_revoked or not held.may("read", reader):
            assert answer.status_code == (401 if held.is_revoked else 403)
            assert seen == set()
            return
        is_good = all(self.model.may_read(reader, owner, scope) for owner in owners)
        assert (answer.status_code == 200) is is_good, answer.text
        allowed = {
            told.mark
            for told in self.model.memories
            if told.owner in {reader, *owners} and (scope is None or told.scope == scope)
        }
        assert seen <= (allowed if is_good else set())


def test_no_answer_crosses_a_wall(keyed: KeyedService) -> None:
    check_plays(Walls, keyed, amount("plays at the walls"), 50)
