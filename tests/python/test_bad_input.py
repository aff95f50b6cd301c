# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Does every argument, of whatever type, memory or size, get an answer or an exception that names it?"""

from __future__ import annotations

import array
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import LONG
from eval_answers import polygons_of
from hypothesis import given, settings
from hypothesis import strategies as st
from random_worlds import KINDS, arguments_of, bodies_of, map_of, trackers_of

from carom import CaromError, InvalidArgumentError, ItemError, ResourceExhaustedError, questions
from carom._answers import Answers
from carom._generated.layout import KINDS as LAYOUTS
from carom._layout import Kind
from carom.local import Bodies, Scene, Trackers, disc

ITEMS = 4
KIND_OF: dict[str, Kind] = {kind.method: kind for kind in LAYOUTS}


def make_world() -> Scene:
    rng = np.random.default_rng(40)
    scene = Scene.from_polygons(polygons_of(map_of(rng)))
    return scene.with_bodies(bodies_of(rng)).with_trackers(trackers_of(rng))


WORLD = make_world()


def ask(method: str, arguments: dict[str, Any]) -> Answers:
    made: Answers = getattr(WORLD, method)(**arguments)
    return made


def full_arguments(method: str) -> dict[str, Any]:
    """Arguments of a method with every column that the method has, but for those that exclude each other."""
    rng = np.random.default_rng(41)
    while True:
        made = arguments_of(rng, method, ITEMS)
        if made.get("dx", 0) is not None:
            break
    names = {column.name for column in KIND_OF[method].question.columns}
    for name, value in (("masks", 3), ("ignore_owner", 1), ("skin", 0.25), ("t_min", 0.5), ("t_max", 9.0)):
        if name in names:
            made[name] = np.full(ITEMS, value)
    if method == "sweep":
        made |= {"inside_policy": "blocking", "mode": None, "max_hits": None}
    if method in ("cast", "rays"):
        made["mode"] = "all"
    made.pop("angle", None) if "c" in made else None
    return made


def is_column(name: str, value: object) -> bool:
    return isinstance(value, np.ndarray) and name != "shapes"


COLUMNS = [(m, n) for m in KINDS for n, value in full_arguments(m).items() if is_column(n, value)]


def is_float(method: str, name: str) -> bool:
    """Whether a column has float64."""
    named = {column.name: column.code for column in KIND_OF[method].question.columns}
    return named.get(name, "d") == "d"


# --- Memory and types of columns ------------------------------------------------------------------------


def unaligned(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(b"x" + values.tobytes(), values.dtype, offset=1)


def field_of_records(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Every second number, at addresses that are no multiple of their size."""
    records = np.zeros(len(values), np.dtype([("flag", "u1"), ("value", values.dtype)]))
    records["value"] = values
    return records["value"]


def column_of_matrix(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    matrix = np.zeros((len(values), 3), values.dtype)
    matrix[:, 1] = values
    return matrix[:, 1]


def locked(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


class Arrayed:
    """What has the method that numpy asks for."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


FORMS: list[Callable[[np.ndarray[Any, Any]], Any]] = [
    np.copy,
    lambda values: values[::-1].copy()[::-1],
    lambda values: np.repeat(values, 2)[::2],
    lambda values: np.repeat(values, 3)[::-3][::-1],
    unaligned,
    field_of_records,
    column_of_matrix,
    locked,
    Arrayed,
    list,
    tuple,
    np.ndarray.tolist,
    lambda values: array.array(values.dtype.char, values.tolist()),
    lambda values: values.astype(values.dtype.newbyteorder()),
    lambda values: values.astype(np.float32 if values.dtype.kind == "f" else np.int64),
    lambda values: values.astype(np.float16 if values.dtype.kind == "f" else np.uint8),
    lambda values: np.ma.masked_array(values, False),
    lambda values: memoryview(values.tobytes()).cast(values.dtype.char),
]


@given(st.data())
@settings(max_examples=300)
def test_the_memory_of_a_column_does_not_matter(data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(list(KINDS)))
    arguments = {name: value for name, value in full_arguments(method).items() if value is not None}
    for name, value in arguments.items():  # numbers that float16 holds
        if is_column(name, value) and value.dtype.kind == "f":
            arguments[name] = np.where(np.isfinite(value), np.round(value * 4) / 4, value)
    for name in ("c", "s"):
        if name in arguments:
            arguments[name] = np.full(ITEMS, 1.0 if name == "c" else 0.0)
    expected = ask(method, arguments).digest()
    changed = dict(arguments)
    for name, value in arguments.items():
        if is_column(name, value):
            changed[name] = data.draw(st.sampled_from(FORMS), label=name)(value)
    assert ask(method, changed).digest() == expected


@given(st.data())
@settings(max_examples=100)
def test_one_number_for_all_items_is_as_good_as_a_column(data: st.DataObject) -> None:
    method = data.draw(st.sampled_from([m for m in KINDS if m not in ("slide", "body_contacts")]))
    arguments = full_arguments(method)
    names = [name for name, value in arguments.items() if is_column(name, value)]
    chosen = data.draw(st.sets(st.sampled_from(names), max_size=len(names) - 1))
    same = {name: np.repeat(value[:1], ITEMS) if name in chosen else value for name, value in arguments.items()}
    forms = [lambda v: v[0], lambda v: v[0].item(), lambda v: np.array(v[0]), lambda v: np.broadcast_to(v[0], ITEMS)]
    short = {
        name: data.draw(st.sampled_from(forms), label=name)(value) if name in chosen else value
        for name, value in arguments.items()
    }
    assert ask(method, short).digest() == ask(method, same).digest()


REFUSED: list[Any] = [
    "1", b"1", ["1"] * ITEMS, [None] * ITEMS, np.zeros(ITEMS, complex), np.zeros(ITEMS, "M8[s]"), object(), {1, 2},
    np.zeros(ITEMS, object), np.zeros(ITEMS, "U3"), np.zeros((ITEMS, 1)), np.zeros((1, ITEMS), np.int64), {"x": 1},
    [[1, 2], [3]],
    np.ma.masked_array(np.ones(ITEMS, np.uint8), [True] + [False] * (ITEMS - 1)), np.zeros(ITEMS, [("a", "f8")]),
    iter([1.0]), 1j, [2**70] * ITEMS, -(2**64), np.full(ITEMS, 2**53 + 1), np.full(ITEMS, -(2**53) - 1),
]  # fmt: skip


@pytest.mark.parametrize(("method", "name"), COLUMNS)
def test_types_that_are_refused_name_the_argument(method: str, name: str) -> None:
    arguments = full_arguments(method)
    more: list[Any] = [np.zeros(ITEMS, bool), [True] * ITEMS]
    if is_float(method, name):
        more += [np.zeros(ITEMS, np.longdouble)]
    else:
        more += [np.zeros(ITEMS), [1.0] * ITEMS, [-1] * ITEMS, 1.0, np.full(ITEMS, -1, np.int8)]
    for wrong in REFUSED + more:
        if not is_float(method, name) and isinstance(wrong, np.ndarray) and wrong.dtype == np.int64 and name == "masks":
            continue  # 2^53 + 1 is a mask
        with pytest.raises(InvalidArgumentError) as caught:
            ask(method, {**arguments, name: wrong})
        assert caught.value.field == name, (wrong, caught.value)


@pytest.mark.parametrize(("method", "name"), COLUMNS)
def test_columns_of_unequal_length_name_the_argument(method: str, name: str) -> None:
    arguments = full_arguments(method)
    if (method, name) == ("body_contacts", "body"):
        return  # its items are those of this column alone
    value = arguments[name]
    wrongs = [np.append(value, value[:1]), value[:-1], np.broadcast_to(value[0], 2**20)]
    if method != "body_contacts":  # where no masses are none at all
        wrongs.append(value[:0])
    for wrong in wrongs:
        with pytest.raises(InvalidArgumentError) as caught:
            ask(method, {**arguments, name: wrong})
        assert caught.value.field.rpartition(".")[2] in arguments, caught.value


@pytest.mark.parametrize("method", KINDS)
def test_required_arguments_are_named(method: str) -> None:
    arguments = full_arguments(method)
    kind = KIND_OF[method]
    for column in kind.question.columns:
        if method == "fans" and column.name in ("beams", "step"):
            continue  # fov and beams make the step
        if not column.optional and column.name in arguments:
            with pytest.raises(InvalidArgumentError, match=f"{column.name}: is required"):
                ask(method, {**arguments, column.name: None})
    if "shapes" in arguments:
        for wrong in (None, 3, "disc", [[1, 2]], [[(0, 0), ("a", 1)]]):
            with pytest.raises(InvalidArgumentError, match=r"shapes|polygons"):
                ask(method, {**arguments, "shapes": wrong})


# --- Numbers ----------------------------------------------------------------------------------------------

FAULTS = [np.nan, np.inf, -np.inf, 2.0**53 + 2, -1e300]


@pytest.mark.parametrize(("method", "name"), [each for each in COLUMNS if is_float(*each)])
def test_numbers_out_of_range_are_errors_of_their_item(method: str, name: str) -> None:
    arguments = full_arguments(method)
    if (method, name) == ("body_contacts", "mass"):  # one a body, not an item
        assert len(ask(method, {**arguments, name: np.full(len(arguments[name]), np.nan)}).errors) == ITEMS
        return
    owner = np.repeat(np.arange(ITEMS), arguments["pushes"]) if name in ("dx", "dy") and "pushes" in arguments else None
    before = ask(method, arguments)
    for place in range(ITEMS):
        for fault in FAULTS:
            values = arguments[name].astype(float)
            values[owner == place if owner is not None else place] = fault
            after = ask(method, {**arguments, name: values})
            bad = {error.index for error in after.errors} - {error.index for error in before.errors}
            assert bad <= {place}
            assert bad or name in ("t_max", "mass", "polygon_mass", "max_distance") or place in after.error.nonzero()[0]
            for item in set(range(ITEMS)) - {place}:
                assert after[item].digest() == before[item].digest()
            for error in after.errors:
                assert isinstance(error, ItemError)
                assert error.message
                assert error.field == f"{error.column}[{error.index}]"


def test_magnitudes_below_the_limit_count_as_zero() -> None:
    square = Scene.from_polygons([[(0, 0), (4, 0), (4, 4), (0, 4)]])
    tiny = [-0.0, 5e-324, -(2.0**-141), 2.0**-140]
    assert square.locate(tiny, 0).location.tolist() == [1, 1, 1, 1]
    assert square.locate([-(2.0**-140)], 0).counts.tolist() == [0]
    hits = square.cast(-1, 0, 1, 0)
    assert not np.signbit(hits.point).any()


# --- Options -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", KINDS)
def test_options_out_of_range_name_the_option(method: str) -> None:
    arguments = full_arguments(method)
    for option in KIND_OF[method].question.options:
        path = option.path.rpartition(".")[2]
        wrongs: list[Any] = [
            -1,
            "no such word",
            object(),
            [1, 2],
            np.array([1, 2]),
            2**64,
            -(2**70),
            b"all",
            float("nan"),
        ]
        if path not in ("first_tracker", "tolerance", "margin"):
            wrongs += [2**32] if path != "mask" else [0]
            wrongs += [1.5] if path in ("reflect", "quiet_radii") else [1.5, 0.0]
        for wrong in wrongs:
            if path == "against" and option.path not in ("scope.against",):
                continue
            with pytest.raises(CaromError) as caught:
                ask(method, {**arguments, path: wrong})
            assert path in str(caught.value), (wrong, caught.value)


def test_answers_that_are_no_answers_are_refused() -> None:
    for wrong in (3, "out", np.zeros(3), WORLD.locate(0, 0), [WORLD.cast(0, 0, 1, 1)]):
        with pytest.raises(InvalidArgumentError, match="out: is "):
            WORLD.cast(0, 0, 1, 1, out=wrong)  # type: ignore[arg-type]
    for question in (3, None, "cast", WORLD):
        with pytest.raises(InvalidArgumentError, match="question"):
            WORLD.ask(question)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgumentError, match="question"):
            WORLD.evaluate(questions.locate(0, 0), question)  # type: ignore[arg-type]
    hits = WORLD.cast([0, 9], [0, 9], 1, 1)
    for name in ("no such column", "__class__", "counts_x", ""):
        with pytest.raises(InvalidArgumentError, match="name: is"):
            hits.dense(name)
    for fill in (-1, 2**64, 1.5, "x", None, np.inf):
        with pytest.raises(InvalidArgumentError, match="fill: is"):
            hits.dense("polygon_id", fill)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="entries of these answers"):
        WORLD.cast(0, 0, 16, 16, mode="any").dense("fraction")


def test_bodies_and_trackers_are_refused_where_they_are_wrong() -> None:
    for wrong in (None, 3, WORLD, disc(1)):
        with pytest.raises(InvalidArgumentError, match="bodies: is"):
            WORLD.with_bodies(wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgumentError, match="trackers: is"):
            WORLD.with_trackers(wrong)  # type: ignore[arg-type]
    for name, value in (("owner", [-1]), ("owner", [0.5]), ("category", [2**64]), ("category", "a")):
        with pytest.raises(InvalidArgumentError, match=name):
            Bodies(disc(1), [0], [0], **{name: value})
    with pytest.raises(InvalidArgumentError, match="owner"):
        Bodies(disc(1), [0], [0], owner=[1, 2]).handle()
    for most in (0, -1, 2**70, "4", 1.5):
        with pytest.raises(InvalidArgumentError, match="max_"):
            Trackers(max_trackers=most)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgumentError, match="max_bytes"):
            Trackers(max_bytes=most)  # type: ignore[arg-type]
    trackers = Trackers()
    definitions: list[tuple[str, Any]] = [
        ("tracker", [-1]), ("tracker", [2**32]), ("first_tracker", -1), ("mask", 0), ("within", "far"),
        ("within", [1, 2]), ("shape", [0.5]), ("remove", [1.5]),
    ]  # fmt: skip
    for name, value in definitions:
        with pytest.raises(InvalidArgumentError) as caught:
            trackers.define(disc(1), **{name: value})
        assert name in caught.value.field
    with pytest.raises(InvalidArgumentError, match="twice"):
        trackers.define(disc([1, 2]), tracker=[1, 1])


# --- Sizes --------------------------------------------------------------------------------------------------


def test_columns_beyond_the_limit_are_refused_before_memory_is_needed() -> None:
    endless = np.broadcast_to(np.float64(0), 2**32)
    with pytest.raises(InvalidArgumentError, match="ax: has 4294967296 entries; at most 4294967295"):
        WORLD.cast(endless, 0, 1, 1)
    with pytest.raises(InvalidArgumentError, match="ay: has 4294967296 entries"):
        WORLD.cast(np.zeros(3), np.broadcast_to(np.int8(0), 2**32), 1, 1)
    with pytest.raises(InvalidArgumentError, match="masks: has 17592186044416 entries"):
        WORLD.cast(0, 0, 1, 1, masks=np.broadcast_to(np.uint64(1), 2**44))
    scan = WORLD.fans([0, 0, 0], 0, 0, [65536, 65537, 0], fov=1, range=1)
    assert scan.counts.tolist() == [65536, 0, 0]
    assert [(error.index, error.column) for error in scan.errors] == [(1, "beams"), (2, "beams")]


MEMORY = """
import resource, numpy as np
from carom.local import Scene
scene = Scene.from_polygons([[(0, 0), (4, 0), (4, 3), (0, 3)]])
expected = scene.cast(-2, 1, 6, 1).digest()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (256 << 20), resource.RLIM_INFINITY))
for ask in (
    lambda: scene.cast(np.broadcast_to(0.0, 2**32 - 1), 1.0, 6.0, 1.0),
    lambda: scene.cast(0.0, 1.0, np.broadcast_to(np.int8(0), 2**28), 1.0),
    lambda: scene.fans(np.zeros(400), 9.0, 0.0, np.full(400, 65536), fov=1.0, range=1.0),
):
    try:
        ask()
    except MemoryError as error:
        print(type(error).__name__, error.field)
    else:
        print("no error")
    assert scene.cast(-2, 1, 6, 1).digest() == expected
"""


@pytest.mark.skipif("CAROM_SANITIZED" in os.environ, reason="a sanitizer needs more memory than the limit of the test")
def test_where_memory_ends_the_call_fails_and_the_next_one_is_answered() -> None:
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ResourceExhaustedError ax\nResourceExhaustedError bx\nResourceExhaustedError \n"


# --- Anything -------------------------------------------------------------------------------------------------

lengths = st.sampled_from([0, 1, 3, ITEMS, ITEMS + 1])
dtypes = st.sampled_from(
    ["f8", ">f8", "f4", "f2", "i8", ">i8", "u8", "i1", "u4", "u1", "?", "c8", "O", "U2", "M8[s]", "g"]
)
arrays = st.builds(
    lambda length, dtype, value, step: np.full(length * 2, value, "f8").astype(dtype)[:: 2 * step][:length],
    lengths, dtypes, st.sampled_from([0.0, 1.0, 3.5, 17.0]), st.sampled_from([1, -1]),
)  # fmt: skip
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2) | st.binary(max_size=2)
    | st.sampled_from(["all", "any", "both", "bodies", "blocking", "edges", np.float32(1), np.uint64(2**64 - 1), ...])
)  # fmt: skip
values = scalars | arrays | st.lists(scalars, max_size=ITEMS) | st.builds(lambda a: a.reshape(-1, 1), arrays)


@given(st.data())
@settings(max_examples=4000 if LONG else 400)
def test_anything_gets_an_answer_or_an_error_of_the_package(data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(list(KINDS)))
    arguments = full_arguments(method)
    names = st.sampled_from(sorted(arguments))
    changed = {**arguments, **data.draw(st.dictionaries(names, values, min_size=1, max_size=3))}
    try:
        answers = ask(method, changed)
    except ItemError:
        raise
    except CaromError as error:
        if not error.field:
            raise
        return
    assert len(answers.offsets) == len(answers) + 1
    assert len(answers.error) == len(answers)
    assert len(list(answers)) == len(answers)
    assert len(answers.digest()) == 64


BUNDLE = Scene.from_polygons(WORLD.polygons()).to_bundle()


def flipped(at: int, bit: int) -> bytes:
    data = bytearray(BUNDLE)
    data[at % len(data)] ^= 1 << bit
    return bytes(data)


@given(st.binary(max_size=400) | st.builds(flipped, st.integers(0), st.integers(0, 7)))
@settings(max_examples=300)
def test_bytes_are_a_bundle_or_an_error(data: bytes) -> None:
    try:
        scene = Scene.from_bundle(data)
    except CaromError as error:
        if not error.field and not error.message:
            raise
        return
    assert scene.to_bundle() == BUNDLE, "a changed bundle was accepted"


def test_an_exhausted_bodies_table_names_its_limit() -> None:
    with pytest.raises(ResourceExhaustedError, match="bodies"):
        Bodies(disc(1), np.zeros(4097), np.zeros(4097)).handle()


def test_one_number_for_a_column_with_a_length_of_its_own() -> None:
    scene = Scene.from_polygons([[(0, 0), (4, 0), (4, 3)]]).with_bodies(Bodies(disc(1.0), [8, 9], [0, 0]))
    with pytest.raises(InvalidArgumentError, match="mass: is one number; an array is accepted"):
        scene.body_contacts([0, 1], mass=2.0)
    assert len(scene.body_contacts([0, 1], mass=[2.0, 3.0])) == 2
