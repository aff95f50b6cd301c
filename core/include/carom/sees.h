// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bodies does each observer see?
//
// `FindSeen` answers for every observer and every body of a group whether the body reaches into the
// area that the observer sees (carom/area.h), as a matrix of bits. A server that sends each player
// only what that player may see asks it every tick. Lines of sight to sample points can miss a
// shoulder between two of them; an area cannot.
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0.5}).value()};
//   const uint32_t shape[] = {0, 0};
//   const double bx[] = {-1, 6}, by[] = {3, 1};
//   const Bodies bodies = Bodies::Create({{shapes, shape, bx, by}}).value();
//   const double x[] = {-2}, y[] = {1}, range[] = {16};
//   SeeAnswers out;
//   WorkMeter meter;
//   FindSeen({*scene, &bodies}, {x, y, range}, {}, out, meter);
//   // out.Sees(0, 0), but not out.Sees(0, 1): polygon 7 hides body 1
//
// Lengths are in the unit of the caller's coordinates, angles in radians. Touching is not seeing: a
// body that only touches the boundary of the area is not seen. Error: none for bodies that are
// polygons, without a margin; a body with a radius or a margin may be reported as seen if it is too
// far from the area by at most 2^-54 of the largest coordinate of the eye and the body, and is
// always reported if it is seen. Cost: that of an area without its pieces for each observer, and
// O(log n + v + s) for each body near its disc, where v are the edges of the body and s the spans
// of n edges in the directions of the body; with a radius or a margin, a body on the boundary of
// the area costs O(v) for each piece of it. Thread-safe as carom/bodies.h is. Cheaper alternative:
// `TestLinesOfSight` of carom/visibility.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/area.h"
#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/work_meter.h"

namespace carom {

struct SeeOptions {
  // For polygons that contain the eye, boundary included. REPORT_START: the observer sees nothing.
  // IGNORE: as `AreaOptions::inside_policy`. `CheckGroup` refuses the other policies.
  InsidePolicy inside_policy = InsidePolicy::kReportStart;
  // By how much each body grows in all directions before it is looked for: how far it may move
  // until the answer is used. In [0, 2^53].
  double margin = 0;
  uint64_t mask = kEveryCategory;  // of the polygons that block

  friend bool operator==(const SeeOptions&, const SeeOptions&) = default;
};

struct SeeAnswers {
  std::vector<uint32_t> counts;  // number of bodies that observer i sees
  // `words()` words for each observer in turn: bit j % 64 of word j / 64 is 1 if it sees body j.
  std::vector<uint64_t> seen;
  std::vector<uint8_t> starts_inside;  // 1 if a polygon considered contains eye i
  std::vector<ItemError> errors;       // observers in error, ascending by index
  EyeTiers tiers;                      // advice: how the observers with trackers were answered

  // Returns the number of words of each observer: bodies / 64, rounded up.
  size_t words() const { return counts.empty() ? 0 : seen.size() / counts.size(); }
  // Returns whether the observer sees the body; false for a body that the group does not have.
  bool Sees(size_t observer, size_t body) const {
    const size_t word = body / 64;
    return word < words() && (seen[observer * words() + word] >> (body % 64) & 1) != 0;
  }
  void Clear();
};

// Finds which bodies of `world` each observer sees and replaces the contents of `out`. An observer
// is an eye as in `AreaColumns`. Its area is that of `FindAreas` with polygons of the scene alone:
// bodies block no sight, and `scope.against` must be kScene, which `CheckGroup` checks. The
// observer sees a body if the body, grown by `margin`, shares a point with the interior of the
// area, or if the body contains the eye and the area is not empty. Bodies of the owner
// `ignore_owner[i]` are not seen, nor are those with a category of 0.
//
// Item errors as those of `FindAreas`. Returns false if `meter` stopped the work; `out` is then
// meaningless. Each word counts as a row of `meter`.
bool FindSeen(const World& world, const AreaColumns& observers, const SeeOptions& options,
              SeeAnswers& out, WorkMeter& meter);

}  // namespace carom
