# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Do threads, forks and sub-interpreters get right answers, and does memory stay flat over a million calls?"""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from conftest import LONG
from eval_answers import polygons_of
from random_worlds import KINDS, bodies_of, map_of, question_of, trackers_of

from carom import FailedPreconditionError, questions
from carom._question import Question
from carom.local import Bodies, Scene, Trackers, box, disc

SANITIZED = "CAROM_SANITIZED" in os.environ
THREADS = 4
CALLS = 1_000_000 if LONG else 200_000


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene.from_polygons(polygons_of(map_of(np.random.default_rng(60))))


@pytest.fixture
def often() -> Iterator[None]:
    """Switches between threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[int], None]) -> None:
    """Runs work(0), work(1) and so on at the same time; raises what one of them raises."""
    errors: list[BaseException] = []
    together = threading.Barrier(THREADS)

    def run(index: int) -> None:
        try:
            together.wait(30)
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def all_kinds(seed: int, items: int) -> list[Question[Any]]:
    """Questions of each kind that needs no bodies and no trackers."""
    rng = np.random.default_rng(seed)
    return [question_of(rng, method, items) for method in KINDS if method not in ("move", "body_contacts")]


# --- Threads ------------------------------------------------------------------------------------------


def test_threads_share_a_scene(scene: Scene, often: None) -> None:
    asked = all_kinds(61, 60)
    expected = [scene.ask(question).digest() for question in asked]

    def work(index: int) -> None:
        for round in range(12):
            for offset in range(len(asked)):
                at = (offset * 5 + index * 3 + round) % len(asked)
                assert scene.ask(asked[at]).digest() == expected[at]
            assert [answer.digest() for answer in scene.evaluate(*asked)] == expected

    in_threads(work)


def test_threads_ask_single_items(scene: Scene, often: None) -> None:
    ends = np.random.default_rng(62).integers(0, 33, (4, 200)) / 2
    expected = scene.cast(*ends).dense("fraction").tolist()

    def work(index: int) -> None:
        for round in range(3):
            for i in range(200):
                at = (i * 7 + index + round) % 200
                hits = scene.cast(*(float(each) for each in ends[:, at]))
                got = hits.fraction.tolist()
                assert got == [expected[at]] or (not got and np.isnan(expected[at]))

    in_threads(work)


def test_threads_share_answers(scene: Scene, often: None) -> None:
    names = ["counts", "fraction", "polygon_id", "edge", "offsets", "normal"]
    ends = np.random.default_rng(63).integers(0, 33, (4, 50)) / 2
    expected = {name: getattr(scene.cast(*ends), name).tolist() for name in names}
    box: list[Any] = [None]
    turn = threading.Barrier(THREADS)

    def work(index: int) -> None:
        for _ in range(150):
            if index == 0:
                box[0] = scene.cast(*ends)
            turn.wait(30)
            for name in names[index:] + names[:index]:
                assert getattr(box[0], name).tolist() == expected[name]
            assert len(box[0].errors) == 0
            turn.wait(30)

    in_threads(work)


def test_bodies_that_two_threads_use_answer_right_or_raise(scene: Scene, often: None) -> None:
    rng = np.random.default_rng(64)
    bodies = bodies_of(rng)
    both = scene.with_bodies(bodies)
    question = questions.cast(*(rng.integers(0, 33, (4, 2000)) / 2), mode="all", against="both")
    expected = both.ask(question).digest()
    busy = [0] * THREADS
    answered = [0] * THREADS

    def work(index: int) -> None:
        while answered[index] < 10 and busy[index] < 20_000:
            try:
                digest = both.ask(question).digest()
            except FailedPreconditionError as error:
                assert "used by another call" in str(error)  # noqa: PT017
                busy[index] += 1
                time.sleep(0.001)
            else:
                assert digest == expected
                answered[index] += 1

    in_threads(work)
    assert min(answered) == 10, (busy, answered)


def test_bodies_that_are_placed_while_another_thread_asks(scene: Scene, often: None) -> None:
    bodies = Bodies(disc(1), [0.0], [100.0])
    both = scene.with_bodies(bodies)
    x = np.arange(200.0)
    columns = [(x, x * 0 + 100.0), (x * 0 + 7.0, x * 0 + 100.0)]
    expected = []
    for place in columns:
        bodies.place(disc(1), *place)
        expected.append(both.locate(x, 100.0, against="bodies").digest())

    def work(index: int) -> None:
        for round in range(200):
            try:
                if index % 2:
                    bodies.place(disc(1), *columns[round % 2])
                else:
                    assert both.locate(x, 100.0, against="bodies").digest() in expected
            except FailedPreconditionError as error:
                assert "used by another call" in str(error)  # noqa: PT017

    in_threads(work)


def test_trackers_that_two_threads_use_answer_right_or_raise(scene: Scene, often: None) -> None:
    rng = np.random.default_rng(65)
    trackers = trackers_of(rng)
    world = scene.with_trackers(trackers)
    question = question_of(rng, "move", 500)
    expected = world.ask(question).digest()

    def work(index: int) -> None:
        for round in range(60):
            try:
                if index == 3 and round % 8 == 0:
                    trackers.forget()
                elif index == 2 and round % 8 == 0:
                    trackers.define(box(1, 1), tracker=[1000 + round])
                else:
                    assert world.ask(question).digest() == expected
            except FailedPreconditionError as error:
                assert "used by another call" in str(error)  # noqa: PT017

    in_threads(work)


def test_a_scene_is_closed_while_other_threads_ask(often: None) -> None:
    entries = polygons_of(map_of(np.random.default_rng(66)))
    question = all_kinds(67, 200)[0]
    expected = Scene.from_polygons(entries).ask(question).digest()
    for _ in range(15):
        scene = Scene.from_polygons(entries)

        def work(index: int, scene: Scene = scene) -> None:
            if index == 0:
                scene.ask(question)
                scene.close()
                return
            for _ in range(50):
                try:
                    assert scene.ask(question).digest() == expected
                except FailedPreconditionError as error:
                    assert "scene is closed" in str(error)  # noqa: PT017
                    return

        in_threads(work)


def test_threads_make_commit_pickle_and_draw_scenes(scene: Scene, often: None) -> None:
    bundle = scene.to_bundle()

    def work(index: int) -> None:
        for round in range(10):
            again = Scene.from_bundle(bundle)
            assert again.to_bundle() == bundle
            more = scene.commit(add=Scene.from_polygons([[(90, 0), (91, 0), (91, index + 1)]], ids=[5000]).polygons())
            assert more.bounds[3] >= index + 1
            assert len(more) == len(scene) + 1
            assert scene._repr_svg_().startswith("<svg")
            assert scene.nearest(disc(1), round, index).counts.sum() >= 1

    in_threads(work)


# --- Forks ---------------------------------------------------------------------------------------------


def test_parent_and_child_ask_after_a_fork(scene: Scene) -> None:
    rng = np.random.default_rng(68)
    world = scene.with_bodies(bodies_of(rng)).with_trackers(trackers_of(rng))
    asked = [question_of(rng, method, 40) for method in KINDS]
    expected = [world.ask(question).digest() for question in asked]
    kept = world.ask(asked[0])
    columns = kept.polygon_id.tolist()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            same = [world.ask(question).digest() for question in asked] == expected
            same = same and kept.polygon_id.tolist() == columns
            made = Scene.from_bundle(scene.to_bundle())
            same = same and made.ask(asked[1]).errors == []
            del world, scene, made, kept
            gc.collect()
            code = 0 if same else 2
        finally:
            os._exit(code)
    assert [world.ask(question).digest() for question in asked] == expected
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [world.ask(question).digest() for question in asked] == expected


_forked: Scene | None = None


def ask_in_worker(seed: int) -> list[str]:
    """Digests of questions to the scene that the parent made before it forked."""
    assert _forked is not None
    return [_forked.ask(question).digest() for question in all_kinds(seed, 20)]


def ask_a_pickle(given: tuple[Scene, int]) -> tuple[Any, str]:
    """A column, and the digest, of a scene that comes as a pickle."""
    scene, seed = given
    hits = scene.ask(question_of(np.random.default_rng(seed), "cast", 50))
    return hits.counts, hits.digest()


def test_a_pool_of_processes_asks(scene: Scene) -> None:
    global _forked  # noqa: PLW0603
    _forked = scene
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(ask_in_worker, range(8)) == [ask_in_worker(seed) for seed in range(8)]
        for seed, (counts, digest) in enumerate(pool.map(ask_a_pickle, [(scene, seed) for seed in range(6)])):
            expected = ask_a_pickle((scene, seed))
            assert counts.tolist() == expected[0].tolist()
            assert digest == expected[1]
    _forked = None


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
try:
    from carom.local import Scene
except ImportError as error:
    print("no import")
else:
    scene = Scene.from_polygons([[(0, 0), (4, 0), (4, 3), (0, 3)]])
    print(scene.cast(-2, 1, 6, 1).fraction.tolist())
'''
{before}
for _ in range(2):
    own = interpreters.create()
    try:
        if interpreters.run_string(own, code) is not None:
            print("an exception")
    except RuntimeError:
        print("an exception")
    interpreters.destroy(own)
{after}
"""
USE = "from carom.local import Scene; s = Scene.from_polygons([[(0, 0), (4, 0), (4, 3)]]); print(len(s))"


@pytest.mark.parametrize(("before", "after"), [("", ""), (USE, "print(len(s))")])
def test_a_subinterpreter_answers_or_raises(before: str, after: str) -> None:
    done = run(SUBINTERPRETER.format(before=before, after=after))
    assert done.returncode == 0, done.stderr
    own = [line for line in done.stdout.splitlines() if line != "1"]
    assert len(own) == 2, done.stdout
    assert set(own) <= {"[0.25]", "no import", "an exception"}


SHUTDOWN = """
import threading, time
import numpy as np
from carom.local import Bodies, Scene, Trackers, disc
scene = Scene.from_polygons([[(0, 0), (4, 0), (4, 3), (0, 3)]]).with_bodies(Bodies(disc(1), [9.0], [1.0]))
trackers = Trackers()
trackers.define(disc(1))
hits = scene.cast(np.full(1000, -2.0), 1.0, 6.0, 1.0)
kept = [hits.fraction, hits[3], trackers.move(scene, [0.0], [0.0]).counts, scene.evaluate()]
cycle = [hits, kept]
cycle.append(cycle)
def work():
    while True:
        scene.cast(np.full(5000, -2.0), 1.0, 6.0, 1.0)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
print("end")
"""


def test_an_interpreter_ends_silently_with_answers_in_use() -> None:
    done = run(SHUTDOWN)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


# --- Memory ---------------------------------------------------------------------------------------------


def resident_bytes() -> int:
    """Memory of this process that is in use."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth_of(calls: int, call: Callable[[int], None]) -> int:
    """By how many bytes the process grows in the second half of the calls."""
    for i in range(calls // 2):
        call(i)
    gc.collect()
    before = resident_bytes()
    for i in range(calls // 2):
        call(i)
    gc.collect()
    return resident_bytes() - before


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps freed memory")
def test_memory_stays_flat(scene: Scene) -> None:
    rng = np.random.default_rng(69)
    ends = rng.integers(0, 33, (4, 16)) / 2
    out = scene.cast(*ends)
    kept: list[Any] = [None] * 64
    bodies = Bodies(disc(1), rng.integers(0, 16, 8), 3)
    both = scene.with_bodies(bodies)

    def scalars(i: int) -> None:
        scene.cast(-2.0, i % 16, 18.0, 1.0)

    def scalars_kept(i: int) -> None:
        kept[i % 64] = scene.cast(-2.0, float(i % 16), 18.0, 1.0).fraction

    def batches(i: int) -> None:
        kept[i % 64] = scene.cast(*ends, mode="all").point if i % 2 else scene.cast(*ends)

    def again(i: int) -> None:
        scene.cast(*ends, out=out)
        kept[i % 64] = out.counts

    def errors(i: int) -> None:
        try:
            scene.cast(*ends, mode="all", max_hits=65537)
        except ValueError as error:
            kept[i % 64] = error

    def groups(i: int) -> None:
        first, second = scene.evaluate(questions.cast(*ends), questions.locate(ends[0], ends[1]))
        kept[i % 64] = second.polygon_id if i % 2 else first[3]

    def placed(i: int) -> None:
        bodies.place(disc(1), ends[0], ends[1])
        kept[i % 64] = both.cast(*ends, against="both").is_body

    def scenes(i: int) -> None:
        kept[i % 64] = scene.commit(remove=scene.polygons().id[: i % 3])

    shares = {scalars: 32, scalars_kept: 22, batches: 20, again: 12, errors: 6, groups: 6, placed: 1, scenes: 1}
    assert sum(shares.values()) == 100
    for call, share in shares.items():
        grown = growth_of(CALLS * share // 100, call)
        assert grown < 1 << 20, f"{call.__name__}: {grown} bytes"
        kept[:] = [None] * 64


def test_views_outlive_answers_scenes_and_later_calls() -> None:
    rng = np.random.default_rng(70)
    scene = Scene.from_polygons(polygons_of(map_of(rng)))
    kept = []
    for _ in range(300):
        answers = scene.ask(question_of(rng, "cast", int(rng.integers(1, 200))))
        views = [answers._column(path) for path in answers._layout.rows]
        kept.append((views, [view.tobytes() for view in views], answers[0]))
    del answers
    scene.close()
    del scene
    gc.collect()
    other = Scene.from_polygons([[(0, 0), (1, 0), (1, 1)]])
    for _ in range(300):
        other.cast(np.zeros(500), 0.5, 2.0, 0.5)
    for views, values, item in kept:
        assert [view.tobytes() for view in views] == values
        assert len(item) == 1


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps freed memory")
def test_large_answers_are_given_back() -> None:
    empty = Scene.from_polygons([])
    before = resident_bytes()
    scans = [empty.fans(np.zeros(17), 0.0, 0.0, np.full(17, 65536), fov=6.0, range=9.0) for _ in range(4)]
    for scan in scans:
        assert scan.distances.shape == (17, 65536)
    held = resident_bytes() - before
    del scans, scan
    gc.collect()
    assert held > 4 * 17 * 65536 * 8
    assert resident_bytes() - before < held / 4


def test_trackers_of_many_scenes_are_freed(scene: Scene) -> None:
    for _ in range(200):
        trackers = Trackers()
        trackers.define(disc(np.full(100, 0.5)))
        trackers.move(scene, np.arange(100.0), np.arange(100.0))
    assert trackers.nbytes < 1 << 20
