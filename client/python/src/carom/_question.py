# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""A question with its arguments checked: the same for a scene in this process and for one of a server."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import DTYPES, LIMITS, MAX_LENGTH, column, refuse
from ._layout import Kind, Option
from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from ._answers import Answers
    from .shapes import Shapes, ShapesLike

A = TypeVar("A", bound="Answers")
ColumnValue = float | int | NDArray[Any] | None

# Columns with another number of entries than items.
_OWN_LENGTH = {("slides", "dx"), ("slides", "dy"), ("body_contacts", "mass")}
_PUSHES = -3  # place of the column `pushes` among those of slides
_WIDE = frozenset({"mask"})
_FLOATS = frozenset({"tolerance", "margin"})


def _nones(values: tuple[Any, ...]) -> int:
    count = 0
    for value in values:
        if value is None:
            count += 1
    return count


def _choice(kind: Kind, option: Option, value: object) -> int:
    from ._generated.layout import CHOICES

    choices = CHOICES[option.enum]
    if isinstance(value, str):
        if value in choices:
            return choices[value]
    elif isinstance(value, int) and value in choices.values():
        return int(value)
    raise refuse(option.name, f"is {value!r}; accepted are {', '.join(map(repr, choices))}")


def _number(kind: Kind, option: Option, value: object) -> int | float:
    if option.enum:
        return _choice(kind, option, value)
    if option.name in _FLOATS:
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise refuse(option.name, f"is {value!r}; a number is accepted") from None
    if not isinstance(value, int | np.integer | np.bool_):
        raise refuse(option.name, f"is {value!r}; an integer is accepted")
    limit = 2**64 if option.name in _WIDE else 2**32
    least = 1 if option.name in _WIDE else 0
    if not least <= value < limit:
        raise refuse(option.name, f"is {value}; accepted is [{least}, {limit - 1}]")
    return int(value)


def _is_plain(value: Any, code: str) -> bool:
    """Whether a value is a number that needs no conversion to the type of a column."""
    return type(value) is float if code == "d" else type(value) is int and 0 <= value < LIMITS[code]


# Short columns of one number, which are made once: callers ask with the same range again and again.
_CONSTANT_LENGTH = 4096


@functools.lru_cache(maxsize=64)
def _constant(code: str, value: float | int, size: int) -> NDArray[Any]:
    return np.full(size, value, DTYPES[code])


def fan_steps(beams: ArrayLike, fov: ArrayLike | None, step: ArrayLike | None) -> ArrayLike:
    """The angle from a beam to the next one."""
    if (fov is None) == (step is None):
        raise refuse("fov", "or step must be given, and not both")
    if fov is None:
        assert step is not None
        return step
    if type(beams) is int and type(fov) is float:
        return fov / max(beams - 1, 1)
    gaps = np.asarray(column(beams, "I", "beams"), dtype=np.float64) - 1.0
    angles = column(fov, "d", "fov")
    if gaps.ndim and angles.ndim and len(gaps) != len(angles):
        raise refuse("fov", f"has {len(angles)} entries, where beams has {len(gaps)}")
    result: NDArray[np.float64] = angles / np.maximum(gaps, 1.0)
    return result if result.ndim else float(result)


def no_question(value: object) -> InvalidArgumentError:
    """The exception for what is not a question."""
    return refuse("question", f"is {type(value).__name__}; a question of carom.questions is accepted")


class Question(Generic[A]):
    """Items of one kind, to be answered by `ask` of a scene. Made by the functions of `carom.questions`.

    Arrays are not copied where their type permits: they must not change before the answer is there. Scalars count for
    all items beside arrays; if all arguments are scalars, the question has one item. Raises InvalidArgumentError for
    an argument of a wrong type, of unequal length or out of range; numbers that the core does not accept, such as
    NaN, are errors of their item instead.
    """

    __slots__ = ("answers", "columns", "direct", "items", "kind", "options", "scalars", "shapes")

    def __init__(
        self,
        kind: Kind,
        answers: type[A],
        columns: tuple[Any, ...],
        options: tuple[Any, ...],
        shapes: ShapesLike | None,
    ) -> None:
        self.kind = kind
        self.answers = answers
        self.shapes: Shapes | None = None
        if shapes is not None:
            from .shapes import as_shapes

            self.shapes = as_shapes(shapes)
            if kind.name == "polygons" and len(self.shapes.radius):
                raise refuse("shapes", "has capsules; overlap_capsules and overlap_circles accept these")
        elif "movers.shapes" in kind.question.pointers:
            raise refuse("shapes", "is required")
        try:
            is_plain = options == kind.defaults
        except ValueError:  # an array is compared entry by entry
            is_plain = False
        if is_plain:
            self.options: tuple[int | float, ...] = kind.zeros
        else:
            self.options = tuple(
                [
                    0 if value is None or value is False else _number(kind, option, value)
                    for option, value in zip(kind.question.options, options, strict=True)
                ]
            )
        self.scalars: tuple[float | int, ...] | None = None
        self.direct: tuple[NDArray[Any], ...] | None = None
        if kind.pick is not None:
            given = kind.pick(columns)
            optional = len(columns) - len(given)
            if (type(given[0]) is float or type(given[0]) is np.ndarray) and _nones(columns) == optional:
                self.columns: tuple[ColumnValue, ...] = columns
                if self._set_scalars(given) or self._set_arrays(given):
                    return
        self._set_columns(columns)

    def _set_scalars(self, given: tuple[Any, ...]) -> bool:
        """Takes one item that needs floats alone, or floats and integers."""
        kind = self.kind
        if tuple(map(type, given)) != kind.types:
            return False
        if not kind.only_floats and not all(map(_is_plain, given, kind.codes)):
            return False
        self.scalars = given
        self.items = 1
        return True

    def _set_arrays(self, given: tuple[Any, ...]) -> bool:
        """Takes contiguous arrays of the right types and of equal lengths, and numbers beside them."""
        size, numbers = -1, 0
        for code, value in zip(self.kind.codes, given, strict=True):
            if _is_plain(value, code):
                numbers += 1
                continue
            if type(value) is not np.ndarray or value.dtype is not DTYPES[code] or value.ndim != 1:
                return False
            flags = value.flags
            if not (flags.c_contiguous and flags.aligned):
                return False
            if size not in (-1, value.size):
                return False
            size = value.size
        if size < 0 or size > MAX_LENGTH or (numbers and size > _CONSTANT_LENGTH):
            return False
        if numbers:
            given = tuple(
                [
                    value if type(value) is np.ndarray else _constant(code, value, size)
                    for code, value in zip(self.kind.codes, given, strict=True)
                ]
            )
        self.direct = given
        self.items = size
        return True

    def _set_columns(self, columns: tuple[Any, ...]) -> None:
        made: list[ColumnValue] = []
        items, first = -1, ""
        kind = self.kind
        # One push for each slide: dx and dy then have an entry an item.
        is_single = kind.name == "slides" and columns[_PUSHES] is None
        for spec, value in zip(kind.question.columns, columns, strict=True):
            if value is None:
                if not spec.optional:
                    raise refuse(spec.name, "is required")
                made.append(None)
                continue
            has_own_length = (kind.name, spec.name) in _OWN_LENGTH and not is_single
            if _is_plain(value, spec.code) and not has_own_length:
                made.append(value)
                continue
            array = column(value, spec.code, spec.name)
            if array.ndim == 0 and has_own_length:
                raise refuse(spec.name, "is one number; an array is accepted, since it has not one entry an item")
            if array.ndim == 0:
                made.append(array.item())
                continue
            made.append(array)
            if has_own_length:
                continue
            if items < 0:
                items, first = len(array), spec.name
            elif len(array) != items:
                raise refuse(spec.name, f"has {len(array)} entries, where {first} has {items}")
        self.items = 1 if items < 0 else items
        self.columns = tuple(made)

    def __len__(self) -> int:
        return self.items

    def __repr__(self) -> str:
        return f"<{self.kind.method}, {self.items} items>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise refuse("question", "cannot be pickled; its arguments can be, and scenes")

    def arrays(self) -> list[NDArray[Any] | None]:
        """The columns as arrays with an entry for each item, in the order of `kind.question.columns`."""
        result: list[NDArray[Any] | None] = []
        for spec, value in zip(self.kind.question.columns, self.columns, strict=True):
            if value is None:
                result.append(self._shape_column() if spec.path == "movers.shape" else None)
            elif isinstance(value, np.ndarray):
                result.append(value)
            else:
                if spec.code != "d" and not 0 <= value < LIMITS[spec.code]:
                    raise refuse(spec.name, f"is {value}; accepted is [0, {LIMITS[spec.code] - 1}]")
                array = np.empty(self.items, DTYPES[spec.code])
                array.fill(value)
                result.append(array)
        return result

    def _shape_column(self) -> NDArray[Any] | None:
        """One shape for all items, where the caller gives a single one; else shape i for item i."""
        if self.shapes is not None and len(self.shapes) == 1 and self.items != 1:
            return np.zeros(self.items, np.uint32)
        return None
