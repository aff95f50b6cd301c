// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Crossings of lines and edges in columns, as the vector code that measures hits reads them
// (crossing_vectors.h).
#pragma once

#include "numeric/double_column.h"
#include "numeric/expansion.h"
#include "shape/fraction.h"
#include "shape/line.h"

namespace carom::internal {

// One coordinate (x or y) of up to kMaxLanes crossings of a line and an edge: the line's origin and
// direction (d + d_low), the ends a and b of the edge and the difference b - a (e + e_low); and the
// results, the hit point and the edge's normal.
struct Axis {
  void Set(size_t i, double from, TwoDoubles along, double begin, double end) {
    origin[i] = from;
    d[i] = along.high;
    d_low[i] = along.low;
    a[i] = begin;
    b[i] = end;
  }

  DoubleColumn origin, d, d_low, a, b, e, e_low;
  DoubleColumn point, normal;
};

// Up to kMaxLanes crossings of a line and an edge, in columns: one array element for each crossing.
// `low` and `high` bound the line's parameter at the crossing, and `fraction` is that parameter,
// rounded.
struct alignas(64) Crossings {
  void Set(size_t i, const Line& line, const Segment& edge, const Interval& at) {
    x.Set(i, line.origin.x, line.dx, edge.a.x, edge.b.x);
    y.Set(i, line.origin.y, line.dy, edge.a.y, edge.b.y);
    low[i] = at.low;
    high[i] = at.high;
  }

  Axis x, y;
  DoubleColumn low, high;
  DoubleColumn fraction;
  unsigned certain;  // bit i: the results of crossing i are certainly correctly rounded
};

}  // namespace carom::internal
