# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""A question with its arguments checked: the same for a scene in this process and for one of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import DTYPES, LIMITS, column, refuse
from ._layout import Kind, Option

if TYPE_CHECKING:
    from ._answers import Answers
    from .shapes import Shapes, ShapesLike

A = TypeVar("A", bound="Answers")
ColumnValue = float | int | NDArray[Any] | None

# Columns with another number of entries than items.
_OWN_LENGTH = {("slides", "dx"), ("slides", "dy"), ("body_contacts", "mass")}
_WIDE = frozenset({"mask"})


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
    if option.name == "tolerance":
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


def fan_steps(beams: ArrayLike, fov: ArrayLike | None, step: ArrayLike | None) -> ArrayLike:
    """The angle from a beam to the next one."""
    if (fov is None) == (step is None):
        raise refuse("fov", "or step must be given, and not both")
    if fov is None:
        assert step is not None
        return step
    gaps = np.asarray(column(beams, "I", "beams"), dtype=np.float64) - 1.0
    angles = column(fov, "d", "fov")
    if gaps.ndim and angles.ndim and len(gaps) != len(angles):
        raise refuse("fov", f"has {len(angles)} entries, where beams has {len(gaps)}")
    result: NDArray[np.float64] = angles / np.maximum(gaps, 1.0)
    return result if result.ndim else float(result)


class Question(Generic[A]):
    """Items of one kind, to be answered by `ask` of a scene. Made by the functions of `carom.questions`.

    Arrays are not copied where their type permits: they must not change before the answer is there. Scalars count for
    all items beside arrays; if all arguments are scalars, the question has one item. Raises InvalidArgumentError for
    an argument of a wrong type, of unequal length or out of range; numbers that the core does not accept, such as
    NaN, are errors of their item instead.
    """

    __slots__ = ("answers", "columns", "items", "kind", "options", "scalar", "shapes")

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
        self.options = tuple(
            [
                0 if value is None or value is False else _number(kind, option, value)
                for option, value in zip(kind.question.options, options, strict=True)
            ]
        )
        for value in columns:
            if value is not None and type(value) is not float:
                break
        else:
            if self._set_scalars(columns):
                return
        self._set_columns(columns)

    def _set_scalars(self, columns: tuple[Any, ...]) -> bool:
        """Takes floats alone; returns whether that is all that the kind needs."""
        for spec, value in zip(self.kind.question.columns, columns, strict=True):
            if value is None:
                if not spec.optional:
                    raise refuse(spec.name, "is required")
            elif spec.code != "d":
                return False
        self.columns: tuple[ColumnValue, ...] = columns
        self.items = 1
        self.scalar = True
        return True

    def _set_columns(self, columns: tuple[Any, ...]) -> None:
        made: list[ColumnValue] = []
        items, first = -1, ""
        kind = self.kind
        pushes = kind.name == "slides"
        for spec, value in zip(kind.question.columns, columns, strict=True):
            if value is None:
                if not spec.optional:
                    raise refuse(spec.name, "is required")
                made.append(None)
                continue
            array = column(value, spec.code, spec.name)
            if array.ndim == 0:
                made.append(array.item())
                continue
            made.append(array)
            if (kind.name, spec.name) in _OWN_LENGTH and not (pushes and columns[-2] is None):
                continue
            if items < 0:
                items, first = len(array), spec.name
            elif len(array) != items:
                raise refuse(spec.name, f"has {len(array)} entries, where {first} has {items}")
        self.scalar = items < 0 and not any(isinstance(value, np.ndarray) for value in made)
        self.items = max(items, 1) if items < 0 else items
        self.columns = tuple(made)

    def __len__(self) -> int:
        return self.items

    def __repr__(self) -> str:
        return f"<{self.kind.method}, {self.items} items>"

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
                result.append(np.full(self.items, value, DTYPES[spec.code]))
        return result

    def _shape_column(self) -> NDArray[Any] | None:
        """One shape for all items, where the caller gives a single one; else shape i for item i."""
        if self.shapes is not None and len(self.shapes) == 1 and self.items != 1:
            return np.zeros(self.items, np.uint32)
        return None
