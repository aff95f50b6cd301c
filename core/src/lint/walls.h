// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The edges of a scene and its gaps, as walls that meet in points: a planar graph with exact
// points.
//
// A wall is a proper edge or a gap. Walls are cut at the points where they meet, so that pieces
// share only their ends. A gap meets other walls only at its own ends, since its disc is empty; two
// gaps that cross have the same disc, and `Walls` keeps one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/work_meter.h"
#include "lint/gaps.h"
#include "lint/lint_exact.h"
#include "lint/lint_map.h"

namespace carom::internal {

// A direction: that of the vector from `from` to `to`, turned left by 90 degrees if `turned`.
struct WallDirection {
  Vec2 from;
  Vec2 to;
  bool turned = false;

  WallDirection Reversed() const { return {to, from, turned}; }
  // Signs of the coordinates.
  int sign_x() const;
  int sign_y() const;
  DyadicVec2 Exact() const;
};
// Returns the sign of the cross product of two directions.
int CrossOf(const WallDirection& a, const WallDirection& b);

// A piece of a wall, or of several walls that coincide there, between two points.
struct WallPiece {
  uint32_t a = 0;  // a < b
  uint32_t b = 0;
  uint32_t wall = 0;  // one of the walls
  bool along = true;  // that wall has `a` before `b`
};

// An edge that a piece is a part of.
struct PieceEdge {
  uint32_t edge = 0;
  bool along = true;  // the edge has the piece's `a` before its `b`
};

class Walls {
 public:
  // Fails, so that `ok()` is false, if the meter stops the work or if walls cross more often than
  // about twice their number.
  Walls(const LintMap& map, std::vector<Gap> gaps, WorkMeter& meter);

  bool ok() const { return ok_; }
  const LintMap& map() const { return map_; }
  // Walls are numbered: edge i of the map is wall i, then come the gaps.
  size_t wall_count() const { return map_.edges().size() + gaps_.size(); }
  bool is_gap(uint32_t wall) const { return wall >= map_.edges().size(); }
  const std::vector<Gap>& gaps() const { return gaps_; }
  // The direction of a wall, and a point of it that is its first end.
  WallDirection direction(uint32_t wall) const;
  Vec2 base(uint32_t wall) const;

  // Points: first the places of the map, then other points where walls meet.
  size_t point_count() const { return points_.size(); }
  Vec2 rounded(uint32_t point) const { return points_[point].rounded; }
  ExactPoint exact(uint32_t point) const;
  // Compares the y coordinate of a point with a number.
  int CompareY(uint32_t point, double y) const;

  // The points of a wall, from its base on; one point if the wall is not proper.
  std::span<const uint32_t> points_of(uint32_t wall) const;
  const std::vector<WallPiece>& pieces() const { return pieces_; }
  // The numbers of the pieces of a wall, from its base on.
  std::span<const uint32_t> pieces_of(uint32_t wall) const;
  // The edges that a piece is a part of: several if edges coincide, none if it is a gap.
  std::span<const PieceEdge> edges_of_piece(uint32_t piece) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // The number of crossings that any map may have, beyond twice the number of its edges.
  static constexpr size_t kFreeCrossings = 4096;

  // A point: a place (both walls kNone), the foot of a gap (`a` is the gap), or the crossing of two
  // edges.
  struct Point {
    Vec2 rounded;
    uint32_t a = kNone;
    uint32_t b = kNone;
  };
  struct OnWall {
    uint32_t wall;
    uint32_t point;
  };

  void DropEqualDiscs(WorkMeter& meter);
  bool FindMeetings(WorkMeter& meter);
  bool AddMeeting(uint32_t i, uint32_t j, WorkMeter& meter);
  bool AddFeet(WorkMeter& meter);
  void MergePoints();
  void SortPoints();
  void CutWalls();
  ExactPoint ExactOfPoint(const Point& point) const;
  bool AreEqual(uint32_t a, uint32_t b) const;
  bool IsBefore(uint32_t wall, uint32_t p, uint32_t q) const;

  const LintMap& map_;
  std::vector<Gap> gaps_;
  bool ok_ = false;
  std::vector<Point> points_;
  std::vector<OnWall> on_walls_;
  std::vector<uint32_t> wall_points_;
  std::vector<uint32_t> first_point_;  // of each wall
  std::vector<WallPiece> pieces_;
  std::vector<uint32_t> wall_pieces_;
  std::vector<PieceEdge> piece_edges_;
  std::vector<uint32_t> first_piece_edge_;
};

}  // namespace carom::internal
