# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Which body sets (bodies with their poses by tick) does a stream have, and how are they sent again to another server?

A server keeps the sets of a stream as long as its call, and those of a fork as long as the fork. After a break the
stream sends the definitions again, with the ticks that the sets keep; these are marked as `resent`, since walls of the
time when they came may be lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._columns import refuse
from .._histories import Columns, DefinedBodies, Poses, whole
from . import encode, messages
from .values import SceneLike, StreamLimits, capped, scene_name
from .wire import Message

MOST_SETS = 1 << 16  # handles are below
# Limits of one message of a replay: sets, ticks, encoded bytes.
_MOST_SETS = 16
_MOST_TICKS = 1024
_MOST_BYTES = 1 << 20
_FLOATS = ("x", "y", "c", "s", "angle")


def check_handle(body_set: object) -> int:
    """Returns the handle of a body set."""
    return whole("body_set", body_set, 0, MOST_SETS - 1)


class Definition:
    """The definition of a body set, as bytes and as what another one is compared with."""

    __slots__ = ("fork", "handle", "keep_ticks", "key", "message", "shapes")

    def __init__(self, body_set: int, bodies: DefinedBodies, fork: SceneLike | None) -> None:
        self.handle = check_handle(body_set)
        self.fork = "" if fork is None else scene_name(fork, "fork")
        self.keep_ticks = bodies.keep_ticks
        each = encode.shape_messages(bodies.shapes)
        self.shapes = len(each)
        columns = bodies.columns
        for i, shape in enumerate([] if columns["shape"] is None else columns["shape"].tolist()):
            if shape >= len(each):
                raise refuse(f"shape[{i}]", f"is {shape}; there are {len(each)} shapes")
        values = {"body_set": self.handle, "scene": self.fork or None, "shapes": each, **columns}
        self.message: bytes = messages.encode("BodySet", {**values, "keep_ticks": self.keep_ticks})
        self.key = (self.fork, self.keep_ticks, *_bodies_of(each, columns, len(bodies)))


def _bodies_of(shapes: list[bytes], columns: Columns, count: int) -> tuple[object, ...]:
    """What is equal for equal bodies: an absent column is one of the numbers that it means."""
    shape, category, owner = columns["shape"], columns["category"], columns["owner"]
    index = range(count) if shape is None else shape.tolist()
    return (
        [shapes[i] for i in index],
        [1] * count if category is None else category.tolist(),
        [0] * count if owner is None else owner.tolist(),
    )


class Tick(NamedTuple):
    """The poses of a body set at one tick, as the message `BodyPoses`."""

    body_set: int
    tick: int
    message: bytes
    resent: bytes  # the message that is sent after a break


def tick_of(body_set: int, poses: Poses) -> Tick:
    """Returns the poses of a tick as a message, in floats if these hold every number."""
    handle = check_handle(body_set)
    with np.errstate(over="ignore"):
        floats = {name: None if array is None else array.astype(np.float32) for name, array in poses.numbers.items()}
    are_floats = all(
        array is None or bool((floats[name].astype(np.float64) == array).all())  # type: ignore[union-attr]
        for name, array in poses.numbers.items()
    )
    values: dict[str, Any] = {"body_set": handle, "tick": poses.tick, **poses.bits}
    if are_floats:
        values["floats"] = {name: floats[name] for name in _FLOATS}
    else:
        values.update(poses.numbers)
    message = messages.encode("BodyPoses", values)
    return Tick(handle, poses.tick, message, messages.encode("BodyPoses", {**values, "resent": True}))


class _Set:
    """A body set, with the last ticks that were sent, at most as many as it keeps."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.ticks: dict[int, Tick] = {}  # ascending
        self.is_defined_again = False  # since the newest tick

    def add(self, tick: Tick) -> None:
        """Takes a tick that the server accepted.

        A tick that is not above the newest one is accepted in three cases: it is kept with the same poses; it is below
        all that are kept, and changes nothing; or, if the set was defined again, the fork was made again meanwhile, and
        its set had no ticks.
        """
        if self.ticks and tick.tick <= next(reversed(self.ticks)):
            known = self.ticks.get(tick.tick)
            if (known is not None and known.message == tick.message) or not self.is_defined_again:
                return
            self.ticks.clear()
        self.is_defined_again = False
        self.ticks[tick.tick] = tick
        while len(self.ticks) > self.definition.keep_ticks:
            del self.ticks[next(iter(self.ticks))]

    def pieces(self) -> Iterator[Definition | Tick]:
        """The definition, then the ticks."""
        yield self.definition
        yield from list(self.ticks.values())


class _Part:
    """A message of a replay: sets and ticks of one fork, or of none."""

    def __init__(self, fork: str, limits: StreamLimits) -> None:
        self.fork = fork
        self._most_bytes = capped(_MOST_BYTES, limits.max_frame_bytes // 2)
        self._most_shapes = capped(_MOST_BYTES, limits.max_queries_per_frame)
        self._sets: list[bytes] = []
        self._ticks: list[bytes] = []
        self._bytes = self._shapes = 0

    def takes(self, piece: Definition | Tick) -> bool:
        """Whether there is room for one more. An empty message has room for any."""
        if not self._sets and not self._ticks:
            return True
        if isinstance(piece, Definition):
            more, shapes, is_full = len(piece.message), piece.shapes, len(self._sets) >= _MOST_SETS
        else:
            more, shapes, is_full = len(piece.resent), 0, len(self._ticks) >= _MOST_TICKS
        fits = self._bytes + more <= self._most_bytes and self._shapes + shapes <= self._most_shapes
        return fits and not is_full

    def add(self, piece: Definition | Tick) -> None:
        """Adds what is sent again."""
        if isinstance(piece, Definition):
            self._sets.append(piece.message)
            self._bytes += len(piece.message)
            self._shapes += piece.shapes
        else:
            self._ticks.append(piece.resent)
            self._bytes += len(piece.resent)

    def frame(self) -> Message:
        """The frame."""
        return messages.build("Frame", {"body_sets": self._sets, "poses": self._ticks})


class BodySetTable:
    """The body sets of a stream as its server has them. One thread at a time."""

    def __init__(self) -> None:
        self.sets: dict[int, _Set] = {}

    def change(self, removed: Iterable[int], definitions: Iterable[Definition], ticks: Iterable[Tick]) -> None:
        """Takes what the server did not refuse: removals, then definitions, then ticks.

        A set that is defined again keeps its ticks. Another definition is that of another set: the one before has
        ended, as with its fork.
        """
        for handle in removed:
            self.sets.pop(handle, None)
        for definition in definitions:
            known = self.sets.get(definition.handle)
            if known is not None and known.definition.key == definition.key:
                known.is_defined_again = True
            else:
                self.sets[definition.handle] = _Set(definition)
        for tick in ticks:
            found = self.sets.get(tick.body_set)
            if found is not None:
                found.add(tick)

    def drop_fork(self, fork: str) -> None:
        """Forgets the sets of a fork, which the server has refused; also during a replay."""
        self.sets = {handle: each for handle, each in self.sets.items() if each.definition.fork != fork}

    def frames(self, limits: StreamLimits) -> Iterator[tuple[str, Message]]:
        """Makes the frames that define all sets again, with their ticks. Each has a fork, or an empty name."""
        part: _Part | None = None
        for handle, each in sorted(self.sets.items()):
            for piece in each.pieces():
                if part is not None and (part.fork != each.definition.fork or not part.takes(piece)):
                    yield part.fork, part.frame()
                    part = None
                if self.sets.get(handle) is not each:  # dropped while the frame before was on its way
                    break
                if part is None:
                    part = _Part(each.definition.fork, limits)
                part.add(piece)
        if part is not None:
            yield part.fork, part.frame()
