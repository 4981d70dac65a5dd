"""create_app(): opens the model, wires the routes. The only place where the parts meet."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from embedding_server.encoders.opening import open_encoder
from embedding_server.instruments import Instruments
from embedding_server.routes import embeddings, health, metrics, models
from embedding_server.scheduling.admission import Admission
from embedding_server.serving.served_model import OpenEncoder, ReportFailure, ServedModel
from embedding_server.settings import Settings
from embedding_server.web.api_key import ApiKeyGuard
from embedding_server.web.body_limit import BodyLimit
from embedding_server.web.connections import Connections
from embedding_server.web.dependencies import Parts
from embedding_server.web.description import describe_model
from embedding_server.web.door import Door
from embedding_server.web.error_responses import StopAnswer, install_error_handlers
from embedding_server.web.protocol import ErrorBody
from embedding_server.web.request_log import RequestLog

FAILURES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorBody, "description": "The request cannot be answered"},
    "5XX": {"model": ErrorBody, "description": "The model cannot answer"},
}


def create_app(
    settings: Settings | None = None,
    open_model: OpenEncoder = open_encoder,
    report_failure: ReportFailure = lambda _reason: None,
) -> FastAPI:
    """Return the app; its lifespan loads the model behind the already open port.

    `report_failure` is told why the model could not be loaded. The app goes on then, and answers
    503 to everything.
    """
    settings = settings or Settings()
    instruments = Instruments()
    model = ServedModel(settings, instruments, open_model, report_failure)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        model.start()
        yield
        model.stop()

    app = FastAPI(
        title="graph-memory embeddings",
        summary="OpenAI-compatible embeddings",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.instruments = instruments
    app.state.model = model
    app.state.connections = Connections(settings, instruments)
    app.state.parts = Parts(settings, instruments, Admission(settings, instruments), model)
    install_error_handlers(app)
    told_of_any = app.openapi
    app.openapi = lambda: describe_model(told_of_any(), model)  # type: ignore[method-assign]
    for router in (embeddings.router, models.router):
        app.include_router(router, prefix="/v1", responses=FAILURES)
        # Clients whose base URL has no /v1.
        app.include_router(router, include_in_schema=False)
    app.include_router(health.router)
    app.include_router(metrics.router)
    # Added the usual way, layers lie inside of the one that answers unexpected failures with 500,
    # and that answer would have no id, no line in the log and no count.
    app.middleware_stack = _wrap(app.build_middleware_stack(), settings, instruments)
    return app


def _wrap(app: ASGIApp, settings: Settings, instruments: Instruments) -> ASGIApp:
    """Put the layers round the app that see every request, the last one first."""
    app = BodyLimit(app, settings, instruments)
    if settings.api_key is not None:
        app = ApiKeyGuard(app, settings.api_key)
    return RequestLog(StopAnswer(Door(app, settings)), instruments)
