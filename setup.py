"""Compiles what a .pxd stands beside, where there is a C compiler; else it runs as it is."""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

ROOT = Path(__file__).parent
TYPED = sorted(path.relative_to(ROOT) for path in (ROOT / "service").rglob("*.pxd"))

setup(
    ext_modules=cythonize(
        [
            Extension(
                ".".join(path.with_suffix("").parts), [str(path.with_suffix(".py"))], optional=True
            )
            for path in TYPED
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
