#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Builds libcarom.so.1 for the Python package, for x86-64 or arm64 with glibc 2.28 or later.

    build.py --out FILE [--arch x86_64|aarch64] [--objects FOLDER] [--jobs N]
    build.py --platform [--arch x86_64|aarch64]     prints the platform of the library, as wheels name it
    build.py --files                                prints what an sdist has to have: path, tab, name beside build.py

The compiler is that of the PyPI package `ziglang`, which has its own C++ library and the interfaces of glibc: no other
compiler is needed, and each machine can build for both. The C++ library and Abseil are inside. What the library shows
is compared with carom_abi.json, and what it needs with what each Linux of that glibc has.
"""

import argparse
import json
import os
import pathlib
import platform
import time

import elf
import zig

Path = pathlib.Path

# In an sdist all sources lie beside this file. In a checkout the core lies at its top, and ./dev wheel fetches the
# rest.
HERE = Path(__file__).resolve().parent
PACKED = (HERE / "core").is_dir()
TOP = HERE if PACKED else HERE.parents[2]
CORE = TOP / "core"
BUILD = HERE / "build" if PACKED else TOP / "build/wheel"
THIRD_PARTY = HERE / "third_party" if PACKED else BUILD / "third_party"

ARCHITECTURES = ("x86_64", "aarch64")
GLIBC = (2, 28)
NEEDED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

# What the core calls of Abseil, and what that calls. parts.cc and the core's abseil_parts.cc stand in for the rest.
ABSEIL = {
    "base/internal": ["raw_logging", "spinlock_wait", "strerror", "throw_delegate"],
    "status": ["status", "status_payload_printer", "statusor"],
    "strings": ["ascii", "charconv", "cord", "escaping", "match", "numbers", "str_cat", "str_split"],
    "strings/internal": [
        *("charconv_bigint", "charconv_parse", "cord_internal", "cord_rep_btree", "cord_rep_btree_navigator"),
        *("cord_rep_btree_reader", "cord_rep_consume", "cord_rep_crc", "cord_rep_ring", "escaping", "memutil", "utf8"),
    ],
}

FLAGS = [
    *("-std=c++20", "-DNDEBUG", "-g0", "-w", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"),
    *("-ffunction-sections", "-fdata-sections", "-fomit-frame-pointer", "-fno-math-errno"),
    *("-O3", "-Xclang", "-O3"),  # of zig, the first alone means -O2
    "-ffp-contract=off",  # as in core/CMakeLists.txt: error bounds count the roundings of two operations
    "-D_LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION",  # from which Boost 1.74 derives
]
# The instruction is used where the processor has it; as zig describes the baseline, it is forbidden even there.
FLAGS_OF = {("x86_64", "base/crc32c.cc"): ["-Xclang", "-target-feature", "-Xclang", "+crc32"]}
LINK_FLAGS = [
    *("-O3", "-shared", "-s", "-Wl,-soname,libcarom.so.1", "-Wl,--gc-sections", "-Wl,--as-needed"),
    *("-Wl,-z,defs", "-Wl,-z,relro,-z,now"),
]


def sources() -> list[Path]:
    return [
        *sorted((CORE / "src").glob("*/*.cc")),
        CORE / "abi/abseil_parts.cc",
        HERE / "parts.cc",
        *(THIRD_PARTY / "absl" / folder / f"{name}.cc" for folder, names in ABSEIL.items() for name in names),
    ]


def builder(arch: str, objects: Path) -> zig.Compiler:
    return zig.Compiler(["-target", f"{arch}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"], objects, TOP)


def flags_of(source: Path, arch: str) -> list[str]:
    return [
        *FLAGS,
        *FLAGS_OF.get((arch, "/".join(source.parts[-2:])), []),
        # Names of files in messages do not depend on the folders.
        *(f"-ffile-prefix-map={CORE}=core", f"-ffile-prefix-map={THIRD_PARTY}=third_party"),
        *(f"-I{TOP}", f"-I{CORE}/include", f"-I{CORE}/src", "-isystem", str(THIRD_PARTY)),
    ]


def link(compiler: zig.Compiler, out: Path) -> None:
    script = f"-Wl,--version-script={CORE}/abi/carom.map"
    inputs = [str(compiler.object_of(source)) for source in sources()]
    scratch = out.with_name(f"{out.name}.{os.getpid()}")
    out.parent.mkdir(parents=True, exist_ok=True)
    compiler.zig("c++", *compiler.target, *LINK_FLAGS, script, *inputs, "-o", str(scratch))
    check(scratch)
    scratch.replace(out)


def check(path: Path) -> None:
    """Fails unless the library shows the functions of carom.h and no more, and each Linux has what it needs."""
    library = elf.read(path)
    declared = {function["name"] for function in json.loads((CORE / "abi/carom_abi.json").read_text())["functions"]}
    glibc = {version for version in library.versions if version.startswith("GLIBC_2.")}
    later = {version for version in glibc if tuple(map(int, version[6:].split("."))) > GLIBC}
    faults = {
        "it lacks": declared - library.symbols,
        "it shows what carom.h does not declare": library.symbols - declared,
        "it needs libraries that are not everywhere": library.needed - NEEDED,
        "it needs versions that are not of this glibc": later | (library.versions - glibc),
        "its name is": {library.soname} - {"libcarom.so.1"},
    }
    for what, names in faults.items():
        if names:
            raise SystemExit(f"build.py: {path}: {what}: {', '.join(sorted(names))}")


def files() -> dict[Path, str]:
    """What was compiled for any of the architectures, with the headers, by their paths; where it lies in an sdist."""
    found = {CORE / "abi/carom.map", CORE / "abi/carom_abi.json"}
    for arch in ARCHITECTURES:
        for source in sources():
            record = zig.record_of(source, BUILD / f"objects-{arch}", TOP)
            if not record.exists():
                raise SystemExit(f"build.py: {record} is missing: ./dev wheel makes it")
            found |= {Path(name) for name in json.loads(record.read_text()) if name.startswith("/")}
    roots = {CORE: "core", THIRD_PARTY: "third_party"}  # what lies beside this file is there anyway
    return {
        path: f"{name}/{path.relative_to(root)}"
        for path in sorted(found)
        for root, name in roots.items()
        if path.is_relative_to(root)
    }


def build(arch: str, out: Path, objects: Path, jobs: int) -> None:
    if not THIRD_PARTY.is_dir():
        raise SystemExit(f"build.py: {THIRD_PARTY} is missing: ./dev wheel fetches what it has")
    start = time.monotonic()
    compiler = builder(arch, objects)
    compiled = compiler.compile_all(((source, flags_of(source, arch)) for source in sources()), jobs, arch)
    link(compiler, out)
    seconds = time.monotonic() - start
    print(f"{arch}: {out.stat().st_size / 1e6:.2f} MB, {compiled} sources compiled, {seconds:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default=platform.machine(), help="x86_64 or aarch64; that of this machine if absent")
    parser.add_argument("--out", type=Path, help="the library")
    parser.add_argument("--objects", type=Path, help="folder of objects; build/wheel/objects-ARCH if absent")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once")
    parser.add_argument("--platform", action="store_true", help="print the platform, and build nothing")
    parser.add_argument("--files", action="store_true", help="print what was compiled, and build nothing")
    arguments = parser.parse_args()
    arch = arguments.arch
    if arguments.files:
        print(*(f"{path}\t{name}" for path, name in files().items()), sep="\n")
        return
    if arch not in ARCHITECTURES:
        raise SystemExit(f"build.py: the library is for {' and '.join(ARCHITECTURES)}, not for {arch}")
    if arguments.platform:
        print(f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{arch}")
        return
    if arguments.out is None:
        parser.error("--out is missing")
    objects = arguments.objects or BUILD / f"objects-{arch}"
    build(arch, arguments.out.resolve(), objects.resolve(), arguments.jobs)


if __name__ == "__main__":
    main()
