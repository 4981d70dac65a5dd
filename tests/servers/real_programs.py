"""The real programs: Claude Code and Codex as npm has them, at pinned versions."""

from pathlib import Path
from typing import Final

from tests.servers.npm import installed

PACKAGES: Final = {
    "claude": "@anthropic-ai/claude-code@2.1.332",
    "codex": "@openai/codex@0.171.0",
}


def program(command: str) -> Path:
    """Return the program of a command; skips the test where it cannot be had."""
    modules = installed(PACKAGES[command])
    # Not its wrapper, which wants a newer Node.js than a machine may have.
    native = next(iter(modules.glob(f"@*/*/{command}")), None)
    native = native or next(iter(modules.glob(f"@*/*/vendor/*/bin/{command}")), None)
    return native or modules / ".bin" / command
