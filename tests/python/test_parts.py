# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Is a question that is larger than a frame answered as by a scene in this process?"""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import servers
from random_worlds import KINDS, arguments_of
from test_client import World, expect_same

from carom import aio, errors, questions
from carom.client import Client
from carom.local import Polygons, Scene


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that takes 50 queries a frame, and answers 200 rows."""
    options = ("--max-queries-per-frame", "50", "--max-answer-rows-per-frame", "200")
    with servers.caromd(tmp_path_factory.mktemp("narrow"), *options) as server:
        yield server.address


@pytest.mark.parametrize("method", sorted(KINDS))
def test_a_question_is_cut_where_a_server_says_so(narrow: str, method: str) -> None:
    with Client(narrow) as client:
        world = World(client, f"cut-{method.replace('_', '-')}", 50)
        for seed in range(3):
            rng = np.random.default_rng(seed)
            arguments = arguments_of(rng, method, 170)
            arguments |= {"max_hits": 3} if "max_hits" in arguments else {}
            question = getattr(questions, method)(**arguments)
            expect_same(world.remote.ask(question), world.local.ask(question))
            kept = world.remote.ask(getattr(questions, method)(**arguments_of(rng, method, 3)))
            expect_same(world.remote.ask(question, out=kept), world.local.ask(question))
        expected = world.local.ask(question)
        for mine, theirs in zip(list(world.remote.ask(question))[::17], list(expected)[::17], strict=True):
            assert mine.digest() == theirs.digest()


def test_columns_that_say_nothing_are_cut(narrow: str) -> None:
    """Shape i of item i, and tracker i of item i."""
    with Client(narrow) as client:
        world = World(client, "cut-defaults", 51)
        rng = np.random.default_rng(1)
        shapes = [rng.normal(size=(3, 2)) for _ in range(30)]
        x, y = rng.uniform(0, 16, (2, 30))
        asked: list[Any] = [questions.nearest(shapes, x, y), questions.overlap(shapes, x, y, detail="edges")]
        for question in asked:
            expect_same(world.remote.ask(question), world.local.ask(question))
        with pytest.raises(errors.InvalidArgumentError):
            world.remote.ask(questions.nearest(shapes, x[:20], y[:20]))
        for first in (0, 3, 7):
            moves = questions.move(np.resize(x, 90), np.resize(y, 90), first_tracker=first)
            expect_same(world.remote.ask(moves), world.local.ask(moves))
            assert len(world.local.ask(moves).errors) == 82 + first


def test_large_questions_are_asked_in_parts(caromd: str, tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(2)
    polygons = Polygons([rng.uniform(0, 1, (4, 2)) + rng.uniform(0, 30, 2) for _ in range(200)])
    local = Scene.from_polygons(polygons)
    with Client(caromd) as client:
        client.create_scene("large-questions", polygons)
        remote = client.scene("large-questions")
        asked: list[Any] = [
            questions.cast(*rng.uniform(0, 30, (4, 150000))),
            questions.cast(*rng.uniform(0, 30, (4, 60000)), mode="all"),  # more rows than a frame has
            questions.fans(
                rng.uniform(0, 30, 40), rng.uniform(0, 30, 40), 0.0, rng.integers(1, 9000, 40), fov=6.0, range=20.0
            ),
            questions.sights(*rng.uniform(0, 30, (4, 70000))),
        ]
        for question in asked:
            found = remote.ask(question)
            expect_same(found, local.ask(question))
        assert remote.ask(asked[2])._repr_svg_() == local.ask(asked[2])._repr_svg_()

        async def main() -> None:
            async with aio.Client(caromd) as other:
                expect_same(await other.scene("large-questions").ask(asked[2]), local.ask(asked[2]))

        asyncio.run(asyncio.wait_for(main(), 60))


def test_parts_are_about_one_version(narrow: str) -> None:
    with Client(narrow) as client:
        client.create_scene("one-version", [[(0, 0), (9, 0), (9, 9), (0, 9)]])
        frames = 0
        run = client._runner._unary

        def edited(call: Any, address: int, timeout: float | None) -> bytes:
            nonlocal frames
            if call.method == "Evaluate":
                frames += 1
                if frames == 4:  # the second part; the whole and its half are refused
                    other = Client(narrow)
                    other.commit("one-version", remove=[0])
            return run(call, address, timeout)

        client._runner._unary = edited  # type: ignore[method-assign]
        inside = client.scene("one-version").locate(np.full(170, 1.0), np.full(170, 1.0))
        assert frames > 4
        assert inside.counts.tolist() == [1] * 170
        assert client.scene("one-version").locate(1.0, 1.0).counts.tolist() == [0]


def test_one_item_that_is_too_large_raises(narrow: str) -> None:
    with Client(narrow) as client:
        client.create_scene("one-item", [])
        with pytest.raises(errors.ResourceExhaustedError):
            client.scene("one-item").fans([0.0, 0.0], [0.0, 0.0], 0.0, [10, 60], fov=1.0, range=1.0)
