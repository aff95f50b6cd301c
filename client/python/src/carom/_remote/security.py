# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a client prove who it is, and make sure of its server?

A tenant and a role belong to a token or to a certificate (docs/security.md), so a client needs nothing else. Tokens go
over TLS, or to a server on the same machine; files are read again when they change.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import ssl
import tempfile
import threading
import time
from typing import Any

from .._columns import refuse
from ..errors import InvalidArgumentError
from .values import Tls

_REFRESH_SECONDS = 1.0  # between two checks of the files of TLS
Path = str | os.PathLike[str]
State = tuple[int, int, int]


def check_address(address: object) -> str:
    """Returns an address that a client accepts: `host:port` or `unix:PATH`."""
    if isinstance(address, str):
        host, colon, port = address.rpartition(":")
        if address.startswith("unix:") and len(address) > len("unix:"):
            return address
        bracketed = host.startswith("[") and host.endswith("]")
        number = int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else 0
        if colon and host and "/" not in address and 0 < number < 65536 and (bracketed or ":" not in host):
            return address
    raise refuse("addresses", f"has {address!r}; host:port or unix:PATH, or several of them, are accepted")


def is_on_this_machine(address: str) -> bool:
    """Whether calls to an address stay on this machine."""
    if address.startswith(("unix:", "localhost:", "[::1]:")):
        return True
    try:
        return ipaddress.IPv4Address(address.rpartition(":")[0]).is_loopback
    except ValueError:  # the name of a host, such as 127.example
        return False


def _read(path: Path, field: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise refuse(field, f"cannot be read: {os.fsdecode(path)}: {reason}") from None


def _state(path: Path) -> State | None:
    """What differs when a file has changed; None if there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _token(data: bytes | str, field: str) -> str:
    text = data.decode("ascii", "replace") if isinstance(data, bytes) else data
    text = text.strip()
    if not text or not all(33 <= ord(character) < 127 for character in text):
        raise refuse(field, "has no token, one word of printable ASCII")
    return text


class Token:
    """The token that each call carries, if there is one."""

    def __init__(self, token: str | None, file: Path | None) -> None:
        if token is not None and file is not None:
            raise refuse("token", "and token_file are both given; one is accepted")
        self._file = file
        self._lock = threading.Lock()
        self._state = None if file is None else _state(file)
        self._metadata: tuple[tuple[str, str], ...] = ()
        if token is not None:
            self._set(_token(token, "token"))
        elif file is not None:
            self._set(_token(_read(file, "token_file"), "token_file"))

    def _set(self, token: str) -> None:
        self._metadata = (("authorization", f"Bearer {token}"),)

    def __bool__(self) -> bool:
        return bool(self._metadata)

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Returns what a call carries. A file that cannot be used after a change leaves the token as it was."""
        if self._file is not None:
            state = _state(self._file)
            if state != self._state:
                with self._lock:
                    self._state = state
                    with contextlib.suppress(InvalidArgumentError):
                        self._set(_token(_read(self._file, "token_file"), "token_file"))
        return self._metadata


class Security:
    """The token and the credentials of the connections of a client. Thread-safe."""

    def __init__(self, token: str | None, token_file: Path | None, tls: Tls | bool | None, credentials: Any) -> None:
        self.token = Token(token, token_file)
        self._tls = Tls() if tls is True else tls or None
        if self._tls is not None and not isinstance(self._tls, Tls):
            raise refuse("tls", f"is {tls!r}; a carom.client.Tls, or True, is accepted")
        if self._tls is not None and credentials is not None:
            raise refuse("credentials", "and tls are both given; one is accepted")
        self._given = credentials
        self._lock = threading.Lock()
        self._checked = time.monotonic()
        self._states = self._file_states()
        self.generation = 0  # grows when the credentials change
        self.credentials: Any = credentials if self._tls is None else self._make(self._tls)

    @property
    def is_encrypted(self) -> bool:
        """Whether connections use TLS."""
        return self._tls is not None or self._given is not None

    def check(self, addresses: tuple[str, ...]) -> None:
        """Raises InvalidArgumentError if a token would cross a network in plain text."""
        if self.token and not self.is_encrypted and not all(map(is_on_this_machine, addresses)):
            raise refuse("tls", "must be given with a token, unless the server is on this machine")

    def options(self) -> list[tuple[str, Any]]:
        """Options of channels: a proxy of the environment does not get a token in plain text."""
        return [("grpc.enable_http_proxy", 0)] if self.token and not self.is_encrypted else []

    def refresh(self) -> None:
        """Makes other credentials if the files have changed, and can be used; at most once a second."""
        if self._tls is None or not self._states or time.monotonic() - self._checked < _REFRESH_SECONDS:
            return
        with self._lock:
            self._checked = time.monotonic()
            states = self._file_states()
            if states == self._states:
                return
            self._states = states
            try:
                self.credentials = self._make(self._tls)
            except InvalidArgumentError:
                return
            self.generation += 1

    def _file_states(self) -> list[State | None]:
        parts = () if self._tls is None else (self._tls.ca, self._tls.certificate, self._tls.key)
        return [_state(part) for part in parts if part is not None and not isinstance(part, bytes)]

    @staticmethod
    def _make(tls: Tls) -> Any:
        import grpc

        if (tls.certificate is None) != (tls.key is None):
            missing = "key" if tls.key is None else "certificate"
            raise refuse(f"tls.{missing}", "must be given: a certificate and its key are one pair")
        parts = {
            name: value if value is None or isinstance(value, bytes) else _read(value, f"tls.{name}")
            for name, value in (("ca", tls.ca), ("certificate", tls.certificate), ("key", tls.key))
        }
        _check_tls(parts)
        return grpc.ssl_channel_credentials(parts["ca"], parts["key"], parts["certificate"])


def _check_tls(parts: dict[str, bytes | None]) -> None:
    """Raises InvalidArgumentError for PEM that cannot be used, which gRPC only logs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if parts["ca"] is not None:
        try:
            context.load_verify_locations(cadata=parts["ca"].decode("ascii"))
        except (ssl.SSLError, ValueError):
            raise refuse("tls.ca", "has no certificates in PEM") from None
    if parts["certificate"] is not None and parts["key"] is not None:
        # The module ssl reads pairs from files only.
        with tempfile.NamedTemporaryFile() as file:
            file.write(parts["certificate"] + b"\n" + parts["key"])
            file.flush()
            try:
                context.load_cert_chain(file.name, password=lambda: b"")
            except (ssl.SSLError, ValueError):
                raise refuse("tls.key", "is not the key of tls.certificate, in PEM, without a passphrase") from None
