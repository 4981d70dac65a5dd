"""From figures to a page: markdown, and the table of a terminal; with another checkout beside."""

from collections.abc import Sequence

from rich.table import Table

from scripts.attacks.figures import Figure


def rows_of(figures: Sequence[Figure], beside: Sequence[Figure] | None) -> list[list[str]]:
    """Return a heading and the rows; `beside` are the figures of before, which come first."""
    earlier = {figure.key: figure for figure in beside or ()}
    head = ["finding", "figure", *(["before", "after"] if earlier else ["measured"]), "aim", "kept"]
    rows = [head]
    for figure in figures:
        old = earlier.get(figure.key)
        before = [old.told if old else "-"] if earlier else []
        kept = "kept" if figure.is_kept else "**not**"
        what = f"{figure.what} ({figure.note})" if figure.note else figure.what
        rows.append([str(figure.finding), what, *before, figure.told, str(figure.aim), kept])
    return rows


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table of markdown; the first is its heading."""
    head, *rest = rows
    ruler = ["---:" if name in {"before", "after", "measured"} else "---" for name in head]
    lines = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in (head, ruler, *rest))
    return "".join(f"| {line} |\n" for line in lines)


def table(rows: Sequence[Sequence[str]]) -> Table:
    """Return rows as a table of a terminal."""
    head, *rest = rows
    drawn = Table(*head)
    for row in rest:
        drawn.add_row(*(cell.replace("**", "") for cell in row))
    return drawn
