# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How does a status of a server become an exception, with its field path and its delay before another attempt?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import CaromError, InternalError, error_of
from . import messages, wire

_DETAILS_KEY = "grpc-status-details-bin"
_MOST_DETAILS_BYTES = 65536
_MOST_VIOLATIONS = 16
_MOST_DELAY = 86400.0  # [seconds]
# The fields of google.rpc.Status, google.protobuf.Any and google.rpc.RetryInfo that are read.
_STATUS_WIRES = {3: wire.LENGTH}
_ANY_WIRES = {1: wire.LENGTH, 2: wire.LENGTH}
_INFO_WIRES = {1: wire.LENGTH}
_DURATION_WIRES = {1: wire.VARINT, 2: wire.VARINT}

# Fields of messages that callers know by another name: a stream gives the scenes of groups handles of its own.
_NAMES = {"scene_handle": "scene"}

Violations = list[tuple[str, str]]


def make_error(number: int, message: str, violations: Violations, delay: float) -> CaromError:
    """Returns the exception of a code of gRPC. The first violation is its field path and its message."""
    field = violations[0][0] if violations else ""
    detail = message.removeprefix(f"{field}: ") if field else message
    error = error_of(number, detail, _NAMES.get(field, field))
    if violations:
        error.violations = tuple((_NAMES.get(each, each), what) for each, what in violations)
    if delay > 0:
        error.retry_after = min(delay, _MOST_DELAY)
    return error


def of_message(status: dict[str, Any]) -> CaromError:
    """Returns the exception of the status of a frame or of a group."""
    violations = [(each["field"], each["description"]) for each in status["violations"][:_MOST_VIOLATIONS]]
    return make_error(status["code"], status["message"], violations, status["retry_delay_us"] / 1e6)


def of_call(number: int, message: str | None, metadata: Iterable[tuple[str, str | bytes]] | None) -> CaromError:
    """Returns the exception of a call, from its code, its message and its trailing metadata."""
    violations: Violations = []
    delay = 0.0
    for key, value in metadata or ():
        if key == _DETAILS_KEY and isinstance(value, bytes) and len(value) <= _MOST_DETAILS_BYTES:
            try:
                violations, delay = _details(value)
            except InternalError:
                continue  # the code and the message remain
    return make_error(number, message or "", violations, delay)


def of_rpc_error(error: Any) -> CaromError:
    """Returns the exception for one of grpc or grpc.aio."""
    code = error.code()
    return of_call(code.value[0] if code is not None else 2, error.details(), error.trailing_metadata())


def _details(data: bytes) -> tuple[Violations, float]:
    """The violations, and the delay in seconds, in a google.rpc.Status."""
    violations: Violations = []
    delay = 0.0
    for begin, end in wire.scan(data, 0, len(data), _STATUS_WIRES).get(3, ()):
        found = wire.scan(data, begin, end, _ANY_WIRES)
        url, value = (wire.last_bytes(data, found, number) for number in (1, 2))
        if url.endswith(b"/google.rpc.BadRequest"):
            violations += _bad_request(value)
        elif url.endswith(b"/google.rpc.RetryInfo"):
            delay = _retry_info(value)
    return violations[:_MOST_VIOLATIONS], delay


def _bad_request(data: bytes) -> Violations:
    """Each violation of a google.rpc.BadRequest, whose message is that of FieldViolation in the .proto files."""
    found = wire.scan(data, 0, len(data), _INFO_WIRES).get(1, [])[:_MOST_VIOLATIONS]
    each = (messages.decode("FieldViolation", data[begin:end]) for begin, end in found)
    return [(violation["field"], violation["description"]) for violation in each]


def _retry_info(data: bytes) -> float:
    duration = wire.last_bytes(data, wire.scan(data, 0, len(data), _INFO_WIRES), 1)
    found = wire.scan(duration, 0, len(duration), _DURATION_WIRES)
    return wire.last_number(duration, found, 1) + wire.last_number(duration, found, 2) / 1e9
