"""Compiles csrc/ into the one extension module cubc._core; the rest is in pyproject.toml.

The module is built against the limited API, so that one wheel serves every Python from 3.11 on. It
exports the plain C interface of cubc.h besides its Python face. Kernels and the public headers
travel inside the package: the core finds them beside its own shared object.

Environment: CUBC_DEBUG=1 builds without optimisation, CUBC_SANITIZE=1 under ASan and UBSan,
CUBC_COVERAGE=1 for gcov.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
LIMITED_API = "0x030B0000"  # Python 3.11

# Programs that must compile before anything else is tried, and the sentence for whoever lacks one.
PROBES = [
    (
        "int probe;",
        "cubc needs a C compiler that works: install gcc (Debian, Fedora).",
    ),
    (
        "#include <stdlib.h>",
        "cubc needs the headers of the C library: install libc6-dev (Debian) "
        "or glibc-devel (Fedora).",
    ),
    (
        "#include <Python.h>",
        "cubc needs Python's C headers: install python3-dev (Debian) or python3-devel (Fedora).",
    ),
    (
        "#include <sqlite3.h>",
        "cubc needs SQLite's header sqlite3.h: install libsqlite3-dev (Debian) "
        "or sqlite-devel (Fedora).",
    ),
]


def switched_on(name):
    return os.environ.get(name, "") not in ("", "0")


def flags():
    """Compile and link flags, as the environment asks."""
    compile_args = ["-std=c11", "-pthread", "-fvisibility=hidden", "-Wall", "-Wextra"]
    # Python's own options ask for the debugger's tables, which are three quarters of the file.
    compile_args += ["-O0", "-g3"] if switched_on("CUBC_DEBUG") else ["-O2", "-g0"]
    link_args = ["-pthread"]
    if sys.platform == "linux":
        # A C program links against the module without libpython: its Python half stays unresolved
        # there and must not be looked up before it is called.
        link_args.append("-Wl,-z,lazy")
    both = []
    if switched_on("CUBC_SANITIZE"):
        both += ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g"]
    if switched_on("CUBC_COVERAGE"):
        both.append("--coverage")
    return compile_args + both, link_args + both


def core():
    compile_args, link_args = flags()
    csrc = ROOT / "csrc"
    headers = [*csrc.rglob("*.h"), *csrc.rglob("*.def")]
    return Extension(
        "cubc._core",
        sources=sorted(str(path.relative_to(ROOT)) for path in csrc.rglob("*.c")),
        depends=sorted(str(path.relative_to(ROOT)) for path in headers),
        include_dirs=["csrc", "csrc/include"],
        define_macros=[("Py_LIMITED_API", LIMITED_API)],
        py_limited_api=True,
        libraries=["sqlite3", "dl", "m"],
        extra_compile_args=compile_args,
        extra_link_args=link_args,
    )


class BuildCore(build_ext):
    """Checks the tools first, then compiles the sources side by side."""

    def build_extensions(self):
        self.probe()
        version = self.distribution.get_version()
        self.compiler.define_macro("CUBC_VERSION", f'"{version}"')
        compile_in_turn = self.compiler.compile

        def compile_side_by_side(sources, **options):
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                objects = pool.map(lambda source: compile_in_turn([source], **options), sources)
                return [name for names in objects for name in names]

        self.compiler.compile = compile_side_by_side
        super().build_extensions()

    def probe(self):
        """Exit with one sentence if something is missing, instead of a page of errors."""
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            sys.exit(
                "cubc does not support free-threaded builds of Python, which have no stable ABI: "
                "use one with the GIL."
            )
        folders = [f"-I{folder}" for folder in self.compiler.include_dirs]
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch, "probe.c")
            for text, sentence in PROBES:
                source.write_text(text + "\n", encoding="utf-8")
                command = [*self.compiler.compiler_so, *folders, "-fsyntax-only", str(source)]
                try:
                    subprocess.run(command, check=True, capture_output=True)
                except (OSError, subprocess.CalledProcessError):
                    sys.exit(sentence)


class BuildPackage(build_py):
    """Adds kernels/ and the public headers to the package: copied, or linked where it is edited."""

    def run(self):
        super().run()
        package = ROOT / "python/cubc" if self.editable_mode else Path(self.build_lib, "cubc")
        for folder in (package / "kernels", package / "include"):
            if folder.is_symlink():
                folder.unlink()
            elif folder.exists():
                shutil.rmtree(folder)  # what an earlier build left may be gone from the source
        for target, source in self.data().items():
            added = package / target
            added.parent.mkdir(parents=True, exist_ok=True)
            if self.editable_mode:
                added.symlink_to(os.path.relpath(source, added.parent))
            else:
                shutil.copy2(source, added)

    def get_outputs(self, include_bytecode=True):
        package = Path(self.build_lib, "cubc")
        added = [str(package / target) for target in self.data()]
        return super().get_outputs(include_bytecode) + ([] if self.editable_mode else added)

    @staticmethod
    def data():
        """Files by where they go in the package."""
        trees = {"kernels": ROOT / "kernels", "include": ROOT / "csrc/include"}
        return {
            Path(name, path.relative_to(tree)): path
            for name, tree in trees.items()
            for path in sorted(tree.rglob("*"))
            if path.suffix in (".h", ".cu")
        }


class LimitedApiWheel(bdist_wheel):
    def finalize_options(self):
        self.py_limited_api = "cp311"
        super().finalize_options()


setup(
    ext_modules=[core()],
    cmdclass={"build_ext": BuildCore, "build_py": BuildPackage, "bdist_wheel": LimitedApiWheel},
)
