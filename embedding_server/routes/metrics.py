"""GET /metrics: what the server counts about itself, for Prometheus."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

router = APIRouter(tags=["metrics"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    summary="Count and time what the server does",
)
async def get_metrics(request: Request) -> Response:
    """Answer in the text format of Prometheus, while the model loads as well."""
    lines = generate_latest(request.app.state.instruments.registry)
    return Response(lines, media_type=CONTENT_TYPE_LATEST)
