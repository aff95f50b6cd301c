# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a client make a fork again that its server has lost?

A fork, an editable copy of a scene, exists on one server. A `ForkLog` has the base of each fork that a client made, and
the net effect of the edits that the client made to it, polygon by polygon: O(edited polygons), not O(edits). Another
server gets the base's fork and these edits.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..errors import (
    AlreadyExistsError,
    CaromError,
    DataLossError,
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    UnavailableError,
)
from . import messages
from .channel import Download, Pause, Unary, Upload
from .encode import Edit
from .values import SceneSummary

T = TypeVar("T")
# A sequence of calls: yields each call, gets its response, and returns the result.
Operation = Generator[Unary | Upload | Download | Pause, Any, T]

_REPLAYED_BYTES = 1 << 20  # of edits in one request
_CALL_SECONDS = 5.0
_REMOVAL_SECONDS = 1.0
_TURN_SECONDS = 0.02  # after which an operation that waits for another one looks again
_PERMANENT = (NotFoundError, OutOfRangeError, DataLossError, InvalidArgumentError)


# The order of edits: a term, and the version that the edit made, which orders the edits of one term. A term begins when
# the fork is found or made on a server that numbers its versions anew: another one, or one that has lost the fork.
_Order = tuple[int, int]


@dataclass
class _Edited:
    """The net effect of all edits of one polygon."""

    is_in_base: bool  # whether the base has the polygon
    first: _Order  # of the first edit, which decides `is_in_base`
    last: _Order = (0, 0)
    polygon: bytes | None = None  # the message after the last edit; None: removed


@dataclass
class _Fork:
    """A fork that the client made."""

    base: str
    base_version: int
    lease_seconds: int
    address: int  # of the server on which it was last found or made
    version: int  # the greatest one there that the client knows
    # The latest term of each server on which it was found or made; that of `address` is the greatest. The others may
    # have the fork as it was when the client went on with another server.
    terms: dict[int, int]
    edited: dict[int, _Edited] = field(default_factory=dict)

    def take_server(self, address: int, known: int, version: int) -> None:
        """Takes the version of the fork on a server that has it. known: `version` before the server was asked."""
        if address == self.address and version >= known:
            self.version = max(self.version, version)
        else:
            self.terms[address] = self.terms[self.address] + 1
            self.address, self.version = address, version

    def is_stale_on(self, address: int) -> bool:
        """Whether a server that has the fork has it without the edits made on others since."""
        return address != self.address and address in self.terms

    def record(self, edits: Iterable[Edit], version: int, address: int) -> None:
        """Takes edits. A late answer of a server that the client has left is older than the edits made since."""
        if address == self.address:
            self.version = max(self.version, version)
        order = self.terms.get(address, self.terms[self.address]), version
        for edit in edits:
            self._record(edit, order)

    def _record(self, edit: Edit, order: _Order) -> None:
        """Takes one edit. Answers of several streams arrive in any order; `order` is that of the edits."""
        found = self.edited.get(edit.id)
        if found is None or order < found.first:
            first = _Edited(edit.kind != "add", order)
            if found is not None:
                first.last, first.polygon = found.last, found.polygon
            found = self.edited[edit.id] = first
        if order > found.last:
            found.last = order
            found.polygon = None if edit.kind == "remove" else edit.polygon

    def requests(self, name: str, new_id: Callable[[], str]) -> list[bytes]:
        """The requests of commits that turn the base into the fork, each of bounded size."""
        parts: list[list[bytes]] = []
        size = _REPLAYED_BYTES
        for id, edited in sorted(self.edited.items()):
            if edited.polygon is None and not edited.is_in_base:
                continue
            kind = "remove" if edited.polygon is None else "replace" if edited.is_in_base else "add"
            message = Edit(kind, id, edited.polygon or b"").message()
            if size + len(message) > _REPLAYED_BYTES:
                parts.append([])
                size = 0
            size += len(message)
            parts[-1].append(message)
        return [
            messages.encode("CommitEditsRequest", {"name": name, "edits": part, "edit_id": new_id()}) for part in parts
        ]


class ForkLog:
    """The forks of a client. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forks: dict[str, _Fork] = {}
        self._turn = threading.Lock()  # of one `restore` at a time: others find complete forks

    def add(self, fork: SceneSummary, lease_seconds: int, address: int) -> None:
        """Records a fork that was made on a server."""
        with self._lock:
            terms = {address: 1}
            self._forks[fork.name] = _Fork(fork.base, fork.base_version, lease_seconds, address, fork.version, terms)

    def remove(self, name: str) -> None:
        """Forgets a scene, which is not made again."""
        with self._lock:
            self._forks.pop(name, None)

    def remove_missing(self, name: str, address: int) -> None:
        """Forgets a fork that a server does not have, unless `restore` has yet to make it there."""
        with self._lock:
            fork = self._forks.get(name)
            if fork is not None and fork.address == address:
                del self._forks[name]

    def record(self, name: str, edits: Iterable[Edit], version: int, address: int) -> None:
        """Records edits that made a version of a scene on a server; does nothing if it is no fork of the client."""
        with self._lock:
            fork = self._forks.get(name)
            if fork is not None:
                fork.record(edits, version, address)

    def is_empty(self) -> bool:
        """Whether there is no fork."""
        return not self._forks

    def restore(self, address: int, abandoned: Callable[[], bool], new_id: Callable[[], str]) -> Operation[None]:
        """Makes, on one server, each fork that it does not have, or has as it was when the client left the server.

        Skips those whose base the server does not have. Raises the error of a server that does not answer, or refuses a
        call over a limit; a fork that did not get all of its edits is then deleted. Stops early after `abandoned` has
        returned True.
        """
        while not self._turn.acquire(blocking=False):
            if abandoned():
                return
            yield Pause(_TURN_SECONDS)
        try:
            yield from self._restore(address, abandoned, new_id)
        finally:
            self._turn.release()

    def _restore(self, address: int, abandoned: Callable[[], bool], new_id: Callable[[], str]) -> Operation[None]:
        with self._lock:
            made = [(name, fork, fork.requests(name, new_id)) for name, fork in self._forks.items()]
        for name, fork, requests in made:
            if abandoned():
                return
            known = fork.version
            try:
                version = yield from _restore(address, name, fork, requests)
            except _PERMANENT:
                continue  # groups that query the fork get NOT_FOUND
            with self._lock:
                fork.take_server(address, known, version)


def _call(address: int, method: str, request: bytes, timeout: float = _CALL_SECONDS) -> Operation[Any]:
    try:
        return (yield Unary(method, request, False, address, timeout))
    except DeadlineExceededError:
        raise UnavailableError("the server did not answer in time while a fork was made again") from None


def _version(response: bytes) -> int:
    """The version of the scene in a response, whose field `scene` has the number 1 in all of them."""
    found = messages.decode("GetSceneResponse", response)["scene"]
    return 0 if found is None else int(found["version"])


def _restore(address: int, name: str, fork: _Fork, requests: list[bytes]) -> Operation[int]:
    """Makes one fork, and returns its version.

    Leaves one that the server has, unless it is stale: the server did not lose it, or another client made it again.
    """
    get = messages.encode("GetSceneRequest", {"name": name})
    delete = messages.encode("DeleteSceneRequest", {"name": name})
    try:
        response = yield from _call(address, "GetScene", get)
        if not fork.is_stale_on(address):
            return _version(response)
        yield from _call(address, "DeleteScene", delete)
    except NotFoundError:
        pass
    values = {"base": fork.base, "version": fork.base_version, "name": name, "lease_seconds": fork.lease_seconds}
    try:
        response = yield from _call(address, "ForkScene", messages.encode("ForkSceneRequest", values))
    except AlreadyExistsError:
        return _version((yield from _call(address, "GetScene", get)))
    try:
        for request in requests:
            response = yield from _call(address, "CommitEdits", request)
    except CaromError:
        # Others would take the incomplete fork for a complete one.
        with contextlib.suppress(CaromError):
            yield from _call(address, "DeleteScene", delete, _REMOVAL_SECONDS)
        raise
    return _version(response)
