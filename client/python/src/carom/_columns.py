# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments as columns: one-dimensional arrays of one of four types, copied only where they must be."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidArgumentError, ResourceExhaustedError

DTYPES: dict[str, np.dtype[Any]] = {
    code: np.dtype(name) for code, name in (("d", "float64"), ("Q", "uint64"), ("I", "uint32"), ("B", "uint8"))
}
LIMITS = {"Q": 2**64, "I": 2**32, "B": 2**8}
NAMES = {"d": "float64", "Q": "uint64", "I": "uint32", "B": "uint8"}
MAX_LENGTH = 2**32 - 1
_NOTHING = ctypes.c_char * 0


def refuse(name: str, what: str) -> InvalidArgumentError:
    """The exception for an argument that is not accepted."""
    return InvalidArgumentError(what, field=name)


def column(value: object, code: str, name: str) -> NDArray[Any]:
    """Returns the values of an argument as an array of zero or one dimensions.

    An array of the right type is not copied, also if its stride is above its item size; one with a stride of 0 or
    less, or in another byte order, is.
    """
    dtype = DTYPES[code]
    try:
        if type(value) is np.ndarray and value.dtype == dtype and value.ndim == 1:
            array: NDArray[Any] = value
            _check_length(array, name)
        else:
            array = _converted(value, code, name, dtype)
        if array.ndim == 1:
            stride = array.strides[0]
            if (len(array) > 1 and (stride <= 0 or stride % dtype.itemsize)) or not array.flags.aligned:
                return array.copy()
    except MemoryError:
        raise ResourceExhaustedError("has more entries than memory can hold", field=name) from None
    return array


def _check_length(array: NDArray[Any], name: str) -> None:
    if array.size > MAX_LENGTH:
        raise refuse(name, f"has {array.size} entries; at most {MAX_LENGTH} are accepted")


def number(value: object, name: str) -> float:
    """Returns an argument that is one number."""
    array = column(value, "d", name)
    if array.ndim:
        raise refuse(name, f"has {len(array)} entries; one number is accepted")
    return float(array)


def _converted(value: object, code: str, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise refuse(name, "has masked entries; numbers are accepted")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise refuse(name, f"must be numbers, in one dimension: {error}") from None
    if array.ndim > 1:
        raise refuse(name, f"has {array.ndim} dimensions; at most one is accepted")
    _check_length(array, name)
    if code == "Q" and array.dtype == np.float64 and not isinstance(value, np.ndarray):
        exact = np.asarray(value, object)  # numpy takes a list with integers below and above 2^63 as float64
        if all(isinstance(each, int | np.integer) and 0 <= each < LIMITS[code] for each in exact.flat):
            array = exact.astype(dtype)
    if array.size == 0 and array.dtype.kind in "fO":  # an empty list is an array of float64
        return np.empty(array.shape, dtype)
    if code == "d":
        if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
            raise refuse(name, f"has the type {array.dtype}; float64, or what it holds exactly, is accepted")
        wide = array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size > 0
        if wide and max(int(array.max()), -int(array.min())) > 2**53:
            raise refuse(name, "has an integer above 2^53 in magnitude, which float64 does not hold")
    else:
        if array.dtype.kind == "b" and code == "B":
            return array.astype(dtype)
        if array.dtype.kind not in "iu":
            raise refuse(name, f"has the type {array.dtype}; integers are accepted, as {NAMES[code]}")
        if array.size and (int(array.min()) < 0 or int(array.max()) >= LIMITS[code]):
            raise refuse(name, f"has an entry outside of [0, {LIMITS[code] - 1}]")
    return array.astype(dtype, copy=False)


def address(array: NDArray[Any]) -> int:
    """Returns the address of the first element."""
    if array.base is None:  # views may warn when they are asked for a buffer
        try:
            return ctypes.addressof(_NOTHING.from_buffer(array.data))  # a quarter of the time of the other way
        except TypeError:  # read-only, or not contiguous
            pass
    pointer: int = array.__array_interface__["data"][0]
    return pointer


def triple(array: NDArray[Any]) -> tuple[int, int, int]:
    """Returns what a column of carom.h consists of: address, length and stride in elements."""
    return address(array), len(array), array.strides[0] // array.itemsize if len(array) > 1 else 1
