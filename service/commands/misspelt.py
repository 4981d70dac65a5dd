"""Variables that are nearly called as a setting is: nothing reads them, and none else says so."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

from service.settings import Settings

_PREFIX: Final = "MEMORY_"
# SORCES is near enough to SOURCES, and UID of Compose not to AUDIT.
_LEAST_LIKENESS: Final = 0.8


def given_names() -> set[str]:
    """Return the names of all variables that the environment and .env have, in capitals."""
    sources = (EnvSettingsSource(Settings), DotEnvSettingsSource(Settings))
    return {name.upper() for source in sources for name in source.env_vars}


def misspelt(names: Iterable[str]) -> dict[str, str]:
    """Return those of the names that are no setting's, each with the setting that it is like."""
    settings = [field.upper() for field in Settings.model_fields]
    given = (name.removeprefix(_PREFIX) for name in sorted(names) if name.startswith(_PREFIX))
    return {
        f"{_PREFIX}{name}": f"{_PREFIX}{near}"
        for name in given
        if name not in settings
        for near in get_close_matches(name, settings, 1, _LEAST_LIKENESS)
    }
