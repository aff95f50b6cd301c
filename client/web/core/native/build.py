#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the modules of @carom/core: the core for WebAssembly, with and without vectors.

    build.py --out FOLDER [--jobs N] [--fuzz]

Writes carom.wasm and carom-simd.wasm, which export the functions of carom.h, `malloc` and `free`, and
carom-digest.wasm and carom-simd-digest.wasm, programs of tests/determinism/digest.cc for the tests. With --fuzz, it
writes fuzz-NAME.wasm for each fuzz target of the core, too, with vectors.

The compiler is that of the PyPI package `ziglang`, as for the Python package. Sources that have no vector code are
joined, a folder of the core at a time, and compiled once for all modules, but for those of casts.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[3]
sys.path.insert(0, str(TOP / "client/python/native"))

import zig  # noqa: E402
import ziglang  # noqa: E402
from build import ABSEIL  # noqa: E402

CORE = TOP / "core"
BUILD = TOP / "build/web/native"
THIRD_PARTY = TOP / "build/web/third_party"
# The sources of each fuzz target, as in tests/CMakeLists.txt.
FUZZED = {
    "laws": [
        "fuzz/*laws.cc",
        "fuzz/form.cc",
        "fuzz/independence.cc",
        "support/answer_words.cc",
        "support/group_part.cc",
    ],
    "bundle": ["fuzz/bundle.cc"],
    "abi": ["fuzz/abi.cc", "support/abi_group.cc"],
}
PROGRAM = ("tests/support/group_case.cc", "tests/support/answer_words.cc", "tests/determinism/digest.cc")

# Bodies with poses by tick would take the modules over the limit of a download (most_bytes of web.sh).
NOT_EXPORTED = "carom_body_history_"
# WebAssembly has no files.
LEFT_OUT = {"core/src/file/bundle_file.cc"}

FEATURES = "generic+bulk_memory+exception_handling+mutable_globals+nontrapping_fptoint+sign_ext"
FLAGS = [
    *("-std=c++20", "-DNDEBUG", "-g0", "-w", "-fvisibility=hidden", "-fvisibility-inlines-hidden"),
    *("-ffunction-sections", "-fdata-sections", "-fno-math-errno", "-fwasm-exceptions"),
    "-ffp-contract=off",  # as in core/CMakeLists.txt: error bounds count the roundings of two operations
    "-D_LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION",  # from which Boost 1.74 derives
    *(f"-ffile-prefix-map={TOP}=.", f"-I{TOP}", f"-I{CORE}/include", f"-I{CORE}/src", "-isystem", str(THIRD_PARTY)),
]
SORT = ("-include", str(HERE / "sort.h"))  # for the sources of the core
ENGINE = ("-include", str(HERE / "engine.h"))  # for the hot sources of the module with vectors
# A download is short, so only what is asked most is compiled for speed: folders of the core. What a call does once, or
# few ask, is as small as it can be: Zig makes no difference between -Os and -Oz, but clang between attributes.
LEVELS = dict.fromkeys(("cast", "cells", "index", "sight"), "-O2")
SMALL = ("abi", "bundle", "contact", "group", "proximity", "slide", "svg", "tracker")
LEAST = "#pragma clang attribute push(__attribute__((minsize)), apply_to = function)\n"
# Folders that are compiled for vectors, too, since functions of theirs have vectors of the compiler's (double_lanes.h).
HOT = ("cast", "index", "sight")
LINK_FLAGS = ["-O3", "-s", "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576"]
LEAST_MEMORY, MOST_MEMORY = 64 * 65536, 65535 * 65536  # as in src/core.ts


def kernels() -> list[Path]:
    """The sources with vector code, which Highway compiles for an instruction set."""
    return [path for path in core_sources() if b"foreach_target" in path.read_bytes()]


def core_sources() -> list[Path]:
    found = sorted((CORE / "src").glob("*/*.cc"))
    return [path for path in found if str(path.relative_to(TOP)) not in LEFT_OUT]


def joined() -> list[Path]:
    """Files that include the sources of a folder of the core without vector code of Highway's."""
    folder = BUILD / "joined"
    folder.mkdir(parents=True, exist_ok=True)
    vectors = set(kernels())
    texts: dict[str, str] = {}
    for path in core_sources():
        if path not in vectors:
            texts.setdefault(path.parent.name, "")
            texts[path.parent.name] += f'#include "{path.relative_to(TOP)}"\n'
    for name, text in texts.items():
        file = folder / f"{name}.cc"
        content = text
        if name in SMALL:
            content = f"{LEAST}{text}#pragma clang attribute pop\n"
        if not file.exists() or file.read_text() != content:
            file.write_text(content)
    return [folder / f"{name}.cc" for name in texts]


def shared_sources() -> list[Path]:
    abseil = [THIRD_PARTY / "absl" / folder / f"{name}.cc" for folder, names in ABSEIL.items() for name in names]
    # First what takes the place of parts of the compiler's library, which else these parts are taken from.
    own = [HERE / name for name in ("exceptions.cc", "unwind.c", "parts.cc")]
    return [*own, *joined(), *abseil, *(TOP / name for name in PROGRAM)]


def flags_of(source: Path) -> list[str]:
    folder = source.stem if source.parent.name == "joined" else source.parent.name
    if source.name in ("exceptions.cc", "unwind.c"):
        library = Path(ziglang.__file__).parent / "lib"
        folders = (".", "libcxxabi/include", "libcxxabi/src", "libunwind/include", "libunwind/src", "libcxx/src")
        language = ["-x", "c", "-std=c11"] if source.suffix == ".c" else ["-std=c++23"]
        building = ["-fdeclspec", "-D_LIBCPP_BUILDING_LIBRARY", "-D_LIBCXXABI_BUILDING_LIBRARY"]
        return [*FLAGS, *language, "-Oz", *building, *(f"-I{library / each}" for each in folders)]
    own = SORT if source.parent.name == "joined" else ()
    return [*FLAGS, *own, LEVELS.get(folder, "-Os")]


def fuzz_sources(target: str) -> list[Path]:
    names = (*FUZZED[target], "support/group_case.cc")
    return [HERE / "fuzz.cc", *(path for name in names for path in sorted((TOP / "tests").glob(name)))]


def build_fuzz(out: Path, core: list[Path], jobs: int) -> None:
    compiler = zig.Compiler(["-target", "wasm32-wasi", f"-mcpu={FEATURES}"], BUILD / "fuzz", TOP)
    todo = {source: [*FLAGS, "-O1"] for target in FUZZED for source in fuzz_sources(target)}
    compiler.compile_all(todo.items(), jobs, "fuzz")
    for target in FUZZED:
        link_program(compiler, [*core, *map(compiler.object_of, fuzz_sources(target))], out / f"fuzz-{target}.wasm")


def build(out: Path, jobs: int, is_fuzzed: bool) -> None:
    start = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    shared = zig.Compiler(["-target", "wasm32-wasi", f"-mcpu={FEATURES}"], BUILD / "shared", TOP)
    compiled = shared.compile_all([(source, flags_of(source)) for source in shared_sources()], jobs, "shared")
    program = {shared.object_of(TOP / name) for name in PROGRAM}
    objects = [shared.object_of(source) for source in shared_sources()]
    for name, feature, extra in (
        ("carom", "", ["-DHWY_COMPILE_ONLY_EMU128", "-Os"]),
        ("carom-simd", "+simd128", [*ENGINE, "-DHWY_COMPILE_ONLY_STATIC", "-O2"]),
    ):
        vector = zig.Compiler(["-target", "wasm32-wasi", f"-mcpu={FEATURES}{feature}"], BUILD / name, TOP)
        hot = [source for source in joined() if feature and source.stem in HOT]
        todo = [(source, [*FLAGS, *SORT, *extra]) for source in kernels()]
        todo += [(source, [*ENGINE, *flags_of(source)]) for source in hot]
        compiled += vector.compile_all(todo, jobs, name)
        own = [vector.object_of(source) for source, _ in todo]
        # The compiler's own library is that without vectors, which is made once.
        replaced = {shared.object_of(source) for source in hot}
        common = [each for each in objects if each not in replaced]
        core = [*own, *(each for each in common if each not in program)]
        link_module(shared, core, out / f"{name}.wasm")
        link_program(shared, [*own, *common], out / f"{name}-digest.wasm")
    if is_fuzzed:
        build_fuzz(out, core, jobs)
    seconds = time.monotonic() - start
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e3:.0f} kB" for path in sorted(out.glob("*.wasm")))
    print(f"{sizes}; {compiled} sources compiled, {seconds:.0f} s")


def link_module(compiler: zig.Compiler, objects: list[Path], out: Path) -> None:
    names = [function["name"] for function in json.loads((CORE / "abi/carom_abi.json").read_text())["functions"]]
    names = [name for name in names if not name.startswith(NOT_EXPORTED)]
    exports = [f"-Wl,--export={name}" for name in [*names, "malloc", "free"]]
    memory = ["-Wl,--import-memory", f"-Wl,--initial-memory={LEAST_MEMORY}", f"-Wl,--max-memory={MOST_MEMORY}"]
    link(compiler, objects, ["-mexec-model=reactor", *exports, *memory], out)


def link_program(compiler: zig.Compiler, objects: list[Path], out: Path) -> None:
    link(compiler, objects, [], out)


def link(compiler: zig.Compiler, objects: list[Path], flags: list[str], out: Path) -> None:
    scratch = out.with_name(f"{out.name}.{os.getpid()}")
    compiler.zig("c++", *compiler.target, *LINK_FLAGS, *flags, *map(str, objects), "-o", str(scratch))
    scratch.replace(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the modules")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once")
    parser.add_argument("--fuzz", action="store_true", help="make the fuzz targets, too")
    arguments = parser.parse_args()
    build(arguments.out.resolve(), arguments.jobs, arguments.fuzz)


if __name__ == "__main__":
    main()
