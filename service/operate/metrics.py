"""The door of /metrics: what the service counts of requests, and what it holds now.

A metric of something held is a line of `_GAUGES`; those of each request are in
`web/layers.py`. No label is a name that a caller chose, so that there are some hundred lines.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from service.caching import cached_bytes
from service.errors import ServiceError
from service.index.resident.residency import Residency
from service.readers.readers import Readers
from service.store.audit_log import AuditLog
from service.store.database import Database
from service.store.queries import load_query
from service.web.bounds import Bounds
from service.web.parts import TheDatabase, ThePipeline, part
from service.web.room import Room
from service.writing.pipeline import Pipeline

WAITING: Final = load_query(__package__, "waiting")

# Whoever watches must hear the rest when the database is away.
_PATIENCE_SECONDS: Final = 3

router = Room("operations")


@dataclass(frozen=True, slots=True)
class Held:
    """What numbers are read of; `waiting` is empty while the database is away."""

    bounds: Bounds
    pipeline: Pipeline
    residency: Residency | None
    audit: AuditLog
    readers: Readers | None
    waiting: Mapping[str, int]


@router.get(
    "/metrics",
    operation_id="metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(
    db: TheDatabase,
    pipeline: ThePipeline,
    residency: Annotated[Residency | None, part(Residency)],
    bounds: Annotated[Bounds, part(Bounds)],
    audit: Annotated[AuditLog, part(AuditLog)],
    readers: Annotated[Readers | None, part(Readers)],
) -> Response:
    """Tell what is counted and held, in the text format of Prometheus, however busy it is."""
    held = Held(bounds, pipeline, residency, audit, readers, await _waiting(db))
    lines = await asyncio.to_thread(_lines, held)
    return Response(lines, media_type=CONTENT_TYPE_LATEST)


async def _waiting(db: Database) -> Mapping[str, int]:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            counts: dict[str, int] = await db.run(WAITING)
    except (ServiceError, TimeoutError):
        return {}
    return counts


def _lines(held: Held) -> bytes:
    registry = CollectorRegistry()
    registry.register(_HeldNow(held))
    ProcessCollector(registry=registry)
    return generate_latest(held.bounds.requests.registry) + generate_latest(registry)


def _held_bytes(held: Held) -> Mapping[str, float]:
    kept = {"dictionaries": held.pipeline.dictionaries.bytes, "words": cached_bytes()}
    return kept | ({"indexes": held.residency.index_bytes()} if held.residency else {})


# Name, what it tells, the label if there is one, and how to read it: a number for each value.
_GAUGES: Final[tuple[tuple[str, str, str, Callable[[Held], Mapping[str, float]]], ...]] = (
    ("requests_running", "Requests that are worked on, also those answered 503 as overdue.",
     "lane", lambda h: {lane.name: lane.running for lane in h.bounds.lanes.every()}),
    ("requests_waiting", "Requests that wait for their turn.",
     "lane", lambda h: {lane.name: lane.waiting for lane in h.bounds.lanes.every()}),
    ("connections_open", "Open connections.", "", lambda h: {"": len(h.bounds.connections)}),
    ("body_bytes", "Bytes that bodies of requests hold, the first 64 kB of each not counted.",
     "", lambda h: {"": h.bounds.bodies.bytes}),
    ("resident_agents", "Agents whose index is in RAM.",
     "", lambda h: {"": len(h.residency.residents())} if h.residency else {}),
    ("readers_running", "Processes that rank beside the service.",
     "", lambda h: {"": h.readers.alive} if h.readers else {}),
    ("held_bytes", "Estimated RAM of what can be let go.", "of", _held_bytes),
    ("waiting_jobs", "Scans and consolidations that are not done.",
     "", lambda h: {"": h.waiting["jobs"]} if h.waiting else {}),
    ("memories_without_vector", "Memories that wait for the embedding server.",
     "", lambda h: {"": h.waiting["vectors"]} if h.waiting else {}),
)  # fmt: skip


def _refusals(held: Held) -> Iterator[tuple[str, float]]:
    """Yield what bound refused how much: `reads_full`, `body_time`, `connection_headers`."""
    bounds = held.bounds
    for lane in bounds.lanes.every():
        yield from ((f"{lane.name}_{reason}", n) for reason, n in lane.refused.items())
    yield from ((f"body_{reason}", n) for reason, n in bounds.bodies.refused.items())
    yield from ((f"connection_{reason}", n) for reason, n in bounds.connections.refused.items())


class _HeldNow(Collector):
    """Reads each number at the moment it is asked for."""

    def __init__(self, held: Held) -> None:
        self._held = held

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Yield every metric of what is held, and the refusals."""
        for name, tells, label, read in _GAUGES:
            labels = [label] if label else []
            gauge = GaugeMetricFamily(f"graph_memory_{name}", tells, labels=labels)
            for value, number in read(self._held).items():
                gauge.add_metric([value] if label else [], number)
            yield gauge
        refused = CounterMetricFamily(
            "graph_memory_refused", "What was refused, by the bound.", labels=["bound"]
        )
        for bound, number in _refusals(self._held):
            refused.add_metric([bound], number)
        yield refused
        yield CounterMetricFamily(
            "graph_memory_audit_dropped", "Requests that are in no line of the audit.",
            value=self._held.audit.dropped,
        )  # fmt: skip
        if self._held.readers is not None:
            ranked = CounterMetricFamily(
                "graph_memory_ranked", "Questions, by who ranked.", labels=["by"]
            )
            for who, number in self._held.readers.ranked.items():
                ranked.add_metric([who], number)
            yield ranked
        if self._held.residency is not None:
            yield CounterMetricFamily(
                "graph_memory_evicted_agents", "Indexes that left RAM to make room.",
                value=self._held.residency.evicted,
            )  # fmt: skip
