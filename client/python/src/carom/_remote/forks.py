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
from .channel import Download, Unary, Upload
from .encode import Edit
from .values import SceneSummary

T = TypeVar("T")
# A sequence of calls: yields each call, gets its response, and returns the result.
Operation = Generator[Unary | Upload | Download, Any, T]

_REPLAYED_BYTES = 1 << 20  # of edits in one request
_CALL_SECONDS = 5.0
_REMOVAL_SECONDS = 1.0
_PERMANENT = (NotFoundError, OutOfRangeError, DataLossError, InvalidArgumentError)


@dataclass
class _Edited:
    """The net effect of all edits of one polygon."""

    is_in_base: bool  # whether the base has the polygon
    first_version: int  # that the first edit made; this edit decides `is_in_base`
    version: int = 0  # that the last edit made
    polygon: bytes | None = None  # the message after the last edit; None: removed


@dataclass
class _Fork:
    """A fork that the client made."""

    base: str
    base_version: int
    lease_seconds: int
    edited: dict[int, _Edited] = field(default_factory=dict)

    def record(self, edit: Edit, version: int) -> None:
        """Takes one edit. Answers of several streams arrive in any order; the versions order the edits."""
        found = self.edited.get(edit.id)
        if found is None or version < found.first_version:
            first = _Edited(edit.kind != "add", version)
            if found is not None:
                first.version, first.polygon = found.version, found.polygon
            found = self.edited[edit.id] = first
        if version > found.version:
            found.version = version
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

    def add(self, fork: SceneSummary, lease_seconds: int) -> None:
        """Records a fork that was made."""
        with self._lock:
            self._forks[fork.name] = _Fork(fork.base, fork.base_version, lease_seconds)

    def remove(self, name: str) -> None:
        """Forgets a scene, which is not made again."""
        with self._lock:
            self._forks.pop(name, None)

    def record(self, name: str, edits: Iterable[Edit], version: int) -> None:
        """Records edits that made a version of a scene; does nothing for a scene that is no fork of the client."""
        with self._lock:
            fork = self._forks.get(name)
            if fork is not None:
                for edit in edits:
                    fork.record(edit, version)

    def is_empty(self) -> bool:
        """Whether there is no fork."""
        return not self._forks

    def restore(self, address: int, abandoned: Callable[[], bool], new_id: Callable[[], str]) -> Operation[None]:
        """Makes, on one server, each fork that it does not have. Skips those whose base it does not have.

        Raises the error of a server that does not answer, or refuses a call over a limit; a fork that did not get all
        of its edits is then deleted. Stops early after `abandoned` has returned True.
        """
        with self._lock:
            made = [(name, fork, fork.requests(name, new_id)) for name, fork in self._forks.items()]
        for name, fork, requests in made:
            if abandoned():
                return
            try:
                yield from _restore(address, name, fork, requests)
            except _PERMANENT:
                continue  # groups that query the fork get NOT_FOUND


def _call(address: int, method: str, request: bytes, timeout: float = _CALL_SECONDS) -> Operation[Any]:
    try:
        return (yield Unary(method, request, False, address, timeout))
    except DeadlineExceededError:
        raise UnavailableError("the server did not answer in time while a fork was made again") from None


def _restore(address: int, name: str, fork: _Fork, requests: list[bytes]) -> Operation[None]:
    """Makes one fork. Leaves one that the server has: it did not lose the fork, or another client made it again."""
    try:
        yield from _call(address, "GetScene", messages.encode("GetSceneRequest", {"name": name}))
        return
    except NotFoundError:
        pass
    values = {"base": fork.base, "version": fork.base_version, "name": name, "lease_seconds": fork.lease_seconds}
    try:
        yield from _call(address, "ForkScene", messages.encode("ForkSceneRequest", values))
    except AlreadyExistsError:
        return
    try:
        for request in requests:
            yield from _call(address, "CommitEdits", request)
    except CaromError:
        # Others would take the incomplete fork for a complete one.
        with contextlib.suppress(CaromError):
            yield from _call(
                address, "DeleteScene", messages.encode("DeleteSceneRequest", {"name": name}), _REMOVAL_SECONDS
            )
        raise
