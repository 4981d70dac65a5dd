"""Put links to a secret and files by turns in place of every note of a folder, until killed.

    scripts/attacks/swapping.py FOLDER SECRET

No note is ever missing: what takes its place is made beside it and moved there whole.
"""

import argparse
import os
from pathlib import Path


def main() -> None:
    """Swap without a pause."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("secret", type=Path)
    asked = parser.parse_args()
    files, spare = sorted(asked.folder.glob("*.md")), asked.folder / ".spare"
    while True:
        for file in files:
            spare.symlink_to(asked.secret)
            spare.replace(file)
            spare.write_text(f"# Inside\n\nplain {os.urandom(4).hex()}\n", "utf-8")
            spare.replace(file)


if __name__ == "__main__":
    main()
