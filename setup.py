"""Compiles what a .pxd stands beside, and .pyx, where there is a C compiler.

Where there is none, or where it fails, the .py files run as they are: slower, with equal answers.
"""

import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final
from zlib import crc32

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, ExecError, LinkError, PlatformError

ROOT: Final = Path(__file__).parent
TYPED: Final = [path.with_suffix(".py") for path in (ROOT / "service").rglob("*.pxd")]
SOURCES: Final = sorted(
    path.relative_to(ROOT) for path in [*TYPED, *(ROOT / "service").rglob("*.pyx")]
)
# What all of them need of Cython; in each of them it would take three quarters of the time.
SHARED: Final = "service.compiled_arrays"
# C that was made by another Cython, or in another way, is no use.
MADE_BY: Final = crc32(Path(__file__).read_bytes() + Cython.__version__.encode())
BUILD: Final = f"build/cython-{MADE_BY:08x}"
# No sum is put together in another way than it is written: a question is answered the same
# everywhere. Without -g0 compiling takes twice as long.
FLAGS: Final = ["-O3", "-g0", "-ffp-contract=off"]


class BuildAnew(build_ext):
    """Leaves nothing that was compiled before, which would be imported in place of a newer .py."""

    def copy_extensions_to_source(self) -> None:
        """Take away what is there first, where compiling failed too; who has it mapped keeps it."""
        # Of this Python: another one that shares the checkout looks after its own.
        for old in (ROOT / "service").rglob(f"*{EXTENSION_SUFFIXES[0]}"):
            old.unlink()
        super().copy_extensions_to_source()

    def build_extensions(self) -> None:
        """Build several at once, all or none, with the flags of compilers that know them."""
        self.parallel = os.cpu_count() or 1
        for extension in self.extensions:
            extension.extra_compile_args = FLAGS if self.compiler.compiler_type == "unix" else []
        built = [Path(self.get_ext_fullpath(extension.name)) for extension in self.extensions]
        for path in built:
            path.unlink(missing_ok=True)
        super().build_extensions()
        if not all(path.exists() for path in built):
            self.extensions = []
            for path in built:
                path.unlink(missing_ok=True)

    def build_extension(self, extension: Extension) -> None:
        """Build one, if it can be: no compiler, or one without Python's headers, hinders nobody."""
        try:
            super().build_extension(extension)
        except (OSError, CompileError, ExecError, LinkError, PlatformError) as error:
            self.warn(f"{extension.name} is not compiled: {error}")


setup(
    cmdclass={"build_ext": BuildAnew},
    ext_modules=cythonize(
        [Extension(".".join(source.with_suffix("").parts), [str(source)]) for source in SOURCES]
        + [Extension(SHARED, [f"{SHARED.replace('.', '/')}.c"])],
        shared_utility_qualified_name=SHARED,
        build_dir=BUILD,
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
