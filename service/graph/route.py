"""The door of /graph."""

from typing import Annotated, Final

from service.errors import AgentUnknown
from service.graph.report import GraphReport, report_on
from service.index.resident.residency import Residency
from service.web.declared import problems
from service.web.fields import QueryAgent
from service.web.parts import ThePipeline, TheSettings, part
from service.web.room import Room

router = Room("operations", prefix="/graph")

_EXAMPLE: Final = {
    "agent": "main", "memories": 75, "with_vector": 75, "concepts": 1, "hub_cap": 22,
    "sampled_memories": 75, "sampled_vectors": 75, "near": 0.21,
    "edges": [
        {
            "edge": "references", "kind": "link", "edges": 7, "concepts": 1, "memories": 7,
            "share": 0.0933, "pairs": 21, "precision": 0.81, "lift": 16.2, "reach": 0.38,
            "verdict": "pays",
            "reason": "81% of joined pairs are near, 16.2 times chance; nearest neighbours miss "
            "38% of them.",
            "switch_off": 'leave "references" out of `edges` in /graph-recall (all kinds together)',
        }
    ],
    "bands": [{"memories": "6-20", "concepts": 1, "references": 7, "linking": 1}],
    "note": None, "took_ms": 31.5, "stages_ms": {"memories": 2.1, "graph": 9.8, "reach": 8.4},
}  # fmt: skip


@router.get(
    "/report",
    operation_id="graph_report",
    responses={
        200: {"content": {"application/json": {"example": _EXAMPLE}}},
        **problems(AgentUnknown),
    },
)
async def get_report(
    pipeline: ThePipeline,
    residency: Annotated[Residency | None, part(Residency)],
    settings: TheSettings,
    agent: QueryAgent,
) -> GraphReport:
    """Tell whether the graph is worth it: for each kind of edge its reach, precision and lift.

    Reads samples of 1,000 memories, 2,000 pairs a kind and 20,000 vectors; for people, in seconds.
    """
    return await report_on(pipeline.db, pipeline.engine, residency, settings, agent)
