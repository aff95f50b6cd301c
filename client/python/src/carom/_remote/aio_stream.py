# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a program with an event loop keep a server busy? By a stream of frames, sent ahead of their answers.

A task of the stream, the keeper, opens its calls and reads them. All runs in one event loop, so nothing needs a lock
but the order of frames.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Any, Self

import grpc
import grpc.aio

from ..errors import CaromError, DeadlineExceededError, FailedPreconditionError
from .aio_run import Runner, of_exception
from .flow import Flow, SentFrame
from .frames import Frame, FrameAnswer, Picture, new_edit_id
from .values import SceneLike, StreamLimits, instance, seconds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..shapes import ShapesLike


class _Engine:
    """The calls of a stream. Does not refer to the `Stream`, whose end cancels it."""

    def __init__(self, runner: Runner, flow: Flow) -> None:
        self._runner = runner
        self.flow = flow
        self.sending = asyncio.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()
        self._call: Any = None
        self._keeper: asyncio.Task[None] | None = None

    def notify(self) -> None:
        """Wakes every task that waits."""
        event, self._changed = self._changed, asyncio.Event()
        event.set()

    async def wait_for(self, predicate: Callable[[], Any]) -> None:
        while not predicate():
            await self._changed.wait()

    async def send(self, frame: Frame, is_own: bool = False) -> SentFrame:
        async with self.sending:
            asked = instance(frame, Frame, "frame").snapshot()
            await self.wait_for(self.flow.has_room)
            self.flow.check_sending()
            sent = self.flow.prepare(asked, is_own)
            self.flow.queue(sent)
            if self._keeper is None:
                self.loop = asyncio.get_running_loop()
                self._keeper = self.loop.create_task(self._keep(), name="carom stream")
            self.notify()
        return sent

    async def next(self) -> FrameAnswer | None:
        """Waits for an answer; None: the stream has ended without an error, and every answer was received."""
        flow = self.flow
        await self.wait_for(lambda: flow.answers or flow.ended)
        return flow.next_answer() if flow.answers or flow.error is not None else None

    async def await_own(self, sent: SentFrame) -> FrameAnswer:
        """Waits for the answer to a frame that the stream made."""
        await self.wait_for(lambda: sent.answer is not None or self.flow.ended)
        if sent.answer is None:
            raise self.flow.why(FailedPreconditionError("the stream has ended", field="stream"))
        return sent.answer

    async def finish(self) -> None:
        async with self.sending:
            self.flow.finished = True
            if self._keeper is None and not self.flow.ended:
                self.flow.end(None)
            self.notify()
        await self.wait_for(lambda: self.flow.ended)
        if self.flow.error is not None:
            raise self.flow.error.with_traceback(None)

    def cancel(self) -> None:
        self.flow.cancelled = True
        self.flow.is_closed = True
        if self._keeper is None and not self.flow.ended:
            self.flow.wait()
        self.notify()
        if self._call is not None:
            self._call.cancel()

    # --- What the keeper does ---------------------------------------------------------------------

    async def _keep(self) -> None:
        """Opens calls, one after the other, until the stream ends."""
        try:
            await self._keep_open()
        except Exception as error:
            self.flow.crash(error)
            self.notify()
            raise

    async def _keep_open(self) -> None:
        flow = self.flow
        while not flow.ended:
            error = await self._restore() or await self._one_call()
            self._call = None
            flow.call_over(error)
            while not flow.ended:
                pause = flow.wait()
                if pause == 0:
                    break
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), pause)
            self.notify()

    async def _restore(self) -> CaromError | None:
        """Makes forks again that the server of the next call has lost; returns why that failed."""
        forks = self._runner.addresses.forks
        if self.flow.calls == 0 or forks.is_empty():
            return None
        try:
            await self._runner.run(forks.restore(self.flow.address, lambda: self.flow.cancelled, new_edit_id), None)
        except CaromError as error:
            return error
        return None

    async def _one_call(self) -> CaromError | None:
        """Makes a call, and returns why it ended; None: the server closed it."""
        number = self.flow.open_call()
        try:
            channels = self._runner.channels
            stub = channels.stub(self.flow.address, "stream_stream", "Stream")
            call = self._call = stub(self._requests(number), metadata=channels.metadata())
            if self.flow.cancelled:
                call.cancel()
            async for message in call:
                self.flow.take(message)
                self.notify()
                if self.flow.is_closed:
                    call.cancel()
        except (grpc.RpcError, grpc.aio.UsageError, asyncio.CancelledError, CaromError) as error:
            return of_exception(error)
        return None

    async def _requests(self, number: int) -> AsyncIterator[bytes]:
        """The messages of a call, as they may be written."""
        flow = self.flow
        while flow.calls == number and not flow.is_closed:
            message = flow.next_message()
            if message is not None:
                yield message
            elif flow.half_closes():
                return
            else:
                await self._changed.wait()


class Stream:
    """A session of frames in an event loop: see `carom.client.Stream`. An asynchronous context manager."""

    def __init__(self, runner: Runner, max_in_flight: int, reconnect_timeout: float, picture: Picture | None) -> None:
        self._channels = runner.channels
        self._engine = _Engine(runner, Flow(runner.addresses, max_in_flight, reconnect_timeout, picture))
        self._max_in_flight = max_in_flight

    async def send(self, frame: Frame) -> None:
        """Sends a frame, whose arrays may change afterwards; waits while `max_in_flight` frames are unanswered."""
        self._channels.check()
        await self._engine.send(frame)

    async def receive(self, *, timeout: float | None = None) -> FrameAnswer:
        """Returns the next answer, in the order of the frames: see `carom.client.Stream.receive`."""
        self._channels.check()
        engine = self._engine
        if timeout is not None:
            seconds(timeout, "timeout")
        try:
            await asyncio.wait_for(engine.wait_for(lambda: engine.flow.answers or engine.flow.ended), timeout)
        except TimeoutError as error:
            if isinstance(error, CaromError):
                raise
            raise DeadlineExceededError("no answer arrived within the timeout") from None
        answer = engine.flow.next_answer()
        assert answer is not None
        return answer

    async def __aiter__(self) -> AsyncIterator[FrameAnswer]:
        """The answers until the end of the stream, which another task finishes."""
        while True:
            self._channels.check()
            answer = await self._engine.next()
            if answer is None:
                return
            yield answer

    async def map(self, frames: Iterable[Frame] | AsyncIterable[Frame]) -> AsyncIterator[FrameAnswer]:
        """Sends frames ahead of their answers, and yields the answers in order: for a task that does both."""
        waiting = 0
        async for frame in _each(frames):
            if waiting == self._max_in_flight:
                yield await self.receive()
                waiting -= 1
            await self.send(frame)
            waiting += 1
        for _ in range(waiting):
            yield await self.receive()

    async def define_trackers(
        self, shapes: ShapesLike, *, shape: ArrayLike | None = None, tracker: ArrayLike | None = None,
        first_tracker: int = 0, mask: int | None = None, within: float = 0.0, remove: ArrayLike = (),
    ) -> None:  # fmt: skip
        """Defines trackers for the frames that are sent later: see `local.Trackers.define`. Waits for the server."""
        frame = Frame()
        frame.define_trackers(
            shapes, shape=shape, tracker=tracker, first_tracker=first_tracker, mask=mask, within=within, remove=remove
        )
        await self._define(frame)

    async def remove_trackers(self, tracker: ArrayLike) -> None:
        """Removes trackers by their handles, defined or not. Waits for the server."""
        frame = Frame()
        frame.remove_trackers(tracker)
        await self._define(frame)

    async def define_body_set(
        self, body_set: int, shapes: ShapesLike, *, shape: ArrayLike | None = None, category: ArrayLike | None = None,
        owner: ArrayLike | None = None, keep_ticks: int | None = None, fork: SceneLike | None = None,
    ) -> None:  # fmt: skip
        """Defines a body set for the frames that are sent later: see `Frame.define_body_set`. Waits for the server."""
        frame = Frame()
        frame.define_body_set(
            body_set, shapes, shape=shape, category=category, owner=owner, keep_ticks=keep_ticks, fork=fork
        )
        await self._define(frame)

    async def remove_body_sets(self, body_set: ArrayLike) -> None:
        """Removes body sets by their handles, defined or not. Waits for the server."""
        frame = Frame()
        frame.remove_body_sets(body_set)
        await self._define(frame)

    async def _define(self, frame: Frame) -> None:
        self._channels.check()
        sent = await self._engine.send(frame, is_own=True)
        (await self._engine.await_own(sent)).check()

    async def finish(self) -> None:
        """Waits until every frame is answered; `receive` still returns the answers. Raises why some have none."""
        self._channels.check()
        await self._engine.finish()

    def cancel(self) -> None:
        """Ends the stream at once; tasks that wait get CancelledError of this package."""
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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, type: object, *_: object) -> None:
        if type is None:
            await self.finish()
        else:
            self.cancel()

    def close(self) -> None:
        """Ends the stream at once, unless it has ended."""
        if not self._engine.flow.ended:
            self._engine.cancel()

    def __del__(self) -> None:
        engine = getattr(self, "_engine", None)
        if engine is None or engine.loop is None or engine.flow.ended or not self._channels.is_own():
            return
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            engine.loop.call_soon_threadsafe(engine.cancel)

    def __repr__(self) -> str:
        flow = self._engine.flow
        state = "ended" if flow.ended else f"{len(flow.unanswered)} frames unanswered"
        return f"<Stream: {state}, {flow.reconnects} reconnects>"


async def _each(frames: Iterable[Frame] | AsyncIterable[Frame]) -> AsyncIterator[Frame]:
    if isinstance(frames, AsyncIterable):
        async for frame in frames:
            yield frame
    else:
        for frame in frames:
            yield frame
