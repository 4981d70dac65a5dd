"""Turns of OpenClaw's plugin with the real service; its gateway is a fake one, for speed."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

from tests.conftest import REPOSITORY
from tests.servers.npm import node
from tests.servers.openclaw import PLUGIN

Json = dict[str, Any]
_SCRIPT: Final = REPOSITORY / "tests" / "clients" / "openclaw" / "turns.mjs"
_SECONDS: Final = 300


def play_turns(
    folder: Path, prompts: list[str], session: str = "s1", state: str | None = None, **config: Any
) -> Json:
    """Play turns in a process of its own; returns what each was told, and milliseconds."""
    environment = {
        "PATH": os.environ["PATH"], "PLUGIN_FOLDER": str(PLUGIN), "TMPDIR": str(folder),
        "HOME": str(folder),
    }  # fmt: skip
    told = config | {"project": "none"}
    given = {"config": told, "prompts": prompts, "session": session, "state": state}
    done = subprocess.run(
        [node(), str(_SCRIPT)], input=json.dumps(given), env=environment, capture_output=True,
        text=True, timeout=_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: Json = json.loads(done.stdout)
    return found
