"""What /openapi.json tells is made when somebody asks; operations are read off the routes."""

from concurrent.futures import ThreadPoolExecutor

from service.access.operations import OPEN
from service.app import create_app
from service.settings import Settings
from service.web.authentication import CHECK_SCOPES
from service.web.room import Room, mount


def test_a_start_makes_no_description() -> None:
    app = create_app(Settings(_env_file=None))
    assert app.openapi_schema is None
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: app.openapi(), range(4)))
    assert all(one is told[0] for one in told)


def test_the_operations_are_those_described() -> None:
    app = create_app(Settings(_env_file=None))
    described = app.openapi()["paths"]
    assert app.state.operations == {
        path: {method: told["operationId"] for method, told in by_method.items()}
        for path, by_method in described.items()
    }
    for told in (told for by_method in described.values() for told in by_method.values()):
        assert ("security" in told) == (told["operationId"] not in OPEN)


def test_each_route_of_a_room_checks_scopes_and_is_made_once() -> None:
    app, room = create_app(Settings(_env_file=None)), Room("wishes", prefix="/wishes")

    @room.get("", operation_id="list_wishes")
    async def wishes() -> None: ...

    assert mount(app, [room]) == {"/wishes": {"get": "list_wishes"}}
    assert app.router.routes[-1] is room.routes[0]
    assert CHECK_SCOPES in room.routes[0].dependencies  # type: ignore[attr-defined]
