// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons hold this point?
//
// `LocatePoints` answers, for each point, every polygon that holds it, strictly or on an edge.
//
//   const double x[] = {1}, y[] = {4};
//   LocateAnswers out;
//   WorkMeter meter;
//   LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
//   // out.polygon_ids[0] == 7, out.locations[0] == Location::kBoundary
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: none, verdicts are
// exact. Cost: O(log n + log of the edges of each polygon whose box holds it) a point, n the edges
// of the scene. Thread-safe. Cheaper: none; richer: carom/overlap.h.
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

// BOUNDARY: on an edge, even one inside the filled set. INSIDE: filled and on no edge.
enum class Location : uint8_t { kOutside, kBoundary, kInside };

struct PointColumns {
  std::span<const double> x, y;
  Scope scope = {};

  size_t size() const { return x.size(); }
};

struct LocateAnswers {
  std::vector<uint32_t> counts;       // polygons that hold point i
  std::vector<uint64_t> polygon_ids;  // point after point, ascending, bodies after the polygons
  // Beside polygon_ids where bodies are considered, else empty: 1 where it is the index of a body.
  std::vector<uint8_t> is_body;
  std::vector<Location> locations;  // BOUNDARY or INSIDE, beside polygon_ids
  std::vector<ItemError> errors;    // ascending by index

  void Clear();
};

// Considers the polygons with category & mask != 0. Returns false if `meter` stopped the work;
// `out` is then meaningless. Cost per point: O(log n), and for each polygon whose box holds it
// about the logarithm of its edges; all of them where most of its parts surround the point.
// Thread-safe.
bool LocatePoints(const World& world, const PointColumns& points, uint64_t mask, LocateAnswers& out,
                  WorkMeter& meter);

}  // namespace carom
