# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How is a scene of a server drawn, and what was asked about it? By the core in this process, from an export.

Equal questions about equal polygons have equal answers, so a picture asks again instead of sending answers back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import CaromError, NotFoundError, OutOfRangeError
from . import operations
from .forks import Operation

if TYPE_CHECKING:
    from .._question import Question
    from ..local import Bodies, Scene

_MOST_KEPT = 4


class Pictures:
    """The versions of scenes that were drawn last. Thread-safe.

    run: makes the calls of an operation
    """

    def __init__(self, run: Callable[[Operation[Any]], Any]) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, int], Scene] = {}

    def scene(self, name: str, version: int) -> Scene:
        """Returns a version of a scene, exported once; 0: the current one."""
        number = version or self._run(operations.get_scene(name, 0)).version
        with self._lock:
            found = self._kept.get((name, number))
        if found is None:
            summary, polygons = self._run(operations.export_scene(name, version))
            found = operations.local_scene(polygons, summary.version)
            with self._lock:
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[name, summary.version] = found
        return found

    def draw(self, name: str, version: int, bodies: Bodies | None, question: Question[Any] | None) -> str:
        """Draws a question and its answers: of the version that answered if the server keeps it, else of the current.

        The trackers of a stream are not in this process, so a picture of moves has the scene alone, as one without
        a question has.
        """
        try:
            scene = self.scene(name, version)
        except (NotFoundError, OutOfRangeError):
            scene = self.scene(name, 0)
        if bodies is not None:
            scene = scene.with_bodies(bodies)
        drawn: Any = scene
        if question is not None and question.kind.name != "moves":
            drawn = scene.ask(question)
        try:
            picture: str = drawn._repr_svg_()
        except CaromError:
            picture = scene._repr_svg_()
        return picture
