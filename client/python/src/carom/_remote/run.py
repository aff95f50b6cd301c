# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a synchronous client make the calls of an operation?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, TypeVar

import grpc

from ..errors import CaromError, FailedPreconditionError
from .channel import Addresses, Attempts, Channels, Download, Pause, Unary, Upload
from .forks import Operation
from .status import of_rpc_error

T = TypeVar("T")


def make_channel(address: str, credentials: Any, options: list[tuple[str, Any]]) -> Any:
    """Returns a channel, in plain text without credentials."""
    if credentials is None:
        return grpc.insecure_channel(address, options=options)
    return grpc.secure_channel(address, credentials, options=options)


class Runner:
    """Makes calls. Thread-safe."""

    def __init__(self, addresses: Addresses, channels: Channels) -> None:
        self.addresses = addresses
        self.channels = channels

    def run(self, operation: Operation[T], deadline: float | None) -> T:
        """Makes the calls of an operation, each within the deadline in seconds, and returns its result."""
        self.channels.check()
        try:
            call = next(operation)
            while True:
                try:
                    response = self._call(call, deadline)
                except CaromError as error:
                    call = operation.throw(error)
                else:
                    call = operation.send(response)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            operation.close()

    def _call(self, call: Unary | Upload | Download | Pause, deadline: float | None) -> bytes | None:
        if isinstance(call, Pause):
            time.sleep(call.seconds)
            return None
        address = timeout = None
        if isinstance(call, Unary):
            address, timeout = call.address, call.timeout
        attempts = Attempts(self.addresses, timeout or deadline, address)
        while True:
            left = attempts.begin()
            received = False
            try:
                if isinstance(call, Unary):
                    return self._unary(call, attempts.address, left)
                if isinstance(call, Upload):
                    return self._upload(call, attempts.address, left)
                for message in self._download(call, attempts.address, left):
                    received = True
                    call.take(message)
                return None
            except grpc.RpcError as error:
                failure = of_rpc_error(error)
            except ValueError as error:  # grpc's, for a channel that another thread has closed
                if isinstance(error, CaromError):
                    raise
                failure = FailedPreconditionError("the client is closed", field="client")
            repeats = call.repeats if isinstance(call, Unary) else isinstance(call, Download) and not received
            time.sleep(attempts.failed(failure, repeats))

    def _unary(self, call: Unary, address: int, timeout: float | None) -> bytes:
        stub = self.channels.stub(address, "unary_unary", call.method)
        response: bytes = stub(call.request, timeout=timeout, metadata=self.channels.metadata())
        if call.answered is not None:
            call.answered(address)
        return response

    def _upload(self, call: Upload, address: int, timeout: float | None) -> bytes:
        stub = self.channels.stub(address, "stream_unary", call.method)
        response: bytes = stub(call.requests(), timeout=timeout, metadata=self.channels.metadata())
        return response

    def _download(self, call: Download, address: int, timeout: float | None) -> Iterator[bytes]:
        stub = self.channels.stub(address, "unary_stream", call.method)
        responses = stub(call.request, timeout=timeout, metadata=self.channels.metadata())
        try:
            yield from responses
        finally:
            responses.cancel()
