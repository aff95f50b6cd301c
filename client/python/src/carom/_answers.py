# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Answers as columns. They look the same wherever they come from: this process, or a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ._columns import DTYPES, refuse
from .errors import FailedPreconditionError, ItemError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas
    import polars

    from ._layout import Layout
    from ._question import Question


class Source(Protocol):
    """What has the columns of one answer."""

    def column(self, layout: Layout, path: str) -> NDArray[Any]:
        """Returns a column, with the type that the layout states."""
        ...

    def number(self, layout: Layout, path: str) -> int:
        """Returns a number beside the columns."""
        ...

    def version(self) -> int:
        """Returns the version of the scene that answered."""
        ...

    def picture(self, question: Question[Any]) -> str:
        """Returns an SVG document of scene, question and answers."""
        ...

    def describe(self, column: int, fault: int) -> tuple[str, str]:
        """Returns the name of the column of an item in error, and what is wrong."""
        ...


class Answers:
    """The answers to one question: columns, with some entries for each item.

    `answers[i]` has the entries of item i alone. The arrays are views, and stay valid as long as they are used.
    Answers are immutable, except that a question asked with `out=` replaces them: arrays taken before keep what
    they have.
    """

    __slots__ = ("_cache", "_items", "_source", "question")
    _layout: ClassVar[Layout]

    def __init__(self, question: Question[Any], source: Source, items: int | None = None) -> None:
        self.question = question
        self._source = source
        self._items = question.items if items is None else items
        self._cache: dict[str, Any] = {}

    def _clear(self) -> None:
        """Empties the answers, so that their memory can be used again."""
        self._source = Nothing()
        self._items = 0
        self._cache = {}

    def _replace(self, question: Question[Any], source: Source) -> None:
        self.question = question
        self._source = source
        self._items = question.items
        self._cache = {}

    def _column(self, path: str) -> NDArray[Any]:
        found: NDArray[Any] | None = self._cache.get(path)
        if found is None:
            found = self._cache[path] = self._source.column(self._layout, path)
        return found

    def _number(self, path: str) -> int:
        return self._source.number(self._layout, path)

    def _pair(self, name: str) -> NDArray[np.float64]:
        found: NDArray[np.float64] | None = self._cache.get(name)
        if found is None:
            x, y = self._column(name + "_x"), self._column(name + "_y")
            found = self._cache[name] = np.stack((x, y), axis=1) if len(x) else np.empty((0, 2))
        return found

    # --- Items ------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of items."""
        return self._items

    @property
    def version(self) -> int:
        """Version of the scene that answered."""
        return self._source.version()

    def _entry_counts(self) -> NDArray[np.uint32]:
        for name in ("counts", "legs"):
            if name in self._layout.index:
                return self._column(name)
        return np.ones(len(self), np.uint32)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The entries of item i are those in [offsets[i], offsets[i + 1])."""
        found: NDArray[np.int64] | None = self._cache.get("offsets")
        if found is None:
            found = np.zeros(len(self) + 1, np.int64)
            np.cumsum(self._entry_counts(), out=found[1:])
            self._cache["offsets"] = found
        return found

    @property
    def item(self) -> NDArray[np.int64]:
        """The item of each entry."""
        return np.repeat(np.arange(len(self)), self._entry_counts())

    @property
    def hit(self) -> NDArray[np.bool_]:
        """Whether each item has an entry."""
        return self._entry_counts() > 0

    def dense(self, name: str, fill: float = np.nan) -> NDArray[Any]:
        """Returns the first entry of each item in the column `name`; `fill` for items without entries.

        Columns of integers are filled with 0 in place of NaN. Raises InvalidArgumentError for a name that is no column
        of entries, and for a `fill` that the column cannot hold.
        """
        rows = self._layout.rows
        about = rows.get(name) or rows.get(name + "_x")
        if about is None:
            raise refuse("name", f"is {name!r}; a column of {type(self).__name__} is accepted")
        values, offsets = self._column(name) if name in rows else self._pair(name), self.offsets
        if about.level == "item":
            return np.array(values)
        if about.level != "entry" or len(values) != offsets[-1]:
            raise refuse("name", f"is {name!r}, which does not have the {offsets[-1]} entries of these answers")
        try:
            blank = 0 if values.dtype.kind != "f" and np.isnan(fill) else fill
            if values.dtype.kind != "f" and blank != int(blank):
                raise ValueError
            result = np.full((len(self), *values.shape[1:]), blank, values.dtype)
        except (OverflowError, TypeError, ValueError):
            raise refuse("fill", f"is {fill!r}; a number that {values.dtype} holds is accepted") from None
        hit = self.hit
        result[hit] = values[offsets[:-1][hit]]
        return result

    def __getitem__(self, index: int) -> Self:
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"item {index} of {size}")
        whole = type(self)(self.question, self._source, size)  # stays if a question with `out` replaces these answers
        whole._cache = self._cache
        return type(self)(self.question, _Slice(whole, index % size), 1)

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    # --- Errors of items --------------------------------------------------------------------------

    @property
    def error(self) -> NDArray[np.uint8]:
        """One an item: 0, or a number above 0 for what is wrong with the item (`errors` has it in words)."""
        result = np.zeros(len(self), np.uint8)
        result[self._column("error_index")] = self._column("error_fault") + 1
        return result

    @property
    def errors(self) -> list[ItemError]:
        """The items that could not be answered, as exceptions that are not raised."""
        columns = self._column("error_column"), self._column("error_fault")
        result = []
        for index, column, fault in zip(self._column("error_index"), *columns, strict=True):
            name, text = self._source.describe(int(column), int(fault))
            result.append(ItemError(text, field=name, index=int(index), fault=int(fault) + 1))
        return result

    def check(self) -> Self:
        """Raises the first of `errors`, if there is one; returns the answers."""
        if len(self._column("error_index")):
            raise self.errors[0]
        return self

    # --- Tables, digests and pictures -------------------------------------------------------------

    def _table(self) -> dict[str, NDArray[Any]]:
        level = "entry" if {"counts", "legs"} & self._layout.index.keys() else "item"
        rows: dict[str, NDArray[Any]] = {"item": self.item}
        for path, about in self._layout.rows.items():
            values = getattr(self, path, None) if about.level == level else None
            if values is not None and values.ndim == 1 and len(values) == len(rows["item"]):
                rows[path] = values
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a row for each entry, with its item, as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame({name: np.ascontiguousarray(values) for name, values in self._table().items()})

    def to_polars(self) -> polars.DataFrame:
        """Returns a row for each entry, with its item, as a polars.DataFrame."""
        import polars

        return polars.DataFrame({name: np.ascontiguousarray(values) for name, values in self._table().items()})

    def digest(self) -> str:
        """Returns a number, in hexadecimal, of all entries that have a meaning.

        Equal answers have equal digests on every machine, and from every source.
        """
        import hashlib  # some milliseconds of an import

        total = hashlib.sha256()
        for path, about in self._layout.rows.items():
            if path == "quiet_radius":
                continue
            values = self._column(path)
            if about.where and len(values):
                values = values[self._column(about.where) != 0]
            total.update(f"{path}:{len(values)}:{values.dtype.str};".encode())
            total.update(np.ascontiguousarray(values).tobytes())
        return total.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        raise refuse("answers", "cannot be pickled; arrays of it can be, and scenes")

    def _repr_svg_(self) -> str:
        return self._source.picture(self.question)

    def __repr__(self) -> str:
        faults = len(self._column("error_index"))
        text = f"<{type(self).__name__}: {len(self)} items, {int(self.offsets[-1])} entries"
        return f"{text}, {faults} errors>" if faults else f"{text}>"


class Nothing:
    """Answers without items, as a `Source`: what `out` has after an error."""

    def column(self, layout: Layout, path: str) -> NDArray[Any]:
        return np.empty(0, DTYPES[layout.index[path].code])

    def number(self, layout: Layout, path: str) -> int:
        return 0

    def version(self) -> int:
        return 0

    def picture(self, question: Question[Any]) -> str:
        raise FailedPreconditionError("the question was not answered", field="out")

    def describe(self, column: int, fault: int) -> tuple[str, str]:
        return "", ""


class _Slice:
    """One item of answers, as answers."""

    __slots__ = ("_index", "_of")

    def __init__(self, of: Answers, index: int) -> None:
        self._of = of
        self._index = index

    def column(self, layout: Layout, path: str) -> NDArray[Any]:
        of, index = self._of, self._index
        values = of._column(path)
        level = layout.rows[path].level
        if path == "clear" and isinstance(of, MoveAnswers):
            return of.is_clear[index : index + 1].astype(np.uint64)
        if not len(values):
            return values
        if level == "item":
            return values[index : index + 1]
        if level == "word":
            width = len(values) // len(of)
            return values[index * width : (index + 1) * width]
        begin, end = of.offsets[index], of.offsets[index + 1]
        if level == "entry":
            return values[begin:end]
        if level == "unclear" and isinstance(of, MoveAnswers):
            clear = of.is_clear
            first = index - int(clear[:index].sum())
            return values[first : first + (not clear[index])]
        if level == "edge":
            ends = np.cumsum(of._column("edge_counts"), dtype=np.int64)
            first, last = (int(ends[at - 1]) if at else 0 for at in (begin, end))
            return values[first:last]
        if path.startswith("error_"):
            return values[of._column("error_index") == index] if path != "error_index" else self._list(values)
        return self._list(values)

    def _list(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.zeros(int((values == self._index).any()), values.dtype)

    def number(self, layout: Layout, path: str) -> int:
        return self._of._number(path)

    def version(self) -> int:
        return self._of.version

    def picture(self, question: Question[Any]) -> str:
        return self._of._source.picture(question)

    def describe(self, column: int, fault: int) -> tuple[str, str]:
        return self._of._source.describe(column, fault)


class FanAnswers(Answers):
    """The columns of scans that are arrays of shape (items, beams) where all fans have as many beams."""

    __slots__ = ()

    def _grid(self, path: str) -> NDArray[Any]:
        name = path + " grid"
        found: NDArray[Any] | None = self._cache.get(name)
        if found is None:
            values, beams = self._column(path), self._cache.get("beams")
            if beams is None:  # of each fan; 0 if they differ
                counts = self._column("counts")
                even = len(counts) == 1 or (len(counts) > 1 and bool((counts == counts[0]).all()))
                beams = self._cache["beams"] = int(counts[0]) if even else 0
            found = self._cache[name] = values.reshape(-1, beams) if beams and len(values) else values
        return found

    @property
    def distances(self) -> NDArray[np.float64]:
        """[length] how far each beam reaches, the range if it hits nothing: (items, beams).

        One-dimensional, fan after fan, if the numbers of beams differ or an item is in error.
        """
        return self._grid("distances")

    @property
    def hits(self) -> NDArray[np.uint8]:
        """Whether each beam hits something: 1 or 0, in the shape of `distances`."""
        return self._grid("hits")

    @property
    def polygon_id(self) -> NDArray[np.uint64]:
        """What each beam hits, where `hits` is 1, in the shape of `distances`."""
        return self._grid("polygon_id")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The distances."""
        return np.array(self.distances, dtype=dtype, copy=copy)


class MoveAnswers(Answers):
    """Answers to moves, where items that touch nothing are a bit in `clear` and have no entry in `counts`."""

    __slots__ = ()

    @property
    def is_clear(self) -> NDArray[np.bool_]:
        """Whether each item touches nothing, on a sweep nothing on the path."""
        words = np.ascontiguousarray(self._column("clear"))
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[: len(self)]
        return bits.astype(np.bool_)

    def _entry_counts(self) -> NDArray[np.uint32]:
        found: NDArray[np.uint32] | None = self._cache.get("entry counts")
        if found is None:
            found = self._cache["entry counts"] = np.zeros(len(self), np.uint32)
            found[~self.is_clear] = self._column("counts")
        return found


class SeeAnswers(Answers):
    """Answers to observers, where the bodies that an item sees are bits in `seen`, in as many words for each item."""

    __slots__ = ()

    def matrix(self, bodies: int | None = None) -> NDArray[np.bool_]:
        """Whether observer i sees body j, as an array of shape (items, bodies).

        bodies: number of columns, beyond the bodies of the scene False; None: 64 for each word of `seen`
        """
        if bodies is not None and not (isinstance(bodies, int | np.integer) and bodies >= 0):
            raise refuse("bodies", f"is {bodies!r}; a number of bodies is accepted")
        words = np.ascontiguousarray(self._column("seen"), "<u8")
        width = 8 * words.nbytes // len(self) if len(self) else 0
        bits = words.view(np.uint8).reshape(len(self), width // 8)
        made: NDArray[np.bool_] = np.unpackbits(bits, axis=1, bitorder="little").view(np.bool_)
        if bodies is None or bodies == width:
            return made
        if bodies < width:
            return made[:, :bodies]
        return np.pad(made, ((0, 0), (0, bodies - width)))

    @property
    def body(self) -> NDArray[np.int64]:
        """The body of each entry, by its index: those of an item ascend."""
        found: NDArray[np.int64] | None = self._cache.get("body")
        if found is None:
            found = self._cache["body"] = np.nonzero(self.matrix())[1]
            found.setflags(write=False)
        return found

    def bodies(self, item: int) -> NDArray[np.int64]:
        """The indices of the bodies that an item sees, ascending."""
        return self[item].body

    def sees(self, item: int, body: int) -> bool:
        """Whether an item sees a body, by its index; False for a body that does not exist."""
        words = self[item]._column("seen")
        return 0 <= body < 64 * len(words) and bool(int(words[body // 64]) >> (int(body) % 64) & 1)

    def _table(self) -> dict[str, NDArray[Any]]:
        return {**super()._table(), "body": self.body}
