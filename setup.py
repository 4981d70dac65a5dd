"""Compiles what a .pxd stands beside, and .pyx, where there is a C compiler.

Where there is none, or where it fails, the .py files run as they are: slower, with the same answers.
"""

from pathlib import Path
from typing import Final

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT: Final = Path(__file__).parent
TYPED: Final = [path.with_suffix(".py") for path in (ROOT / "service").rglob("*.pxd")]
SOURCES: Final = sorted(
    path.relative_to(ROOT) for path in [*TYPED, *(ROOT / "service").rglob("*.pyx")]
)
# No sum is put together in another way than it is written: a store is told the same everywhere.
FLAGS: Final = ["-O3", "-ffp-contract=off"]


class BuildAnew(build_ext):
    """Leaves nothing that was compiled before, which would be imported in place of a newer .py."""

    def copy_extensions_to_source(self) -> None:
        """Take away what is there first, where compiling failed too; who has it mapped keeps it."""
        for source in SOURCES:
            for old in (ROOT / source).parent.glob(f"{source.stem}.*"):
                if old.suffix in {".so", ".pyd"}:
                    old.unlink()
        super().copy_extensions_to_source()

    def build_extensions(self) -> None:
        """Add the flags of compilers that know them."""
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS if self.compiler.compiler_type == "unix" else []
        super().build_extensions()


setup(
    cmdclass={"build_ext": BuildAnew},
    ext_modules=cythonize(
        [
            Extension(".".join(source.with_suffix("").parts), [str(source)], optional=True)
            for source in SOURCES
        ],
        build_dir="build",
        quiet=True,
        compiler_directives={
            "language_level": 3,
            "annotation_typing": False,
            "boundscheck": False,
            "cdivision": True,
            "initializedcheck": False,
            "wraparound": False,
        },
    ),
)
