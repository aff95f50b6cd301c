# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What do the tests of the Python package share? Programs, servers, the folder of shared data, and `carom eval`.

Environment: CAROM_BINARY, CAROMD_BINARY, CAROM_LIBRARY name the programs and the library; CAROM_SHARED_DIR the folder
of shared data; CAROM_LONG=1 asks for the long variants; under CI a test that lacks something fails instead of being
skipped.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import pytest
from hypothesis import settings

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = os.environ.get("CAROM_LONG") == "1"
START_SECONDS = 20.0
EVAL_SECONDS = 300.0

# The same examples in every run, but for the long one. What Hypothesis stores does not belong to the checkout.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "carom-hypothesis"))
settings.register_profile("tests", derandomize=not LONG, database=None, deadline=None)
settings.load_profile("tests")


def missing(what: str) -> NoReturn:
    """Skips the test that calls it, or fails it under CI."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}, and CI is set")
    pytest.skip(what)


def program(variable: str) -> str:
    """The program that an environment variable names."""
    name = os.environ.get(variable)
    if not name:
        missing(f"{variable} is not set")
    if not os.access(name, os.X_OK):
        pytest.fail(f"{variable} is {name}, which is no program")
    return name


def run_eval(lines: Sequence[str], *, root: str | None = None, address: str | None = None) -> list[dict[str, Any]]:
    """Answers lines of JSON by `carom eval`, in its own process or by the server at `address`."""
    command = [program("CAROM_BINARY"), "eval"]
    if root is not None:
        command += ["--root", root]
    if address is not None:
        command += ["--address", address]
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=EVAL_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Server:
    """A `caromd` with scenes in memory, on a free loopback port."""

    def __init__(self, folder: pathlib.Path, *options: str) -> None:
        log = folder / "caromd.out"
        with log.open("wb") as out, (folder / "caromd.err").open("wb") as err:
            self.process = subprocess.Popen(
                [
                    program("CAROMD_BINARY"), "--address", "127.0.0.1:0", "--admin-address", "off", "--store", "memory",
                    *options,
                ],
                stdout=out, stderr=err, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self.address = ""
        deadline = time.monotonic() + START_SECONDS
        while not self.address:
            for line in log.read_text().splitlines():
                self.address = line.removeprefix("caromd listening on ") if "listening on" in line else self.address
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                pytest.fail(f"caromd does not listen: {(folder / 'caromd.err').read_text()[-2000:]}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Ends the server."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@pytest.fixture(scope="session")
def caromd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that all tests share: a test gives its scenes names of their own."""
    server = Server(tmp_path_factory.mktemp("caromd"))
    yield server.address
    server.stop()


@pytest.fixture
def start_caromd(tmp_path: pathlib.Path) -> Iterator[Callable[..., Server]]:
    """Starts servers with the given options, which end with the test."""
    servers: list[Server] = []

    def start(*options: str) -> Server:
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        servers.append(Server(folder, *options))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The folder of scenes and packs of questions, which is not part of the project."""
    folder = pathlib.Path(os.environ.get("CAROM_SHARED_DIR") or ROOT.parent / "shared") / "data"
    if not (folder / "packs" / "queries.jsonl.xz").is_file():
        missing("the folder of shared data is not here (CAROM_SHARED_DIR)")
    return folder


@pytest.fixture(scope="session")
def maps(shared: pathlib.Path) -> dict[str, list[dict[str, Any]]]:
    """The polygons of each scene of the shared data, by the id of the scene."""
    found = {}
    for file in sorted((shared / "scenes").glob("*.jsonl")):
        for line in file.read_text().splitlines():
            scene = json.loads(line)
            found[scene["id"]] = scene["polygons"]
    return found
