# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a program follow the versions of a scene, also over calls that break?

`WatchState` decides, without input or output, what a message means and whether a broken call is made again. `Watch`
reads the messages; aio.py has its asynchronous form.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, Self

import grpc
import numpy as np

from ..errors import CaromError, FailedPreconditionError, InternalError, UnavailableError
from . import encode, messages
from .joiner import Joiner
from .run import Runner
from .status import of_rpc_error
from .values import PolygonChange, SceneSummary, SceneUpdate, seconds, time_of

_FIRST_PAUSE, _LAST_PAUSE = 0.02, 2.0  # [seconds] between calls that fail one after the other
_COLUMNS = ("polygon_id", "change", "min_x", "min_y", "max_x", "max_y")
_POLYGONS = messages.table("WatchSceneResponse").by_name["polygons"].number


class WatchState:
    """The progress of a watch. One thread at a time."""

    def __init__(self, name: str, from_version: int, polygons: bool, reconnect_timeout: float) -> None:
        encode.check_number("from_version", from_version, 0, 2**64)
        self.version = from_version  # the last version that the caller has
        self._name = name
        self._polygons = polygons
        self._timeout = seconds(reconnect_timeout, "reconnect_timeout")
        self._pause = _FIRST_PAUSE
        self._give_up: float | None = None
        self._opened = 0.0
        self._begin()

    def _begin(self) -> None:
        """Forgets the messages of a version that is not complete."""
        self._head: dict[str, Any] | None = None
        self._rows: list[list[Any]] = [[] for _ in _COLUMNS]
        self._joiner = Joiner()

    def request(self) -> bytes:
        """Returns the request of the next call."""
        self._begin()
        self._opened = time.monotonic()
        values = {"name": self._name, "from_version": self.version, "polygons": self._polygons}
        return messages.encode("WatchSceneRequest", values)

    def take(self, data: bytes) -> SceneUpdate | None:
        """Takes a message; returns the update that it completes. Raises InternalError."""
        found = messages.ranges("WatchSceneResponse", data)
        chunk = messages.decode("WatchSceneResponse", data, found, without="polygons")
        if self._head is None:
            self._head = chunk
        columns = [chunk[name] for name in _COLUMNS]
        if any(len(column) != len(columns[0]) for column in columns):
            raise InternalError("the server sent an update with columns of unequal length")
        for rows, column in zip(self._rows, columns, strict=True):
            rows.append(column)
        self._joiner.add(data, found.get(_POLYGONS, []), chunk["continues"])
        return None if chunk["more"] else self._finish(self._head)

    def _finish(self, head: dict[str, Any]) -> SceneUpdate:
        ids, changes, *corners = (np.concatenate(rows) for rows in self._rows)
        if len(changes) and not set(np.unique(changes).tolist()) <= set(PolygonChange):
            raise InternalError("the server sent an unknown change of a polygon")
        polygons = self._joiner.finish()
        update = SceneUpdate(
            SceneSummary.of(head["scene"]), head["base_version"], head["edit_id"], time_of(head["created_us"]),
            ids, changes.astype(np.uint8), np.stack(corners, axis=1), polygons if self._polygons else None,
        )  # fmt: skip
        if update.base_version != self.version or update.scene.version <= self.version:
            raise InternalError("the server sent an update that does not follow the version before it")
        self.version = update.scene.version
        self._begin()
        self._give_up, self._pause = None, _FIRST_PAUSE
        return update

    def failed(self, error: CaromError) -> float:
        """Returns the pause in seconds after which another call continues the watch, or raises the error."""
        now = time.monotonic()
        if now - self._opened > 2 * _FIRST_PAUSE:  # the call was accepted, and broke later
            self._give_up, self._pause = None, _FIRST_PAUSE
        if self._give_up is None:
            self._give_up = now + self._timeout
        pause = max(self._pause, error.retry_after or 0.0)
        self._pause = min(2 * self._pause, _LAST_PAUSE)
        transient = isinstance(error, UnavailableError) or error.retry_after is not None
        if not transient or now + pause >= self._give_up:
            raise error
        return pause


class Watch:
    """The versions of a scene, in order, each once and without gaps: `for update in client.watch("arena")`.

    `next` waits for the next version, without a deadline. An error ends the watch: NotFoundError (no such scene, or it
    was deleted), OutOfRangeError (the server keeps the next version no more: begin another watch),
    ResourceExhaustedError (the updates were read too slowly), UnavailableError (no server for `reconnect_timeout`).
    One thread at a time may iterate; any thread may call `cancel`, which ends the iteration.
    """

    def __init__(self, runner: Runner, name: str, from_version: int, polygons: bool, reconnect_timeout: float) -> None:
        self._runner = runner
        self._state = WatchState(name, from_version, polygons, reconnect_timeout)
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._call: Any = None
        self._error: CaromError | None = None
        self._address = 0

    @property
    def version(self) -> int:
        """The version that was returned last; at first `from_version`."""
        return self._state.version

    def __iter__(self) -> Iterator[SceneUpdate]:
        return self

    def __next__(self) -> SceneUpdate:
        self._runner.channels.check()
        while self._error is None:
            try:
                update = self._read()
                if update is not None:
                    return update
                self._retry(UnavailableError("the server ended the watch"))
            except grpc.RpcError as error:
                self._retry(of_rpc_error(error))
            except CaromError as error:
                self._end(error)
            except ValueError:  # grpc's, for a channel that was closed
                self._end(FailedPreconditionError("the client is closed", field="client"))
        if self._cancelled.is_set():
            raise StopIteration
        raise self._error.with_traceback(None)

    def _read(self) -> SceneUpdate | None:
        """Returns the next update, of the open call or of another one; None after the end of the call."""
        if self._call is None:
            self._address = self._runner.addresses.current
            stub = self._runner.channels.stub(self._address, "unary_stream", "WatchScene")
            call = stub(self._state.request(), metadata=self._runner.channels.metadata())
            with self._lock:
                self._call = call
            if self._cancelled.is_set():
                call.cancel()
        for message in self._call:
            update = self._state.take(message)
            if update is not None:
                return update
        return None

    def _retry(self, error: CaromError) -> None:
        """Waits before another call, or ends the watch."""
        with self._lock:
            self._call = None
        if isinstance(error, UnavailableError):
            self._runner.addresses.fail_over(self._address)
        try:
            self._cancelled.wait(self._state.failed(error))
        except CaromError as final:
            self._end(final)
        if self._cancelled.is_set():
            self._end(error)

    def _end(self, error: CaromError) -> None:
        self._error = error
        with self._lock:
            call, self._call = self._call, None
        if call is not None:
            call.cancel()

    def cancel(self) -> None:
        """Ends the watch, from any thread."""
        self._runner.channels.check()
        self._cancelled.set()
        with self._lock:
            if self._call is not None:
                self._call.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    def __del__(self) -> None:
        call = getattr(self, "_call", None)
        if call is not None and self._runner.channels.is_own():
            call.cancel()
