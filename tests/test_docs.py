"""The documents say what the code says: settings, errors, commands, links, decisions, changes."""

import argparse
import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from embedding_server.app import create_app as create_embedding_app
from embedding_server.settings import Settings as EmbeddingSettings
from service.app import create_app
from service.errors import (
    CannotStart,
    NotAsThingsStand,
    NotFound,
    Refused,
    ServiceError,
    Unavailable,
    VectorsUnfit,
)
from service.settings import Settings
from service.web.problems import problem
from tests.conftest import Start

REPOSITORY = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    path for pattern in ("*.md", "docs/**/*.md") for path in REPOSITORY.glob(pattern)
)
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
EXAMPLE = REPOSITORY / ".env.example"
CLASSES: dict[str, type[BaseSettings]] = {"MEMORY_": Settings, "EMBEDDING_": EmbeddingSettings}
CODE = {".py", ".surql"}
PATH_NAMES = r"(?<![\w/.~-])(?:scripts|tests|docs|service|embedding_server)/[\w/.-]*\w"
OF_EACH = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the defaults of this machine out: its data folder, a .env where the tests run."""
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.chdir(tmp_path)


def settings() -> Iterator[tuple[str, str, str]]:
    """Yield name, default as text and description of every setting of both processes."""
    for prefix, settings_class in CLASSES.items():
        for name, knob in settings_class.model_fields.items():
            yield prefix + name.upper(), _default(knob), str(knob.description)


def _default(knob: FieldInfo) -> str:
    value = knob.get_default(call_default_factory=True)
    text = "" if value in (None, (), {}) else str(value)
    return text.replace(f"{REPOSITORY}/", "").replace(str(Path.home()), "~")


def test_the_readme_lists_every_setting() -> None:
    rows = [f"| `{n}` | {f'`{d}`' if d else 'unset'} | {text} |" for n, d, text in settings()]
    assert re.findall(r"^\| `(?:MEMORY|EMBEDDING)_.*$", README, re.MULTILINE) == rows


def test_the_example_environment_has_every_setting_with_its_reason() -> None:
    blocks = re.findall(r"((?:^# .*\n)+)^#(\w+)=(.*)$", EXAMPLE.read_text("utf-8"), re.MULTILINE)
    told = [(n, value, " ".join(why.replace("\n# ", "\n")[2:].split())) for why, n, value in blocks]
    assert told == [(name, default, " ".join(text.split())) for name, default, text in settings()]


@pytest.mark.parametrize("prefix", CLASSES)
def test_the_example_environment_holds_the_defaults(prefix: str, tmp_path: Path) -> None:
    active = tmp_path / "example.env"
    active.write_text(re.sub(r"^#(?=\w+=)", "", EXAMPLE.read_text("utf-8"), flags=re.MULTILINE))
    read, default = CLASSES[prefix](_env_file=active), CLASSES[prefix](_env_file=None)
    paths = {"data_dir", "schema_file"}  # written relative to home and repository
    assert read.model_dump(exclude=paths) == default.model_dump(exclude=paths)


def _errors(of: type[ServiceError]) -> Iterator[type[ServiceError]]:
    """Yield the errors that a request can end with: no families, nothing of the start."""
    for child in of.__subclasses__():
        if child is not CannotStart:
            is_family = child in {NotAsThingsStand, NotFound, Refused, Unavailable, VectorsUnfit}
            yield from (() if is_family else (child,))
            yield from _errors(child)


def test_the_readme_lists_every_error() -> None:
    request = Request({"type": "http", "method": "GET", "path": "/", "headers": []})
    rows = []
    for error in _errors(ServiceError):
        said = json.loads(bytes(problem(request, error()).body))
        rows.append(f"| `{said['type']}` | {said['status']} | {said['title']} |")
    assert sorted(re.findall(r"^\| `/problems/.*$", README, re.MULTILINE)) == sorted(rows)


@dataclass(frozen=True, slots=True)
class Curl:
    """One curl line of a document, as far as the request goes."""

    method: str
    url: str
    headers: dict[str, str]
    body: str | None
    params: dict[str, str]

    @property
    def path(self) -> str:
        """The path of the URL."""
        return "/" + self.url.partition("://")[2].partition("/")[2].partition("?")[0]


CURL = argparse.ArgumentParser(exit_on_error=False)
CURL.add_argument("url")
for flag in ("-s", "-f", "-i", "-G"):
    CURL.add_argument(flag, action="store_true")
for option in ("-m", "-X", "-d"):
    CURL.add_argument(option)
for option in ("-H", "--data-urlencode"):
    CURL.add_argument(option, action="append", default=[])


def curls(text: str) -> Iterator[Curl]:
    """Yield the curl lines of the shell blocks; a line ends where no quote is open."""
    for block in re.findall(r"^ *```(?:bash|sh)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
        for line in re.findall(r"""curl (?:'[^']*'|"[^"]*"|\\\n|[^\n'"\\|#])*""", block):
            given = CURL.parse_args(shlex.split(line.replace("\\\n", " "))[1:])
            yield Curl(
                given.X or ("GET" if given.d is None else "POST"),
                given.url,
                {name.strip(): value.strip() for name, value in (h.split(":", 1) for h in given.H)},
                given.d,
                dict(pair.split("=", 1) for pair in given.data_urlencode),
            )


def routes(app: FastAPI) -> dict[str, set[str]]:
    """Return the methods of each path, as a pattern."""
    paths: dict[str, Any] = app.openapi()["paths"]
    return {re.sub(r"\{\w+\}", "[^/]+", path): {m.upper() for m in paths[path]} for path in paths}


def _is_answered(method: str, path: str, known: dict[str, set[str]]) -> bool:
    return any(re.fullmatch(pattern, path) and method in known[pattern] for pattern in known)


@OF_EACH
def test_commands_and_mentions_name_real_routes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    service = routes(create_app(Settings(_env_file=None)))
    both = service | routes(create_embedding_app(EmbeddingSettings(_env_file=None)))
    named = re.findall(r"`(GET|POST|PATCH|DELETE) (/[\w/.{}-]*)", text)
    unknown = [(method, url) for method, url in named if not _is_answered(method, url, both)]
    for curl in curls(text):
        known = both if "127.0.0.1:8001" in curl.url else service
        if "127.0.0.1" in curl.url and not _is_answered(curl.method, curl.path, known):
            unknown.append((curl.method, curl.url))
    assert unknown == []


def test_every_command_of_the_documents_is_answered(start: Start, tmp_path: Path) -> None:
    notes = shutil.copytree(REPOSITORY / "examples" / "notes", tmp_path / "notes")
    client = start(sources=(notes,), concepts_file=notes / "concepts.toml").client
    assert client.post("/ingest/scan", json={}).status_code == 200
    lines = [curl for path in DOCUMENTS for curl in curls(path.read_text(encoding="utf-8"))]
    lines = [c for c in lines if "127.0.0.1:8080" in c.url and not re.search(r"/[A-Z]+\b", c.path)]
    assert len(lines) > 10
    for curl in lines:
        url = httpx.URL(curl.url.removeprefix("http://127.0.0.1:8080")).copy_merge_params(
            curl.params
        )
        # Keys are tried elsewhere: with one made, no other command of the pages would be answered.
        sent = {name: told for name, told in curl.headers.items() if "$KEY" not in told}
        answer = client.request(curl.method, url, headers=sent, content=curl.body)
        assert answer.status_code < 400, (curl, answer.text)


def test_commands_of_this_repository_exist() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    scripts = set(re.findall(r"(?<![\w/])(?:\./)?scripts/([\w./-]*\w)", text))
    assert {name for name in scripts if not (REPOSITORY / "scripts" / name).is_file()} == set()
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(re.findall(r"\bgraph-memory-\w+\b(?=[ `\n])", text)) <= project["scripts"].keys()


@pytest.mark.parametrize("path", sorted(REPOSITORY.glob("docs/*.md")), ids=lambda path: path.name)
def test_commands_that_want_a_program_are_told_with_one(path: Path) -> None:
    whole = re.findall(r"`graph-memory (?:connect|disconnect|doctor)`", path.read_text("utf-8"))
    assert not whole


def test_every_path_that_documents_and_code_name_is_there() -> None:
    files = [*DOCUMENTS, REPOSITORY / "schema.surql"]
    for folder in ("service", "embedding_server", "scripts"):
        files += [path for path in (REPOSITORY / folder).rglob("*") if path.suffix in CODE]
    named = {
        name for file in files for name in re.findall(PATH_NAMES, file.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    # `docs/decisions/0012` is the beginning of a name, and so is what `--write docs/recall` writes.
    assert {name for name in named if not any(REPOSITORY.glob(f"{name}*"))} == set()


def test_the_glossary_is_short_and_has_each_word_once() -> None:
    text = (REPOSITORY / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 60
    words = re.findall(r"\*\*([a-z ]+)\*\*", text)
    assert len(words) == len(set(words)) > 30


def _anchors(text: str) -> set[str]:
    bare = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", bare, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@OF_EACH
def test_links_lead_somewhere(path: Path) -> None:
    bare = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for link in re.findall(r"(?<!`)\]\(([^)\s]+)\)", bare):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if link.startswith(("http://", "https://")):
            continue
        if not target.exists() or (anchor and anchor not in _anchors(target.read_text("utf-8"))):
            broken.append(link)
    assert broken == []


def test_every_guide_and_decision_is_listed() -> None:
    guides = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "docs").glob("*.md")}
    assert guides <= set(re.findall(r"\]\((docs/[^)#]+)\)", README))
    assert "docs/decisions" in README


def test_the_changelog_keeps_its_form() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    versions = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", text, re.MULTILINE)
    assert text.startswith("# Changelog\n")
    assert [name for name, _ in versions][:2] == ["Unreleased", project["version"]]
    assert all(day for _, day in versions[1:])
    groups = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert groups <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == len(versions)


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "docs" / "decisions").glob("*.md")), ids=lambda path: path.name
)
def test_a_decision_is_short_and_complete(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", path.name)
    assert text.startswith(f"# {path.name[:4]} ")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert text.count("\n") <= 30


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [path.name[:4] for path in sorted((REPOSITORY / "docs/decisions").glob("*.md"))]
    assert numbers == [f"{n:04}" for n in range(1, len(numbers) + 1)]
    assert len(numbers) >= 8
