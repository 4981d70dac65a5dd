"""A number with what it counts, as a sentence has it; pure."""


def how_many(count: int, one: str, many: str = "") -> str:
    """Return `1 file` or `1,200 files`; `many` where an s at the end does not make it."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
