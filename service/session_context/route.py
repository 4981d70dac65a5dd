"""The door of /session-context: a session that begins is warm in one call."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from service.field_types import WHOLE, Label, OwnAgent
from service.intents.standing import fire
from service.projects.project_fields import InBody, InQuery, identity_of
from service.projects.registry import find_scope, register
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.records import Memory
from service.search.ranking import Searcher
from service.session_context.packing import Budget, PackedSection
from service.session_context.reading import find_all
from service.session_context.sections import Found, compose
from service.sessions.asking import TheGiven
from service.sessions.given import Given, Session
from service.stages import Stages
from service.text.tokens import estimate_prompt_tokens
from service.web.bodies import JsonRoute
from service.web.declared import problems
from service.web.fields import IN_A_QUERY, Strict, body_example, own_agent
from service.web.parts import part
from service.working_memory.texts import Place

router = APIRouter(prefix="/session-context", tags=["continuity"], route_class=JsonRoute)

TheSearcher = Annotated[Searcher, part(Searcher)]

_DEFAULT_TOKENS: Final = 2000
_MOST: Final = 10_000_000
_INTENTS: Final = "intents"
# What a client says when the session lost what it was given.
_LOST: Final = frozenset({"clear", "compact"})

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


@router.post("", operation_id="session_context", responses=problems(SwitchedOff))
async def post_session_context(
    searcher: TheSearcher, given: TheGiven, request: SessionContextRequest
) -> SessionContext:
    """Tell a session that begins what it should know: rules, handoff, focus, decisions and more.

    In a fixed order, within the budget, as background that may be out of date. What nobody trusted
    said is not in it. The same store gives the same bytes. With `session` it is noted what it was
    given, so that searches with `new_only` leave it out.
    """
    identity = identity_of(request.project)
    scope = await register(searcher.db, request.agent, identity) if identity else None
    await refuse_switched_off(searcher.db, request.agent, scope, request.session)
    place = Place(request.agent, scope, request.session)
    if request.session is None:
        return await _fired(searcher, place, (await _compose(searcher, request, place, ()))[0])
    session = Session(request.agent, request.session)
    if request.source in _LOST:
        await given.lose(session)
    async with given.turn(session):
        without = await _known(given, request)
        context, told = await _compose(searcher, request, place, without)
        given.note_behind(session, "session_context", told)
    return await _fired(searcher, place, context)


@router.get("", operation_id="session_context_get", responses=problems(SwitchedOff))
async def get_session_context(
    searcher: TheSearcher,
    given: TheGiven,
    parameters: Annotated[SessionContextParameters, Query()],
) -> SessionContext:
    """Do the same for curl and a browser; nothing is noted."""
    identity = identity_of(parameters.project)
    scope = await find_scope(searcher.db, parameters.agent, identity) if identity else None
    await refuse_switched_off(searcher.db, parameters.agent, scope, parameters.session)
    place = Place(parameters.agent, scope, parameters.session)
    without = await _known(given, parameters)
    return (await _compose(searcher, parameters, place, without))[0]


async def _fired(searcher: Searcher, place: Place, context: SessionContext) -> SessionContext:
    """Count the intents that it tells as said."""
    said = [key for section in context.sections if section.name == _INTENTS for key in section.ids]
    await fire(searcher.db, place.agent, said, datetime.now(UTC))
    return context


async def _known(given: Given, options: SessionContextOptions) -> tuple[str, ...]:
    """Return what a session that goes on has already; any other is told all of it."""
    if options.session is None or options.source != "resume":
        return ()
    return await given.known(Session(options.agent, options.session))


async def _compose(
    searcher: Searcher, options: SessionContextOptions, place: Place, without: tuple[str, ...]
) -> tuple[SessionContext, list[tuple[Memory, str]]]:
    """Return the context, and the memories whose words are in it, each with its section."""
    stages = Stages()
    found = await find_all(searcher.engine, searcher.db, place, without)
    text, packed = compose(found, options.budget, place.agent, place.scope)
    tokens, is_json = estimate_prompt_tokens(text), options.format == "json"
    receipt = ContextReceipt(
        stages.took_ms(), place.scope, options.budget.tokens, options.max_chars, len(without)
    )
    sections = [_section(one, tokens, with_text=is_json) for one in packed]
    context = SessionContext(None if is_json else text, sections, tokens, len(text), receipt)
    return context, _told(found, packed)


def _section(packed: PackedSection, tokens: int, *, with_text: bool) -> Section:
    share = estimate_prompt_tokens(packed.text) / tokens if tokens else 0.0
    ids = [one.id for one in packed.pieces if one.id]
    return Section(
        packed.name, round(share, 4), ids, packed.left_out, packed.text if with_text else None
    )


def _told(found: Found, packed: list[PackedSection]) -> list[tuple[Memory, str]]:
    """Return the memories whose words were told; of the index only titles were."""
    sections = {
        one.id: section.name
        for section in packed
        if section.name != "index"
        for one in section.pieces
    }
    handoff = [found.handoff] if found.handoff else []
    rules = (*found.constraints, *found.decisions, *found.preferences)
    every = {one.id: one for one in (*handoff, *rules, *found.hot, *found.others)}
    return [(one, sections[key]) for key, one in every.items() if key in sections]
