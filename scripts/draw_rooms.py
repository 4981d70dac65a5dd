"""Draw docs/rooms.svg, the picture of the rooms, from the code.

    scripts/draw_rooms.py [--check]

With --check it fails when the committed picture is not what the code gives.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.house.picture import draw
from scripts.house.rooms import REPOSITORY, read_modules

PICTURE: Final = REPOSITORY / "docs" / "rooms.svg"


def main() -> None:
    """Write the picture, or compare it."""
    parser = argparse.ArgumentParser(description="Draw docs/rooms.svg from the code.")
    parser.add_argument("--check", action="store_true", help="only tell whether it is up to date")
    is_check = parser.parse_args().check
    picture = draw(read_modules())
    if not is_check:
        PICTURE.write_text(picture, encoding="utf-8")
    elif not PICTURE.is_file() or PICTURE.read_text(encoding="utf-8") != picture:
        sys.exit("docs/rooms.svg is stale: scripts/draw_rooms.py")


if __name__ == "__main__":
    main()
