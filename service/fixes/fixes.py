"""Fixes as they are stored and found again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.drafts.ids import digest
from service.fixes.shell import command_of
from service.fixes.signature import error_of, signature_of
from service.store.database import Database, record
from service.store.queries import load_query

PUT: Final = load_query(__package__, "put")
FIND: Final = load_query(__package__, "find")


@dataclass(frozen=True, slots=True)
class Fix:
    """What was done about an error, and when the same command passed."""

    id: str
    text: str
    command: str
    proven_at: datetime
    session: str | None


@dataclass(frozen=True, slots=True)
class Proof:
    """What a fix is found by: whose it is, of which project, error and command."""

    agent: str
    scope: str | None
    signature: str
    command: str
    session: str
    at: datetime

    @property
    def key(self) -> str:
        """The id of its row: proven again it is the same one."""
        return digest("fix", self.agent, self.scope or "", self.signature, self.command)


async def put_fix(db: Database, proof: Proof, memory: str) -> None:
    """Store the way to a memory that tells a fix."""
    row = {
        "agent": proof.agent, "scope": proof.scope or "", "signature": proof.signature,
        "command": proof.command, "memory": memory, "in_session": proof.session,
        "proven_at": proof.at,
    }  # fmt: skip
    await db.run(PUT, id=record("fix", proof.key), row=row)


async def find_fix(
    db: Database, agent: str, scope: str | None, output: str, command: str | None
) -> Fix | None:
    """Return the fix of the error that an output tells; None where none was proven.

    Of several that of the same command, then of the same project, then the last.
    """
    error = error_of(output)
    if error is None:
        return None
    scopes: Sequence[str] = [*([scope] if scope else []), ""]
    signature = signature_of(error)
    rows = await db.run(FIND, agent=agent, scopes=list(scopes), signature=signature)
    if not rows:
        return None
    asked = command_of(command).text if command else None
    best = max(
        rows, key=lambda row: (row["command"] == asked, bool(row["scope"]), row["proven_at"])
    )
    return Fix(
        best["memory"], best["text"], best["command"], best["proven_at"], best.get("session")
    )
