# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the package: one for each code of gRPC, and one for an item of a question.

A `CaromError` has the code, the path of the field and the message that the core or a server gives. Each class also is
the built-in exception that a Python program expects, such as ValueError for INVALID_ARGUMENT.
"""

from __future__ import annotations

import builtins


class CaromError(Exception):
    """Why a call failed."""

    code = "UNKNOWN"
    number = 2
    violations: tuple[tuple[str, str], ...] = ()  # of a server: each field, at most 16, and what is wrong with it
    retry_after: float | None = None  # [seconds] after which the same call may succeed, where a server says so

    def __init__(self, message: str, *, field: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.code}: {self.field}: {self.message}" if self.field else f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.args, self.__dict__))


def _rebuild(class_: type[CaromError], args: tuple[object, ...], state: dict[str, object]) -> CaromError:
    error = class_.__new__(class_, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class CancelledError(CaromError):
    """The caller cancelled the call."""

    code, number = "CANCELLED", 1


class InvalidArgumentError(CaromError, ValueError):
    """An argument is malformed or out of its range."""

    code, number = "INVALID_ARGUMENT", 3


class DeadlineExceededError(CaromError, builtins.TimeoutError):
    """A deadline, a budget or a limit of work ended before the call."""

    code, number = "DEADLINE_EXCEEDED", 4


class NotFoundError(CaromError, LookupError):
    """A scene, a polygon or a file does not exist."""

    code, number = "NOT_FOUND", 5


class AlreadyExistsError(CaromError):
    """A scene or a polygon with this name or id exists."""

    code, number = "ALREADY_EXISTS", 6


class PermissionDeniedError(CaromError, PermissionError):
    """The credential of the call does not permit it."""

    code, number = "PERMISSION_DENIED", 7


class ResourceExhaustedError(CaromError, MemoryError):
    """A limit, or memory, is exceeded."""

    code, number = "RESOURCE_EXHAUSTED", 8


class FailedPreconditionError(CaromError, RuntimeError):
    """A handle is in use by another call or closed, or a scene is in another state."""

    code, number = "FAILED_PRECONDITION", 9


class AbortedError(CaromError):
    """Another change came first."""

    code, number = "ABORTED", 10


class OutOfRangeError(CaromError, LookupError):
    """A version is not kept, or never existed."""

    code, number = "OUT_OF_RANGE", 11


class UnimplementedError(CaromError, NotImplementedError):
    """The server has no such call."""

    code, number = "UNIMPLEMENTED", 12


class InternalError(CaromError):
    """A fault of the library or of the server."""

    code, number = "INTERNAL", 13


class UnavailableError(CaromError, ConnectionError):
    """No server can be reached, or it is shutting down."""

    code, number = "UNAVAILABLE", 14


class DataLossError(CaromError):
    """A bundle or a stored scene is damaged."""

    code, number = "DATA_LOSS", 15


class UnauthenticatedError(CaromError, PermissionError):
    """The server requires a credential, and the call has no valid one."""

    code, number = "UNAUTHENTICATED", 16


class ItemError(InvalidArgumentError):
    """An item of a question that could not be answered; the other items were."""

    def __init__(self, message: str, *, field: str, index: int, fault: int = 0) -> None:
        super().__init__(message, field=f"{field}[{index}]")
        self.column = field  # name of the argument, such as `ax`
        self.index = index  # of the item
        self.fault = fault  # the number in the column `error`


CLASSES: dict[int, type[CaromError]] = {
    class_.number: class_ for class_ in CaromError.__subclasses__() if class_ is not ItemError
}


def error_of(number: int, message: str, field: str = "") -> CaromError:
    """Returns the exception of a code of gRPC."""
    return CLASSES.get(number, CaromError)(message, field=field)
