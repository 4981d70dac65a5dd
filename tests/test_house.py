"""The rules of the house, as far as a machine can check them; each checker is tried on bad code."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from scripts.house.rooms import (
    PURE,
    RANKS,
    REPOSITORY,
    ROOMS,
    Module,
    imported,
    read_modules,
    room_of,
)
from service.store.queries import GENERATED

# Which modules may import what. layers, accepted and the command of serving wrap the app as ASGI,
# outside of what FastAPI sees.
RESERVED = {
    r"surrealdb": r"service\.store\.driver",
    r"httpx|requests|aiohttp|http\.client|urllib\.request": r"service\."
    r"(inference\.(asking|embedder|reranker)|client\.\w+|commands\.\w+)",
    r"fastapi": r"service\.(app|web\.\w+|operate\.\w+|\w+\.route)|"
    r"embedding_server\.(app|web\.(api_key|connections|dependencies|error_responses|large_bodies)|"
    r"routes\.\w+)",
    r"starlette": r"service\.(commands\.\w+|"
    r"web\.(accepted|auditing|authentication|body_room|connections|door|gate|layers|pages|parts|"
    r"problems))|"
    r"embedding_server\.(app|web\.(api_key|body_limit|disconnects|door|error_responses|request_log))",
    r"mcp|mcp_types": r"service\.mcp\.\w+",
    r"torch|sentence_transformers": r"embedding_server\.encoders\."
    r"(qwen3|sentence_transformer|torch_memory)",
}
IO = (
    r"(asyncio|fastapi|httpx?|os|shutil|socket|starlette|subprocess|surrealdb|torch|"
    r"urllib\.request)(\.|$)"
)
# app keeps background work going after a defect; problems render what nobody has named.
CATCH_ALL = frozenset(
    {"service.app", "service.web.problems", "embedding_server.web.error_responses"}
)
VAGUE = re.compile(
    r"\.(base|common|core|handlers?|helpers?|lib|managers?|misc|services?|shared|tools|utils?"
    r"|utilit(y|ies))(\.|$)"
)
MOST_LINES, MOST_FUNCTION_LINES, MOST_PARAMETERS, MOST_LEVELS = 300, 60, 6, 2
# A module that FastAPI finds routes in; only the app may know it.
DOOR = re.compile(r"(service\.(\w+\.route|operate\.\w+)|embedding_server\.routes\.\w+)")
WRITES = re.compile(
    r"^\s*(CREATE|DEFINE|DELETE|INSERT|RELATE|REMOVE|UPDATE|UPSERT)\b", re.MULTILINE
)
VARIABLE = re.compile(r"\$(\w+)")

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORT = (ast.Import, ast.ImportFrom)

MODULES = read_modules()
NAMES = frozenset(module.name for module in MODULES)
QUERIES = sorted(path.relative_to(REPOSITORY) for path in REPOSITORY.glob("service/**/*.surql"))


def wrong_ways(module: Module) -> list[str]:
    """Return the imports that lead to a higher room, to an equal one, or to the other package."""
    mine, faults = (
        RANKS.get(module.room, -1),
        [] if module.room in RANKS else [f"{module.name} stands in no room of the table"],
    )
    for line, name in imported(module, NAMES):
        package, room = name.partition(".")[0], room_of(name)
        if package not in ROOMS or room == module.room:
            continue
        place = f"{module.name}:{line} ({module.room})"
        if package != module.name.partition(".")[0] or RANKS.get(room, 99) >= mine:
            faults.append(f"{place} imports {name} ({room})")
        if module.room in PURE and room not in PURE:
            faults.append(f"{place} is pure and imports {name}, which is not")
        if DOOR.fullmatch(name) and not module.name.endswith(".app"):
            faults.append(f"{place} imports {name}, a door")
    return faults


def wrong_imports(module: Module) -> list[str]:
    """Return hidden and relative imports, reserved packages, and I/O of pure rooms."""
    faults = []
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            faults.append(f"{module.name}:{node.lineno} is relative")
        if isinstance(node, (*FUNCTION, ast.ClassDef)):
            inner = [n for n in ast.walk(node) if isinstance(n, IMPORT)]
            faults += [f"{module.name}:{n.lineno} imports inside {node.name}" for n in inner]
    for line, name in imported(module, NAMES):
        owners = [who for what, who in RESERVED.items() if re.match(rf"({what})(\.|$)", name)]
        if not all(re.fullmatch(who, module.name) for who in owners):
            faults.append(f"{module.name}:{line} imports {name}, which is reserved")
        if module.room in PURE and re.match(IO, name):
            faults.append(f"{module.name}:{line} is pure and imports {name}")
    return faults


def cycle(imports: Mapping[str, set[str]]) -> list[str]:
    """Return modules whose imports lead in a circle; empty when there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return sorted(set(error.args[1]))
    return []


def wrong_shapes(module: Module) -> list[str]:
    """Return what is too long, too vague or undocumented, and what catches everything."""
    name, size, tree = module.name, module.text.count("\n"), module.tree
    faults = [f"{name} has {size} lines"] if size > MOST_LINES else []
    faults += [f"{name} says nothing by its name"] if VAGUE.search(name) else []
    levels = name.removesuffix(".__init__").count(".") - (not name.endswith("__init__"))
    faults += [f"{name} lies {levels} rooms deep"] if levels > MOST_LEVELS else []
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
    """Yield the first word of each URL that a door answers to; of /v1 the second."""
    prefix = "".join(re.findall(r'Room\("\w+", prefix="([^"]+)"', door.text))
    for path in re.findall(r'@router\.\w+\(\s*"([^"]*)"', door.text):
        yield (prefix + path).removeprefix("/v1").split("/")[1]


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


def test_imports_never_lead_back_and_every_room_is_lived_in() -> None:
    assert cycle({m.name: {name for _, name in imported(m, NAMES)} & NAMES for m in MODULES}) == []
    assert RANKS.keys() == {room_of(name) for name in NAMES if not name.endswith("__init__")}


def test_every_query_is_described_and_loaded_once() -> None:
    texts = {path: (REPOSITORY / path).read_text(encoding="utf-8") for path in QUERIES}
    # Words that queries.py puts into several queries.
    named = set(re.findall(r"^-- with: (\S+)$", "\n".join(texts.values()), re.MULTILINE))
    shared = {Path(f"service/{name}.surql") for name in named - GENERATED.keys()}
    faults = [
        fault
        for path, text in texts.items()
        for fault in wrong_query(str(path), text)
        if path not in shared or fault.endswith("what it is")
    ]
    loads = Counter(path for module in MODULES for path in loaded_queries(module))
    assert (faults, loads) == ([], Counter(str(path) for path in QUERIES if path not in shared))
    assert {name for name in named if name.startswith("fields/")} == GENERATED.keys()


def test_the_first_word_of_a_url_is_one_door() -> None:
    doors: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for word in urls(module):
            assert DOOR.fullmatch(module.name), f"{module.name} has routes and is no door"
            doors[f"{module.name.partition('.')[0]}/{word}"].add(module.name)
    assert {word: names for word, names in doors.items() if len(names) > 1} == {}
    assert {name for names in doors.values() for name in names} == {
        name for name in NAMES if DOOR.fullmatch(name) and not name.endswith("__init__")
    }


BAD_MODULES = {
    "imports service.search.hybrid (service.search)": (
        "service.store.database",
        "from service.search import hybrid",
    ),
    "imports service.memories.storing (service.memories)": (
        "service.concepts.merging",
        "from service.memories import storing",
    ),
    "imports service.recall.route, a door": (
        "service.operate.health",
        "from service.recall import route",
    ),
    "is pure and imports service.store.database": (
        "service.drafts.kinds",
        "import service.store.database",
    ),
    "stands in no room": ("service.attic.box", ""),
    "lies 3 rooms deep": ("service.search.times.english.days", ""),
    "imports embedding_server.errors": ("service.app", "import embedding_server.errors"),
    "is relative": ("service.app", "from . import errors"),
    "imports inside f": ("service.app", 'def f():\n    """Do."""\n    import json'),
    "surrealdb.errors, which is reserved": ("service.store.agents", "import surrealdb.errors"),
    "httpx, which is reserved": ("service.inference.vectors", "import httpx"),
    "fastapi, which is reserved": ("service.ingest.scan", "from fastapi import Request"),
    "is pure and imports os": ("service.search.fusion.rrf", "from os import path"),
    "has 301 lines": ("service.app", "\n" * 301),
    "f has 61 lines": ("service.app", "def f():" + "\n    1" * 60),
    "f takes 7 parameters": ("service.app", "def f(a, b, c, d, *, e, g, h): ..."),
    "says nothing by its name": ("service.search.utils", ""),
    "is more than one docstring": ("service.search.__init__", "import json"),
    "service.app has no docstring": ("service.app", "import json"),
    "C has no docstring": ("service.app", "class C: ..."),
    "service.settings:3 catches everything": (
        "service.settings",
        "try: ...\n\nexcept Exception: ...",
    ),
    "service.settings:2 catches everything": (
        "service.settings",
        "try: ...\nexcept (E, Exception): 0",
    ),
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
    faults = wrong_ways(module) + wrong_imports(module) + wrong_shapes(module)
    assert any(fault in found for found in faults)


@pytest.mark.parametrize(("fault", "text"), BAD_QUERIES.items())
def test_a_bad_query_is_noticed(fault: str, text: str) -> None:
    assert any(fault in found for found in wrong_query("bad", text))


def test_a_cycle_is_noticed() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}}) == []
