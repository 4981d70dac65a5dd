"""What may be done with secrets and instructions in a text; the words of the settings."""

from collections.abc import Mapping
from typing import Final, Literal

from service.access.origins import Origin

Secrets = Literal["mask", "reject", "off"]
Instructions = Literal["off", "warn", "filter", "quarantine", "reject"]

DEFAULT_INSTRUCTIONS: Final[Mapping[Origin, Instructions]] = {
    "owner": "warn", "agent": "warn", "untrusted": "quarantine", "system": "off",
}  # fmt: skip
