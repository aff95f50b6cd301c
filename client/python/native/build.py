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

Objects stay in a folder. One is compiled again if a byte of what it was made from has changed.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

import elf

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


@functools.cache
def digest(path: Path) -> str:
    """The hash of a file's bytes; that of nothing if there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""


def dependencies(rules: Path) -> list[Path]:
    """The sources and headers in a file that the compiler wrote by -MD, but for the compiler's own."""
    words = re.split(r"(?<!\\)\s+", rules.read_text().replace("\\\n", " ").strip())[1:]
    return [Path(word.replace("\\ ", " ")) for word in words if "/ziglang/" not in word]


def record_of(source: Path, objects: Path) -> Path:
    """The file with the hashes of the sources that an object was compiled from."""
    return objects / ("_".join(source.relative_to(TOP).with_suffix(".json").parts))


class Builder:
    def __init__(self, arch: str, objects: Path) -> None:
        self.objects = objects
        self.target = f"{arch}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        self.arch = arch
        # Where the compiler keeps what it makes of its own C++ library, once.
        cache = os.environ.get("ZIG_GLOBAL_CACHE_DIR") or str(objects.parent / "zig")
        self.environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        self.version = self.zig("version")

    def zig(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "ziglang", *arguments]
        done = subprocess.run(command, env=self.environment, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"build.py: this failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def compile(self, source: Path) -> bool:
        """Compiles a source if its object is not that of these bytes. Returns whether it did."""
        record = record_of(source, self.objects)
        result, rules = record.with_suffix(".o"), record.with_suffix(".d")
        flags = ["-target", self.target, *FLAGS, *FLAGS_OF.get((self.arch, "/".join(source.parts[-2:])), [])]
        # Names of files in messages do not depend on the folders.
        flags += [f"-ffile-prefix-map={CORE}=core", f"-ffile-prefix-map={THIRD_PARTY}=third_party"]
        flags += [f"-I{TOP}", f"-I{CORE}/include", f"-I{CORE}/src"]
        flags += ["-isystem", str(THIRD_PARTY), "-c", str(source)]

        def state() -> dict[str, str]:
            made_by = {"command": " ".join(flags), "compiler": self.version}
            return {str(path): digest(path) for path in dependencies(rules)} | made_by

        if result.exists() and record.exists() and json.loads(record.read_text()) == state():
            return False
        record.unlink(missing_ok=True)
        self.zig("c++", *flags, "-o", str(result), "-MD", "-MF", str(rules))
        record.write_text(json.dumps(state(), indent=1))
        return True

    def compile_all(self, jobs: int) -> int:
        """Compiles what is not up to date, and says how far it is. Returns the number of sources compiled."""
        todo = sources()
        known = {record_of(source, self.objects).stem for source in todo}
        for file in self.objects.iterdir():
            if file.stem not in known:  # of a source that does not exist any more
                file.unlink()
        count, shown = 0, time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done, compiled in enumerate(pool.map(self.compile, todo), 1):
                count += compiled
                if time.monotonic() - shown > 20:
                    shown = time.monotonic()
                    print(f"{self.arch}: {done} of {len(todo)} sources", flush=True)
        return count

    def link(self, out: Path) -> None:
        script = f"-Wl,--version-script={CORE}/abi/carom.map"
        inputs = [str(record_of(source, self.objects).with_suffix(".o")) for source in sources()]
        scratch = out.with_name(f"{out.name}.{os.getpid()}")
        out.parent.mkdir(parents=True, exist_ok=True)
        self.zig("c++", "-target", self.target, *LINK_FLAGS, script, *inputs, "-o", str(scratch))
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
            record = record_of(source, BUILD / f"objects-{arch}")
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
    objects.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    builder = Builder(arch, objects)
    compiled = builder.compile_all(jobs)
    builder.link(out)
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
