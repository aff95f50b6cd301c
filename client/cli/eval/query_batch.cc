// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/eval/query_batch.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

#include "carom/status.h"
#include "client/cli/eval/answer_line.h"

namespace carom::cli {
namespace {

// Iterates over the answers to the queries (items) of one batch: `counts` has the number of rows of
// each item, and the rows of all items are in columns, one item after the other.
class Cursor {
 public:
  // Advances to the next item of `answers`.
  template <typename Answers>
  void Next(const Answers& answers) {
    begin_ += count_;
    count_ = answers.counts[item_];
    error_ = nullptr;
    if (next_error_ < answers.errors.size() && answers.errors[next_error_].index == item_) {
      error_ = &answers.errors[next_error_++];
    }
    ++item_;
  }

  // Returns the rows of the current item in `column`, a column of the answers.
  template <typename Row>
  std::span<const Row> rows(const std::vector<Row>& column) const {
    return std::span<const Row>(column).subspan(begin_, count_);
  }
  // Returns the polygons and bodies (placed shapes besides the scene) in the rows of the current
  // item. `answers.is_body` is empty if the queries of the batch consider no bodies.
  template <typename Answers>
  Rows found(const Answers& answers, const ItemScope& scope) const {
    const bool marks = !answers.is_body.empty();
    return {rows(answers.polygon_ids), marks ? rows(answers.is_body) : std::span<const uint8_t>(),
            scope.includes_bodies()};
  }
  // Returns the error of the current item, or null.
  const ItemError* error() const { return error_; }
  size_t item() const { return item_ - 1; }

 private:
  size_t item_ = 0;
  size_t begin_ = 0;
  size_t count_ = 0;
  size_t next_error_ = 0;
  const ItemError* error_ = nullptr;
};

// Iterates over the answers to the moves of trackers (shapes that the evaluator keeps) in one
// frame. A clear move, which touches nothing, has no entry in `counts`.
class MoveCursor {
 public:
  struct Item {
    const ItemError* error = nullptr;
    std::span<const uint64_t> polygon_ids;
    std::span<const uint32_t> edge_counts;
    std::span<const EdgeRef> edges;
  };

  // Returns the next move's answer. If bit i of `clear` is set, move i is clear. Every other move
  // has an entry in `counts`, the number of polygons that it touches, and each of these polygons
  // has an entry in `edge_counts`, the number of its touched edges.
  Item Next(const MoveAnswers& answers) {
    Item item;
    const size_t i = item_++;
    if ((answers.clear[i / 64] >> (i % 64) & 1) != 0) return item;
    if (next_error_ < answers.errors.size() && answers.errors[next_error_].index == i) {
      item.error = &answers.errors[next_error_++];
    }
    const size_t count = answers.counts[counted_++];
    item.polygon_ids = std::span(answers.polygon_ids).subspan(row_, count);
    item.edge_counts = std::span(answers.edge_counts).subspan(row_, count);
    row_ += count;
    const size_t edges = std::reduce(item.edge_counts.begin(), item.edge_counts.end(), size_t{0});
    item.edges = std::span(answers.edges).subspan(edge_, edges);
    edge_ += edges;
    return item;
  }

 private:
  size_t item_ = 0;
  size_t counted_ = 0;
  size_t row_ = 0;
  size_t edge_ = 0;
  size_t next_error_ = 0;
};

// Formats the answers of one frame (a message with the queries of several JSON lines) as JSON
// lines. `results_` has the answers by group: first the groups that queries of many lines share,
// then the groups of single queries, from index `own_group_` on. Must be called once for each
// query, in the order in which the queries were added to the frame.
class Printer {
 public:
  explicit Printer(const std::vector<GroupResult>& results) : results_(results) {}

  std::string operator()(std::string_view q, const PointQuery&, const ItemScope& scope) {
    Cursor& cursor = CursorsOf(scope).points;
    const LocateAnswers& answers = Shared(scope).points;
    cursor.Next(answers);
    if (cursor.error()) return ErrorLine(q, ItemStatus(*cursor.error(), "p"));
    return PointLine(q, HoldersOf(cursor, answers, scope));
  }

  // Reads the hits of a segment from the group for segments with the query's inside policy, and the
  // location of the segment's start from the batch of points in the first group with the query's
  // value of `Against`.
  std::string operator()(std::string_view q, const SegmentQuery& query, const ItemScope& scope) {
    const size_t policy = QueryColumns::PolicyIndex(query.inside);
    Cursor& cursor = CursorsOf(scope).segments[policy];
    Cursor& points = CursorsOf(scope).points;
    const CastAnswers& answers = Shared(scope, policy).segments;
    const LocateAnswers& starts = Shared(scope).points;
    cursor.Next(answers);
    // The batch of points contains the points of point queries and the starts of segment queries,
    // in the order of the queries.
    points.Next(starts);
    const CastAnswers* soft = query.soft ? &results_[own_group_++].answers.segments : nullptr;
    if (cursor.error()) return ErrorLine(q, ItemStatus(*cursor.error(), "a"));
    if (std::ranges::binary_search(answers.truncated, cursor.item())) return TooMany(q);
    const std::span<const CastHit> all = cursor.rows(answers.hits);
    const Holders holders = HoldersOf(points, starts, scope);
    if (soft == nullptr) return SegmentLine(q, all, holders);
    return SoftSegmentLine(q, {soft->hits, soft->passed[0], soft->soft_lengths[0]}, all, holders);
  }

  std::string operator()(std::string_view q, const SightQuery&, const ItemScope&) {
    const SightAnswers& answers = results_[own_group_++].answers.sights;
    if (!answers.errors.empty()) return ErrorLine(q, ItemStatus(answers.errors[0], "a"));
    return SightLine(q, answers.visible[0] != 0);
  }

  std::string operator()(std::string_view q, const CircleQuery&, const ItemScope& scope) {
    Cursor& cursor = CursorsOf(scope).circles;
    const OverlapAnswers& answers = Shared(scope).circles;
    cursor.Next(answers);
    if (cursor.error()) return ErrorLine(q, ItemStatus(*cursor.error(), "c"));
    return CircleLine(q, cursor.found(answers, scope), cursor.rows(answers.touching));
  }

  std::string operator()(std::string_view q, const PolygonQuery&, const ItemScope& scope) {
    Cursor& cursor = CursorsOf(scope).polygons;
    const OverlapAnswers& answers = Shared(scope).polygons;
    cursor.Next(answers);
    if (cursor.error()) return ErrorLine(q, ItemStatus(*cursor.error(), "rings"));
    return PolygonLine(q, cursor.found(answers, scope));
  }

  std::string operator()(std::string_view q, const DistanceQuery&, const ItemScope& scope) {
    Cursor& cursor = CursorsOf(scope).distances;
    const DistanceAnswers& answers = Shared(scope).distances;
    cursor.Next(answers);
    if (cursor.error()) return ErrorLine(q, ItemStatus(*cursor.error(), "rings"));
    return DistanceLine(q, cursor.found(answers, scope), cursor.rows(answers.rows));
  }

  std::string operator()(std::string_view q, const SweepQuery&, const ItemScope& scope) {
    Cursor& cursor = CursorsOf(scope).sweeps;
    const SweepAnswers& answers = Shared(scope).sweeps;
    cursor.Next(answers);
    if (cursor.error()) return ErrorLine(q, ItemStatus(*cursor.error(), "rings"));
    if (std::ranges::binary_search(answers.truncated, cursor.item())) return TooMany(q);
    return SweepLine(q, cursor.rows(answers.hits), scope.includes_bodies());
  }

  std::string operator()(std::string_view q, const PosedSweepQuery& query, const ItemScope& scope) {
    const SweepAnswers& answers = results_[own_group_++].answers.sweeps;
    const SweepAnswers& start = results_[own_group_++].answers.sweeps;
    if (!answers.errors.empty()) return ErrorLine(q, MotionStatus(answers.errors[0]));
    if (!start.truncated.empty()) return TooMany(q);
    const HitRows overlapped(start.hits, scope.includes_bodies());
    const bool has_safe = IsBlocking(query.inside);
    return PosedSweepLine(q, answers.hits, overlapped.rows(),
                          has_safe ? &answers.safe[0] : nullptr);
  }

  std::string operator()(std::string_view q, const SlideQuery&, const ItemScope&) {
    const SlideAnswers& answers = results_[own_group_++].answers.slides;
    if (!answers.errors.empty()) return ErrorLine(q, MotionStatus(answers.errors[0]));
    return SlideLine(q, answers.rows[0], answers.legs);
  }

  std::string operator()(std::string_view q, const BounceQuery&, const ItemScope&) {
    const BounceAnswers& answers = results_[own_group_++].answers.bounces;
    if (!answers.errors.empty()) return ErrorLine(q, ItemStatus(answers.errors[0], "a"));
    return BounceLine(q, answers.legs, !answers.stuck.empty());
  }

  std::string operator()(std::string_view q, const RayBounceQuery&, const ItemScope&) {
    const RayBounceAnswers& answers = results_[own_group_++].answers.ray_bounces;
    if (!answers.errors.empty()) return ErrorLine(q, ItemStatus(answers.errors[0], "p"));
    return RayBounceLine(q, answers.legs, !answers.stuck.empty());
  }

  std::string operator()(std::string_view q, const NearestQuery&, const ItemScope& scope) {
    const DistanceAnswers& answers = results_[own_group_++].answers.distances;
    if (!answers.errors.empty()) return ErrorLine(q, NearestStatus(answers.errors[0]));
    const Rows rows{answers.polygon_ids, answers.is_body, scope.includes_bodies()};
    return NearestLine(q, rows, answers.rows);
  }

  std::string operator()(std::string_view q, const AreaQuery&, const ItemScope&) {
    const AreaAnswers& answers = results_[own_group_++].answers.areas;
    if (!answers.errors.empty()) return ErrorLine(q, ItemStatus(answers.errors[0], "p"));
    if (!answers.truncated.empty()) {
      return ErrorLine(q, Refused(absl::StatusCode::kResourceExhausted, "op",
                                  "has more pieces than can be listed (65,536)"));
    }
    return AreaLine(q, answers.pieces, answers.areas[0], answers.starts_inside[0] != 0);
  }

  std::string operator()(std::string_view q, const SeesQuery&, const ItemScope&) {
    const SeeAnswers& answers = results_[own_group_++].answers.sees;
    if (!answers.errors.empty()) return ErrorLine(q, ItemStatus(answers.errors[0], "p"));
    return SeesLine(q, answers);
  }

  std::string operator()(std::string_view q, const MoveQuery&, const ItemScope& scope) {
    const MoveAnswers& answers = Shared(scope).moves;
    const MoveCursor::Item item = moves_.Next(answers);
    if (item.error) return ErrorLine(q, ItemStatus(*item.error, ""));
    return MoveLine(q, item.polygon_ids, item.edge_counts, item.edges);
  }

  // The shape is in the member "rings" with world coordinates as vertices, so an error of the query
  // names "rings".
  std::string operator()(std::string_view q, const ContactQuery&, const ItemScope& scope) {
    Cursor& cursor = CursorsOf(scope).contacts;
    const ContactAnswers& answers = Shared(scope).contacts;
    cursor.Next(answers);
    if (cursor.error()) return ErrorLine(q, ItemStatus(*cursor.error(), "rings"));
    return ContactLine(q, cursor.found(answers, scope), cursor.rows(answers.contacts));
  }

 private:
  // Iterators over the answers in the groups that the queries with one value of `Against` (scene,
  // bodies or both) share: one iterator for each kind of query, for segments one for each inside
  // policy (what to report about a polygon that contains the start).
  struct Cursors {
    Cursor points, circles, polygons, distances, sweeps, contacts;
    std::array<Cursor, QueryColumns::kPolicies> segments;
  };

  // Returns the error line for a query whose list of hits the server has truncated.
  static std::string TooMany(std::string_view q) {
    return ErrorLine(q, Refused(absl::StatusCode::kResourceExhausted, "op",
                                "hits more polygons than can be listed (65,536)"));
  }

  static Holders HoldersOf(const Cursor& cursor, const LocateAnswers& answers,
                           const ItemScope& scope) {
    return {cursor.found(answers, scope), cursor.rows(answers.locations)};
  }

  // Returns the answers of a group that the queries with `scope.against` share: for segments, of
  // the group for segments with the inside policy of index `policy`; for other queries, of the
  // first group.
  const GroupAnswers& Shared(const ItemScope& scope, size_t policy = 0) const {
    return results_[QueryColumns::FirstGroup(scope.against) + policy].answers;
  }
  Cursors& CursorsOf(const ItemScope& scope) {
    return cursors_[static_cast<size_t>(scope.against)];
  }

  const std::vector<GroupResult>& results_;
  std::array<Cursors, 3> cursors_;  // indexed by the value of `Against`
  MoveCursor moves_;
  size_t own_group_ = QueryColumns::kSharedGroups;
};

// Returns the line for a query, or the error line if the query was refused before it was sent.
std::string LineOf(const Pending& pending, Printer& printer) {
  if (!pending.query.ok()) return ErrorLine(pending.q, pending.query.status());
  return std::visit([&](const auto& query) { return printer(pending.q, query, pending.scope); },
                    *pending.query);
}

// Returns the first error in `results`, the results of the groups of one frame (message), or OK. If
// the frame exceeds a limit of the server, one group has the error; the answers of the other groups
// are then not used.
absl::Status FirstError(const std::vector<GroupResult>& results) {
  for (const GroupResult& result : results) {
    if (!result.status.ok()) return result.status;
  }
  return absl::OkStatus();
}

// Turns `status`, the error of a whole frame (a message with the queries of several JSON lines),
// into the error of one line, with "op" as the faulty member.
absl::Status LineError(const absl::Status& status) {
  return Refused(status.code(), "op", status.message());
}

// Appends one JSON line per query to `out`, in the order of `queries`: the answer, or an error.
absl::Status AppendLines(std::span<const Pending> queries, const BatchBodies& bodies,
                         Evaluator& evaluator, std::vector<std::string>& out) {
  const QueryColumns columns(queries, bodies);
  absl::StatusOr<std::vector<GroupResult>> results = std::vector<GroupResult>();
  // Sends no frame (message with the queries) if every query was refused when it was parsed.
  const bool any_valid =
      std::ranges::any_of(queries, [](const Pending& p) { return p.query.ok(); });
  if (any_valid) results = evaluator.Evaluate(columns.groups());
  if (!results.ok()) return results.status();
  const absl::Status error = FirstError(*results);
  // If the frame exceeds a limit of the server, sends each half of the queries in a frame of its
  // own. The recursion ends at a single query; it sends each query again at most log2(number of
  // queries) times, rounded up.
  if (absl::IsResourceExhausted(error) && queries.size() > 1) {
    const size_t half = queries.size() / 2;
    const absl::Status first = AppendLines(queries.first(half), bodies, evaluator, out);
    return first.ok() ? AppendLines(queries.subspan(half), bodies, evaluator, out) : first;
  }
  Printer printer(*results);
  for (const Pending& pending : queries) {
    out.push_back(pending.query.ok() && !error.ok() ? ErrorLine(pending.q, LineError(error))
                                                    : LineOf(pending, printer));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> AnswerLines(std::span<const Pending> queries,
                                                     const BatchBodies& bodies,
                                                     Evaluator& evaluator) {
  std::vector<std::string> lines;
  lines.reserve(queries.size());
  const absl::Status status = AppendLines(queries, bodies, evaluator, lines);
  if (!status.ok()) return status;
  return lines;
}

}  // namespace carom::cli
