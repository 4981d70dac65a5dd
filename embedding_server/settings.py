"""Every knob of the embedding server, with its default, its unit and one line of why."""

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """The embedding server's settings, read once from EMBEDDING_… and an optional .env file."""

    model_config = SettingsConfigDict(
        env_prefix="EMBEDDING_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    host: str = Field(
        default="127.0.0.1", description="Address to listen on; beyond loopback, set a key."
    )
    port: int = Field(default=8001, ge=0, le=65535, description="TCP port; 0 takes a free one.")
    model: str | None = Field(
        default=None,
        description="Any sentence-transformers name or folder, all-MiniLM-L6-v2 (packaged, no "
        "download) or hashing-256 (no weights, for tests); unset: Qwen/Qwen3-Embedding-4B on a "
        "GPU, all-MiniLM-L6-v2 on a CPU.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="Where the model runs; auto takes the GPU when there is one."
    )
    batch_size: int = Field(
        default=8,
        ge=1,
        le=1024,
        description="Most texts in one forward pass; chosen for Qwen3-Embedding-4B on 12 GB.",
    )
    max_batch_tokens: int = Field(
        default=16384,
        ge=1,
        description="Most padded tokens (texts x longest) in one forward pass; bounds its memory. "
        "A single longer text still goes, alone.",
    )
    max_sequence_tokens: int | None = Field(
        default=None,
        ge=2,
        description="Most tokens in one input, prompt and special tokens included; unset: what the "
        "model takes, at most 8192.",
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
        default=None, ge=1, description="CPU threads of one forward pass; unset: one for each core."
    )
    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="info",
        description="Least severity that is logged; debug adds a line for each request.",
    )
