"""The knobs that bound what callers may ask of the service; a part of its settings."""

from pydantic import Field
from pydantic_settings import BaseSettings


class Limits(BaseSettings):
    """How much, how many at once, how long."""

    rate: int | None = Field(
        None, ge=1, description="Requests a minute in all, beside what keys allow; past it: 429."
    )
    byte_rate: int | None = Field(
        None, ge=1, description="Bytes of request bodies a minute in all; past it: 429."
    )
    max_memories: int | None = Field(
        None, ge=1, description="Memories stored at most, of all agents; past it: 507."
    )
    max_documents: int | None = Field(
        None, ge=1, description="Documents stored at most, of all agents; past it: 507."
    )
    max_jobs: int = Field(
        100, ge=1, description="Scans and consolidations that wait or run at once; past it: 429."
    )
    max_request_bytes: int = Field(
        32_000_000, ge=1000, description="Largest request body, in bytes; past it: 413."
    )
    bodies_memory_mb: int = Field(
        128,
        ge=1,
        description="RAM for all request bodies together, in MB (10^6 bytes), the first 64 kB of "
        "each not counted; past it: 503.",
    )
    readers: int | None = Field(
        None,
        ge=0,
        le=64,
        description="Processes that rank beside the service, over copies of its indexes. Without a "
        "number there is one a core, four at most, while several ask at once. 0: it ranks alone.",
    )
    reads_at_once: int = Field(
        16,
        ge=1,
        description="Searches and reads that are worked on at once; more than these make none "
        "faster.",
    )
    reads_waiting: int = Field(
        128,
        ge=0,
        description="Further ones that wait their turn, about what is answered while they may "
        "wait; past it: 503.",
    )
    read_timeout_seconds: float = Field(
        30.0, gt=0, description="Longest work on one of them, in seconds; past it: 503."
    )
    writes_at_once: int = Field(
        16, ge=1, description="Writes that are worked on at once; apart from reads."
    )
    writes_waiting: int = Field(
        128, ge=0, description="Further writes that wait their turn; past it: 503."
    )
    write_timeout_seconds: float = Field(
        300.0,
        gt=0,
        description="Longest work on one write, in seconds; past it: 503, and the write goes on.",
    )
    jobs_at_once: int = Field(
        4,
        ge=1,
        description="Scans that are waited for, consolidations and counts of whole stores at once.",
    )
    jobs_waiting: int = Field(
        16, ge=0, description="Further ones of these that wait their turn; past it: 503."
    )
    job_timeout_seconds: float = Field(
        3600.0,
        gt=0,
        description="Longest work on one of these, in seconds; past it: 503, and the work goes on.",
    )
    wait_timeout_seconds: float = Field(
        5.0, gt=0, description="Longest wait of any request for its turn, in seconds; past it: 503."
    )
    max_connections: int = Field(
        4096,
        ge=1,
        description="Open connections; past it the one that has been silent longest is closed.",
    )
    header_timeout_seconds: float = Field(
        10.0, gt=0, description="Longest wait for a request's headers, in seconds; past it: 408."
    )
    body_timeout_seconds: float = Field(
        20.0,
        gt=0,
        description="Longest wait for a request's body, in seconds, besides what its length "
        "grants; past it: 408. A client that reads nothing for so long is cut off.",
    )
    body_bytes_per_second: int = Field(
        100_000, ge=1, description="So many bytes of a body that arrived grant a second more."
    )
