"""OpenClaw's plugin by itself: its tests are JavaScript's own, its files keep the rules."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from service.projects.identity import identify, identify_text
from tests.conftest import REPOSITORY
from tests.servers.npm import node

PLUGIN: Final = REPOSITORY / "integrations" / "openclaw"
SLOT: Final = PLUGIN.with_name("openclaw-slot")
TESTS: Final = REPOSITORY / "tests" / "clients" / "openclaw"
SOURCES: Final = sorted([*PLUGIN.rglob("*.js"), *SLOT.rglob("*.js")])
MOST_LINES: Final = 300
# What an installer of plugins refuses, and what is no part of Node.js or of ours.
REFUSED: Final = re.compile(r"process\.env|child_process|\beval\b|new Function|\brequire\(")
IMPORTED: Final = re.compile(r'^import [^;]*?"([^"]+)";$', re.MULTILINE)


@pytest.mark.parametrize("path", sorted(TESTS.glob("*.test.mjs")), ids=lambda path: path.name)
def test_the_plugin_does_what_its_own_tests_say(path: Path, tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"], "PLUGIN_FOLDER": str(PLUGIN), "TMPDIR": str(tmp_path),
        "HOME": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        [node(), "--test", "--test-force-exit", "--test-reporter", "spec", str(path)],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert not re.search(r"^ℹ tests 0$", done.stdout, re.MULTILINE)


# A project as a person names it in settings or in a file.
NAMED: Final = (
    "Crane", "crane.io", "/srv/crane", "~/crane", "C:\\crane", r"\\server\crane",
    "github.com/ann/crane", "GitHub.com/ann/Crane.git", "git@h.org:ann/crane",
    "h.org:ann/crane.git", "ssh://h.org/crane", "https://ann:secret@h.org/crane", "ann/crane",
    "두루미.org/ann/crane", "crane: the big one", "c:crane", " Crane ",
)  # fmt: skip


def test_a_project_that_is_named_is_the_one_that_commands_mean(tmp_path: Path) -> None:
    code = (
        f"import {{ findPlace }} from {json.dumps(str(PLUGIN / 'lib' / 'place.js'))};"
        "const at = (project) => findPlace(undefined, { project, ignoreFiles: [] }).project;"
        "console.log(JSON.stringify(JSON.parse(process.argv[1]).map(at)));"
    )
    done = subprocess.run(
        [node(), "--input-type=module", "-e", code, json.dumps(NAMED)],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = dict(zip(NAMED, json.loads(done.stdout), strict=True))
    assert {name: identify(**parts) for name, parts in told.items()} == {
        name: identify_text(name) for name in NAMED
    }


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_source_is_short_and_takes_nothing_from_outside(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= MOST_LINES
    assert REFUSED.findall(text) == []
    assert {name for name in IMPORTED.findall(text) if not name.startswith(("node:", "."))} == set()


def test_manifests_and_sources_name_the_same() -> None:
    for folder in (PLUGIN, SLOT):
        manifest = json.loads((folder / "openclaw.plugin.json").read_text("utf-8"))
        package = json.loads((folder / "package.json").read_text("utf-8"))
        code = (folder / "index.js").read_text("utf-8")
        assert f'id: "{manifest["id"]}"' in code
        assert manifest["version"] == package["version"]
        assert "dependencies" not in package
        tools = (PLUGIN / "lib" / "tools.js").read_text("utf-8")
        assert all(f'"{name}"' in tools for name in manifest["contracts"]["tools"])
    settings = (PLUGIN / "lib" / "settings.js").read_text("utf-8")
    manifest = json.loads((PLUGIN / "openclaw.plugin.json").read_text("utf-8"))
    said = manifest["configSchema"]["properties"]
    assert set(re.findall(r"\btold\.(\w+)", settings)) == said.keys()
    for name, schema in said.items():
        if isinstance(schema.get("default"), int) and not isinstance(schema["default"], bool):
            bounds = (schema["default"], schema["minimum"], schema["maximum"])
            written = ", ".join(f"{one:_}" if one >= 10_000 else str(one) for one in bounds)
            assert f"told.{name}, {written})" in settings


def test_the_settings_of_the_guide_are_those_that_there_are() -> None:
    guide = (REPOSITORY / "docs" / "openclaw.md").read_text("utf-8")
    [block] = re.findall(r"^## Settings\n.*?^```json\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    told = json.loads(block)
    manifest = json.loads((PLUGIN / "openclaw.plugin.json").read_text("utf-8"))
    said = manifest["configSchema"]["properties"]
    assert said.keys() == told.keys() | {"apiKey"}
    for name, schema in said.items():
        assert "default" not in schema or schema["default"] == told[name]
    code = (PLUGIN / "lib" / "settings.js").read_text("utf-8")
    for name, setting in (("IGNORED", "ignoreSessions"), ("TOOLS_ONLY", "toolsOnlySessions")):
        assert f"export const {name} = {json.dumps(told[setting])};" in code
