# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Which servers can a client call, to which does the next call go, and how long may a call take?"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .._columns import refuse
from .._generated.wire_tables import METHODS
from ..errors import CaromError, DeadlineExceededError, FailedPreconditionError, UnavailableError
from .security import Security, check_address
from .values import seconds

if TYPE_CHECKING:
    from .forks import ForkLog

# Pauses between attempts of a call: each is twice the one before, of which a random part of up to half is left out.
_FIRST_PAUSE, _LAST_PAUSE = 0.1, 3.2  # [seconds]
_MOST_ATTEMPTS = 7  # of one address
_LEAST_KEEPALIVE = 10.0  # [seconds] below which a server closes connections


class Options(NamedTuple):
    """The options of a client."""

    deadline: float | None  # [seconds] of each call; None: none
    keepalive: float  # [seconds] without data after which a server is pinged; 0: never
    max_receive_bytes: int
    own_connection: bool

    def check(self) -> None:
        """Raises InvalidArgumentError for an option out of range."""
        check_seconds("deadline", self.deadline)
        if seconds(self.keepalive, "keepalive", 86400) and self.keepalive < _LEAST_KEEPALIVE:
            raise refuse("keepalive", f"is {self.keepalive!r}; accepted is 0 or [10, 86400] seconds")
        if not isinstance(self.max_receive_bytes, int) or not 1024 <= self.max_receive_bytes < 2**31:
            raise refuse("max_receive_bytes", f"is {self.max_receive_bytes!r}; accepted is [1024, 2^31 - 1]")

    def arguments(self) -> list[tuple[str, Any]]:
        """The options of gRPC's channels."""
        made: list[tuple[str, Any]] = [
            ("grpc.max_receive_message_length", self.max_receive_bytes),
            ("grpc.use_local_subchannel_pool", int(self.own_connection)),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 2000),
            ("grpc.min_reconnect_backoff_ms", 5000),  # the timeout of one attempt to connect
        ]
        if self.keepalive:
            made += [
                ("grpc.keepalive_time_ms", int(self.keepalive * 1000)),
                ("grpc.keepalive_timeout_ms", int(min(self.keepalive, 20) * 1000)),
                ("grpc.http2.max_pings_without_data", 0),
            ]
        return made


def check_seconds(name: str, value: object) -> None:
    """Raises InvalidArgumentError unless a value is None or a time in seconds."""
    if value is not None and not (isinstance(value, int | float) and 0 < value < 1e9):
        raise refuse(name, f"is {value!r}; a number of seconds above 0, or None, is accepted")


def as_addresses(addresses: str | Iterable[str]) -> tuple[str, ...]:
    """Returns the addresses of a client: one text, with commas between several, or an iterable."""
    if isinstance(addresses, str):
        listed = addresses.split(",")
    elif isinstance(addresses, Iterable):
        listed = list(addresses)
    else:
        raise refuse("addresses", f"is {addresses!r}; a text, or several, are accepted")
    if not listed:
        raise refuse("addresses", "is empty")
    return tuple(check_address(each) for each in listed)


class Addresses:
    """The servers of a client, and the one to which calls go. Thread-safe."""

    def __init__(self, addresses: tuple[str, ...], forks: ForkLog) -> None:
        self.all = addresses
        self.forks = forks
        self.current = 0
        self._lock = threading.Lock()

    def fail_over(self, index: int) -> None:
        """Makes the server after `index` the current one, unless a call has already done so."""
        with self._lock:
            if self.current == index:
                self.current = (index + 1) % len(self.all)


class Channels:
    """The channels to the servers of a client, made when they are first used. Thread-safe.

    make: returns a channel, from an address, credentials (None: plain text) and options
    """

    def __init__(
        self, addresses: tuple[str, ...], security: Security, options: Options, make: Callable[..., Any]
    ) -> None:
        self._addresses = addresses
        self._security = security
        self._options = [*options.arguments(), *security.options()]
        self._make = make
        self._lock = threading.Lock()
        self._channels: dict[int, tuple[int, Any]] = {}
        self._old: list[Any] = []  # with former credentials; calls may still use them
        self._stubs: dict[tuple[int, str, int], Any] = {}
        self._pid = os.getpid()
        self._closed = False

    def check(self) -> None:
        """Raises FailedPreconditionError if the client is closed, or was made before a fork of the process."""
        if not self.is_own():
            raise FailedPreconditionError(
                "the client was made by another process, from which this one was forked: make a client in each process",
                field="client",
            )
        if self._closed:
            raise FailedPreconditionError("the client is closed", field="client")

    def is_own(self) -> bool:
        """Whether this process made the client, and was not forked from that one."""
        return os.getpid() == self._pid

    def stub(self, index: int, shape: str, method: str) -> Any:
        """Returns what calls a method: shape is `unary_unary`, `stream_unary`, `unary_stream` or `stream_stream`."""
        self.check()
        self._security.refresh()
        generation = self._security.generation
        stub = self._stubs.get((index, method, generation))
        if stub is None:
            with self._lock:
                self.check()
                made, channel = self._channels.get(index, (-1, None))
                if made != generation:
                    self._old += [] if channel is None else [channel]
                    address, credentials = self._addresses[index], self._security.credentials
                    channel = self._make(address, credentials, self._options)
                    self._channels[index] = (generation, channel)
                stub = getattr(channel, shape)(METHODS[method])
                self._stubs = {key: value for key, value in self._stubs.items() if key[2] == generation}
                self._stubs[index, method, generation] = stub
        return stub

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Returns what each call carries."""
        return self._security.token.metadata()

    def close(self) -> list[Any]:
        """Returns the channels, which the caller closes; later calls raise FailedPreconditionError."""
        self._closed = True
        if not self.is_own():
            return []
        with self._lock:
            found = [*self._old, *(channel for _, channel in self._channels.values())]
            self._old, self._channels, self._stubs = [], {}, {}
        return found


# --- Calls ------------------------------------------------------------------------------------------


class Unary(NamedTuple):
    """One request, one response: the response is sent to the operation that yields this."""

    method: str
    request: bytes
    repeats: bool  # whether the call is made again after UNAVAILABLE
    address: int | None = None  # the server; None: the current one
    timeout: float | None = None  # [seconds] in place of the deadline of the operation
    answered: Callable[[int], None] | None = None  # takes the server that answered


class Upload(NamedTuple):
    """Some requests, one response."""

    method: str
    requests: Callable[[], Iterator[bytes]]


class Download(NamedTuple):
    """One request, some responses, of which each is passed to `take`; repeated only before the first one."""

    method: str
    request: bytes
    take: Callable[[bytes], None]


class Pause(NamedTuple):
    """No call: the operation waits, and others go on."""

    seconds: float


class Attempts:
    """The attempts of one call: when the next one begins, and whether there is one."""

    def __init__(self, addresses: Addresses, deadline: float | None, address: int | None = None) -> None:
        self._addresses = addresses
        self._fixed = address
        self._end = None if deadline is None else time.monotonic() + deadline
        self._failed = 0
        self.address = 0

    def begin(self) -> float | None:
        """Chooses the server, and returns the timeout of the attempt."""
        self.address = self._addresses.current if self._fixed is None else self._fixed
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise DeadlineExceededError("the deadline passed before the call began")
        return left

    def failed(self, error: CaromError, repeats: bool) -> float:
        """Returns the pause before the next attempt in seconds, or raises the error."""
        if not isinstance(error, UnavailableError):
            raise error
        if self._fixed is None:
            self._addresses.fail_over(self.address)
        servers = len(self._addresses.all) if self._fixed is None else 1
        self._failed += 1
        if not repeats or self._failed >= _MOST_ATTEMPTS * servers:
            raise error
        pause = 0.0
        if self._failed >= servers:  # each server has failed once
            doubled = _FIRST_PAUSE * 2 ** ((self._failed - servers) // servers)
            pause = min(doubled, _LAST_PAUSE) * random.uniform(0.5, 1.0)
        pause = max(pause, error.retry_after or 0.0)
        if self._end is not None and time.monotonic() + pause >= self._end:
            raise error
        return pause
