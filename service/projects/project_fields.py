"""A project as requests name it, in a body and in a query."""

from typing import Annotated, Final, Self

from pydantic import (
    AfterValidator,
    Field,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from service.field_types import Said
from service.projects.identity import Identity, identify, identify_text
from service.web.fields import Strict, body_example, ruled

_PARTS = ("origin", "root", "name")


class ProjectFields(Strict):
    """What a client knows of where it works; any of them. The remote says it best."""

    model_config = ruled(
        body_example(origin="git@github.com:ann/app.git", root="/home/ann/app"),
        anyOf=[{"required": [name], "properties": {name: {"type": "string"}}} for name in _PARTS],
    )

    origin: Said | None = Field(
        None, description="The git remote's URL; user and password are not kept."
    )
    root: Said | None = Field(None, description="The folder's path on the client's machine.")
    name: Said | None = Field(
        None, description="A name; it counts where neither of the others is known."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if all(getattr(self, name) is None for name in _PARTS):
            msg = "says nothing; send the remote as `origin`, the folder as `root`, or a `name`"
            raise ValueError(msg)
        return self

    def identity(self) -> Identity:
        """Return the project in one spelling."""
        return identify(self.origin, self.root, self.name)


def _readable(text: str) -> str:
    """Refuse JSON that names no project: a query has one text for it, and several parts in that."""
    try:
        _parts_in(text)
    except ValidationError as error:
        msg = 'send {"origin": …, "root": …, "name": …} as JSON, any of them, or a text'
        raise ValueError(msg) from error
    return text


def _parts_in(text: str) -> ProjectFields | None:
    is_json = text.lstrip().startswith("{")
    return ProjectFields.model_validate_json(text) if is_json else None


_Text = Annotated[Said, AfterValidator(_readable)]
_TEXT_ALONE: Final = TypeAdapter[str](_Text)


def _in_one_form(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    """Check the form that it has alone: a union tells the faults of both, and names validators."""
    if isinstance(value, dict):
        return ProjectFields.model_validate(value)
    if isinstance(value, ProjectFields):
        return validate(value)
    return _TEXT_ALONE.validate_python(value)


_TEXT = "A project: its git remote's URL, the folder's path on the client, or else a name."
_SEVERAL = "Or several of these by their names"
InQuery = Annotated[
    _Text | None,
    Field(
        description=f'{_TEXT} {_SEVERAL}, as JSON: {{"origin": …, "root": …}}.',
        examples=["git@github.com:ann/app.git"],
    ),
]
_Either = Annotated[ProjectFields | _Text, WrapValidator(_in_one_form)]
Named = Annotated[_Either, Field(description=f"{_TEXT} {_SEVERAL}.")]
InBody = Annotated[_Either | None, Field(description=f"{_TEXT} {_SEVERAL}.")]


def identity_named(project: ProjectFields | str) -> Identity:
    """Return the project that a request names in one spelling."""
    if isinstance(project, str):
        parts = _parts_in(project)
        return parts.identity() if parts else identify_text(project)
    return project.identity()


def identity_of(project: ProjectFields | str | None) -> Identity | None:
    """Return the project that a request may name in one spelling; None where it names none."""
    return None if project is None else identity_named(project)
