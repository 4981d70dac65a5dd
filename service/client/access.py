"""What the service answers about keys, grants, the audit and trust; moments as in answers.py."""

from typing import TypedDict

from service.client.answers import Source


class Key(TypedDict):
    """A key without its secret; `agents` is None where it is for all of them."""

    id: str
    name: str
    scopes: list[str]
    agents: list[str] | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    origin: str
    memory_scopes: list[str] | None
    rate: int | None
    byte_rate: int | None
    max_memories: int | None
    max_documents: int | None
    max_jobs: int | None


class NewKey(TypedDict):
    """A key with its secret, `key`, which is shown this once."""

    id: str
    key: str
    name: str
    scopes: list[str]
    agents: list[str] | None
    expires_at: str | None


class KeyPage(TypedDict):
    """Keys, the newest first; `next_cursor` is None on the last page."""

    keys: list[Key]
    next_cursor: str | None


class Grant(TypedDict):
    """`reader` may read the memories of `owner`, of one `scope` where there is one."""

    id: str
    reader: str
    owner: str
    scope: str | None
    created_at: str | None
    expires_at: str | None


class GrantPage(TypedDict):
    """Grants in the order of their ids; `next_cursor` is None on the last page."""

    grants: list[Grant]
    next_cursor: str | None


class AuditEntry(TypedDict):
    """`count` requests of one kind, the last of them at `at`; `ids` are of what was changed."""

    at: str
    operation: str | None
    outcome: str
    status: int | None
    key: str | None
    name: str | None
    agent: str | None
    ids: list[str]
    address: str | None
    count: int


class AuditPage(TypedDict):
    """Lines of the audit, the newest first; `next_cursor` is None on the last page."""

    entries: list[AuditEntry]
    next_cursor: str | None


class Noted(TypedDict):
    """A line of the audit about a memory: who did what, for which agent, and when."""

    at: str
    operation: str | None
    key: str | None
    name: str | None
    agent: str | None


class GivenSession(TypedDict):
    """A session that was given some memories: how many, how often in all, first and last."""

    agent: str
    session: str
    memories: int
    times: int
    first_at: str
    at: str


class TrustChanged(TypedDict):
    """What was done, or with `dry_run` would be; `ids` are the first 1,000 of `memories`."""

    dry_run: bool
    memories: int
    agents: dict[str, int]
    ids: list[str]
    summaries: list[str]
    working_memory: int
    intents: int
    transcripts: int
    given: list[Noted]
    sessions: list[GivenSession]


class Relative(TypedDict):
    """A memory that another one is made of, or that is made of it."""

    id: str
    title: str
    origin: str | None


class Lineage(TypedDict):
    """Where a memory comes from and where its words went; lines of the audit for admins alone."""

    id: str
    agent: str
    origin: str
    trust_tier: str
    client: str | None
    session: str | None
    key: str | None
    source_kind: str
    source: Source
    created_at: str
    updated_at: str
    sources: list[Relative]
    summaries: list[Relative]
    written: list[Noted] | None
    given: list[Noted] | None
    sessions: list[GivenSession] | None
