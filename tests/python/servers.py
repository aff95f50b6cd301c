# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Servers that a test kills, starts again at the same port, or gives certificates and tokens."""

from __future__ import annotations

import contextlib
import hashlib
import pathlib
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator

import pytest
from conftest import START_SECONDS, program


def unused_port() -> int:
    """A loopback port that nothing listens on."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


class Caromd:
    """A `caromd` at a loopback port, in a folder of its own."""

    def __init__(self, folder: pathlib.Path, *options: str, port: int = 0, store: str = "memory") -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._options = (*options, "--store", store, "--state-dir", str(folder))
        self.port = port
        self.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts the server, again at the port that it had."""
        out = self._folder / "out"
        with out.open("wb") as stdout, (self._folder / "err").open("wb") as stderr:
            self.process = subprocess.Popen(
                [program("CAROMD_BINARY"), "--address", self.address, "--admin-address", "off", *self._options],
                stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while "listening on" not in out.read_text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                pytest.fail(f"caromd does not listen: {(self._folder / 'err').read_text()[-2000:]}")
            time.sleep(0.01)
        self.port = int(out.read_text().split()[-1].rpartition(":")[2])

    def kill(self) -> None:
        """Ends the server by SIGKILL, as a crash does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


class CutProxy:
    """Passes connections on to a server, and cuts each after a number of bytes in both directions."""

    def __init__(self, port: int, sizes: Iterator[int]) -> None:
        self.cuts = 0
        self._port = port
        self._sizes = sizes  # of each connection; after the last one, connections are not cut
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                left = [next(self._sizes, 1 << 60)]
                self._open |= {near, far}
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(*pair, left), daemon=True).start()

    def cut_all(self) -> None:
        """Cuts every connection."""
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _pump(self, source: socket.socket, target: socket.socket, left: list[int]) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data[: max(left[0], 0)])
                left[0] -= len(data)
                if left[0] <= 0:
                    self.cuts += 1
                    break
        for each in (source, target):
            self._open.discard(each)
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def close(self) -> None:
        """Accepts no further connection."""
        self._listener.close()


@contextlib.contextmanager
def caromd(folder: pathlib.Path, *options: str, port: int = 0, store: str = "memory") -> Iterator[Caromd]:
    """A server, which ends with the block."""
    server = Caromd(folder, *options, port=port, store=store)
    try:
        yield server
    finally:
        server.kill()


def run(folder: pathlib.Path, *command: str) -> None:
    """Runs openssl."""
    subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True, timeout=60)


def certificates(folder: pathlib.Path) -> None:
    """Makes ca.pem and, signed by it, server.pem and client.pem with server.key and client.key."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    run(folder, "req", "-x509", *key, "-subj", "/CN=test ca", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2")
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    (folder / "client.ext").write_text("subjectAltName=DNS:player.example\n")
    for name in ("server", "client"):
        run(folder, "req", *key, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        run(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-extfile", f"{name}.ext", "-out", f"{name}.pem", "-days", "2")  # fmt: skip


def token_line(token: str, tenant: str, role: str) -> str:
    """A line of a file of credentials."""
    return f"token {hashlib.sha256(token.encode()).hexdigest()} {tenant} {role}\n"
