// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Queries of any kind as the columns of one frame, and their answers as lines again.
#pragma once

#include <array>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/frame.h"
#include "carom/group.h"
#include "client/cli/evaluator.h"
#include "client/cli/query_line.h"

namespace carom::cli {

// A query, or the error to print in its place.
struct Pending {
  std::string q;
  absl::StatusOr<Query> query;
};

// The queries of one frame in columns. Not copyable: `groups` points into it.
//
// There is one group for each inside policy of segments, which ask the group of theirs, all that
// they hit; everything else, and the location of each segment's start, asks the first one. Sweeps
// from a pose, slides and bounces, each with options of its own, have groups of their own after
// those: a sweep a second one, for what it overlaps at its start.
class QueryColumns {
 public:
  // Groups of segments, the first of which has all other queries that share one.
  static constexpr size_t kSharedGroups = 3;

  explicit QueryColumns(std::span<const Pending> queries);
  QueryColumns(const QueryColumns&) = delete;
  QueryColumns& operator=(const QueryColumns&) = delete;

  std::span<const Group> groups() const { return groups_; }

 private:
  struct Segments {
    std::vector<double> ax, ay, bx, by;
  };

  void Add(const PointQuery& query);
  void Add(const SegmentQuery& query);
  void Add(const CircleQuery& query);
  void Add(const PolygonQuery& query);
  void Add(const DistanceQuery& query);
  void Add(const SweepQuery& query);
  void Add(const ContactQuery& query);
  void Add(const MoveQuery& query);
  void Add(const PosedSweepQuery& query);
  void Add(const SlideQuery& query);
  void Add(const BounceQuery& query);
  void AddPoint(Vec2 p);

  std::array<Segments, 3> segments_;  // by inside policy
  std::vector<double> point_x_, point_y_;
  std::vector<double> circle_x_, circle_y_, circle_radius_;
  std::vector<Polygon> shapes_;
  std::vector<Shape> distance_shapes_, sweep_shapes_, contact_shapes_;
  std::vector<double> to_x_, to_y_;  // of sweeps
  std::vector<uint32_t> tracker_;
  std::vector<double> move_x_, move_y_, move_c_, move_s_;
  std::vector<double> zeros_;  // positions: shapes stand where their vertices say
  // The displacements of a query, in columns.
  struct Pushes {
    std::vector<double> dx, dy;
    uint32_t count = 0;
  };
  std::deque<Pushes> pushes_;
  std::vector<Group> groups_;
};

// One line a query, in order. A frame that is over a limit of the server is asked again in halves,
// so that only a query which is over it by itself gets the error. An error is one of the service.
absl::StatusOr<std::vector<std::string>> AnswerLines(std::span<const Pending> queries,
                                                     Evaluator& evaluator);

}  // namespace carom::cli
