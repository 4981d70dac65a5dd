"""Every knob of the embedding server, with its default, its unit and one line of why."""

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

# Where containers find secrets as files: embedding_api_key.
SECRETS_FOLDER = Path("/run/secrets")

# As requests name a host, with a port or without.
_HOST = re.compile(r"(?:\[[0-9a-f:.]++\]|[\w.-]++)(?::\d{1,5})?+", re.ASCII | re.IGNORECASE)
# What every client can send behind "Bearer ": curl alone sends letters beyond ASCII as UTF-8.
_SENDABLE = re.compile(r"[!-~]++(?:[\t ]++[!-~]++)*+")


class Settings(BaseSettings):
    """The embedding server's settings, read once from EMBEDDING_… and an optional .env file."""

    model_config = SettingsConfigDict(
        env_prefix="EMBEDDING_",
        env_file=".env",
        env_ignore_empty=True,
        allow_inf_nan=False,
        extra="ignore",
        frozen=True,
        secrets_dir=SECRETS_FOLDER if SECRETS_FOLDER.is_dir() else None,
    )

    host: str = Field(
        default="127.0.0.1",
        description="Address to listen on; one that is not loopback needs EMBEDDING_API_KEY.",
    )
    allowed_hosts: str = Field(
        default="",
        description="Names by which it may be asked beside loopback, comma-separated.",
    )
    port: int = Field(default=8001, ge=0, le=65535, description="TCP port; 0 takes a free one.")
    model: str | None = Field(
        default=None,
        description="Any sentence-transformers name or folder, all-MiniLM-L6-v2 (packaged, no "
        "download) or hashing-256 (no weights, for tests); unset: Qwen/Qwen3-Embedding-4B on a "
        "GPU, all-MiniLM-L6-v2 on a CPU.",
    )
    aliases: str = Field(
        default="",
        description="Further names, comma-separated, by which clients may ask for the model, such "
        "as text-embedding-3-small.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="Where the model runs; auto takes the GPU when there is one."
    )
    backend: Literal["auto", "torch", "onnx"] = Field(
        default="auto",
        description="What computes: onnx is int8 on a CPU, for BERT models in a folder; torch is "
        "exact and runs every model. auto: onnx for all-MiniLM-L6-v2 on a CPU, else torch.",
    )
    batch_size: int = Field(
        default=8,
        ge=1,
        le=1024,
        description="Most texts in one forward pass; chosen for Qwen3-Embedding-4B on 12 GB.",
    )
    max_batch_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Most padded tokens (texts x longest) in one forward pass; bounds its memory. "
        "A single longer text still goes, alone. Unset: 16384 on a GPU, 4096 on a CPU, 512 "
        "with onnx, where each text goes through alone.",
    )
    max_sequence_tokens: int | None = Field(
        default=None,
        ge=2,
        description="Most tokens in one input, prompt and special tokens included; unset: what the "
        "model takes, at most 8192.",
    )
    truncate: bool = Field(
        default=False,
        description="Cut texts that are too long where the client does not say `truncate`; for "
        "clients that cannot, such as OpenClaw with a model of 256 tokens.",
    )
    max_request_tokens: int = Field(
        default=300_000,
        ge=1,
        description="Most tokens in one request, all inputs together; the default is OpenAI's.",
    )
    max_waiting_texts: int = Field(
        default=8192,
        ge=1,
        description="Texts that may wait for the model, of all clients together; beyond it, 429. "
        "A request that comes when nothing waits is always taken.",
    )
    max_waiting_tokens: int = Field(
        default=1_200_000,
        ge=1,
        description="Tokens that may wait for the model, of all clients together; beyond it, 429.",
    )
    bodies_memory_mb: int = Field(
        default=128,
        ge=1,
        description="RAM for all request bodies together, in MB (10^6 bytes), the first 64 kB of "
        "each not counted; past it: 429.",
    )
    max_connections: int = Field(
        default=1024,
        ge=1,
        description="Open connections; past it the one that has been silent longest is closed.",
    )
    header_timeout_seconds: float = Field(
        default=10, gt=0, description="Longest wait for a request's headers; past it: 408."
    )
    body_timeout_seconds: float = Field(
        default=20,
        gt=0,
        description="Longest wait for a request's body, in seconds, and a second more for each "
        "100 kB of it; past it: 408. A client that reads nothing for so long is cut off.",
    )
    stuck_seconds: float = Field(
        default=600,
        gt=0,
        description="Seconds after which a forward pass counts as stuck: /health turns 503 and the "
        "process ends with status 1, for its supervisor to start it again.",
    )
    min_dimensions: int | None = Field(
        default=None,
        ge=1,
        description="Smallest `dimensions` a client may ask for, for a model trained to be cut "
        "(Matryoshka); unset: 32 for Qwen3, the model's own length for every other.",
    )
    api_key: SecretStr | None = Field(
        default=None,
        description="Bearer key that clients must send; unset: none. /health stays open.",
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        description="CPU threads of one forward pass; unset: one for each core.",
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Lines for people, or one JSON object a line for collectors."
    )
    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="info",
        description="Least severity that is logged; debug adds a line for each request, info has "
        "one for each that failed.",
    )

    @model_validator(mode="before")
    @classmethod
    def _given(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Leave out what is blanks alone, as what is empty is; never a key."""
        return {
            name: value
            for name, value in values.items()
            if not isinstance(value, str) or value.strip() or name == "api_key"
        }

    @field_validator("allowed_hosts")
    @classmethod
    def _hosts(cls, listed: str) -> str:
        """Refuse what no request names as its host: it would let nobody in."""
        for name in sorted(_names_in(listed)):
            if not _HOST.fullmatch(name):
                msg = f"{name!r} is no name of a host; write each in full, in ASCII: box.example"
                raise ValueError(msg)
        return listed

    @field_validator("api_key")
    @classmethod
    def _sendable(cls, key: SecretStr | None) -> SecretStr | None:
        """Refuse what clients cannot send, ours among them; what is wrong is not repeated."""
        if key is not None and not _SENDABLE.fullmatch(key.get_secret_value()):
            msg = "clients cannot send it; choose letters and digits of ASCII, no blanks around"
            raise ValueError(msg)
        return key

    @property
    def alias_names(self) -> frozenset[str]:
        """The names in `aliases`."""
        return _names_in(self.aliases)

    @property
    def host_names(self) -> frozenset[str]:
        """The names in `allowed_hosts` and the address itself, in lower case."""
        host = self.host.lower()
        is_any = host in {"0.0.0.0", "::", ""}  # noqa: S104 - it is left out
        # An IPv6 address stands in brackets in a URL.
        own = () if is_any else (host, f"[{host}]")
        return _names_in(self.allowed_hosts.lower()).union(own)


def _names_in(listed: str) -> frozenset[str]:
    return frozenset(name.strip() for name in listed.split(",") if name.strip())
