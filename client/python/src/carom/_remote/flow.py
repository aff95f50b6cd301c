# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""What does a stream of frames send next, and what happens when its call breaks?

`Flow` has the state of a stream and does no input or output: stream.py and aio.py make its calls. A stream has at most
one call at a time. Frames wait in `unanswered` until their answers arrive; the first `_sent` of them were written to
the call. When a call breaks, another one replays the session, the handles, body sets and trackers that answered frames
defined, and then sends the unanswered frames again, in their order. An answer depends on earlier frames by what they
defined alone, so the caller gets the answers of a stream that never broke, each once.
"""

from __future__ import annotations

import collections
import random
import time
from collections.abc import Iterator

from .._columns import refuse
from ..errors import (
    AbortedError,
    CancelledError,
    CaromError,
    FailedPreconditionError,
    InternalError,
    NotFoundError,
    OutOfRangeError,
    UnavailableError,
)
from . import messages
from .channel import Addresses
from .frames import Asked, Frame, FrameAnswer, Picture
from .session import MOST_BINDINGS, Session
from .values import StreamLimits, seconds

_DEFAULT_FRAMES_IN_FLIGHT = 16  # of a server that states no limit
_FIRST_PAUSE, _LAST_PAUSE = 0.02, 2.0  # [seconds] between calls that fail one after the other
_MOST_IN_FLIGHT = 1024
_REPLAYED = Frame().snapshot()  # what a frame of the replay asks: nothing, with the seq 0


class SentFrame:
    """A frame that waits for its answer."""

    __slots__ = ("answer", "asked", "bindings", "data", "is_own")

    def __init__(self, asked: Asked, bindings: dict[str, int], data: bytes, is_own: bool) -> None:
        self.asked = asked
        self.bindings = bindings  # of scenes to handles, which the frame makes
        self.data = data
        self.is_own = is_own  # whether the stream made the frame; its answer is no answer of `receive`
        self.answer: FrameAnswer | None = None


def is_retryable(error: CaromError) -> bool:
    """Whether another call may succeed after a call that ended with an error."""
    kinds = (UnavailableError, AbortedError, CancelledError, InternalError)
    return isinstance(error, kinds) or error.number == CaromError.number or error.retry_after is not None


class Flow:
    """The state of a stream. One thread at a time: its owner has a lock."""

    def __init__(
        self, addresses: Addresses, max_in_flight: int, reconnect_timeout: float, picture: Picture | None
    ) -> None:
        if not isinstance(max_in_flight, int) or not 1 <= max_in_flight <= _MOST_IN_FLIGHT:
            raise refuse("max_in_flight", f"is {max_in_flight!r}; accepted is [1, {_MOST_IN_FLIGHT}]")
        self._addresses = addresses
        self._max_in_flight = max_in_flight
        self._timeout = seconds(reconnect_timeout, "reconnect_timeout")
        self._picture = picture
        # The stream.
        self.unanswered: collections.deque[SentFrame] = collections.deque()
        self.answers: collections.deque[FrameAnswer] = collections.deque()
        self.limits: StreamLimits | None = None  # the last ones that a server sent
        self.reconnects = 0
        self.finished = False  # no further frame is sent
        self.cancelled = False
        self.ended = False
        self.error: CaromError | None = None  # why the stream ended; None: all frames are answered
        self._session = Session()
        self._handles: dict[str, int] = {}
        self._seq = 0
        # The call.
        self.calls = 0  # that were opened
        self.address = addresses.current
        self.is_closed = True  # nothing is written to the call, and its answers are dropped
        self._answered = False  # whether the call has got an answer, which brings the limits
        self._replay: Iterator[tuple[str, bytes]] = iter(())
        self._replaying = False
        # Of each message of the replay that is not answered, the fork whose body sets it has, or an empty name.
        self._replayed_forks: collections.deque[str] = collections.deque()
        self._outstanding = 0  # messages that were written and are not answered
        self._sent = 0
        self._refusal: CaromError | None = None  # of a frame of the replay
        # Calls that broke.
        self._fault: CaromError | None = None  # an answer that breaks the protocol
        self._failures = 0  # calls since the last answer to a frame
        self._next_attempt = 0.0
        self._give_up: float | None = None
        self._last: CaromError | None = None

    # --- Sending ----------------------------------------------------------------------------------

    def has_room(self) -> bool:
        """Whether `send` need not wait."""
        return self.ended or self.finished or self.cancelled or len(self.unanswered) < self._max_in_flight

    def check_sending(self) -> None:
        """Raises why no frame can be sent."""
        if self.finished:
            raise FailedPreconditionError("the stream is finished", field="stream")
        if self.ended or self.cancelled:
            raise self.why(CancelledError("the stream is cancelled"))

    def prepare(self, asked: Asked, is_own: bool) -> SentFrame:
        """Numbers a frame and encodes it. Scenes get handles, which frames bind until an answer confirms them."""
        if asked.seq is None and not is_own:
            self._seq += 1
            asked.seq = self._seq
        bindings: dict[str, int] = {}
        for group in asked.groups:
            if group.scene not in self._session.scenes:
                if group.scene not in self._handles and len(self._handles) < MOST_BINDINGS:
                    self._handles[group.scene] = len(self._handles) + 1
                if group.scene in self._handles:
                    bindings[group.scene] = self._handles[group.scene]
        return SentFrame(asked, bindings, asked.encode(self._session.scenes, bindings), is_own)

    def queue(self, frame: SentFrame) -> None:
        """Adds a frame behind those that wait."""
        self.unanswered.append(frame)

    def next_message(self) -> bytes | None:
        """Returns what is written to the call, or None if nothing may be written yet."""
        if self.is_closed or not self._may_write():
            return None
        if self._replaying:
            message = next(self._replay, None)
            if message is not None:
                fork, data = message
                self._replayed_forks.append(fork)
                self._outstanding += 1
                return data
            self._replaying = False
        if self._sent == len(self.unanswered):
            return None
        self._sent += 1
        self._outstanding += 1
        return self.unanswered[self._sent - 1].data

    def _may_write(self) -> bool:
        """Whether the server takes another message. The first answer brings its limits: before, it gets one message."""
        if self._outstanding == 0:
            return True
        most = self.limits.max_frames_in_flight if self.limits is not None else 0
        return self._answered and self._outstanding < (most or _DEFAULT_FRAMES_IN_FLIGHT)

    def half_closes(self) -> bool:
        """Whether the call has written everything."""
        return self.finished and not self._replaying and self._sent == len(self.unanswered)

    # --- Answers ----------------------------------------------------------------------------------

    def take(self, data: bytes) -> None:
        """Takes a message of the call. Sets `is_closed` if the call is of no further use."""
        if self.is_closed:
            return  # another call may send the frames again: no frame gets two answers
        try:
            self._take(data)
        except CaromError as error:
            self._fault = error
        if self._fault is not None or self._refusal is not None:
            self.is_closed = True

    def _take(self, data: bytes) -> None:
        found = messages.ranges("StreamResponse", data)
        if 2 in found:
            begin, end = found[2][-1]
            self.limits = StreamLimits(**messages.decode("StreamLimits", data[begin:end]))
        if not self._answered and self.calls > 1:
            self.reconnects += 1
        self._answered = True
        if self._replayed_forks:
            fork = self._replayed_forks.popleft()
            self._take_replayed(fork, FrameAnswer(_REPLAYED, data, found.get(1, [])).error)
        else:
            if self._sent == 0:
                raise InternalError("the server answered a frame that was not sent")
            frame = self.unanswered[0]
            answer = FrameAnswer(frame.asked, data, found.get(1, []), self._picture)
            self._accept(frame, answer)
            self._sent -= 1
        self._outstanding -= 1

    def _take_replayed(self, fork: str, error: CaromError | None) -> None:
        """Takes the answer to a message of the replay.

        An error after which another call may succeed breaks the call. The server refuses the body sets of a fork that
        has other sets: the client drops these sets. It keeps those of a fork that does not exist until it does. Any
        other error ends the stream.
        """
        if error is None:
            return
        if is_retryable(error):
            self._refusal = error
        elif fork:
            self._session.body_sets.drop_fork(fork)
        else:
            raise error

    def _accept(self, frame: SentFrame, answer: FrameAnswer) -> None:
        self.unanswered.popleft()
        self._failures = 0
        self._give_up = None
        if answer.error is None:
            self._session.apply(frame.asked, frame.bindings)
        self._record_edits(frame.asked, answer)
        frame.answer = answer
        if not frame.is_own:
            self.answers.append(answer)

    def _record_edits(self, asked: Asked, answer: FrameAnswer) -> None:
        """Records edits of forks for `ForkLog`, which forgets forks that exist no more."""
        forks = self._addresses.forks
        if forks.is_empty():
            return
        for group, answered in zip(asked.groups, answer.groups, strict=False):
            error = answered.error
            if answered.edited_version:
                forks.record(group.scene, group.edits, answered.edited_version, self.address)
            elif isinstance(error, NotFoundError) and error.field.startswith("scene"):
                forks.remove_missing(group.scene, self.address)

    def next_answer(self) -> FrameAnswer | None:
        """Returns the next answer, None if it has not arrived; raises why there is none after the last."""
        if self.answers:
            return self.answers.popleft()
        if not self.ended:
            return None
        raise self.why(OutOfRangeError("the stream has ended, and every answer was received"))

    def why(self, otherwise: CaromError) -> CaromError:
        """Returns the error with which the stream ended, or another one."""
        return otherwise if self.error is None else self.error.with_traceback(None)

    # --- Calls ------------------------------------------------------------------------------------

    def open_call(self) -> int:
        """Begins a call, which sends all unanswered frames; returns its number."""
        if self.calls == 0:
            self.address = self._addresses.current
        self.calls += 1
        self._answered = False
        self._refusal = None
        self._outstanding = self._sent = 0
        self._replayed_forks.clear()
        self._replay = self._session.replay(self.limits or StreamLimits())
        self._replaying = True
        self.is_closed = self.cancelled
        return self.calls

    def call_over(self, error: CaromError | None) -> None:
        """Takes the end of a call, or an error that no call could begin with. Sets `ended`, or another call follows."""
        self.is_closed = True
        error, self._refusal = self._refusal or error, None
        all_answered = self.finished and not self.unanswered
        if self._fault is not None:
            return self.end(self._fault)
        if all_answered and error is None:
            return self.end(None)
        if self.cancelled:
            return self.end(CancelledError("the stream is cancelled"))
        error = error or UnavailableError("the server closed the stream before every frame was answered")
        if all_answered and is_retryable(error):
            return self.end(None)
        gives_up = self._give_up is not None and time.monotonic() >= self._give_up
        if not is_retryable(error) or gives_up or self._timeout <= 0:
            return self.end(error)
        self._last = error
        return self._back_off(error)

    def _back_off(self, error: CaromError) -> None:
        if not isinstance(error, AbortedError):  # a server ends an idle stream, which is no reason to leave it
            self._addresses.fail_over(self.address)
        self.address = self._addresses.current
        pause = 0.0
        if self._failures:
            pause = min(_FIRST_PAUSE * 2.0 ** min(self._failures - 1, 7), _LAST_PAUSE) * random.uniform(0.5, 1.0)
        self._failures += 1
        self._next_attempt = time.monotonic() + max(pause, error.retry_after or 0.0)

    def wait(self) -> float | None:
        """Returns the seconds until the next call begins; None: until a frame is sent. May set `ended`."""
        if self.cancelled:
            self.end(CancelledError("the stream is cancelled"))
            return 0.0
        if not self.unanswered:
            if not self.finished:
                return None
            self.end(None)
            return 0.0
        now = time.monotonic()
        if self._give_up is None:
            self._give_up = now + self._timeout
        if self._next_attempt >= self._give_up:
            self.end(self._last)
            return 0.0
        return max(self._next_attempt - now, 0.0)

    def crash(self, error: Exception) -> None:
        """Ends the stream after an exception that is none of the package."""
        self.end(InternalError(f"a fault of the client: {error!r}"))

    def end(self, error: CaromError | None) -> None:
        """Ends the stream."""
        self.ended = True
        self.error = error
        self.unanswered.clear()
        self._session = Session()
