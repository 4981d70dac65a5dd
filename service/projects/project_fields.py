"""A project as requests name it, in a body and in a query."""

from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from service.errors import InvalidRequest
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


_TEXT = "A project: its git remote's URL, the folder's path on the client, or else a name."
_SEVERAL = "Or several of these by their names"
InQuery = Annotated[
    Said | None,
    Field(
        description=f'{_TEXT} {_SEVERAL}, as JSON: {{"origin": …, "root": …}}.',
        examples=["git@github.com:ann/app.git"],
    ),
]
Named = Annotated[ProjectFields | Said, Field(description=f"{_TEXT} {_SEVERAL}.")]
InBody = Annotated[ProjectFields | Said | None, Field(description=f"{_TEXT} {_SEVERAL}.")]


def identity_named(project: ProjectFields | str) -> Identity:
    """Return the project that a request names in one spelling; raises InvalidRequest.

    A query has one text for it: several parts stand in it as JSON.
    """
    if not isinstance(project, str):
        return project.identity()
    if not project.lstrip().startswith("{"):
        return identify_text(project)
    try:
        return ProjectFields.model_validate_json(project).identity()
    except ValidationError as error:
        msg = 'project: send {"origin": …, "root": …, "name": …} as JSON, any of them, or a text.'
        raise InvalidRequest(msg) from error


def identity_of(project: ProjectFields | str | None) -> Identity | None:
    """Return the project that a request may name in one spelling; None where it names none."""
    return None if project is None else identity_named(project)
