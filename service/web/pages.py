"""The pages /docs and /redoc, with scripts of this machine: nothing is loaded from elsewhere."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from fastapi import FastAPI, HTTPException
from starlette.requests import Request
from starlette.responses import Response

# Neither page may be framed, nor ask or send anything anywhere but here; both style elements.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; worker-src blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>graph-memory</title>
<link rel="icon" href="/docs/favicon.png">
{head}
</head>
<body>
{body}
</body>
</html>
"""
_FORMS: Final = _PAGE.format(
    head='<link rel="stylesheet" href="/docs/swagger-ui.css">',
    body='<div id="forms"></div>\n<script src="/docs/swagger-ui-bundle.js"></script>\n'
    '<script src="/docs/start.js"></script>',
)
_READING: Final = _PAGE.format(
    head="", body='<redoc spec-url="/openapi.json"></redoc>\n'
    '<script src="/docs/redoc.standalone.js"></script>',
)  # fmt: skip
_START: Final = 'SwaggerUIBundle({url: "/openapi.json", dom_id: "#forms", deepLinking: true});\n'
# As fastapi-offline ships them: swagger-ui (Apache-2.0) and redoc (MIT).
_FILES: Final[Mapping[str, str]] = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "redoc.standalone.js": "text/javascript",
    "favicon.png": "image/png",
}


def add_pages(app: FastAPI) -> None:
    """Serve both pages and what they load; they are no part of the described API."""
    app.add_route("/docs", _forms, include_in_schema=False)
    app.add_route("/redoc", _reading, include_in_schema=False)
    app.add_route("/docs/{name}", _file, include_in_schema=False)


async def _forms(_: Request) -> Response:
    return _told(_FORMS, "text/html")


async def _reading(_: Request) -> Response:
    return _told(_READING, "text/html")


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "start.js":
        return _told(_START, "text/javascript")
    if name not in _FILES:
        raise HTTPException(404)
    content = (files("fastapi_offline") / "static" / name).read_bytes()
    return _told(content, _FILES[name])


def _told(content: str | bytes, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"Content-Security-Policy": _POLICY})
