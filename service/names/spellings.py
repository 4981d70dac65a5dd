"""Under which other slugs a concept goes: what was merged into it, and the user's own aliases."""

from collections.abc import Iterable

from service.names.slugs import slug_of


def other_slugs(merged: Iterable[str] | None, aliases: Iterable[str] | None) -> list[str]:
    """Return the slugs of merged concepts and those of aliases, as they come, each once."""
    return list(dict.fromkeys([*(merged or ()), *map(slug_of, aliases or ())]))
