# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles sources by the compiler of the PyPI package `ziglang`, which has its own C and C++ libraries.

Objects stay in a folder. One is compiled again if a byte of what it was made from has changed.
"""

from __future__ import annotations

import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path


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


def record_of(source: Path, objects: Path, top: Path) -> Path:
    """The file with the hashes of the sources that an object was compiled from."""
    return objects / ("_".join(source.relative_to(top).with_suffix(".json").parts))


class Compiler:
    """Compiles sources below `top` for one target, to objects in the folder `objects`."""

    def __init__(self, target: Sequence[str], objects: Path, top: Path) -> None:
        self.target = list(target)
        self.objects = objects
        self.top = top
        # Where the compiler keeps what it makes of its own libraries, once.
        cache = os.environ.get("ZIG_GLOBAL_CACHE_DIR") or str(objects.parent / "zig")
        self.environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        self.version = self.zig("version")

    def zig(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "ziglang", *arguments]
        done = subprocess.run(command, env=self.environment, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"zig.py: this failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def object_of(self, source: Path) -> Path:
        return record_of(source, self.objects, self.top).with_suffix(".o")

    def compile(self, source: Path, flags: Sequence[str]) -> bool:
        """Compiles a source if its object is not that of these bytes. Returns whether it did."""
        record = record_of(source, self.objects, self.top)
        result, rules = record.with_suffix(".o"), record.with_suffix(".d")
        command = [*self.target, *flags, "-c", str(source)]

        def state() -> dict[str, str]:
            made_by = {"command": " ".join(command), "compiler": self.version}
            return {str(path): digest(path) for path in dependencies(rules)} | made_by

        if result.exists() and record.exists() and json.loads(record.read_text()) == state():
            return False
        record.unlink(missing_ok=True)
        self.zig("c++", *command, "-o", str(result), "-MD", "-MF", str(rules))
        record.write_text(json.dumps(state(), indent=1))
        return True

    def compile_all(self, todo: Iterable[tuple[Path, Sequence[str]]], jobs: int, name: str) -> int:
        """Compiles what is not up to date, and says how far it is. Returns the number of sources compiled."""
        todo = list(todo)
        self.objects.mkdir(parents=True, exist_ok=True)
        known = {self.object_of(source).stem for source, _ in todo}
        for file in self.objects.iterdir():
            if file.stem not in known:  # of a source that does not exist any more
                file.unlink()
        count, shown = 0, time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done, compiled in enumerate(pool.map(lambda each: self.compile(*each), todo), 1):
                count += compiled
                if time.monotonic() - shown > 20:
                    shown = time.monotonic()
                    print(f"{name}: {done} of {len(todo)} sources", flush=True)
        return count
