"""scripts/graph-memory in another folder: it means what ./scripts/run means in its checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from service.settings import REPOSITORY

_TELLS = (
    "from service.settings import Settings; told = Settings(); print(told.data_dir, told.agent)"
)


def test_settings_of_the_checkout_hold_where_the_command_is_run(tmp_path: Path) -> None:
    checkout, app, made = tmp_path / "checkout", tmp_path / "app", tmp_path / "made"
    for folder in (checkout / "scripts", app, made / "bin"):
        folder.mkdir(parents=True)
    for name in ("graph-memory", "environment"):
        shutil.copy(REPOSITORY / "scripts" / name, checkout / "scripts")
    command = made / "bin" / "graph-memory"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{_TELLS}"\n', encoding="utf-8")
    command.chmod(0o700)
    (checkout / ".env").write_text("MEMORY_DATA_DIR=/ours\nMEMORY_AGENT=zoe\n", encoding="utf-8")

    def told(**more: str) -> str:
        own = {"PYTHONPATH": str(REPOSITORY), "GRAPH_MEMORY_VENV": str(made)}
        done = subprocess.run(
            [checkout / "scripts" / "graph-memory"], cwd=app, env={**os.environ, **own, **more},
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    assert told() == "/ours zoe"
    # One that came with the folder says nothing of ours; the environment comes before both.
    (app / ".env").write_text("MEMORY_AGENT=ann\n", encoding="utf-8")
    assert told() == "/ours zoe"
    assert told(MEMORY_AGENT="eve", MEMORY_DATA_DIR="/hers") == "/hers eve"
