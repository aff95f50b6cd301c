// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons contain this point?
//
// `LocatePoints` returns, for each point, every polygon that contains it, strictly or on an edge.
//
//   const double x[] = {1}, y[] = {4};
//   LocateAnswers out;
//   WorkMeter meter;
//   LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
//   // out.polygon_ids[0] == 7, out.locations[0] == Location::kBoundary
//
// Lengths are in the unit of the caller's coordinates. A polygon contains the points of its edges.
// Error: none, verdicts are exact. Cost: O(log n) for each point, n the edges of the scene, plus
// the logarithm of its edges for each polygon with a box that contains the point. Thread-safe. More
// powerful: carom/overlap.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/geometry.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

// Where a point is. BOUNDARY: on an edge, even on one inside the filled set. INSIDE: filled and on
// no edge.
enum class Location : uint8_t { kOutside, kBoundary, kInside };

struct PointColumns {
  std::span<const double> x, y;
  Scope scope = {};

  size_t size() const { return x.size(); }
};

struct LocateAnswers {
  std::vector<uint32_t> counts;       // number of polygons that contain point i
  std::vector<uint64_t> polygon_ids;  // for each point in turn: ascending, bodies after polygons
  // One entry per polygon id if bodies are considered, else empty: 1 if the id is the index of a
  // body.
  std::vector<uint8_t> is_body;
  std::vector<Location> locations;  // BOUNDARY or INSIDE, one per polygon id
  std::vector<ItemError> errors;    // items in error, ascending by index

  void Clear();
};

// Locates each point and replaces the contents of `out`. Considers the polygons with category &
// mask != 0. Returns false if `meter` stopped the work; `out` is then meaningless. Cost per point:
// O(log n), and for each polygon with a box that contains the point about the logarithm of its
// edges; all of its edges if most parts of the polygon surround the point. Thread-safe.
bool LocatePoints(const World& world, const PointColumns& points, uint64_t mask, LocateAnswers& out,
                  WorkMeter& meter);

}  // namespace carom
