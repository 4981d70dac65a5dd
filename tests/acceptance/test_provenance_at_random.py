"""Random pushes, edits, quarantines and releases: no origin ever rises, and no trust unasked.

What is held against the service is a model of a few lines, by the rules of docs/provenance.md.
"""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import httpx
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from tests.effort import amount
from tests.plays import check_plays
from tests.servers.keyed import KeyedService

ENGINES = ("resident", "database")
pytestmark = pytest.mark.soak
ORIGINS = ("untrusted", "agent", "owner")
TIERS = ("quarantined", "untrusted", "trusted")
SENDERS = st.sampled_from((*ORIGINS, "admin"))
_RUNS = itertools.count()


@dataclass
class Known:
    """A memory as the model knows it."""

    origin: str
    tier: str
    client: str
    text: str


def _lower(one: str, other: str, order: tuple[str, ...]) -> str:
    return min(one, other, key=order.index)


def _follows(origin: str) -> str:
    return "untrusted" if origin == "untrusted" else "trusted"


class Provenance(RuleBasedStateMachine):
    """Plays against one service; every play has an agent and keys of its own."""

    keyed: ClassVar[KeyedService]

    def __init__(self) -> None:
        super().__init__()
        self.agent = f"played{next(_RUNS)}"
        self.known: dict[str, Known] = {}
        self.clients: dict[str, httpx.Client] = {}
        self.texts = itertools.count()

    @initialize()
    def begin(self) -> None:
        for sender in (*ORIGINS, "admin"):
            scopes = ["read", "write", *(["admin"] if sender == "admin" else [])]
            origin = "agent" if sender == "admin" else sender
            name = f"{sender} of {self.agent}"
            _, told = self.keyed.key(scopes, [self.agent], origin=origin, name=name)
            self.clients[sender] = self.keyed.client(told)

    def teardown(self) -> None:
        for client in self.clients.values():
            client.close()

    @rule(sender=SENDERS, ref=st.integers(0, 1), kind=st.sampled_from(["push", "web"]),
          tier=st.sampled_from([None, None, *TIERS]), same=st.booleans())  # fmt: skip
    def push(self, sender: str, ref: int, kind: str, tier: str | None, *, same: bool) -> None:
        refs = [one for one in self.known if one.startswith(f"{kind}{ref} ")]
        old = self.known[refs[0]] if refs else None
        text = old.text if old and same else f"Told {next(self.texts)} of the crane."
        sent: dict[str, Any] = {
            "text": text, "agent": self.agent, "source_ref": f"{kind}{ref}", "source_kind": kind,
        }  # fmt: skip
        sent |= {"trust_tier": tier} if tier else {}
        answer = self.clients[sender].post("/memories", json=sent)
        origin = "agent" if sender == "admin" else sender
        if kind == "web" or tier in TIERS[:2]:
            origin = "untrusted"
        said = tier or _follows(origin)
        if TIERS.index(said) > TIERS.index(_follows(origin)) and sender != "admin":
            assert answer.status_code == 403, answer.text
            return
        assert answer.status_code == 201, answer.text
        new = Known(origin, said, f"{sender} of {self.agent}", text)
        if old is not None and text == old.text:
            old.tier = _lower(said, old.tier, TIERS) if tier else old.tier
            return
        if old is not None:
            new.origin = _lower(origin, old.origin, ORIGINS)
            new.tier = _lower(said, old.tier, TIERS)
        self.known[f"{kind}{ref} {answer.json()['id']}"] = new

    @rule(sender=SENDERS, which=st.integers(0, 20))
    def edit(self, sender: str, which: int) -> None:
        if not self.known:
            return
        name = sorted(self.known)[which % len(self.known)]
        old, text = self.known[name], f"Edited {next(self.texts)} of the crane."
        assert self._patch(sender, name, {"text": text}).status_code == 200
        origin = _lower(old.origin, "agent" if sender == "admin" else sender, ORIGINS)
        tier = _follows(origin) if old.tier == _follows(old.origin) else old.tier
        self.known[name] = Known(origin, tier, f"{sender} of {self.agent}", text)

    @rule(sender=SENDERS, which=st.integers(0, 20), tier=st.sampled_from(TIERS))
    def say_a_tier(self, sender: str, which: int, tier: str) -> None:
        if not self.known:
            return
        name = sorted(self.known)[which % len(self.known)]
        old = self.known[name]
        answer = self._patch(sender, name, {"trust_tier": tier})
        if TIERS.index(tier) > TIERS.index(old.tier) and sender != "admin":
            assert answer.status_code == 403
        else:
            assert answer.status_code == 200
            old.tier = tier

    @rule(of=SENDERS, releases=st.booleans(), dry_run=st.booleans())
    def quarantine(self, of: str, *, releases: bool, dry_run: bool) -> None:
        told = {"client": f"{of} of {self.agent}", "dry_run": dry_run}
        path = "/trust/release" if releases else "/trust/quarantine"
        assert self.clients["agent"].post(path, json=told).status_code == 403
        answer = self.clients["admin"].post(path, json=told).json()
        meant = {
            name: one
            for name, one in self.known.items()
            if one.client == told["client"] and (one.tier == "quarantined") is releases
        }
        assert set(answer["ids"]) == {name.split()[1] for name in meant}
        for one in meant.values() if not dry_run else ():
            one.tier = _follows(one.origin) if releases else "quarantined"

    @invariant()
    def is_as_told(self) -> None:
        if not self.known:
            return
        params: dict[str, Any] = {"agent": self.agent, "trust": list(TIERS), "limit": 100}
        answer = self.clients["admin"].get("/memories", params=params)
        listed = answer.json()["memories"]
        found = {
            one["id"]: Known(one["origin"], one["trust_tier"], one["client"], one["content"])
            for one in listed
        }
        assert found == {name.split()[1]: one for name, one in self.known.items()}
        seen = self.clients["admin"].post(
            "/search", json={"query": "told of the crane", "agent": self.agent, "limit": 50}
        )
        hits = [hit["id"] for hit in seen.json()["results"]]
        assert not [key for key in hits if found[key].tier == "quarantined"]

    def _patch(self, sender: str, name: str, changes: dict[str, str]) -> httpx.Response:
        return self.clients[sender].patch(
            f"/memories/{name.split()[1]}", params={"agent": self.agent}, json=changes
        )


def test_no_origin_rises(keyed: KeyedService) -> None:
    check_plays(Provenance, keyed, amount("plays of provenance"), 40)
