"""Compiles what a .pxd stands beside, and .pyx, where there is a C compiler."""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

ROOT = Path(__file__).parent
TYPED = [path.with_suffix(".py") for path in (ROOT / "service").rglob("*.pxd")]
SOURCES = sorted(path.relative_to(ROOT) for path in [*TYPED, *(ROOT / "service").rglob("*.pyx")])

setup(
    ext_modules=cythonize(
        [
            Extension(".".join(path.with_suffix("").parts), [str(path)], optional=True)
            for path in SOURCES
        ],
        build_dir="build",
        compiler_directives={
            "language_level": 3,
            "annotation_typing": False,
            "boundscheck": False,
            "cdivision": True,
            "initializedcheck": False,
            "wraparound": False,
        },
    )
)
