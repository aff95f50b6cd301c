# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What has a stream defined on its server, and how is that sent again to another one?

A session has the handles of scenes, the body sets with their ticks, and the trackers of the frames that were answered
and not refused. Equal shapes, masks and distances of trackers are sent once, so that a thousand equal players are one
shape and their handles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from . import messages
from .body_sets import BodySetTable
from .frames import Asked, Definition
from .values import StreamLimits, capped
from .wire import LENGTH, Message, tag

# Limits of one message of a replay: handles of scenes, lists of trackers, encoded bytes.
MOST_BINDINGS = 1024
_MOST_LISTS = 1024
_MOST_BYTES = 1 << 20
# Upper bounds of what a part adds to a message, in bytes.
_BYTES_OF_A_BINDING = 128
_BYTES_OF_A_TRACKER = 10
_BYTES_OF_A_LIST = 32

Tracker = tuple[bytes, int | None, float]  # shape, mask, within


class _List:
    """Definitions with one mask and one distance."""

    def __init__(self) -> None:
        self.shapes: dict[bytes, int] = {}
        self.shape: list[int] = []
        self.trackers: list[int] = []

    def message(self, mask: int | None, within: float) -> Message:
        """The message TrackerDefinitions."""
        values = {
            "shapes": self.shapes, "shape": np.array(self.shape, np.uint32), "mask": mask, "within": within,
            "tracker": np.array(self.trackers, np.uint32),
        }  # fmt: skip
        return messages.build("TrackerDefinitions", values)


class TrackerTable:
    """Trackers as a server has them. One thread at a time."""

    def __init__(self) -> None:
        self.trackers: dict[int, Tracker] = {}

    def change(self, removed: Iterable[int], definitions: Iterable[Definition]) -> None:
        """Removes trackers, then defines others."""
        for handle in removed:
            self.trackers.pop(handle, None)
        for definition in definitions:
            if len(definition.handles) != len(definition.shape):
                continue  # which a server refuses
            for handle, shape in zip(definition.handles, definition.shape, strict=True):
                if shape < len(definition.shapes):
                    self.trackers[handle] = (definition.shapes[shape], definition.mask, definition.within)

    def messages(self, limits: StreamLimits) -> Iterator[list[Message]]:
        """Makes the definitions of all trackers, in parts of which each fits into a frame."""
        most_lists = capped(_MOST_LISTS, limits.max_groups_per_frame)
        most_shapes = capped(_MOST_BYTES, limits.max_queries_per_frame)
        most_bytes = capped(_MOST_BYTES, limits.max_frame_bytes // 2)
        lists: dict[tuple[int | None, float], _List] = {}
        size = shapes = 0
        for handle, (shape, mask, within) in sorted(self.trackers.items()):
            key = (mask, within)
            is_new = key not in lists or shape not in lists[key].shapes
            added = _BYTES_OF_A_TRACKER + (key not in lists) * _BYTES_OF_A_LIST + is_new * len(shape)
            full = size + added > most_bytes or len(lists) + (key not in lists) > most_lists
            if size and (full or shapes + is_new > most_shapes):
                yield [made.message(*of) for of, made in lists.items()]
                lists, size, shapes, is_new = {}, 0, 0, True
                added = _BYTES_OF_A_TRACKER + _BYTES_OF_A_LIST + len(shape)
            made = lists.setdefault(key, _List())
            made.shape.append(made.shapes.setdefault(shape, len(made.shapes)))
            made.trackers.append(handle)
            size, shapes = size + added, shapes + is_new
        if lists:
            yield [made.message(*of) for of, made in lists.items()]


class Session:
    """The handles of scenes, the body sets and the trackers of a stream. One thread at a time."""

    def __init__(self) -> None:
        self.scenes: dict[str, int] = {}  # the handle of each scene, by its name
        self.body_sets = BodySetTable()
        self.table = TrackerTable()

    def apply(self, asked: Asked, bindings: dict[str, int]) -> None:
        """Takes what a frame has defined that the server did not refuse."""
        self.scenes.update(bindings)
        self.body_sets.change(asked.removed_sets, asked.body_sets, asked.ticks)
        self.table.change(asked.removed, asked.definitions)

    def replay(self, limits: StreamLimits) -> Iterator[tuple[str, bytes]]:
        """Makes the messages that define everything again; each has the seq 0.

        Each comes with the fork whose body sets it has, or with an empty name.
        """
        room = 1 + capped(MOST_BINDINGS - 1, limits.max_frame_bytes // _BYTES_OF_A_BINDING)
        bound = [{"handle": handle, "scene": scene} for scene, handle in self.scenes.items()]
        for at in range(0, len(bound), room):
            yield "", _message(messages.build("Frame", {"bindings": bound[at : at + room]}))
        for fork, frame in self.body_sets.frames(limits):
            yield fork, _message(frame)
        for lists in self.table.messages(limits):
            yield "", _message(messages.build("Frame", {"trackers": lists}))


def _message(frame: Message) -> bytes:
    out = Message()
    out.message(tag(1, LENGTH), frame)
    return out.join()
