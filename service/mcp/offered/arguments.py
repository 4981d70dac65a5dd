"""What tools take: a model for each, and the fields that many have; the service checks values."""

import json
from functools import cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from service.mcp.offered.asking import Placed

_TEXT: Final = "string"

Agent = Annotated[str | None, Field(description="Whose memories. Unset: the key's own agent.")]
Project = Annotated[
    str | None, Field(description="A project: its git remote's URL, its folder, or a name.")
]
Session = Annotated[str | None, Field(description="The id of this conversation.")]


def _one_word(key: str) -> str:
    """Refuse what would lead to another door: an encoded slash is one to it, too."""
    if not key.strip() or "/" in key:
        msg = "an id is one word; send it as a search gives it"
        raise ValueError(msg)
    return key


Key = Annotated[str, AfterValidator(_one_word)]
Id = Annotated[Key, Field(description="The id of a memory, as a search gives it.")]


class Arguments(BaseModel):
    """The arguments of a tool; an unknown one is refused, lest a misspelt filter widens an answer.

    Some clients send lists and numbers as JSON in a text: these are read as what they are.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _read_texts(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: cls._read(name, value) for name, value in given.items()}

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        if not isinstance(value, str) or name not in _without_text(cls):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value


class PlacedArguments(Placed, Arguments):
    """Arguments that say whose memories are meant, and of which project."""

    agent: Agent = None
    project: Project = None


@cache
def _without_text(arguments: type[Arguments]) -> frozenset[str]:
    """Return the arguments that no text is a value of."""
    told = arguments.model_json_schema()["properties"]
    return frozenset(name for name, schema in told.items() if not _takes_text(schema))


def _takes_text(schema: dict[str, Any]) -> bool:
    kinds = [schema, *schema.get("anyOf", ())]
    return any(one.get("type") == _TEXT or "enum" in one or "const" in one for one in kinds)
