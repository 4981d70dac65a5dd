"""How a memory is told at the terminal; pure."""

from service.client.answers import Memory
from service.text.titles import headings_of, one_heading


def source_of(memory: Memory) -> str:
    """Return where a memory was read from, else its kind and day."""
    source = memory["source"]
    if source["uri"] is None:
        return f"{memory['kind']} of {memory['occurred_at'][:10]}"
    return f"{source['uri']}:{source['line_start']}" if source["line_start"] else source["uri"]


def heading_of(memory: Memory, text: str) -> str:
    """Return the headings above a memory's text on one line; "" where the text begins with them."""
    told = headings_of(memory["heading_path"], memory["title"], memory["search_headings"])
    return one_heading(told, text)


def head_of(memory: Memory) -> str:
    """Return a memory in one line: its title, or how its text begins, and where it is from."""
    words = " ".join((memory["title"] or memory.get("content", "")).split())
    return f"{words[:100] or memory['id']} ({source_of(memory)})"
