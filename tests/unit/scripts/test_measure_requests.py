"""What is measured is what the service has."""

from pathlib import Path

from scripts.measure_requests import REQUESTS
from service.app import create_app
from service.settings import Settings


def test_every_request_is_one_of_the_service(tmp_path: Path) -> None:
    routes = create_app(Settings(data_dir=tmp_path, _env_file=None)).openapi()["paths"]
    for request in REQUESTS.values():
        path, _, options = request.path.partition("?")
        [operation] = [routes[path][request.method.lower()]]
        names = {parameter["name"] for parameter in operation.get("parameters", ())}
        assert {option.partition("=")[0] for option in filter(None, options.split("&"))} <= names
