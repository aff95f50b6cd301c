// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Collects queries of all kinds into the columns of one frame.
#pragma once

#include <array>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/frame.h"
#include "carom/group.h"
#include "client/cli/eval/query_line.h"

namespace carom::cli {

// A query of a JSON line that waits until the frame, a message with the queries of several lines,
// is answered; or the error to print in place of the answer. `q` is the JSON text that the answer
// repeats; `scope` selects the polygons and bodies that the query considers.
struct Pending {
  std::string q;
  absl::StatusOr<Query> query;
  ItemScope scope = {};
};

// The bodies (placed shapes besides the scene) that the queries of one frame consider: those of a
// bodies line, or, if all queries that consider bodies have a moment, a history of them.
struct BatchBodies {
  BatchBodies(const BodyColumns& its_columns) : columns(its_columns) {}   // NOLINT
  BatchBodies(const BodyHistory& its_history) : history(&its_history) {}  // NOLINT

  // Makes the bodies those of a group.
  void AddTo(Group& group) const {
    group.bodies = columns;
    group.body_history = history;
  }

  BodyColumns columns;
  const BodyHistory* history = nullptr;
};

// The queries of one frame (a message with the queries of several JSON lines) in columns. A group
// is a part of the frame whose queries have common options; bodies are placed shapes besides the
// scene. Not copyable: `groups` returns views of this object.
//
// Most kinds of queries share the first `kSharedGroups` groups. For each value of `Against` (scene,
// bodies or both) there are `kPolicies` such groups, one for each inside policy (what to report
// about a polygon that contains the start) that a segment query may have. A segment query is an
// item of the group for its inside policy, in mode ALL (report the first hit of every polygon). The
// first group for each value of `Against` also has the starts of the segments, as points to locate,
// and the queries of every other kind without options for a whole group.
//
// Sweeps from a pose, slides, bounces, areas, sights and queries for the k nearest have options
// that apply to a whole group, so each of these queries has its own group after the shared groups;
// a sweep has a second group, which finds the polygons and bodies that the shape overlaps at its
// start. A segment with soft walls has its own group, too, for the hit that stops it. A group
// contains the bodies if its queries consider bodies.
class QueryColumns {
 public:
  static constexpr size_t kPolicies = 3;
  static constexpr size_t kSharedGroups = 3 * kPolicies;
  // Returns the index in `groups()` of the first group that the queries with `against` share.
  static constexpr size_t FirstGroup(Against against) {
    return kPolicies * static_cast<size_t>(against);
  }

  // Returns the index, in [0, kPolicies), of the group that the segments with the inside policy
  // share among the groups for one value of `Against`.
  static size_t PolicyIndex(InsidePolicy policy);

  QueryColumns(std::span<const Pending> queries, const BatchBodies& bodies);
  QueryColumns(const QueryColumns&) = delete;
  QueryColumns& operator=(const QueryColumns&) = delete;

  std::span<const Group> groups() const { return groups_; }

 private:
  // The queries of one kind in columns, in the order in which they were added, and the scopes of
  // the queries (which polygons and bodies they consider).
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
    std::vector<double> to_x, to_y;  // end positions; for sweeps only
    ScopeColumns scope;
  };
  // The queries with one value of `Against` that share groups, by kind.
  struct Batches {
    std::array<Segments, kPolicies> segments;
    Points points, circles;
    Shapes<Polygon> polygons;
    Shapes<Shape> distances, sweeps, contacts;
  };

  // Adds a query to the columns of its batch, or, if the options of the query apply to a whole
  // group, adds a group for this query alone.
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
  void Add(const NearestQuery& query, const ItemScope& scope);
  void Add(const SightQuery& query, const ItemScope& scope);
  void Add(const AreaQuery& query, const ItemScope& scope);
  void Add(const SeesQuery& query, const ItemScope& scope);
  void AddSoft(const SegmentQuery& query, const ItemScope& scope);
  void AddPoint(Vec2 p, const ItemScope& scope);
  void AskBodies(const ItemScope& scope, Scope& asked, Group& group) const;
  // Makes the columns of the groups that all queries with the value `against` share views of
  // `batches_`.
  void FillShared(Against against);
  Batches& BatchesOf(const ItemScope& scope) {
    return batches_[static_cast<size_t>(scope.against)];
  }

  const BatchBodies bodies_;
  std::array<Batches, 3> batches_;  // indexed by the value of `Against`
  std::vector<uint32_t> tracker_;
  std::vector<double> move_x_, move_y_, move_c_, move_s_;
  // zeros: the x and y of shapes whose vertices are world coordinates, which are placed at the
  // origin
  std::vector<double> zeros_;
  // The displacements of one slide query, in columns.
  struct Pushes {
    std::vector<double> dx, dy;
    uint32_t count = 0;
  };
  std::deque<Pushes> pushes_;
  std::vector<Group> groups_;
};

// Returns how many copies of the bodies (placed shapes besides the scene) a query adds to its
// frame: one for each of the query's groups (parts of the frame, see `QueryColumns`) that does not
// contain the bodies yet. Bit g of `used` is set if group g < `kSharedGroups`, which many queries
// share, contains the bodies; the function sets the bits of the shared groups that the query uses.
size_t CopiesOfBodies(const Query& query, const ItemScope& scope, uint32_t& used);

}  // namespace carom::cli
