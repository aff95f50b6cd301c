# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a tick loop keep a server busy? By a stream of frames, sent ahead of their answers.

A thread of the stream, the keeper, opens its calls and reads them, so that a server never waits for the caller to
receive; gRPC writes on a thread of its own, which takes the messages from `_Engine.requests`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self

import grpc

from ..errors import CaromError, DeadlineExceededError, FailedPreconditionError
from .flow import Flow, SentFrame
from .frames import Frame, FrameAnswer, Picture, new_edit_id
from .run import Runner
from .status import of_rpc_error
from .values import SceneLike, StreamLimits, instance, seconds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..shapes import ShapesLike


class _Engine:
    """The calls of a stream. Thread-safe. Does not refer to the `Stream`, whose end cancels it."""

    def __init__(self, runner: Runner, flow: Flow) -> None:
        self._runner = runner
        self.flow = flow
        self.changed = threading.Condition()  # its lock guards `flow`
        self.sending = threading.Lock()  # held while a frame is encoded and queued, so that frames keep their order
        self._call: Any = None
        self._keeper: threading.Thread | None = None

    # --- What the caller's threads do -------------------------------------------------------------

    def send(self, frame: Frame, is_own: bool = False) -> SentFrame:
        with self.sending:
            asked = instance(frame, Frame, "frame").snapshot()
            with self.changed:
                self.changed.wait_for(self.flow.has_room)
                self.flow.check_sending()
                sent = self.flow.prepare(asked, is_own)
                self.flow.queue(sent)
                if self._keeper is None:
                    self._keeper = threading.Thread(target=self._keep, name="carom stream", daemon=True)
                    self._keeper.start()
                self.changed.notify_all()
        return sent

    def receive(self, timeout: float | None) -> FrameAnswer:
        end = None if timeout is None else time.monotonic() + seconds(timeout, "timeout")
        with self.changed:
            while True:
                answer = self.flow.next_answer()
                if answer is not None:
                    return answer
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise DeadlineExceededError("no answer arrived within the timeout")
                self.changed.wait(left)

    def next(self) -> FrameAnswer | None:
        """Waits for an answer; None: the stream has ended without an error, and every answer was received."""
        flow = self.flow
        with self.changed:
            self.changed.wait_for(lambda: flow.answers or flow.ended)
            return flow.next_answer() if flow.answers or flow.error is not None else None

    def await_own(self, sent: SentFrame) -> FrameAnswer:
        """Waits for the answer to a frame that the stream made."""
        with self.changed:
            self.changed.wait_for(lambda: sent.answer is not None or self.flow.ended)
            if sent.answer is None:
                raise self.flow.why(FailedPreconditionError("the stream has ended", field="stream"))
            return sent.answer

    def finish(self) -> None:
        with self.sending, self.changed:
            self.flow.finished = True
            if self._keeper is None and not self.flow.ended:
                self.flow.end(None)
            self.changed.notify_all()
        with self.changed:
            self.changed.wait_for(lambda: self.flow.ended)
            if self.flow.error is not None:
                raise self.flow.error.with_traceback(None)

    def cancel(self) -> None:
        with self.changed:
            self.flow.cancelled = True
            self.flow.is_closed = True
            call = self._call
            if self._keeper is None and not self.flow.ended:
                self.flow.wait()
            self.changed.notify_all()
        if call is not None:
            call.cancel()

    # --- What the keeper does ---------------------------------------------------------------------

    def _keep(self) -> None:
        """Opens calls, one after the other, until the stream ends."""
        try:
            self._keep_open()
        except Exception as error:
            with self.changed:
                self.flow.crash(error)
                self.changed.notify_all()
            raise

    def _keep_open(self) -> None:
        while True:
            error = self._restore() or self._one_call()
            with self.changed:
                self._call = None
                self.flow.call_over(error)
                while not self.flow.ended:
                    pause = self.flow.wait()
                    if pause == 0:
                        break
                    self.changed.wait(pause)
                self.changed.notify_all()
                if self.flow.ended:
                    return

    def _restore(self) -> CaromError | None:
        """Makes forks again that the server of the next call has lost; returns why that failed."""
        forks = self._runner.addresses.forks
        if self.flow.calls == 0 or forks.is_empty():
            return None
        try:
            self._runner.run(forks.restore(self.flow.address, lambda: self.flow.cancelled, new_edit_id), None)
        except CaromError as error:
            return error
        return None

    def _one_call(self) -> CaromError | None:
        """Makes a call, and returns why it ended; None: the server closed it."""
        with self.changed:
            number = self.flow.open_call()
        try:
            channels = self._runner.channels
            stub = channels.stub(self.flow.address, "stream_stream", "Stream")
            call = stub(self.requests(number), metadata=channels.metadata())
            with self.changed:
                self._call = call
                if self.flow.cancelled:
                    call.cancel()
            for message in call:
                with self.changed:
                    self.flow.take(message)
                    is_closed = self.flow.is_closed
                    self.changed.notify_all()
                if is_closed:
                    call.cancel()
        except grpc.RpcError as error:
            return of_rpc_error(error)
        except CaromError as error:
            return error
        except ValueError:  # grpc's, for a channel that was closed
            return FailedPreconditionError("the client is closed", field="client")
        return None

    def requests(self, number: int) -> Iterator[bytes]:
        """The messages of a call, as they may be written."""
        flow = self.flow
        while True:
            with self.changed:
                while True:
                    if flow.calls != number or flow.is_closed:
                        return
                    message = flow.next_message()
                    if message is not None:
                        break
                    if flow.half_closes():
                        return
                    self.changed.wait()
            yield message


class Stream:
    """A session of frames. Made by `Client.stream`; a context manager, which finishes the stream.

    Scenes get handles of their own accord, so that frames need not repeat names; these, the trackers and the body sets
    of its frames exist until the end of the stream (body sets of a fork: of the fork). A stream outlives the calls that
    carry its frames: if a call breaks, it opens another one, of the next server of the client, at first at once, then
    with pauses of 20 ms to 2 s, and sends again what has no answer. No answer is lost, none comes twice, and their
    order is that of the frames. Forks of the client that the other server does not have are made there again, with the
    edits of this client; they have other version numbers then. Body sets are defined again with the ticks that they
    keep, which have no version of a fork that was made again. The client drops the body sets of a fork that the
    server does not have, and the server refuses groups that name them. After `reconnect_timeout` without an answer,
    the stream ends with the error of the last call.

    One thread may send while another one receives; a single thread may do both, as long as it receives before
    `max_in_flight` frames are unanswered. Answers stay in memory until they are received.
    """

    def __init__(self, runner: Runner, max_in_flight: int, reconnect_timeout: float, picture: Picture | None) -> None:
        self._channels = runner.channels
        self._engine = _Engine(runner, Flow(runner.addresses, max_in_flight, reconnect_timeout, picture))
        self._max_in_flight = max_in_flight

    def send(self, frame: Frame) -> None:
        """Sends a frame, whose arrays may change afterwards; waits while `max_in_flight` frames are unanswered.

        Raises the error with which the stream has ended, FailedPreconditionError after `finish`.
        """
        self._channels.check()
        self._engine.send(frame)

    def receive(self, *, timeout: float | None = None) -> FrameAnswer:
        """Returns the next answer, in the order of the frames; waits for it, also for a frame that is not yet sent.

        A frame that the server refused is no error here: see `FrameAnswer.error`. timeout: [seconds] after which it
        raises DeadlineExceededError, and the answer is that of a later call; None: none. After the last answer, it
        raises the error with which the stream ended, OutOfRangeError if there is none.
        """
        self._channels.check()
        return self._engine.receive(timeout)

    def __iter__(self) -> Iterator[FrameAnswer]:
        """The answers until the end of the stream, which another thread finishes."""
        while True:
            self._channels.check()
            answer = self._engine.next()
            if answer is None:
                return
            yield answer

    def map(self, frames: Iterable[Frame]) -> Iterator[FrameAnswer]:
        """Sends frames ahead of their answers, and yields the answers in order: for a thread that does both."""
        waiting = 0
        for frame in frames:
            if waiting == self._max_in_flight:
                yield self.receive()
                waiting -= 1
            self.send(frame)
            waiting += 1
        for _ in range(waiting):
            yield self.receive()

    def define_trackers(
        self, shapes: ShapesLike, *, shape: ArrayLike | None = None, tracker: ArrayLike | None = None,
        first_tracker: int = 0, mask: int | None = None, within: float = 0.0, remove: ArrayLike = (),
    ) -> None:  # fmt: skip
        """Defines trackers for the frames that are sent later: see `local.Trackers.define`. Waits for the server."""
        frame = Frame()
        frame.define_trackers(
            shapes, shape=shape, tracker=tracker, first_tracker=first_tracker, mask=mask, within=within, remove=remove
        )
        self._define(frame)

    def remove_trackers(self, tracker: ArrayLike) -> None:
        """Removes trackers by their handles, defined or not. Waits for the server."""
        frame = Frame()
        frame.remove_trackers(tracker)
        self._define(frame)

    def define_body_set(
        self, body_set: int, shapes: ShapesLike, *, shape: ArrayLike | None = None, category: ArrayLike | None = None,
        owner: ArrayLike | None = None, keep_ticks: int | None = None, fork: SceneLike | None = None,
    ) -> None:  # fmt: skip
        """Defines a body set for the frames that are sent later: see `Frame.define_body_set`. Waits for the server."""
        frame = Frame()
        frame.define_body_set(
            body_set, shapes, shape=shape, category=category, owner=owner, keep_ticks=keep_ticks, fork=fork
        )
        self._define(frame)

    def remove_body_sets(self, body_set: ArrayLike) -> None:
        """Removes body sets by their handles, defined or not. Waits for the server."""
        frame = Frame()
        frame.remove_body_sets(body_set)
        self._define(frame)

    def _define(self, frame: Frame) -> None:
        self._channels.check()
        self._engine.await_own(self._engine.send(frame, is_own=True)).check()

    def finish(self) -> None:
        """Waits until every frame is answered; `receive` still returns the answers. Raises why some have none."""
        self._channels.check()
        self._engine.finish()

    def cancel(self) -> None:
        """Ends the stream at once, from any thread; methods that wait raise CancelledError."""
        self._channels.check()
        self._engine.cancel()

    @property
    def reconnects(self) -> int:
        """The number of calls that replaced a broken one and got an answer."""
        return self._engine.flow.reconnects

    @property
    def limits(self) -> StreamLimits | None:
        """The limits of the server, which come with its first answer; None before."""
        return self._engine.flow.limits

    def __enter__(self) -> Self:
        return self

    def __exit__(self, type: object, *_: object) -> None:
        if type is None:
            self.finish()
        else:
            self.cancel()

    def close(self) -> None:
        """Ends the stream at once, unless it has ended."""
        if not self._engine.flow.ended:
            self._engine.cancel()

    def __del__(self) -> None:
        engine = getattr(self, "_engine", None)
        if engine is not None and self._channels.is_own() and not engine.flow.ended:
            engine.cancel()

    def __repr__(self) -> str:
        flow = self._engine.flow
        state = "ended" if flow.ended else f"{len(flow.unanswered)} frames unanswered"
        return f"<Stream: {state}, {flow.reconnects} reconnects>"
