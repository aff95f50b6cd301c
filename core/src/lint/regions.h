// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The regions into which walls divide the plane: which pieces of walls bound each region, which
// polygons fill it, and which region contains a point.
//
// Each piece has two sides, 2 p and 2 p + 1 for piece p: the region to the left of the way from its
// point a to its point b, and of the way back. Sides that follow one another around a region are a
// loop. A connected part of the walls has one loop around it, its outer loop; the other loops
// surround one region each. A ray from the leftmost point of a part finds the loop that its outer
// loop shares a region with (the usual doubly connected edge list: de Berg et al., "Computational
// Geometry", 2008, chapter 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "carom/work_meter.h"
#include "index/box_tree.h"
#include "lint/walls.h"

namespace carom::internal {

class Regions {
 public:
  static constexpr uint32_t kUnbounded = 0;

  // Fails, so that `ok()` is false, if the meter stops the work.
  Regions(const Walls& walls, WorkMeter& meter);

  bool ok() const { return ok_; }
  // Regions are numbered; region 0 is the unbounded one.
  size_t count() const { return first_side_.size() - 1; }
  // Whether a SOLID polygon fills the region.
  bool is_solid(uint32_t region) const { return is_solid_[region]; }
  // The sides that bound a region.
  std::span<const uint32_t> sides_of(uint32_t region) const {
    return std::span(sides_).subspan(first_side_[region],
                                     first_side_[region + 1] - first_side_[region]);
  }
  // The region of a point; none for a point on a wall. Meaningless once the meter has stopped the
  // work.
  std::optional<uint32_t> RegionAt(Vec2 p, WorkMeter& meter) const;

  // The points at which a side begins and ends, and the side that follows it in its loop.
  uint32_t begin_of(uint32_t side) const {
    const WallPiece& piece = walls_.pieces()[side / 2];
    return side % 2 == 0 ? piece.a : piece.b;
  }
  uint32_t end_of(uint32_t side) const { return begin_of(side ^ 1); }
  uint32_t next(uint32_t side) const { return next_[side]; }
  // Whether a side is of the outer loop of a connected part of the walls.
  bool is_outer(uint32_t side) const { return is_outer_loop_[loop_[side]]; }

 private:
  // Where a ray to the left meets a wall first.
  struct RayHit {
    uint32_t wall;
    ExactPoint at;
  };

  WallDirection DirectionOf(uint32_t side) const;
  void SortAroundPoints();
  void FindLoops();
  bool JoinLoops(WorkMeter& meter);
  void FindOuterSides(std::vector<uint32_t>& outer_sides);
  void NumberRegions(const std::vector<uint32_t>& root_of);
  bool FindSolids(WorkMeter& meter);
  // The side that a ray to the left from `p` meets first; none if it meets no wall. Sets `on_wall`
  // if `p` is on a wall.
  std::optional<uint32_t> SideLeftOf(Vec2 p, bool& on_wall, WorkMeter& meter) const;
  void Consider(uint32_t wall, Vec2 p, std::optional<RayHit>& best, bool& on_wall) const;
  uint32_t SideOf(uint32_t wall, Vec2 p) const;

  const Walls& walls_;
  BoxTree gap_tree_;
  bool ok_ = false;
  std::vector<uint32_t> leaving_;        // sides by the point that they begin at, ccw from +x
  std::vector<uint32_t> first_leaving_;  // of each point
  std::vector<uint32_t> next_;
  std::vector<uint32_t> loop_;  // of each side
  std::vector<bool> is_outer_loop_;
  std::vector<uint32_t> region_of_loop_;
  std::vector<uint32_t> first_side_;
  std::vector<uint32_t> sides_;
  std::vector<bool> is_solid_;
};

}  // namespace carom::internal
