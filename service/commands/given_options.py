"""Options that several commands have, each said once and handed over as one value."""

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from service.commands.misused import Misused
from service.commands.terminal import tell_json


@dataclass(frozen=True, slots=True)
class Form:
    """How a command tells its answer: as the service's own JSON, or in words without colours."""

    is_json: bool = False
    is_raw: bool = False


def give(
    command: Callable[..., None],
    name: str,
    options: Mapping[str, Any],
    read: Callable[..., Any],
) -> Callable[..., None]:
    """Give a command options by their names; as `name` it is handed what `read` makes of them."""
    signature = inspect.signature(command, eval_str=True)

    def run(**given: Any) -> None:
        made = read(*(given.pop(option) for option in options))
        command(**{name: made}, **given)

    parameters = [one for own, one in signature.parameters.items() if own != name] + [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for option, kind in options.items()
    ]
    run.__doc__ = command.__doc__
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def named(id: str) -> str:  # noqa: A002
    """Return what may be an id; raises Misused for what asks for another endpoint."""
    if not id or "/" in id:
        raise Misused(f"{id!r} is no id.")
    return id


def web_address(url: str) -> str:
    """Return where a service is, as --url says it; raises Misused for what is no address."""
    if not url.startswith(("http://", "https://")):
        raise Misused(f"--url {url!r} is no address: it begins with http:// or https://.")
    return url.rstrip("/")


_FORMS: Final = {
    "json": Annotated[
        bool | None, typer.Option("--json", help="The service's own answer in JSON, alone.")
    ],
    "raw": Annotated[bool | None, typer.Option("--raw", help="No colours, also at a terminal.")],
}


def in_form(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --json and --raw; as `form` it is told which."""
    return give(command, "form", _FORMS, lambda *said: Form(*map(bool, said)))


_IS_JSON: Final = ContextVar("is_json", default=False)


def with_json(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --json; what it then hands to `told_as_json` is all that it prints."""
    signature = inspect.signature(command, eval_str=True)

    def run(*, json: bool | None = None, **given: Any) -> None:
        _IS_JSON.set(bool(json))
        command(**given)

    option = inspect.Parameter(
        "json", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_FORMS["json"]
    )
    parameters = [*signature.parameters.values(), option]
    run.__doc__ = command.__doc__
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def told_as_json(answer: object) -> bool:
    """Print an answer as JSON where --json asks for it; returns whether it did."""
    if _IS_JSON.get():
        tell_json(answer)
    return _IS_JSON.get()
