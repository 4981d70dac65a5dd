"""The door of /session-context: a session that begins is warm in one call."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from fastapi import Body, Query
from pydantic import Field

from service.field_types import WHOLE, Label, OwnAgent
from service.projects.place import scope_named
from service.projects.project_fields import InBody, InQuery, identity_of
from service.projects.registry import register_to_tell
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.search.searcher import Searcher
from service.session_context.packing import Budget, PackedSection
from service.session_context.telling import Told, look, tell
from service.sessions.asking import TheGiven
from service.stages import Stages
from service.text.tokens import estimate_prompt_tokens
from service.web.declared import problems
from service.web.fields import IN_A_QUERY, Strict, body_example, own_agent
from service.web.parts import part
from service.web.room import Room
from service.working_memory.texts import Place

router = Room("continuity", prefix="/session-context")

TheSearcher = Annotated[Searcher, part(Searcher)]

_DEFAULT_TOKENS: Final = 2000
_MOST: Final = 10_000_000

Most = Annotated[int, Field(ge=0, le=_MOST), WHOLE]


class SessionContextOptions(Strict):
    """Which session begins, and how much it can take."""

    agent: OwnAgent = own_agent()
    session: Label | None = Field(None, description="The session that begins or goes on.")
    source: Literal["startup", "resume", "clear", "compact"] = Field(
        "startup",
        description="Why it is asked. `resume`: only what this session has not been given yet. "
        "`clear` and `compact`: it lost what it was given, all of it may be given again.",
    )
    max_tokens: Most | None = Field(
        None, description=f"Most tokens, by estimate. Unset without `max_chars`: {_DEFAULT_TOKENS}."
    )
    max_chars: Most | None = Field(None, description="Most characters.")
    format: Literal["markdown", "json"] = Field(
        "markdown", description="`json`: the text of each section by itself, and no `text`."
    )

    @property
    def budget(self) -> Budget:
        """The room that there is."""
        tokens = self.max_tokens
        if tokens is None:
            tokens = _DEFAULT_TOKENS if self.max_chars is None else _MOST
        return Budget(tokens, self.max_chars)


class SessionContextRequest(SessionContextOptions):
    """A session that begins, and the project that it is in."""

    model_config = body_example(
        project={"origin": "git@github.com:ann/app.git", "root": "/home/ann/app"},
        session="s-0142", source="startup", max_chars=9500,
    )  # fmt: skip

    project: InBody = None


class SessionContextParameters(SessionContextOptions):
    """The same as query parameters; nothing is noted."""

    model_config = IN_A_QUERY

    project: InQuery = None


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its share of the tokens, the ids of its memories, how many did not fit.

    `text` is there with `format: "json"`.
    """

    name: str
    share: float
    ids: list[str]
    left_out: int
    text: Annotated[str | None, Field(exclude_if=lambda text: text is None)] = None


@dataclass(frozen=True, slots=True)
class ContextReceipt:
    """What it cost, the scope of the project, the room there was, and how much was known."""

    took_ms: float
    scope: str | None
    max_tokens: int
    max_chars: int | None
    known: int


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What the session should know, in its order; `text` is empty where there is nothing to say."""

    text: str | None
    sections: list[Section]
    tokens: int
    chars: int
    receipt: ContextReceipt


_BY_DEFAULT: Final[Any] = Body(default_factory=SessionContextRequest)


@router.post("", operation_id="session_context", responses=problems(SwitchedOff))
async def post_session_context(
    searcher: TheSearcher, given: TheGiven, request: SessionContextRequest = _BY_DEFAULT
) -> SessionContext:
    """Tell a session that begins what it should know: rules, handoff, focus, decisions and more.

    In a fixed order, within the budget, as background that may be out of date. What nobody trusted
    said is not in it. The same store gives the same bytes. With `session` it is noted what it was
    given, so that searches with `new_only` leave it out.
    """
    identity = identity_of(request.project)
    scope = await register_to_tell(searcher.db, request.agent, identity) if identity else None
    await refuse_switched_off(searcher.db, request.agent, scope, request.session)
    place, stages, budget = Place(request.agent, scope, request.session), Stages(), request.budget
    told = await tell(searcher, given, place, request.source, budget)
    return _answer(request, place, told, stages)


@router.get("", operation_id="session_context_get", responses=problems(SwitchedOff))
async def get_session_context(
    searcher: TheSearcher,
    given: TheGiven,
    parameters: Annotated[SessionContextParameters, Query()],
) -> SessionContext:
    """Do the same for curl and a browser; nothing is noted."""
    scope = await scope_named(searcher.db, parameters.agent, parameters.project)
    await refuse_switched_off(searcher.db, parameters.agent, scope, parameters.session)
    place, stages = Place(parameters.agent, scope, parameters.session), Stages()
    told = await look(searcher, given, place, parameters.source, parameters.budget)
    return _answer(parameters, place, told, stages)


def _answer(
    options: SessionContextOptions, place: Place, told: Told, stages: Stages
) -> SessionContext:
    tokens, is_json = estimate_prompt_tokens(told.text), options.format == "json"
    receipt = ContextReceipt(
        stages.took_ms(), place.scope, options.budget.tokens, options.max_chars, told.known
    )
    sections = [_section(one, tokens, with_text=is_json) for one in told.sections]
    text = None if is_json else told.text
    return SessionContext(text, sections, tokens, len(told.text), receipt)


def _section(packed: PackedSection, tokens: int, *, with_text: bool) -> Section:
    share = estimate_prompt_tokens(packed.text) / tokens if tokens else 0.0
    ids = [one.id for one in packed.pieces if one.id]
    return Section(
        packed.name, round(share, 4), ids, packed.left_out, packed.text if with_text else None
    )
