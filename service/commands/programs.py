"""The agents' programs that are known, and what is to be said to the command of each."""

from collections.abc import Mapping
from typing import Final

from service.commands.openclaw import OpenClaw
from service.commands.program import INTEGRATIONS, MARKETPLACE, PLUGIN, Program

CLAUDE_CODE: Final = Program(
    "claude-code", "Claude Code", "claude", "CLAUDE_CONFIG_DIR", ".claude", "settings.json",
    "projects/*/*.jsonl",
    (
        ("plugin", "marketplace", "add", str(INTEGRATIONS)),
        ("plugin", "install", PLUGIN, "--scope", "user"),
    ),
    (("plugin", "uninstall", PLUGIN), ("plugin", "marketplace", "remove", MARKETPLACE)),
    (
        "settings.json", "plugins/installed_plugins.json", "plugins/known_marketplaces.json",
        "plugins/marketplaces", "plugins/data", "plugins/cache", "plugins",
    ),
)  # fmt: skip
CODEX: Final = Program(
    "codex", "Codex", "codex", "CODEX_HOME", ".codex", "config.toml",
    "sessions/*/*/*/rollout-*.jsonl",
    (
        ("plugin", "marketplace", "add", str(INTEGRATIONS)),
        ("plugin", "add", PLUGIN),
    ),
    (("plugin", "remove", PLUGIN), ("plugin", "marketplace", "remove", MARKETPLACE)),
    ("config.toml", "plugins/cache", "plugins", ".tmp/marketplaces", ".tmp"),
    then="Codex asks once whether you trust its hooks: say yes, or /hooks later.",
)  # fmt: skip
OPENCLAW: Final = OpenClaw(
    "openclaw", "OpenClaw", "openclaw", "OPENCLAW_STATE_DIR", ".openclaw", "openclaw.json",
    # Nobody but the gateway can tell what is written in its database, and when by a person.
    transcripts="", add=(), remove=(),
    then="Now restart its gateway: `openclaw gateway restart`.",
    again="The gateway forgets it with its next start: `openclaw gateway restart`.",
    hint="restart its gateway, and say something to it",
)  # fmt: skip
PROGRAMS: Final[Mapping[str, Program]] = {one.name: one for one in (CLAUDE_CODE, CODEX, OPENCLAW)}
