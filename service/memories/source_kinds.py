"""How a memory came to be, as its writer may say it: the service's own words are not his."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from service.records import CONSOLIDATION, DOCUMENT

# What the service says of its own memories: read from a document, made of others.
_OWN_KINDS: Final = (CONSOLIDATION, DOCUMENT)


def _of_a_writer(source_kind: str) -> str:
    if source_kind in _OWN_KINDS:
        msg = (
            f"is the service's own: any word in lower case but {' and '.join(_OWN_KINDS)} is "
            "allowed, such as push, chat or tool"
        )
        raise ValueError(msg)
    return source_kind


SourceKind = Annotated[
    str, Field(
        pattern=r"^[a-z][a-z0-9_-]{0,49}$", json_schema_extra={"not": {"enum": [*_OWN_KINDS]}},
        description="How it came to be, in a word of your own; `consolidation` and `document` are "
        "the service's.",
    ),
    AfterValidator(_of_a_writer),
]  # fmt: skip
