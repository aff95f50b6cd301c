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
#include "client/cli/eval/evaluator.h"
#include "client/cli/eval/query_line.h"

namespace carom::cli {

// A query and what it considers, or the error to print in its place.
struct Pending {
  std::string q;
  absl::StatusOr<Query> query;
  ItemScope scope = {};
};

// The queries of one frame in columns. Not copyable: `groups` points into it.
//
// The first groups are shared. There are as many for each `Against`, and among those one for each
// inside policy of segments, which ask the group of theirs, all that they hit; everything else, and
// the location of each segment's start, asks the first one. Sweeps from a pose, slides and bounces,
// each with options of its own, have groups of their own after those: a sweep a second one, for
// what it overlaps at its start. Bodies are in the groups that ask about them.
class QueryColumns {
 public:
  static constexpr size_t kPolicies = 3;
  static constexpr size_t kSharedGroups = 3 * kPolicies;
  // The first one of those that are asked of `against`.
  static constexpr size_t FirstGroup(Against against) {
    return kPolicies * static_cast<size_t>(against);
  }

  QueryColumns(std::span<const Pending> queries, const BodyColumns& bodies);
  QueryColumns(const QueryColumns&) = delete;
  QueryColumns& operator=(const QueryColumns&) = delete;

  std::span<const Group> groups() const { return groups_; }

 private:
  // Columns of one batch, its items in the order of their queries, and what they consider.
  struct Segments {
    std::vector<double> ax, ay, bx, by;
    ScopeColumns scope;
  };
  struct Points {
    std::vector<double> x, y, radius;  // of circles only
    ScopeColumns scope;
  };
  template <class S>
  struct Shapes {
    std::vector<S> shapes;
    std::vector<double> to_x, to_y;  // of sweeps only
    ScopeColumns scope;
  };
  // What the groups of one `Against` share.
  struct Batches {
    std::array<Segments, kPolicies> segments;
    Points points, circles;
    Shapes<Polygon> polygons;
    Shapes<Shape> distances, sweeps, contacts;
  };

  void Add(const PointQuery& query, const ItemScope& scope);
  void Add(const SegmentQuery& query, const ItemScope& scope);
  void Add(const CircleQuery& query, const ItemScope& scope);
  void Add(const PolygonQuery& query, const ItemScope& scope);
  void Add(const DistanceQuery& query, const ItemScope& scope);
  void Add(const SweepQuery& query, const ItemScope& scope);
  void Add(const ContactQuery& query, const ItemScope& scope);
  void Add(const MoveQuery& query, const ItemScope& scope);
  void Add(const PosedSweepQuery& query, const ItemScope& scope);
  void Add(const SlideQuery& query, const ItemScope& scope);
  void Add(const BounceQuery& query, const ItemScope& scope);
  void Add(const RayBounceQuery& query, const ItemScope& scope);
  void AddPoint(Vec2 p, const ItemScope& scope);
  void FillShared(Against against);
  Batches& BatchesOf(const ItemScope& scope) {
    return batches_[static_cast<size_t>(scope.against)];
  }

  const BodyColumns bodies_;
  std::array<Batches, 3> batches_;  // by `Against`
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

// The groups with bodies that a query adds to a frame in which the shared groups `used` (a bit
// each) have them already; its own are added to `used`.
size_t CopiesOfBodies(const Query& query, const ItemScope& scope, uint32_t& used);

// One line a query, in order; `bodies` are those of all. A frame that is over a limit of the server
// is asked again in halves, so that only a query which is over it by itself gets the error. An
// error is one of the service.
absl::StatusOr<std::vector<std::string>> AnswerLines(std::span<const Pending> queries,
                                                     const BodyColumns& bodies,
                                                     Evaluator& evaluator);

}  // namespace carom::cli
