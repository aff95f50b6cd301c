# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""How far a run is, as one line of text on standard error."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import ProgressLike

_WIDTH = 30
_SECONDS = 0.2  # between two states of the line


def clock(seconds: float) -> str:
    """Seconds as minutes or hours, such as 2:05 or 1:00:00."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Progress:
    """Reports items that are done: to a function, or as text, which a terminal and a notebook show as one line.

    Other files, such as logs, get a line for each tenth of the items.
    """

    def __init__(self, to: ProgressLike, items: int) -> None:
        self._to = to
        self._items = items
        self._start = time.monotonic()
        self._next = 0.0
        self._tenth = 0
        self._live = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._written = False

    def __call__(self, done: int) -> None:
        """Reports that `done` items are done."""
        if callable(self._to):
            self._to(done, self._items)
        elif self._to:
            now = time.monotonic()
            if self._live and (now >= self._next or done == self._items):
                self._next = now + _SECONDS
                self._write("\r", self._line(done, now), "")
            elif not self._live and done * 10 // self._items > self._tenth:
                self._tenth = done * 10 // self._items
                self._write("", self._line(done, now), "\n")

    def close(self) -> None:
        """Ends the line."""
        if self._written and self._live:
            self._write("", "", "\n")

    def _write(self, before: str, line: str, after: str) -> None:
        self._written = True
        sys.stderr.write(before + line + after)
        sys.stderr.flush()

    def _line(self, done: int, now: float) -> str:
        seconds = max(now - self._start, 1e-9)
        full = _WIDTH * done // self._items
        left = seconds * (self._items - done) / done if done else 0.0
        time_text = f"{clock(left)} left" if done < self._items else f"in {clock(seconds)}"
        bar = "#" * full + "." * (_WIDTH - full)
        return f"[{bar}] {100 * done // self._items:3} %, {done:,} items, {done / seconds:,.0f}/s, {time_text}   "
