"""Making one store and one embedding model fit: what the store says of its vectors, and its form.

The facts lie in meta:embedding: fingerprint, dimensions, form, and the canary's vector.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from service.errors import FingerprintMismatch, ModelSwapped, VectorFormMismatch
from service.inference.model import EmbeddingModel
from service.records import Vector
from service.store.database import BUILDING_PATIENCE, Database
from service.store.queries import load_query
from service.store.vector_forms import (
    ENGINE_OF_FORM,
    MIXED,
    VectorForm,
    read_vector,
    stored_vector,
)

log = logging.getLogger(__name__)

HAS_VECTORS: Final = load_query(__package__, "has_vectors")
FORGET_VECTOR_INDEX: Final = load_query(__package__, "forget_vector_index")

# int8 and exact all-MiniLM-L6-v2, which may stand for each other, lie within 0.99; another batch,
# thread or card within 0.999. Of two models with equally many dimensions it is about 0.
_SAME_COSINE: Final = 0.98
_WAY_OUT: Final = (
    "Start the old model again, or run `graph-memory reembed` while the service is stopped to "
    "have every memory embedded anew."
)


class Fitting:
    """Brings a store into the form that its search engine needs, for the model that answers."""

    def __init__(self, db: Database, schema: str, form: VectorForm) -> None:
        self.form: Final = form
        self._db = db
        self._schema = schema

    async def facts(self) -> dict[str, Any]:
        """Return what the store says of its vectors; empty before the first model."""
        return await self._db.meta("embedding")

    async def form_to_be(self, facts: Mapping[str, Any]) -> str:
        """Return the form of the store once new vectors join those that it holds.

        Raises VectorFormMismatch where the engine could not search them all.
        """
        if stored_form(facts) == self.form or not await self._db.run(HAS_VECTORS):
            return self.form
        if self.form == "array":
            msg = (
                f"The store holds vectors as bytes, which the engine `{ENGINE_OF_FORM['array']}` "
                "cannot search: run `graph-memory switch-engine` while the service is stopped."
            )
            raise VectorFormMismatch(msg)
        return MIXED

    async def take(
        self, facts: Mapping[str, Any], model: EmbeddingModel, form: str, canary: Vector
    ) -> None:
        """Make the store ready for vectors of this model; the mark is there before the vectors."""
        if self.form == "array":
            await self._db.define_index(self._schema, "vectors", dimensions=model.dimensions)
        new = {
            "fingerprint": model.fingerprint, "dimensions": model.dimensions, "form": form,
            # What it was first, for small differences must not add up.
            "canary": facts.get("canary") or stored_vector(canary, "bytes"),
        }  # fmt: skip
        if new != facts:
            await self._db.set_meta("embedding", new)
            if self.form == "bytes":
                await self._db.run(FORGET_VECTOR_INDEX)
        if form == MIXED:
            log.info(
                "the store holds vectors as arrays, which load much slower than bytes: run "
                "`graph-memory switch-engine` while the service is stopped"
            )

    async def begin_switch(self, facts: Mapping[str, Any]) -> None:
        """Mark the store as mixed and forget the index, so that rows of both forms can lie there.

        The mark comes first: whatever is interrupted after it, the next start knows.
        """
        await self._db.set_meta("embedding", {**facts, "form": MIXED})
        await self._db.run(FORGET_VECTOR_INDEX)

    async def end_switch(self, facts: Mapping[str, Any]) -> None:
        """Build the index if the form needs one, and mark the store as wholly of this form."""
        if self.form == "array":
            dimensions = facts["dimensions"]
            await self._db.define_index(self._schema, "vectors", BUILDING_PATIENCE, dimensions)
        await self._db.set_meta("embedding", {**facts, "form": self.form})


def stored_form(facts: Mapping[str, Any]) -> str:
    """Return the form that meta:embedding tells; stores from before there were two say nothing."""
    form: str = facts.get("form", "array")
    return form


def stored_canary(facts: Mapping[str, Any]) -> Vector | None:
    """Return the canary's vector; None of a store from before there was one."""
    return read_vector(facts["canary"]) if facts.get("canary") else None


def compare(facts: Mapping[str, Any], model: EmbeddingModel, canary: Vector) -> None:
    """Raise FingerprintMismatch, or ModelSwapped, unless the store's vectors are this model's."""
    stored = facts.get("fingerprint")
    if stored not in {None, model.fingerprint}:
        msg = (
            f"The store's vectors were made by {stored}, the embedding server offers "
            f"{model.fingerprint}. {_WAY_OUT}"
        )
        raise FingerprintMismatch(msg)
    check_canary(canary, stored_canary(facts), model.fingerprint)


def check_canary(canary: Vector, stored: Vector | None, fingerprint: str) -> None:
    """Raise ModelSwapped where a fixed text has another vector than when the store began."""
    if stored is None:
        return
    cosine = float(np.dot(canary, stored)) if len(canary) == len(stored) else 0.0
    if cosine < _SAME_COSINE:
        msg = (
            f"The embedding server still calls its model {fingerprint}, but it is another one: a "
            f"fixed text has another vector than the store's (cosine {cosine:.2f}). {_WAY_OUT}"
        )
        raise ModelSwapped(msg)
