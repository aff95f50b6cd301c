# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does an asynchronous client make the calls of an operation, and follow the versions of a scene?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, Self, TypeVar

import grpc
import grpc.aio

from ..errors import CancelledError, CaromError, FailedPreconditionError, UnavailableError
from .channel import Addresses, Attempts, Channels, Download, Pause, Unary, Upload
from .forks import Operation
from .status import of_rpc_error
from .values import SceneUpdate
from .watch import WatchState

T = TypeVar("T")


def make_channel(address: str, credentials: Any, options: list[tuple[str, Any]]) -> Any:
    """Returns a channel, in plain text without credentials."""
    if credentials is None:
        return grpc.aio.insecure_channel(address, options=options)
    return grpc.aio.secure_channel(address, credentials, options=options)


def of_exception(error: BaseException) -> CaromError:
    """Returns the exception for one of grpc.aio. A task that is cancelled is none: it raises again."""
    if isinstance(error, CaromError):
        return error
    if isinstance(error, grpc.RpcError):
        return of_rpc_error(error)
    if isinstance(error, asyncio.CancelledError):  # of a call, which its client cancelled
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise error
        return CancelledError("the call is cancelled")
    if isinstance(error, grpc.aio.UsageError):  # for a channel that is closed
        return FailedPreconditionError("the client is closed", field="client")
    raise error


class Runner:
    """Makes calls, in one event loop."""

    def __init__(self, addresses: Addresses, channels: Channels) -> None:
        self.addresses = addresses
        self.channels = channels

    async def run(self, operation: Operation[T], deadline: float | None) -> T:
        """Makes the calls of an operation, each within the deadline in seconds, and returns its result."""
        self.channels.check()
        try:
            call = next(operation)
            while True:
                try:
                    response = await self._call(call, deadline)
                except CaromError as error:
                    call = operation.throw(error)
                else:
                    call = operation.send(response)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            operation.close()

    async def _call(self, call: Unary | Upload | Download | Pause, deadline: float | None) -> bytes | None:
        if isinstance(call, Pause):
            await asyncio.sleep(call.seconds)
            return None
        address = timeout = None
        if isinstance(call, Unary):
            address, timeout = call.address, call.timeout
        attempts = Attempts(self.addresses, timeout or deadline, address)
        while True:
            left = attempts.begin()
            taken = [0]
            try:
                return await self._attempt(call, attempts.address, left, taken)
            except (grpc.RpcError, grpc.aio.UsageError, asyncio.CancelledError) as error:
                failure = of_exception(error)
            repeats = call.repeats if isinstance(call, Unary) else isinstance(call, Download) and not taken[0]
            await asyncio.sleep(attempts.failed(failure, repeats))

    async def _attempt(
        self, call: Unary | Upload | Download, address: int, timeout: float | None, taken: list[int]
    ) -> bytes | None:
        """Makes a call once; counts the messages that it has taken."""
        metadata = self.channels.metadata()
        if isinstance(call, Unary):
            stub = self.channels.stub(address, "unary_unary", call.method)
            response = _bytes(await stub(call.request, timeout=timeout, metadata=metadata))
            if call.answered is not None:
                call.answered(address)
            return response
        if isinstance(call, Upload):
            stub = self.channels.stub(address, "stream_unary", call.method)
            return _bytes(await stub(_in_turns(call.requests()), timeout=timeout, metadata=metadata))
        responses = self.channels.stub(address, "unary_stream", call.method)(
            call.request, timeout=timeout, metadata=metadata
        )
        try:
            async for message in responses:
                taken[0] += 1
                call.take(message)
        finally:
            responses.cancel()
        return None


def _bytes(response: bytes) -> bytes:
    """The response of a call, which has the type Any in grpc."""
    return response


async def _in_turns(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Messages between which other tasks run."""
    for chunk in chunks:
        yield chunk
        await asyncio.sleep(0)


class Watch:
    """The versions of a scene, in order: `async for update in client.watch("arena")`. See `carom.client.Watch`."""

    def __init__(self, runner: Runner, name: str, from_version: int, polygons: bool, reconnect_timeout: float) -> None:
        self._runner = runner
        self._state = WatchState(name, from_version, polygons, reconnect_timeout)
        self._call: Any = None
        self._messages: Any = None
        self._error: CaromError | None = None
        self._cancelled = False
        self._address = 0

    @property
    def version(self) -> int:
        """The version that was returned last; at first `from_version`."""
        return self._state.version

    def __aiter__(self) -> AsyncIterator[SceneUpdate]:
        return self

    async def __anext__(self) -> SceneUpdate:
        self._runner.channels.check()
        while self._error is None and not self._cancelled:
            try:
                update = await self._read()
                if update is not None:
                    return update
                raise UnavailableError("the server ended the watch")
            except (grpc.RpcError, grpc.aio.UsageError, asyncio.CancelledError, CaromError) as error:
                await self._retry(of_exception(error))
        if self._cancelled or self._error is None:
            raise StopAsyncIteration
        raise self._error.with_traceback(None)

    async def _read(self) -> SceneUpdate | None:
        """Returns the next update, of the open call or of another one; None after the end of the call."""
        if self._call is None:
            self._address = self._runner.addresses.current
            stub = self._runner.channels.stub(self._address, "unary_stream", "WatchScene")
            self._call = stub(self._state.request(), metadata=self._runner.channels.metadata())
            self._messages = aiter(self._call)
        async for message in self._messages:
            update = self._state.take(message)
            if update is not None:
                return update
        return None

    async def _retry(self, error: CaromError) -> None:
        """Waits before another call, or ends the watch."""
        call, self._call = self._call, None
        if call is not None:
            call.cancel()
        if isinstance(error, UnavailableError):
            self._runner.addresses.fail_over(self._address)
        try:
            pause = self._state.failed(error)
        except CaromError as final:
            self._error = final
            return
        if not self._cancelled:
            await asyncio.sleep(pause)

    def cancel(self) -> None:
        """Ends the watch; a task that waits for an update gets none."""
        self._runner.channels.check()
        self._cancelled = True
        if self._call is not None:
            self._call.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cancel()
