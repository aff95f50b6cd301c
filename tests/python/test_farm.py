# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Whether answers of many processes are those of one call, also if processes die, and how runs end that cannot work."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import signal
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import LONG
from farm_runs import (
    ITEMS,
    SEED,
    assert_same,
    die_always,
    die_once,
    divide,
    make_scene,
    near,
    other_types,
    points,
    reach,
    segments,
)  # fmt: skip

import carom
from carom import Scene, farm

EXAMPLE = pathlib.Path(__file__).parents[2] / "client" / "examples" / "farm_dask.py"
QUIET: dict[str, Any] = {  # for clusters on ports that are free, without a dashboard
    "host": "127.0.0.1", "scheduler_port": 0, "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
}  # fmt: skip


@pytest.fixture(scope="module")
def scene() -> Scene:
    return make_scene(SEED)


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("farm_dask", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **QUIET) as cluster, Client(cluster) as made:
        yield made


# --- Laws: the answers are those of one call --------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 7, 1000, ITEMS - 1, ITEMS, 10 * ITEMS])
def test_the_size_of_a_chunk_changes_nothing(scene: Scene, chunk: int) -> None:
    columns = segments(50 if chunk == 1 else ITEMS)
    answers = scene.cast(**columns, mode="all")
    expected = {"counts": answers.counts, "fraction": answers.fraction, "polygon_id": answers.polygon_id}
    got = farm.map_batches(
        scene, "cast", columns, options={"mode": "all"}, fields=("fraction", "polygon_id"), chunk=chunk, processes=0
    )
    assert_same(got, expected)
    assert len(answers.fraction) > len(answers.counts) // 2


def test_dense_columns_have_a_row_for_each_item(scene: Scene) -> None:
    columns = segments()
    answers = scene.cast(**columns)
    got = farm.map_batches(scene, carom.questions.cast, columns, dense=("fraction", "point"), chunk=999, processes=0)
    expected = {"counts": answers.counts, "fraction": answers.dense("fraction"), "point": answers.dense("point")}
    assert_same(got, expected)
    assert got["point"].shape == (ITEMS, 2)
    assert np.isnan(got["fraction"]).any()


def test_fans_are_rows_of_beams(scene: Scene) -> None:
    columns = {**points(300), "angle": np.arange(300) / 8}
    options = {"beams": 16, "fov": 6.0, "range": 50.0}
    answers = scene.fans(**columns, **options)
    got = farm.map_batches(scene, "fans", columns, options=options, dense=("distances", "hits"), chunk=41, processes=0)
    assert_same(got, {"counts": answers.counts, "distances": answers.distances, "hits": answers.hits})
    assert got["distances"].shape == (300, 16)
    flat = farm.map_batches(scene, "fans", columns, options=options, fields="distances", chunk=41, processes=0)
    assert_same(flat, {"counts": answers.counts, "distances": answers.distances.reshape(-1)})


def test_many_scenes_in_any_order() -> None:
    """Each item alone, asked of its scene, has the same entries and edges."""
    scenes = [make_scene(seed) for seed in range(5)]
    columns = {**points(400), "radius": np.full(400, 6.0)}
    number = np.random.default_rng(SEED).integers(0, 5, 400)
    parts = [
        scenes[number[i]].overlap_circles(*(columns[name][i : i + 1] for name in columns), detail="edges")
        for i in range(400)
    ]
    names = ("counts", "edge_counts", "polygon_id", "edge")
    expected = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    for chunk in (1, 17, 400):
        got = farm.map_batches(
            scenes, "overlap_circles", {**columns, "scene": number}, options={"detail": "edges"},
            fields=("polygon_id", "edge"), chunk=chunk, processes=0,
        )  # fmt: skip
        assert_same({name: got[name] for name in names}, expected)
    assert len(expected["edge"]) > len(expected["polygon_id"]) > 400


def test_item_i_has_shape_i_of_the_whole(scene: Scene) -> None:
    columns = points(60)
    shapes = carom.disc(np.arange(1, 61) / 8)
    answers = scene.nearest(shapes, **columns)
    got = farm.map_batches(
        scene, "nearest", columns, options={"shapes": shapes}, dense="distance", chunk=13, processes=0
    )
    assert_same(got, {"counts": answers.counts, "distance": answers.dense("distance")})


def test_items_in_error_are_marked_or_raise(scene: Scene) -> None:
    columns = segments(1000)
    columns["by"][[613, 700]] = np.nan
    got = farm.map_batches(scene, "cast", columns, dense="fraction", strict=False, chunk=100, processes=0)
    assert np.flatnonzero(got["error"]).tolist() == [613, 700]
    with pytest.raises(carom.ItemError, match=r"by\[613\].*chunk 2, items 600 to 899; 2 items|by\[613\]") as caught:
        farm.map_batches(scene, "cast", columns, dense="fraction", chunk=300, processes=0)
    error: Any = caught.value
    assert (error.index, error.chunk, error.items) == (613, 2, (600, 900))
    assert "2 items of the chunk are in error" in str(error)
    numbers = np.arange(1000) % 2
    with pytest.raises(carom.ItemError) as caught:
        farm.map_batches(
            [scene, scene], "cast", {**columns, "scene": numbers}, dense="fraction", chunk=300, processes=0
        )
    assert caught.value.index == 613


def test_fans_in_error_are_rows_of_the_fill(scene: Scene) -> None:
    columns = {**points(10), "angle": np.zeros(10)}
    columns["x"][4] = np.inf
    options = {"beams": 3, "fov": 1.0, "range": 50.0}
    got = farm.map_batches(
        scene, "fans", columns, options=options, dense=("distances", "polygon_id"), strict=False, fill=-1.0, chunk=5,
        processes=0,
    )  # fmt: skip
    assert got["distances"][4].tolist() == [-1.0] * 3
    assert got["polygon_id"][4].tolist() == [0] * 3
    assert got["counts"].tolist() == [3, 3, 3, 3, 0, 3, 3, 3, 3, 3]


# --- Functions of the caller ------------------------------------------------------------------------------------------


def test_functions_return_items_or_entries(scene: Scene) -> None:
    columns = segments()
    got = farm.map_batches(scene, reach, columns, options={"scale": 2.0}, chunk=777, processes=0)
    assert_same(got, reach(scene, **columns, scale=2.0))
    located = near(scene, **points())
    assert_same(farm.map_batches(scene, near, points(), chunk=777, processes=0), located)
    assert len(located["polygon"]) > 0


def test_errors_of_functions_name_chunk_and_items(scene: Scene) -> None:
    columns = points(100)
    columns["x"][42] = 1e10
    with pytest.raises(
        carom.CaromError, match=r"ZeroDivisionError: no such place \(chunk 4, items 40 to 49\)"
    ) as caught:
        farm.map_batches(scene, divide, columns, chunk=10, processes=0)
    assert caught.value.code == "UNKNOWN"
    assert "line" in caught.value.__notes__[0]
    columns["x"][42] = 1e6
    columns["x"][40] = 1e6
    with pytest.raises(carom.InvalidArgumentError, match=r"'<f4'.*chunk 4, items 40 to 49"):
        farm.map_batches(scene, other_types, columns, chunk=10, processes=0)


@pytest.mark.parametrize(
    "result",
    [None, {}, [1], {"x": 1.0}, {"x": np.zeros(3)}, {"x": [object()] * 4}, {1: np.zeros(4)}, {"counts": [1.0] * 4},
     {"counts": [-1] * 4}, {"counts": [1] * 4, "x": np.zeros(5)}],
)  # fmt: skip
def test_functions_must_return_arrays(scene: Scene, result: Any) -> None:
    with pytest.raises(carom.InvalidArgumentError, match=r"question: returned.*chunk 0, items 0 to 3"):
        farm.map_batches(scene, lambda scene, x, y: result, points(4), processes=0)


# --- Processes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_processes_answer_in_order(scene: Scene, tmp_path: pathlib.Path, start_method: Any) -> None:
    path = tmp_path / "map.carom"
    scene.save(path)
    expected = farm.map_batches(scene, "cast", segments(), fields=("fraction", "point"), processes=0)
    seen: list[tuple[int, int]] = []
    got = farm.map_batches(
        path, "cast", segments(), fields=("fraction", "point"), chunk=300, processes=2, start_method=start_method,
        progress=lambda done, items: seen.append((done, items)),
    )  # fmt: skip
    assert_same(got, expected)
    assert seen == [(min(ITEMS, done), ITEMS) for done in range(300, ITEMS + 300, 300)]


def test_chunks_of_a_killed_process_are_answered_by_another_one(scene: Scene, tmp_path: pathlib.Path) -> None:
    columns = points(2000)
    columns["x"][1234] = 1e6
    got = farm.map_batches(scene, die_once, columns, options={"folder": str(tmp_path)}, chunk=100, processes=2)
    assert (tmp_path / "died").exists()
    assert got["x"].tobytes() == columns["x"].tobytes()
    assert os.getpid() not in got["process"]


def test_a_process_may_be_killed_from_outside(scene: Scene) -> None:
    """A process that is killed while it waits, or sends, loses nothing either."""
    columns = segments(20_000)
    expected = farm.map_batches(scene, "cast", columns, fields=("fraction", "normal"), processes=0)
    import multiprocessing

    batches = farm.iter_batches(scene, "cast", columns, fields=("fraction", "normal"), chunk=500, processes=2)
    got = []
    killed = 0
    for batch in batches:
        got.append(batch)
        if batch.chunk in (5, 20):
            pid = multiprocessing.active_children()[batch.chunk % 2].pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            killed += 1
    assert killed == 2
    assert [(batch.begin, batch.end) for batch in got] == [(at, at + 500) for at in range(0, 20_000, 500)]
    assert_same({name: np.concatenate([batch.columns[name] for batch in got]) for name in expected}, expected)
    assert not multiprocessing.active_children()


def test_a_chunk_that_kills_its_processes_ends_the_run(scene: Scene) -> None:
    columns = points(300)
    columns["x"][250] = 1e6
    with pytest.raises(carom.InternalError, match=r"2 processes ended.*with code 7 \(chunk 2, items 200 to 299\)"):
        farm.map_batches(scene, die_always, columns, chunk=100, processes=2, attempts=2)


def test_an_iterator_that_is_closed_ends_its_processes(scene: Scene) -> None:
    import multiprocessing

    batches = farm.iter_batches(scene, "cast", segments(), fields="fraction", chunk=100, processes=1)
    next(batches)
    assert len(multiprocessing.active_children()) == 1
    batches.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()


def test_a_script_without_a_guard_ends_with_advice(scene: Scene, tmp_path: pathlib.Path) -> None:
    import subprocess

    scene.save(tmp_path / "map.carom")
    script = tmp_path / "script.py"
    script.write_text(
        "from carom import farm\n"
        "columns = {'x': [1.0], 'y': [2.0]}\n"
        "farm.map_batches('map.carom', 'locate', columns, fields='polygon_id', processes=1, attempts=1)\n"
    )
    ended = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert "if __name__ == '__main__':" in ended.stderr.splitlines()[-1]


# --- Memory -----------------------------------------------------------------------------------------------------------


class Watched:
    """A column that counts the items that are read."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.dtype, self.shape, self.read = values.dtype, values.shape, 0

    def __getitem__(self, index: slice) -> Any:
        found = self.values[index]
        self.read += len(found)
        return found


def test_columns_are_read_while_few_chunks_are_in_flight(scene: Scene) -> None:
    columns = {name: Watched(values) for name, values in points().items()}
    batches = farm.iter_batches(scene, "locate", columns, fields="polygon_id", chunk=100, in_flight=3, processes=0)
    read = 1  # the first item is read before
    for batch in batches:
        read = max(read, columns["x"].read)
        assert columns["x"].read <= 1 + min(ITEMS, 100 * (batch.chunk + 3))
    assert columns["x"].read == 1 + ITEMS


def test_progress_is_a_line_on_standard_error(scene: Scene, capsys: Any) -> None:
    farm.map_batches(scene, "locate", points(), fields="polygon_id", chunk=100, processes=0, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("[###...........................]  10 %, 500 items, ")
    assert lines[-1].startswith("[##############################] 100 %, 5,000 items, ")


# --- Parquet ----------------------------------------------------------------------------------------------------------


def test_parquet_has_a_row_for_each_item(scene: Scene, tmp_path: pathlib.Path) -> None:
    from pyarrow import parquet

    columns = {**points(1000), "radius": np.full(1000, 6.0)}
    scenes = [scene, make_scene(1)]
    columns["scene"] = np.arange(1000) % 2
    settings: Any = {"options": {"detail": "edges"}, "fields": ("polygon_id", "edge"), "processes": 0}
    whole = farm.map_batches(scenes, "overlap_circles", columns, **settings)
    written = farm.map_batches(scenes, "overlap_circles", columns, out=tmp_path / "out", chunk=300, **settings)
    assert [file.name for file in written.files] == [f"part-{i:08d}.parquet" for i in range(4)]
    assert (written.items, written.skipped) == (1000, 0)
    table = parquet.read_table(tmp_path / "out")
    assert table["item"].to_pylist() == list(range(1000))
    assert table["counts"].to_pylist() == whole["counts"].tolist()
    ids = [id for item in table["polygon_id"].to_pylist() for id in item]
    edges = [edge for item in table["edge"].to_pylist() for polygon in item for edge in polygon]
    assert ids == whole["polygon_id"].tolist()
    assert edges == whole["edge"].tolist()
    assert [len(polygon) for item in table["edge"].to_pylist() for polygon in item] == whole["edge_counts"].tolist()


def test_a_run_that_starts_again_keeps_what_is_complete(scene: Scene, tmp_path: pathlib.Path) -> None:
    from pyarrow import parquet

    columns = segments(1000)
    run: Any = {"dense": ("fraction", "point"), "chunk": 100, "processes": 0, "out": tmp_path}
    with pytest.raises(carom.ItemError, match="chunk 5, items 500 to 599"):
        farm.map_batches(
            scene, "cast", {**columns, "ax": np.where(np.arange(1000) == 555, np.nan, columns["ax"])}, **run
        )
    assert len(list(tmp_path.glob("part-*.parquet"))) == 5
    (tmp_path / "part-00000003.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / ".part-00000003.parquet.host.1.1.tmp").touch()
    times = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("part-*.parquet")}
    written = farm.map_batches(scene, "cast", columns, **{**run, "processes": 1})
    assert (len(written.files), written.skipped) == (10, 4)
    assert {n for n in times if (tmp_path / n).stat().st_mtime_ns != times[n]} == {"part-00000003.parquet"}
    expected = farm.map_batches(scene, "cast", columns, dense=("fraction", "point"), processes=0)
    table = parquet.read_table(tmp_path)
    assert table["fraction"].to_numpy().tobytes() == expected["fraction"].tobytes()
    assert np.array(table["point"].to_pylist()).tobytes() == expected["point"].tobytes()
    assert [file.name for file in written.files] == sorted(os.listdir(tmp_path))


def test_a_folder_with_another_run_is_refused(scene: Scene, tmp_path: pathlib.Path) -> None:
    run: Any = {"fields": "fraction", "chunk": 100, "processes": 0, "out": tmp_path}
    columns = segments(300)
    farm.map_batches(scene, "cast", columns, **run)
    assert farm.map_batches(scene, "cast", columns, **run).skipped == 3
    others: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
        (scene, {**columns, "ax": columns["ax"] + 1}, {}),
        (make_scene(1), columns, {}),
        (scene, columns, {"options": {"mode": "any"}}),
        (scene, columns, {"fields": "polygon_id"}),
        (scene, columns, {"chunk": 150}),
        (scene, segments(200), {}),
    ]
    for other, given, settings in others:
        with pytest.raises(carom.FailedPreconditionError, match=r"out: .*part-0000000"):
            farm.map_batches(other, "cast", given, **{**run, **settings})
    assert len(os.listdir(tmp_path)) == 3


def test_a_changed_function_is_another_run(scene: Scene, tmp_path: pathlib.Path) -> None:
    run: Any = {"columns": points(10), "processes": 0, "out": tmp_path}
    farm.map_batches(scene, lambda scene, x, y: {"sum": x + y}, **run)
    assert farm.map_batches(scene, lambda scene, x, y: {"sum": x + y}, **run).skipped == 1
    with pytest.raises(carom.FailedPreconditionError, match="out: "):
        farm.map_batches(scene, lambda scene, x, y: {"sum": x - y}, **run)


# --- Dask -------------------------------------------------------------------------------------------------------------


def test_a_million_rays_over_dask_while_a_worker_is_killed(client: Any, example: Any) -> None:
    """The digest is that of calls in one process, without Dask and without chunks."""
    count = 20_000 if LONG else 1000
    robots = example.make_robots(count, 10)
    maps = [example.make_map(number) for number in range(10)]
    names = ("distances", "hits", "polygon_id")
    parts = []
    for number, scene in enumerate(maps):
        own = {name: robots[name][robots["scene"] == number] for name in ("x", "y", "angle")}
        parts.append(scene.fans(**own, beams=1000, **example.OPTIONS))
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("counts", *names)}
    expected = example.digest([farm.Batch(0, 0, count, columns)])

    processes = client.run(os.getpid)
    assert len(set(processes.values()) - {os.getpid()}) == 2

    def batches() -> Iterator[farm.Batch]:
        for batch in farm.iter_batches(
            maps, "fans", robots, options={**example.OPTIONS, "beams": 1000}, dense=names, chunk=40, client=client
        ):
            if batch.chunk == 4:
                os.kill(next(iter(processes.values())), signal.SIGKILL)
            yield batch

    assert example.digest(batches()) == expected
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != set(processes.values())


def test_the_example_prints_the_same_digest(client: Any, example: Any, monkeypatch: Any, capsys: Any) -> None:
    printed = []
    for place in (["--workers", "0"], ["--scheduler", client.scheduler.address]):
        monkeypatch.setattr(sys, "argv", ["farm_dask.py", "--robots", "301", "--maps", "3", "--beams", "100", *place])
        example.main()
        printed.append(capsys.readouterr().out.splitlines())
    assert [lines[0].partition(" in ")[0] for lines in printed] == ["30,100 rays"] * 2
    assert printed[0][1] == printed[1][1]
    assert len(printed[0][1]) == len("digest ") + 64


def test_dask_gets_scenes_from_files_and_as_bytes(client: Any, scene: Scene, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "map.carom"
    scene.save(path)
    columns = {**segments(), "scene": np.arange(ITEMS) % 2}
    expected = farm.map_batches([scene, make_scene(1)], "cast", columns, fields="fraction", processes=0)
    for send in ("auto", "path", "bytes"):
        got = farm.map_batches(
            [path, make_scene(1)], "cast", columns, fields="fraction", chunk=900, client=client, send=send
        )
        assert_same(got, expected)


def test_dask_names_chunks_items_and_bundles(client: Any, scene: Scene, tmp_path: pathlib.Path) -> None:
    columns = points(100)
    columns["x"][42] = 1e10
    with pytest.raises(carom.CaromError, match=r"ZeroDivisionError: no such place \(chunk 4, items 40 to 49\)"):
        farm.map_batches(scene, divide, columns, chunk=10, client=client)
    columns["x"][42] = np.nan
    with pytest.raises(carom.ItemError, match=r"x\[42\].*chunk 4"):
        farm.map_batches(scene, "locate", columns, fields="polygon_id", chunk=10, client=client)
    with pytest.raises(carom.NotFoundError, match=r"scene\[0\]: the bundle /.*none\.carom cannot be read on .*chunk 0"):
        farm.map_batches(tmp_path / "none.carom", "locate", points(10), fields="polygon_id", client=client)


def test_dask_gives_up_on_a_chunk_that_kills_workers(client: Any, scene: Scene) -> None:
    import dask

    columns = points(300)
    columns["x"][250] = 1e6
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    try:
        with pytest.raises(carom.InternalError, match=r"too many workers.*chunk 2, items 200 to 299"):
            farm.map_batches(scene, die_always, columns, chunk=100, client=client)
    finally:
        allowed = dask.config.get("distributed.scheduler.allowed-failures")
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", allowed))
    client.wait_for_workers(2, timeout=30)


def test_a_cluster_without_workers_ends_the_run(scene: Scene) -> None:
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=0, **QUIET) as cluster, Client(cluster) as made:
        with pytest.raises(carom.UnavailableError, match=r"client: the cluster has no workers for 0\.5 s"):
            farm.map_batches(scene, "locate", points(9), fields="polygon_id", client=made, worker_timeout=0.5)
        batches = farm.iter_batches(scene, "locate", points(9), fields="polygon_id", client=made)
    with pytest.raises(carom.UnavailableError, match="client: the cluster cannot be reached"):
        next(batches)


def test_lazy_arrays(client: Any, scene: Scene) -> None:
    import dask.array as da

    columns = segments()
    expected = farm.map_batches(scene, "cast", columns, dense=("fraction", "point"), processes=0)
    given = {**columns, "ax": da.from_array(columns["ax"], chunks=1234)}
    lazy = farm.map_batches(scene, "cast", given, dense=("fraction", "point"), chunk=900, lazy=True)
    assert lazy["point"].chunks == ((900,) * 5 + (500,), (2,))
    assert lazy["fraction"].dtype == np.float64
    assert_same({name: values.compute() for name, values in lazy.items()}, expected)
    assert (
        lazy["fraction"][2000:2010].compute(scheduler="synchronous").tobytes()
        == expected["fraction"][2000:2010].tobytes()
    )
    entries = farm.map_batches(scene, "locate", points(), fields="polygon_id", chunk=900, lazy=True)
    assert np.isnan(entries["polygon_id"].shape[0])
    found = scene.locate(**points())
    assert_same(
        {name: each.compute() for name, each in entries.items()},
        {"counts": found.counts, "polygon_id": found.polygon_id},
    )
    eager = farm.map_batches(scene, "cast", given, dense=("fraction", "point"), chunk=900, processes=0)
    assert_same(eager, expected)


def test_parquet_over_dask(client: Any, scene: Scene, tmp_path: pathlib.Path) -> None:
    from pyarrow import parquet

    run: Any = {"dense": "fraction", "chunk": 900, "client": client, "out": tmp_path}
    assert farm.map_batches(scene, "cast", segments(), **run).skipped == 0
    assert farm.map_batches(scene, "cast", segments(), **run).skipped == 6
    expected = farm.map_batches(scene, "cast", segments(), dense="fraction", processes=0)
    assert parquet.read_table(tmp_path)["fraction"].to_numpy().tobytes() == expected["fraction"].tobytes()


def test_processes_and_a_client_are_not_mixed(client: Any, scene: Scene) -> None:
    with pytest.raises(carom.InvalidArgumentError, match="processes: is accepted without `client`"):
        farm.map_batches(scene, "locate", points(), fields="polygon_id", client=client, processes=2)
