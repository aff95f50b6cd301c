# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""libcarom.so.1, which has the collision core: finds it, loads it, and calls its functions.

The library lies in this package; the environment variable CAROM_LIBRARY names another file, for developers. It is
loaded when the first scene is made, so that a client of a server needs none.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from ._generated.layout import ABI_VERSION, KINDS
from .errors import CaromError, error_of

STATUS_SIZE = 512


class Status:
    """Memory for a `carom_status`. One call at a time may use it."""

    __slots__ = ("address", "buffer")

    def __init__(self) -> None:
        self.buffer = ctypes.create_string_buffer(STATUS_SIZE)
        ctypes.c_uint32.from_buffer(self.buffer).value = STATUS_SIZE
        self.address = ctypes.addressof(self.buffer)

    def error(self) -> CaromError:
        """The exception for the status that a function wrote."""
        raw: bytes = self.buffer.raw
        number = int.from_bytes(raw[4:8], "little")
        field = raw[12:144].partition(b"\0")[0].decode("utf-8", "replace")
        message = raw[144:].partition(b"\0")[0].decode("utf-8", "replace")
        return error_of(number, message, field)


def path() -> str:
    """The file of the library."""
    override = os.environ.get("CAROM_LIBRARY")
    if override:
        return override
    return os.path.join(os.path.dirname(__file__), "lib", "libcarom.so.1")


class Library:
    """The functions of carom.h."""

    def __init__(self, file: str) -> None:
        try:
            self.dll = ctypes.CDLL(file)
        except OSError as error:
            raise ImportError(
                f"the collision core could not be loaded: {error}; CAROM_LIBRARY may name libcarom.so.1"
            ) from None
        try:
            version: int = self.function("carom_abi_version", ctypes.c_uint32)()
        except AttributeError:
            raise ImportError(f"{file} is no libcarom.so.1") from None
        if version >> 16 != ABI_VERSION >> 16 or version < ABI_VERSION:
            raise ImportError(
                f"{file} has version {version >> 16}.{version & 0xFFFF} of carom.h; "
                f"{ABI_VERSION >> 16}.{ABI_VERSION & 0xFFFF} is needed"
            )
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self.ask = {
            kind.number: self.function(kind.function, ctypes.c_uint32, pointer, pointer, pointer, pointer)
            for kind in KINDS
        }
        self.evaluate = self.function("carom_evaluate", ctypes.c_uint32, pointer, pointer, size, pointer, pointer)
        self.read = self.function("carom_answers_read", ctypes.c_uint32, pointer, ctypes.c_uint32, pointer, pointer)
        self.version = self.function("carom_answers_version", ctypes.c_uint64, pointer)
        self.column_name = self.function("carom_item_column_name", ctypes.c_char_p, ctypes.c_uint32)
        self.fault = self.function("carom_item_fault_description", ctypes.c_char_p, ctypes.c_uint32)

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """A function of the library, with the types of its parameters."""
        found = getattr(self.dll, name)
        found.restype = result
        found.argtypes = arguments
        return found

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function whose last parameter is a status; raises what the status says.

        Integers are passed as words of 64 bits. A handle lives at least until the function returns.
        """
        status = Status()
        words = [
            ctypes.c_void_p(word) if isinstance(word, int)
            else ctypes.c_void_p(word.address) if isinstance(word, Handle) else word
            for word in arguments
        ]  # fmt: skip
        if getattr(self.dll, name)(*words, ctypes.c_void_p(status.address)):
            raise status.error()

    def make(self, name: str, *arguments: Any) -> int:
        """Calls a function that makes a handle, and returns the handle."""
        out = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(out))
        assert out.value is not None
        return out.value


@functools.cache
def library() -> Library:
    """Returns the library, which the first call loads."""
    return Library(path())


class Handle:
    """A handle of the library, destroyed with this object."""

    __slots__ = ("__weakref__", "_destroy", "address")

    def __init__(self, address: int, destroy: str) -> None:
        self._destroy = library().function(destroy, None, ctypes.c_void_p)
        self.address: int = address

    def __del__(self) -> None:
        address = getattr(self, "address", 0)
        if address:
            self._destroy(address)
            self.address = 0
