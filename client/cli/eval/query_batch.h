// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Collects queries of all kinds into the columns of one frame, and prints the answers as lines.
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

// A query that waits for its frame, or the error to print in its place.
struct Pending {
  std::string q;
  absl::StatusOr<Query> query;
  ItemScope scope = {};
};

// The queries of one frame in columns. Not copyable: `groups` returns views of this object.
//
// The first `kSharedGroups` groups are shared by queries. For each `Against` there is one group for
// each inside policy of segments. A segment is in the group of its policy, in mode ALL. The
// location of its start, and every other query without group options, is in the first group of its
// `Against`.
//
// Sweeps from a pose, slides and bounces have options of a group, so each has its own group after
// the shared ones; a sweep has a second group for the polygons and bodies that it overlaps at its
// start. A group contains the bodies if its queries consider bodies.
class QueryColumns {
 public:
  static constexpr size_t kPolicies = 3;
  static constexpr size_t kSharedGroups = 3 * kPolicies;
  // Returns the index of the first shared group of `against`.
  static constexpr size_t FirstGroup(Against against) {
    return kPolicies * static_cast<size_t>(against);
  }

  QueryColumns(std::span<const Pending> queries, const BodyColumns& bodies);
  QueryColumns(const QueryColumns&) = delete;
  QueryColumns& operator=(const QueryColumns&) = delete;

  std::span<const Group> groups() const { return groups_; }

 private:
  // Columns of one batch, with its items in the order of their queries, and the scopes of the
  // items.
  struct Segments {
    std::vector<double> ax, ay, bx, by;
    ScopeColumns scope;
  };
  struct Points {
    std::vector<double> x, y, radius;  // `radius` is for circles only
    ScopeColumns scope;
  };
  template <class S>
  struct Shapes {
    std::vector<S> shapes;
    std::vector<double> to_x, to_y;  // for sweeps only
    ScopeColumns scope;
  };
  // The batches of the shared groups of one `Against`.
  struct Batches {
    std::array<Segments, kPolicies> segments;
    Points points, circles;
    Shapes<Polygon> polygons;
    Shapes<Shape> distances, sweeps, contacts;
  };

  // Adds a query to its batch, or adds a group for it.
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
  // Sets the shared groups of `against` to views of their batches.
  void FillShared(Against against);
  Batches& BatchesOf(const ItemScope& scope) {
    return batches_[static_cast<size_t>(scope.against)];
  }

  const BodyColumns bodies_;
  std::array<Batches, 3> batches_;  // by `Against`
  std::vector<uint32_t> tracker_;
  std::vector<double> move_x_, move_y_, move_c_, move_s_;
  std::vector<double> zeros_;  // positions of shapes whose vertices are world coordinates
  // The displacements of a slide query, in columns.
  struct Pushes {
    std::vector<double> dx, dy;
    uint32_t count = 0;
  };
  std::deque<Pushes> pushes_;
  std::vector<Group> groups_;
};

// Returns how many copies of the bodies a query adds to its frame. Bit g of `used` is set if shared
// group g contains the bodies; the function sets the bits of the query's shared groups.
size_t CopiesOfBodies(const Query& query, const ItemScope& scope, uint32_t& used);

// Returns one line per query, in order. `bodies` are the bodies of all queries. If a frame is over
// a limit of the server, asks again with each half of the queries, so that only a query that
// exceeds the limit alone gets the error. Returns an error only if the service failed.
absl::StatusOr<std::vector<std::string>> AnswerLines(std::span<const Pending> queries,
                                                     const BodyColumns& bodies,
                                                     Evaluator& evaluator);

}  // namespace carom::cli
