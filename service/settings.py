"""Every knob of the service, with its default, its unit and one line of why."""

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from service.access.origins import Origin
from service.field_types import (
    FROM_JSON,
    AgentName,
    HomePath,
    HostNames,
    Kind,
    OriginNames,
    SentKey,
    at_home,
    without_blanks,
)
from service.limits import Limits
from service.redaction import SECRETS
from service.sanitise.policies import Instructions, Secrets

REPOSITORY = Path(__file__).resolve().parents[1]
# That of the checkout alone for its script: one of a folder could send the key to another host.
ENV_FILE = os.environ.get("GRAPH_MEMORY_ENV_FILE", ".env")
# Where containers find secrets as files: memory_api_key, memory_embedding_api_key.
SECRETS_FOLDER = Path("/run/secrets")


def _data_home() -> Path:
    """Return the folder for user data by the XDG base directory specification."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share").expanduser()


class _Choices(BaseSettings):
    """Where things are, and how they are done."""

    host: str = Field(
        "127.0.0.1", description="Address to listen on; one that is not loopback needs a key."
    )
    allowed_hosts: Annotated[HostNames, NoDecode] = Field(
        (), description="Names by which the service may be asked beside loopback, comma-separated."
    )
    allowed_origins: Annotated[OriginNames, NoDecode] = Field(
        (), description="Origins of pages that may ask (https://app.example), comma-separated."
    )
    api_key: SentKey | None = Field(
        None, description="Key that commands show to the running service, where keys were made."
    )
    port: int = Field(8080, ge=0, le=65535, description="TCP port; 0 takes a free one.")
    data_dir: HomePath = Field(
        default_factory=lambda: _data_home() / "graph-memory",
        description="Folder of the embedded store.",
    )
    database_url: str | None = Field(
        None,
        description="surrealkv://FOLDER for the embedded engine or ws://HOST:8000/rpc for a "
        "server; unset: surrealkv:// inside the data folder.",
    )
    database_user: str | None = Field(None, description="Root user of a ws:// server.")
    database_password: SecretStr | None = Field(None, description="Password of that user.")
    database_namespace: str = Field("graph_memory", description="SurrealDB namespace.")
    database_name: str = Field("memory", description="SurrealDB database.")
    database_timeout_seconds: float = Field(
        30.0, gt=0, description="Longest wait for one query, in seconds; past it: 503."
    )
    sources: Annotated[tuple[HomePath, ...], NoDecode] = Field(
        (), description="Folders of markdown notes to scan, comma-separated."
    )
    agent: AgentName = Field(
        "main", description="Agent that owns what is scanned from the folders."
    )
    read_hard_links: bool = Field(
        False,
        description="true reads files with several names too; one may lead out of the folders.",
    )
    concepts_file: HomePath | None = Field(
        None, description="concepts.toml: names, aliases and relations, for MEMORY_AGENT."
    )
    embedding_url: str = Field(
        "http://127.0.0.1:8001",
        description="Base URL of an OpenAI-compatible embedding server, without /v1.",
    )
    embedding_model: str | None = Field(
        None, description="Model name to ask for; unset: the first one the server lists."
    )
    embedding_api_key: SentKey | None = Field(None, description="Bearer key of that server.")
    embedding_dimensions: int | None = Field(
        None, ge=8, le=8192, description="Vector length to ask for; unset: the model's own."
    )
    embedding_instruction: str | None = Field(
        None,
        description="Task sentence put in front of queries for instruction models; unset: the "
        "server's own.",
    )
    embedding_batch_size: int = Field(
        8, ge=1, le=2048, description="Texts a request; 42 at once exhausted a 12 GB card."
    )
    embedding_timeout_seconds: float = Field(
        60.0,
        gt=0,
        description="Longest wait for one embedding request of the background, with its retries, "
        "in seconds.",
    )
    embedding_query_seconds: float = Field(
        4.0,
        gt=0,
        description="Longest wait for the vector of a question, in seconds; past it: words and "
        "graph.",
    )
    embedding_write_seconds: float = Field(
        8.0,
        gt=0,
        description="Longest wait of a write for its vectors, of a batch for each 128, in seconds; "
        "past it they are made later.",
    )
    embedding_check_seconds: float = Field(
        5.0,
        gt=0,
        description="How long a look at the model is good for, in seconds: then a fixed text is "
        "embedded again.",
    )
    disk_reserve_mb: int = Field(
        16,
        ge=0,
        description="Free space on the store's disk, in MB (10^6 bytes), below which nothing is "
        "written: 507.",
    )
    rerank_url: str | None = Field(
        None,
        description="Base URL of a rerank server, without /v1, or its whole address ending in "
        "/rerank; unset: results are not reranked.",
    )
    rerank_model: str | None = Field(
        None, description="Model name to send to it; unset: none, for a server of one model."
    )
    rerank_api_key: SentKey | None = Field(None, description="Bearer key of that server.")
    rerank_timeout_seconds: float = Field(
        3.0, gt=0, description="Longest wait for reranking, in seconds; past it: the fused order."
    )
    hook_confidence: float = Field(
        0.6, ge=0, le=1, description="Least confidence for memories to be told at a prompt unasked."
    )
    search_engine: Literal["resident", "database"] = Field(
        "resident",
        description="`resident` answers from RAM in milliseconds, `database` from SurrealDB's own "
        "indexes; docs/operate.md says how to switch.",
    )
    index_memory_mb: int = Field(
        4096,
        ge=16,
        description="RAM for resident indexes, in MB (10^6 bytes); agents used longest ago leave "
        "first.",
    )
    index_agents: int = Field(
        1000,
        ge=1,
        description="Agents whose index is held in RAM at most; used longest ago leave first.",
    )
    index_threads: int = Field(
        2, ge=1, le=64, description="Threads that search the resident indexes; one a core is best."
    )
    index_scanned_dimensions: int = Field(
        1024,
        ge=64,
        description="Leading dimensions that a scan of Qwen3-Embedding vectors reads before the "
        "best are compared whole; it was trained for that (MRL).",
    )
    section_tokens: int = Field(
        200,
        ge=50,
        le=8000,
        description="Longest section stored in one piece, in estimated tokens; MiniLM reads 256.",
    )
    places: Annotated[dict[str, Kind], NoDecode, FROM_JSON] = Field(
        {},
        description='Kinds by place, before the built-in table: {"journal/**": "daily_log"}.',
    )
    concept_max_memories: int = Field(
        200, ge=1, description="A concept in more memories than this links nothing (hub cap)."
    )
    concept_max_share: float = Field(
        0.3, gt=0, le=1, description="A concept in more than this share of memories links nothing."
    )
    max_source_bytes: int = Field(
        1_000_000,
        ge=1000,
        description="Largest file or pushed text, in bytes: one transaction, 5 s for 600 kB.",
    )
    max_document_sections: int = Field(
        4000,
        ge=1,
        le=50_000,
        description="Most sections of one document that become memories; past it a warning names "
        "the line. All are one transaction, whose time grows with the square of their number.",
    )
    secrets: Secrets = Field(
        "mask",
        description="What is done with secrets in texts: `mask` stores [SECRET:kind] instead, "
        "`reject` refuses the text, `off` stores it.",
    )
    instructions: Annotated[Mapping[Origin, Instructions], NoDecode, FROM_JSON] = Field(
        {},
        description="What is done with instructions to agents, by origin (owner, agent, "
        "untrusted): off, warn, filter, quarantine or reject. Unset: owner=warn,agent=warn,"
        "untrusted=quarantine.",
    )
    mcp_tools: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Tools that MCP offers beside its six, comma-separated, or `all`."
    )

    @model_validator(mode="before")
    @classmethod
    def _given(cls, values: dict[str, Any]) -> dict[str, Any]:
        return without_blanks(values)

    @field_validator("instructions", mode="before")
    @classmethod
    def _by_origin(cls, value: object) -> object:
        if isinstance(value, str) and not value.lstrip().startswith("{"):
            parts = (part.partition("=") for part in value.split(",") if part.strip())
            return {name.strip(): policy.strip() for name, _, policy in parts}
        return value

    @field_validator("embedding_url", "rerank_url")
    @classmethod
    def _base_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        url = urlsplit(value)  # its port raises where it is no number
        has_place = url.scheme in {"http", "https"} and url.hostname and url.port != 0
        if not has_place or len(value.split()) > 1 or url.query or url.fragment:
            msg = "must be http:// or https://, a host and at most a path: http://127.0.0.1:8001"
            raise ValueError(msg)
        return value.rstrip("/").removesuffix("/v1/embeddings").removesuffix("/v1")

    @field_validator("database_url")
    @classmethod
    def _store_url(cls, value: str | None) -> str | None:
        scheme, _, place = (value or "").partition("://")
        if value and (scheme not in {"surrealkv", "ws", "wss"} or not place.strip()):
            msg = "must begin with surrealkv://, ws:// or wss:// and name a folder or a server"
            raise ValueError(msg)
        is_of_home = scheme == "surrealkv" and place.startswith("~")
        return f"surrealkv://{at_home(Path(place))}" if is_of_home else value

    @field_validator("allowed_hosts", "allowed_origins", "sources", "mcp_tools", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value


class Settings(Limits, _Choices):
    """The service's settings, read once from MEMORY_… variables and an optional .env file."""

    model_config = SettingsConfigDict(
        env_prefix="MEMORY_",
        env_file=ENV_FILE,
        env_ignore_empty=True,
        allow_inf_nan=False,
        extra="ignore",
        frozen=True,
        secrets_dir=SECRETS_FOLDER if SECRETS_FOLDER.is_dir() else None,
    )

    audit: Literal["writes", "all", "off"] = Field(
        "writes",
        description="What the audit records: `writes` with all denials, `all` reads as well, or "
        "`off`; deletions always.",
    )
    audit_days: int = Field(
        90, ge=1, le=36500, description="How long a line of the audit is kept, in days."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe log line to print."
    )
    schema_file: HomePath = Field(
        REPOSITORY / "schema.surql", description="The description of all stored data."
    )

    def model_post_init(self, _: object) -> None:
        """Let no error, log line or answer of this process tell a key or a password."""
        own = (self.api_key, self.database_password)
        for secret in (self.embedding_api_key, self.rerank_api_key, *own):
            SECRETS.keep(secret.get_secret_value() if secret else None)
        for url in (self.database_url, self.embedding_url, self.rerank_url):
            SECRETS.keep_url(url)

    @cached_property
    def store_url(self) -> str:
        """The database to open: the configured URL, or the embedded store in the data folder."""
        return self.database_url or f"surrealkv://{self.data_dir / 'store'}"
