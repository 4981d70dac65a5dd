"""The shapes of OpenAI's embeddings API: what comes in, what goes out."""

from typing import Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from embedding_server.prompts import InputType

# OpenAI's own bound; clients cut their lists to it.
MAX_INPUTS = 2048
# A name comes back in the error that says it is unknown.
MAX_NAME_CHARACTERS = 500


def _refuse(message: str) -> PydanticCustomError:
    # The message travels as a value, so that braces in it are not taken for placeholders.
    return PydanticCustomError("input", "{message}", {"message": message})


def _is_unicode(text: str) -> bool:
    """Tell whether the text can be written as UTF-8; JSON can carry half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_unicode(text: str) -> str:
    if not _is_unicode(text):
        raise PydanticCustomError("unicode", "Input should be valid Unicode")
    return text


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: object) -> object:
    """Take 256.0 for 256, as JSON Schema does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_tokens(value: object) -> bool:
    return isinstance(value, list) and bool(value) and _is_number(value[0])


def _check_list(texts: list[object]) -> None:
    if not texts:
        raise _refuse("'input' must not be an empty list.")
    if _is_tokens(texts) or any(map(_is_tokens, texts[:MAX_INPUTS])):
        raise _refuse(
            "'input' must be text: this server does not take token ids, for those of another "
            "model's tokenizer give vectors without meaning. With LangChain, set "
            "OpenAIEmbeddings(check_embedding_ctx_length=False)."
        )
    if len(texts) > MAX_INPUTS:
        raise _refuse(f"'input' has {len(texts)} texts; at most {MAX_INPUTS} are allowed.")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise _refuse(f"'input[{index}]' must be a string.")
        if not text:
            raise _refuse(f"'input[{index}]' must not be an empty string.")
        if not _is_unicode(text):
            raise _refuse(f"'input[{index}]' is not valid Unicode.")


def _check_input(value: object) -> object:
    if isinstance(value, list):
        _check_list(value)
    elif not isinstance(value, str):
        raise _refuse("'input' must be a string or a list of strings.")
    elif not value:
        raise _refuse("'input' must not be an empty string.")
    elif not _is_unicode(value):
        raise _refuse("'input' is not valid Unicode.")
    return value


# What _check_input refuses, for the description.
_TEXT: Final = {"type": "string", "minLength": 1}
_INPUT: Final = {
    "anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MAX_INPUTS}]
}

UnicodeText = Annotated[str, AfterValidator(_check_unicode)]


class EmbeddingRequest(BaseModel):
    """The body of POST /v1/embeddings; unknown fields are ignored, as clients expect."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [
                {
                    "model": "all-MiniLM-L6-v2",
                    "input": ["The cat purrs.", "Rates rose."],
                    "input_type": "passage",
                }
            ]
        },
    )

    input: Annotated[str | list[str], BeforeValidator(_check_input), WithJsonSchema(_INPUT)] = (
        Field(description=f"A text or up to {MAX_INPUTS} texts, none of them empty.")
    )
    model: UnicodeText = Field(
        max_length=MAX_NAME_CHARACTERS,
        description="The name of the served model; GET /v1/models lists it.",
    )
    encoding_format: Literal["float", "base64"] | None = Field(
        None, description="base64: little-endian float32 bytes, a third of the size."
    )
    dimensions: Annotated[int, Field(ge=1, strict=True), BeforeValidator(_whole)] | None = Field(
        None, description="Length of the vectors, if the model can be cut."
    )
    user: UnicodeText | None = Field(None, description="Accepted and not used.")
    input_type: InputType | None = Field(
        None,
        description="query puts the model's query prompt in front; passage and document "
        "its document prompt, which most models do not have.",
    )
    instruction: UnicodeText | None = Field(
        None,
        min_length=1,
        max_length=2000,
        description="Replaces the task in the query prompt of a model that follows instructions.",
    )
    truncate: bool | None = Field(
        None, strict=True, description="Cut texts that are too long instead of refusing them."
    )

    @property
    def texts(self) -> list[str]:
        """The input as a list."""
        return [self.input] if isinstance(self.input, str) else self.input


class Usage(BaseModel):
    """Tokens that went through the model, prompts and special tokens included."""

    prompt_tokens: int
    total_tokens: int


class Embedding(BaseModel):
    """One vector: numbers, or base64 of little-endian float32."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingList(BaseModel):
    """The answer of POST /v1/embeddings, for the documentation only; see embeddings.py."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: Usage
    truncated: list[int] | None = Field(
        None, description="Indexes of the inputs that were cut; absent when none was."
    )


class Model(BaseModel):
    """A served model: OpenAI's four fields, then what this server adds."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "graph-memory"
    dimensions: int
    min_dimensions: int
    max_model_len: int
    query_prompt: str


class ModelList(BaseModel):
    """The answer of GET /v1/models."""

    object: Literal["list"] = "list"
    data: list[Model]


class ErrorDetail(BaseModel):
    """What went wrong; all four keys are always there."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorDetail


class Health(BaseModel):
    """The state of the model."""

    status: Literal["ok", "loading", "failed"]
    model: str | None
    dimensions: int | None = None
    device: str | None = None
    error: ErrorDetail | None = None
