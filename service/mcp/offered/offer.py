"""A tool as it is offered, and how clients may treat it."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, get_type_hints

from service.mcp.offered.answer import Answer
from service.mcp.offered.arguments import Arguments
from service.mcp.offered.asking import Asking

Deed = Callable[[Asking, Any], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool: its name and description are those of the function, its schemas those of its types.

    `reads` says that it changes nothing, `destroys` that it takes something away, `repeats` that
    the second call of the same changes nothing more.
    """

    deed: Deed
    title: str
    reads: bool = False
    destroys: bool = False
    repeats: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.deed.__name__

    @property
    def description(self) -> str:
        """What it does, and when to use it."""
        return inspect.getdoc(self.deed) or ""

    @property
    def input_schema(self) -> dict[str, Any]:
        """What it takes, in few words: each of them costs room in every conversation."""
        schema = self.takes.model_json_schema(by_alias=True)
        return _lean(schema) | {
            "properties": {n: _lean(s) for n, s in schema["properties"].items()}
        }

    @property
    def takes(self) -> type[Arguments]:
        """The model of its arguments."""
        found: type[Arguments] = get_type_hints(self.deed)["given"]
        return found

    @property
    def gives(self) -> type[Answer]:
        """The model of its answer."""
        found: type[Answer] = get_type_hints(self.deed)["return"]
        return found


def _lean(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without titles, and without the null that stands for what is left out."""
    lean = {name: told for name, told in schema.items() if name not in {"title", "anyOf"}}
    if lean.get("default", ...) is None:
        del lean["default"]
    kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    return lean | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {})
