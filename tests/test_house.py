"""The rules of the house, as far as a machine can check them; each checker is tried on bad code."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]

# From the ground up. A module imports from its own floor and from those below, never from above;
# on the floors marked with ! not from its own either. A module without a floor fails.
FLOORS = {
    "service": """
nouns!    errors records version words
threads   index.scanning
pure      concepts.shares concepts.variants
pure      cursors fields ingest.blocks ingest.chains ingest.characters
pure      ingest.abbreviations ingest.identifiers ingest.wide ingest.wide_names
pure      ingest.dictionary ingest.drafts ingest.front_matter ingest.markdown ingest.mentions
pure      failures index.adding index.agent_index index.batches index.columns index.facts
pure      index.graph
pure      index.neighbours index.postings index.taking index.text index.vectors index.weighing terms
pure      ingest.names ingest.parts ingest.places ingest.relations ingest.sentences ingest.sizes
pure      ingest.subjects
pure      graph.edges graph.measures graph.pairs
pure      consolidate.density consolidate.distilling consolidate.grouping consolidate.likeness
pure      consolidate.mending consolidate.passages consolidate.sayings consolidate.wording
pure      search.anchors search.answers search.beam search.blending search.certainty
pure      search.concept_votes search.evidence search.scoring
pure      search.diversity search.duplicates search.eastern_times search.english_times
pure      search.fusion search.paths search.periods search.ranked search.receipts search.recency
pure      search.small_talk search.time_words search.times
pure      recall.walk vector_forms
files     store_address
codec     driver
borders   asking database embedder ingest.folders layers problems queries reranker
borders   search.engine settings
queries   agents graph.reading index.loading ingest.stored memories.fetching search.candidates
queries   search.database_engine search.refining search.score_fusion search.stored_evidence
queries   search.when vectors
texts     text_index
following flushing index.follow
census    index.census
residents index.engine index.residency
deeds     ingest.expansions ingest.linking ingest.merges ingest.plans ingest.sync
deeds     ingest.vocabulary
deeds     ingest.writing search.hybrid search.ranking
deeds     consolidate.effects consolidate.originals consolidate.revising consolidate.summaries
deeds     consolidate.reading
wider     ingest.declared ingest.jobs ingest.pending ingest.remote ingest.scan memories.storing
wider     concepts.merging graph.report recall.expansion
wider     consolidate.executing consolidate.planning consolidate.undoing
parts     consolidate.consolidating consolidate.shapes
parts     dependencies ingest.accepted memories.shapes opening search.shapes
doors!    concepts.route consolidate.route documents.route graph.route health hooks.route
doors!    ingest.route
doors!    memories.route recall.route
doors!    index.route search.route stats.route
commands  consolidate.command graph.command ingest.command reembed switching
app       app
process   command __main__""",
    "embedding_server": """
nouns!    errors instruments settings vectors
pure      encoders.bert_graph encoders.encoder encoders.hashing encoders.prompts
pure      scheduling.admission scheduling.batch_queue scheduling.failed_texts
pure      serving.warm_up web.protocol
model     encoders.folders encoders.minilm encoders.onnx_bert encoders.opening encoders.qwen3
model     encoders.qwen3_example
model     encoders.sentence_transformer encoders.sources encoders.torch_memory
thread    serving.batching serving.served_model serving.watchdog
edge      web.api_key web.body_limit web.disconnects web.error_responses web.log_format
edge      web.request_log
parts     web.dependencies web.inputs
doors!    routes.embeddings routes.health routes.metrics routes.models
app       app
process   command __main__""",
}
_PLACES = [(p, *line.split()) for p, table in FLOORS.items() for line in table.strip().splitlines()]
_ORDER = {
    package: list(dict.fromkeys(f for p, f, *_ in _PLACES if p == package)) for package in FLOORS
}
FLOOR_OF = {f"{p}.{m}": (_ORDER[p].index(f), f) for p, f, *modules in _PLACES for m in modules}
NO_FLOOR = (99, "no floor")

# Which modules may import what. asking is the command line asking the running service; layers and
# command wrap the app as ASGI, outside of what FastAPI sees.
RESERVED = {
    r"surrealdb": r"service\.driver",
    r"httpx|requests|aiohttp|http\.client|urllib\.request": r"service\."
    r"(asking|embedder|reranker)",
    r"fastapi": r"service\.(app|dependencies|problems|health|\w+\.route)|"
    r"embedding_server\.(app|web\.(api_key|dependencies|error_responses)|routes\.\w+)",
    r"starlette": r"service\.(command|ingest\.accepted|layers|problems)|"
    r"embedding_server\.(app|web\.(api_key|body_limit|disconnects|error_responses|request_log))",
    r"torch|sentence_transformers": r"embedding_server\.encoders\."
    r"(qwen3|sentence_transformer|torch_memory)",
}
IO = r"(asyncio|fastapi|httpx?|os|shutil|socket|starlette|subprocess|surrealdb|torch|urllib)(\.|$)"
# app keeps background work going after a defect; problems render what nobody has named.
CATCH_ALL = frozenset({"service.app", "service.problems", "embedding_server.web.error_responses"})
VAGUE = re.compile(
    r"\.(base|common|core|handlers?|helpers?|lib|managers?|misc|services?|shared|tools|utils?"
    r"|utilit(y|ies))(\.|$)"
)
MOST_LINES, MOST_FUNCTION_LINES, MOST_PARAMETERS = 300, 60, 6
URL_OF_ROOM = {"recall": "graph-recall"}  # the contract's name for the deed
WRITES = re.compile(r"^\s*(CREATE|DELETE|INSERT|RELATE|REMOVE|UPDATE|UPSERT)\b", re.MULTILINE)
VARIABLE = re.compile(r"\$(\w+)")

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORT = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Module:
    """One module: its dotted name and its text."""

    name: str
    text: str

    @property
    def nodes(self) -> list[ast.AST]:
        """Every node of the syntax tree, the module itself first."""
        return list(ast.walk(ast.parse(self.text)))


def _read(path: Path) -> Module:
    name = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)
    return Module(name, path.read_text(encoding="utf-8"))


MODULES = [_read(path) for p in FLOORS for path in sorted((REPOSITORY / p).rglob("*.py"))]
NAMES = frozenset(module.name for module in MODULES)
QUERIES = sorted(path.relative_to(REPOSITORY) for path in REPOSITORY.glob("service/**/*.surql"))


def imported(module: Module) -> Iterator[tuple[str, str]]:
    """Yield place and dotted name of every import; a module of ours by its full name."""
    for node in module.nodes:
        if isinstance(node, IMPORT):
            origin = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for full in (origin + alias.name for alias in node.names):
                name = full.rpartition(".")[0] if origin and full not in NAMES else full
                yield f"{module.name}:{node.lineno}", name


def wrong_ways(module: Module) -> list[str]:
    """Return the imports that lead up, sideways on a strict floor, or to the other package."""
    number, floor = FLOOR_OF.get(module.name, NO_FLOOR)
    faults = []
    for place, name in dict.fromkeys(imported(module)):
        if name.partition(".")[0] in FLOORS:
            other = FLOOR_OF.get(name, NO_FLOOR)
            is_foreign = name.partition(".")[0] != module.name.partition(".")[0]
            if is_foreign or other[0] > number or (other[0] == number and floor.endswith("!")):
                faults.append(f"{place} ({floor}) imports {name} ({other[1]})")
    return faults


def wrong_imports(module: Module) -> list[str]:
    """Return hidden and relative imports, reserved packages, and side effects of pure modules."""
    faults, is_pure = [], FLOOR_OF.get(module.name, NO_FLOOR)[1] in {"nouns!", "pure"}
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            faults.append(f"{module.name}:{node.lineno} is relative")
        if isinstance(node, (*FUNCTION, ast.ClassDef)):
            inner = [n for n in ast.walk(node) if isinstance(n, IMPORT)]
            faults += [f"{module.name}:{n.lineno} imports inside {node.name}" for n in inner]
    for place, name in imported(module):
        owners = [who for what, who in RESERVED.items() if re.match(rf"({what})(\.|$)", name)]
        if not all(re.fullmatch(who, module.name) for who in owners):
            faults.append(f"{place} imports {name}, which is reserved")
        if is_pure and re.match(IO, name):
            faults.append(f"{place} is pure and imports {name}")
    return faults


def cycles(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the modules from which imports lead back to themselves."""
    reached = {name: set(found) for name, found in imports.items()}
    for _ in imports:
        for name, found in reached.items():
            reached[name] = found.union(*(reached.get(other, set()) for other in found))
    return sorted(name for name, found in reached.items() if name in found)


def wrong_shapes(module: Module) -> list[str]:
    """Return what is too long, too vague or undocumented, and what catches everything."""
    name, size, tree = module.name, module.text.count("\n"), module.nodes[0]
    assert isinstance(tree, ast.Module)
    faults = [f"{name} has {size} lines"] if size > MOST_LINES else []
    faults += [f"{name} says nothing by its name"] if VAGUE.search(name) else []
    faults += [] if ast.get_docstring(tree) else [f"{name} has no docstring"]
    if name.endswith("__init__") and (size, len(tree.body)) != (1, 1):
        faults.append(f"{name} is more than one docstring")
    for node in module.nodes:
        if isinstance(node, FUNCTION):
            faults += [f"{name}:{node.lineno} {fault}" for fault in _wrong_function(node, name)]
        if isinstance(node, ast.ExceptHandler) and name not in CATCH_ALL:
            caught = {getattr(n, "id", "") for n in ast.walk(node.type or ast.Name("Exception"))}
            if caught & {"Exception", "BaseException"}:
                faults.append(f"{name}:{node.lineno} catches everything")
    return faults + [f"{name}: {public} has no docstring" for public in _undocumented(tree)]


def _wrong_function(node: Function, module: str) -> Iterator[str]:
    size = (node.end_lineno or 0) - node.lineno + 1
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    count = sum(argument.arg not in {"self", "cls"} for argument in arguments)
    is_route = module.endswith(".route") and bool(node.decorator_list)
    if size > MOST_FUNCTION_LINES:
        yield f"{node.name} has {size} lines"
    if count > MOST_PARAMETERS and not is_route:
        yield f"{node.name} takes {count} parameters"


def _undocumented(scope: ast.Module | ast.ClassDef) -> Iterator[str]:
    for node in scope.body:
        if isinstance(node, (*FUNCTION, ast.ClassDef)) and not node.name.startswith("_"):
            if ast.get_docstring(node) is None:
                yield node.name
            if isinstance(node, ast.ClassDef):
                yield from _undocumented(node)


def wrong_query(name: str, text: str) -> list[str]:
    """Return what is wrong with a query file: its header, its mark as a writer, its variables."""
    found = re.match(r"(?:--.*\n)*", text)
    header = found[0] if found else ""
    body = text[len(header) :]
    lines = header.splitlines()
    faults = [] if re.match(r"-- [A-Z]", header) else [f"{name} does not say what it is"]
    if not any(line == "-- writes" or line.startswith("-- gives: ") for line in lines):
        faults.append(f"{name} neither gives nor writes")
    if bool(WRITES.search(body)) != ("-- writes" in lines):
        faults.append(f"{name} is marked wrongly as to writing")
    takes = set(VARIABLE.findall("".join(n for n in lines if n.startswith("-- takes: "))))
    made = {"this", "parent", "input", *re.findall(r"(?:LET|FOR) \(?\$(\w+)", body)}
    made.update(VARIABLE.findall("".join(re.findall(r"\|(\$[^|]*)\|", body))))
    used = set(VARIABLE.findall(body)) - (made - takes)
    return faults + ([f"{name} takes {takes ^ used} in one place only"] if takes != used else [])


def urls(door: Module) -> Iterator[str]:
    """Yield the first word of each URL that a door answers to."""
    prefix = "".join(re.findall(r'APIRouter\(prefix="([^"]+)"', door.text))
    for path in re.findall(r'@router\.\w+\(\s*"([^"]*)"', door.text):
        yield (prefix + path).split("/")[1]


def loaded_queries(module: Module) -> list[str]:
    """Return the paths of the query files that a module loads."""
    folder = module.name.rpartition(".")[0].replace(".", "/")
    calls = [n for n in module.nodes if isinstance(n, ast.Call) and len(n.args) == 2]
    names = [
        ast.literal_eval(n.args[1]) for n in calls if getattr(n.func, "id", "") == "load_query"
    ]
    return [f"{folder}/{name}.surql" for name in names]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_a_module_keeps_the_rules(module: Module) -> None:
    is_lobby = module.name.endswith("__init__")
    ways = [] if is_lobby else wrong_ways(module) + wrong_imports(module)
    assert ways + wrong_shapes(module) == []


def test_imports_never_lead_back_and_every_floor_is_lived_on() -> None:
    assert cycles({m.name: {name for _, name in imported(m)} & NAMES for m in MODULES}) == []
    assert FLOOR_OF.keys() == {name for name in NAMES if not name.endswith("__init__")}


def test_every_query_is_described_and_loaded_once() -> None:
    texts = {path: (REPOSITORY / path).read_text(encoding="utf-8") for path in QUERIES}
    # Words that queries.py puts into several queries.
    named = re.findall(r"^-- with: (\S+)$", "\n".join(texts.values()), re.MULTILINE)
    shared = {Path(f"service/{name}.surql") for name in named}
    faults = [
        fault
        for path, text in texts.items()
        for fault in wrong_query(str(path), text)
        if path not in shared or fault.endswith("what it is")
    ]
    loads = Counter(path for module in MODULES for path in loaded_queries(module))
    assert (faults, loads) == ([], Counter(str(path) for path in QUERIES if path not in shared))


def test_every_room_has_a_door_under_its_own_word() -> None:
    doors = {m.name.split(".")[1]: set(urls(m)) for m in MODULES if m.name.endswith(".route")}
    rooms = {path.parent.name for path in REPOSITORY.glob("service/*/__init__.py")}
    assert doors == {room: {URL_OF_ROOM.get(room, room)} for room in rooms}


BAD_MODULES = {
    "imports service.search.hybrid": ("service.database", "from service.search import hybrid"),
    "imports service.recall.route": ("service.search.route", "from service.recall import route"),
    "imports embedding_server.errors": ("service.app", "import embedding_server.errors"),
    "is relative": ("service.app", "from . import errors"),
    "imports inside f": ("service.app", 'def f():\n    """Do."""\n    import json'),
    "surrealdb.errors, which is reserved": ("service.agents", "import surrealdb.errors"),
    "httpx, which is reserved": ("service.vectors", "import httpx"),
    "fastapi, which is reserved": ("service.ingest.scan", "from fastapi import Request"),
    "is pure and imports os": ("service.search.fusion", "from os import path"),
    "has 301 lines": ("service.app", "\n" * 301),
    "f has 61 lines": ("service.app", "def f():" + "\n    1" * 60),
    "f takes 7 parameters": ("service.app", "def f(a, b, c, d, *, e, g, h): ..."),
    "says nothing by its name": ("service.search.utils", ""),
    "is more than one docstring": ("service.search.__init__", "import json"),
    "service.app has no docstring": ("service.app", "import json"),
    "C has no docstring": ("service.app", "class C: ..."),
    "service.agents:3 catches everything": ("service.agents", "try: ...\n\nexcept Exception: ..."),
    "service.agents:2 catches everything": ("service.agents", "try: ...\nexcept (E, Exception): 0"),
}
BAD_QUERIES = {
    "does not say": "-- takes: $ids\n-- gives: id\nSELECT id FROM $ids;",
    "neither gives": "-- Rows.\n-- takes: $ids\nSELECT id FROM $ids;",
    "wrongly as to writing": "-- Rows.\n-- gives: nothing\nLET $a = 1;\nDELETE memory;",
    "takes {'limit'}": "-- Rows.\n-- gives: id\nSELECT id FROM memory LIMIT $limit;",
    "takes {'ids'}": "-- Rows.\n-- takes: $ids\n-- gives: id\nSELECT id FROM memory;",
}


@pytest.mark.parametrize(("fault", "bad"), BAD_MODULES.items())
def test_a_bad_module_is_noticed(fault: str, bad: tuple[str, str]) -> None:
    module = Module(*bad)
    ways = wrong_ways(module) + wrong_imports(module) if module.name in FLOOR_OF else []
    assert any(fault in found for found in ways + wrong_shapes(module))


@pytest.mark.parametrize(("fault", "text"), BAD_QUERIES.items())
def test_a_bad_query_is_noticed(fault: str, text: str) -> None:
    assert any(fault in found for found in wrong_query("bad", text))


def test_a_cycle_is_noticed() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]
