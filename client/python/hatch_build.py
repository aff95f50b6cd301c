# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What a wheel and an sdist have beside the files of src/carom.

A wheel has libcarom.so.1. CAROM_WHEEL_LIBRARY is its absolute path; without it, native/build.py makes the library,
which takes minutes. CAROM_WHEEL_PLATFORM is the platform in the wheel's name; without it, that of native/build.py. An
sdist has the sources of the library, so that a wheel can be made of nothing but the sdist and the packages of
`dependencies`. An editable install has no library: CAROM_LIBRARY names one when the package is used.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# As in requirements-build.txt.
COMPILER = "ziglang==0.17.1"


class CustomBuildHook(BuildHookInterface[Any]):
    def dependencies(self) -> list[str]:
        """What the build needs beside hatchling: the compiler, if it compiles."""
        given = os.environ.get("CAROM_WHEEL_LIBRARY") or os.environ.get("CAROM_LIBRARY")
        return [] if given or self.target_name != "wheel" else [COMPILER]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files. `version` is `standard` or `editable`."""
        root = Path(self.root)
        top = root.parent.parent
        is_checkout = not (root / "native/core").is_dir()
        if is_checkout:
            subprocess.run([sys.executable, str(root / "generate.py")], check=True)
        elif not (root / "src/carom/_generated/layout.py").is_file():
            raise SystemExit("hatch_build.py: src/carom/_generated is missing: no sdist lacks it")
        if self.target_name == "sdist" and is_checkout:
            listed = (line.split("\t") for line in self.ask("--files").splitlines())
            build_data["force_include"] |= {path: f"native/{name}" for path, name in listed}
        elif self.target_name == "wheel" and version != "editable":
            made = (top / "build/wheel" if is_checkout else root / "native/build") / "libcarom.so.1"
            build_data["force_include"][str(self.library(made))] = "carom/lib/libcarom.so.1"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{os.environ.get('CAROM_WHEEL_PLATFORM') or self.ask('--platform')}"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(Path(self.root) / "native/build.py"), *arguments]

    def ask(self, option: str) -> str:
        return subprocess.run(self.command(option), check=True, text=True, stdout=subprocess.PIPE).stdout.strip()

    def library(self, made: Path) -> Path:
        """The library that the wheel gets; `made` is where it lies if it is built here."""
        given = os.environ.get("CAROM_WHEEL_LIBRARY")
        if given:
            return Path(given)
        if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
            raise SystemExit("hatch_build.py: libcarom.so.1 is for Linux with glibc 2.28 or later")
        subprocess.run(self.command("--out", str(made)), check=True)
        return made
