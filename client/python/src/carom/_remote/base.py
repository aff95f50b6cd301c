# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What do the synchronous and the asynchronous client have in common, and what their scenes?"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..local import Bodies
from .channel import Addresses, Channels, Options, as_addresses, check_seconds
from .forks import ForkLog
from .frames import MOST_BUDGET, Asked, Frame, FrameAnswer, single
from .pictures import Pictures
from .security import Security
from .session import TrackerTable
from .values import StreamLimits, Tls, instance
from .wire import Message

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._answers import Answers
    from .._question import Question
    from ..shapes import ShapesLike

A = TypeVar("A", bound="Answers")
DEFAULT = -1.0  # the deadline of the client
_WAITING = 0.8  # the part of a deadline for which a server may wait for a version


class ClientBase:
    """The servers of a client, and its options: see `carom.client.Client`."""

    _make_channel: Callable[..., Any]
    _pictures: Pictures

    def __init__(
        self, addresses: str | Iterable[str], *, token: str | None = None,
        token_file: str | os.PathLike[str] | None = None, tls: Tls | bool | None = None, credentials: Any = None,
        deadline: float | None = 30.0, keepalive: float = 60.0, max_receive_bytes: int = 64 << 20,
        own_connection: bool = False,
    ) -> None:  # fmt: skip
        listed = as_addresses(addresses)
        options = Options(deadline, keepalive, max_receive_bytes, own_connection)
        options.check()
        security = Security(token, token_file, tls, credentials)
        security.check(listed)
        self._deadline = deadline
        self._addresses = Addresses(listed, ForkLog())
        self._channels = Channels(listed, security, options, type(self)._make_channel)
        # What another client of the same servers is made with.
        self._options: dict[str, Any] = {
            "token": token, "token_file": token_file, "tls": tls, "credentials": credentials, "deadline": deadline,
            "keepalive": keepalive, "max_receive_bytes": max_receive_bytes, "own_connection": own_connection,
        }  # fmt: skip
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()  # that `close` cancels
        self._begin()

    def _begin(self) -> None:
        """Makes what the client makes calls with."""
        raise NotImplementedError

    def _end(self) -> list[Any]:
        """Ends the streams, and returns the channels, which the caller closes."""
        if self._channels.is_own():
            for stream in list(self._streams):
                stream.close()
        return self._channels.close()

    def _limit(self, deadline: float | None) -> float | None:
        """The deadline of a call."""
        if deadline == DEFAULT:
            return self._deadline
        check_seconds("deadline", deadline)
        return deadline

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(self._addresses.all)}>"


class Trackers:
    """Shapes that scenes of a server move: `client.scene("arena").with_trackers(trackers).move(...)`.

    Each question sends the definitions, so the server has no memory of what is near the shapes; it has one for the
    trackers of a `Stream`. The answers are the same. One thread at a time.
    """

    __slots__ = ("_messages", "_table")

    def __init__(self) -> None:
        self._table = TrackerTable()
        self._messages: list[Message] | None = None

    def define(
        self, shapes: ShapesLike, *, shape: ArrayLike | None = None, tracker: ArrayLike | None = None,
        first_tracker: int = 0, mask: int | None = None, within: float = 0.0, remove: ArrayLike = (),
    ) -> None:  # fmt: skip
        """Defines trackers: see `local.Trackers.define`. What the server refuses is an error of the next question."""
        frame = Frame()
        frame.define_trackers(
            shapes, shape=shape, tracker=tracker, first_tracker=first_tracker, mask=mask, within=within, remove=remove
        )
        asked = frame.snapshot()
        self._table.change(asked.removed, asked.definitions)
        self._messages = None

    def remove(self, tracker: ArrayLike) -> None:
        """Removes trackers by their handles, defined or not."""
        self.define((), remove=tracker)

    def messages(self) -> list[Message]:
        """The definitions of all trackers."""
        if self._messages is None:
            self._messages = [message for part in self._table.messages(StreamLimits()) for message in part]
        return self._messages

    def __len__(self) -> int:
        return len(self._table.trackers)

    def __repr__(self) -> str:
        return f"<{len(self)} trackers>"


class SceneBase:
    """A scene of a server, without what asks it."""

    __slots__ = ("_bodies", "_client", "_deadline", "_trackers", "min_version", "name", "version")

    def __init__(
        self, client: Any, name: str, version: int, min_version: int, bodies: Bodies | None,
        trackers: Trackers | None, deadline: float | None,
    ) -> None:  # fmt: skip
        self._client = client
        self.name = name  # `scenes/{scene}`
        self.version = version  # that is asked; 0: the current one
        self.min_version = min_version
        self._bodies = bodies
        self._trackers = trackers
        self._deadline = deadline

    def _with(self, bodies: Bodies | None, trackers: Trackers | None) -> Self:
        own = (self._client, self.name, self.version, self.min_version)
        return type(self)(*own, bodies, trackers, self._deadline)

    def with_bodies(self, bodies: Bodies) -> Self:
        """The same scene, with bodies, which each question sends as they are then."""
        return self._with(instance(bodies, Bodies, "bodies"), self._trackers)

    def with_trackers(self, trackers: Trackers) -> Self:
        """The same scene, with trackers that `move` moves."""
        return self._with(self._bodies, instance(trackers, Trackers, "trackers"))

    def asked(self, asked: tuple[Question[Any], ...], version: int) -> Asked:
        """Returns the frame that asks questions about a version; 0: the current one."""
        tables = None
        if self._trackers is not None and any(question.kind.name == "moves" for question in asked):
            tables = self._trackers.messages()
        least = 0 if version else self.min_version
        limit = MOST_BUDGET if self._deadline is None else min(_WAITING * self._deadline, MOST_BUDGET)
        return single(
            self.name, asked, bodies=self._bodies, version=version, min_version=least,
            budget=limit if least else None, tables=tables,
        )  # fmt: skip

    @staticmethod
    def _all(answer: FrameAnswer, asked: tuple[Question[Any], ...], strict: bool) -> tuple[Any, ...]:
        """The answers to the questions of a frame."""
        group = answer.groups[0]
        group.check()
        made = tuple(group[question] for question in asked)
        if strict:
            for each in made:
                each.check()
        return made

    def _repr_svg_(self) -> str:
        scene = self._client._pictures.scene(self.name, self.version)
        picture: str = (scene if self._bodies is None else scene.with_bodies(self._bodies))._repr_svg_()
        return picture

    def __repr__(self) -> str:
        version = f", version {self.version}" if self.version else ""
        return f"<{type(self).__name__} {self.name}{version} of {', '.join(self._client._addresses.all)}>"
