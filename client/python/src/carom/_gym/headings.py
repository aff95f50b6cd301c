# SPDX-FileCopyrightText: The Carom authors
# SPDX-License-Identifier: Apache-2.0
"""Which directions can a robot have? Integers, with a cosine and a sine for each that no C library computes.

A heading h in [0, HEADINGS) is the angle h * UNIT, counter-clockwise from +x. The table has the same bits on every
machine: it comes from arithmetic on integers of 256 bits, of which the quotient by 2^256 is rounded once, by the
division of Python, which is correctly rounded. The libraries of C differ in the last bit of cos and sin, and so do
the vector instructions that numpy uses for them.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

HEADINGS = 1 << 14
HEADING_BITS = 14
UNIT = math.tau / HEADINGS  # [radians] exact: a division by a power of two

_BITS = 256
_ONE = 1 << _BITS


def _step() -> tuple[int, int]:
    """Cosine and sine of UNIT, times 2^256: a quarter turn that is halved."""
    c, s, parts = 0, _ONE, 4
    while parts < HEADINGS:
        half = math.isqrt((_ONE + c) * _ONE // 2)
        c, s = half, s * _ONE // (2 * half)
        parts *= 2
    return c, s


@functools.cache
def cosines_and_sines() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the cosine and the sine of each heading, arrays of HEADINGS entries that cannot be written.

    Each entry is the double nearest to the exact value, and the symmetries of the circle hold exactly. The first call
    takes some milliseconds.
    """
    c, s = _step()
    x, y = _ONE, 0
    octant = []
    for _ in range(HEADINGS // 8 + 1):
        octant.append((x / _ONE, y / _ONE))
        x, y = (x * c - y * s) >> _BITS, (x * s + y * c) >> _BITS
    quarter = octant + [(v, u) for u, v in octant[-2:0:-1]]
    cosine, sine = (np.array(column) for column in zip(*quarter, strict=True))
    cosines = np.concatenate((cosine, 0.0 - sine, 0.0 - cosine, sine))
    sines = np.concatenate((sine, cosine, 0.0 - sine, 0.0 - cosine))
    for table in (cosines, sines):
        table.flags.writeable = False
    return cosines, sines
