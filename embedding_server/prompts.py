"""The words that a model wants in front of a text, by what the text is for."""

import re
from dataclasses import dataclass
from typing import Literal

from embedding_server.errors import InvalidRequest

InputType = Literal["query", "passage", "document"]

# The form of Qwen3-Embedding's queries. Some models of the same family keep a space after
# "Query:", Qwen3 does not, and a stray space changes the vector.
INSTRUCTED = re.compile(r"\AInstruct: .*\n(?P<label>Query: ?)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompts:
    """A model's prompts: for queries, for passages, and for texts of which nothing is said."""

    query: str = ""
    passage: str = ""
    default: str = ""

    def choose(self, input_type: InputType | None, instruction: str | None) -> str:
        """Return what goes in front of the text.

        An instruction without an input type makes the text a query. Raises InvalidRequest for an
        instruction that the model cannot follow.
        """
        if instruction is not None:
            return self._instruct(input_type, instruction)
        if input_type is None:
            return self.default
        return self.query if input_type == "query" else self.passage

    def _instruct(self, input_type: InputType | None, instruction: str) -> str:
        if input_type not in {None, "query"}:
            raise InvalidRequest(
                f"'instruction' goes with input_type 'query' only; input_type is '{input_type}'.",
                param="instruction",
            )
        form = INSTRUCTED.match(self.query)
        if form is None:
            raise InvalidRequest("This model takes no 'instruction'.", param="instruction")
        return f"Instruct: {instruction}\n{form['label']}"
