"""Documents of projects that memory is switched off for are not taken in."""

import asyncio
from collections.abc import Sequence

from service.drafts.drafts import DocumentText
from service.projects.switched_off import refuse_any_switched_off
from service.store.database import Database
from service.text.clean import clean_text
from service.text.front_matter import read_front_matter

# What front matter begins with, in YAML and in TOML.
_FENCES = ("---", "+++")


async def refuse_switched_off_documents(db: Database, documents: Sequence[DocumentText]) -> None:
    """Raise SwitchedOff where one is of such a project: by its scope, or what it says itself."""
    places = await asyncio.to_thread(lambda: [(one.agent, _scope(one), None) for one in documents])
    await refuse_any_switched_off(db, places)


def _scope(document: DocumentText) -> str | None:
    text = clean_text(document.text).text
    if document.scope or not text.startswith(_FENCES):
        return document.scope
    return read_front_matter(text.split("\n")).front_matter.scope
