"""GET /health: whether a request that came now would get a vector."""

from fastapi import APIRouter, Request, Response

from embedding_server.errors import ModelUnavailable
from embedding_server.web.dependencies import AnyModel
from embedding_server.web.error_responses import describe_error
from embedding_server.web.protocol import Health

router = APIRouter(tags=["health"])


@router.get(
    "/health",
    summary="Tell the state of the model",
    response_model_exclude_none=True,
    responses={503: {"model": Health}},
)
async def get_health(request: Request, response: Response, model: AnyModel) -> Health:
    """Answer 200 when the model answers, else 503 with the reason."""
    try:
        card = model.card
    except ModelUnavailable as error:
        response.status_code = error.status
        response.headers.update(error.headers)
        return Health(
            status="loading" if model.state == "loading" else "failed",
            model=request.app.state.settings.model,
            error=describe_error(error),
        )
    return Health(status="ok", model=card.name, dimensions=card.dimensions, device=card.device)
