// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/query_batch.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "carom/status.h"
#include "client/cli/answer_line.h"

namespace carom::cli {
namespace {

constexpr InsidePolicy kPolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kIgnore,
                                      InsidePolicy::kExit};

// Options are those of a group, not of a query; the policy is the one that queries differ in.
size_t GroupOf(InsidePolicy policy) {
  return static_cast<size_t>(std::find(std::begin(kPolicies), std::end(kPolicies), policy) -
                             std::begin(kPolicies));
}

// Walks the items of one batch of answers: their rows, and their errors.
class Cursor {
 public:
  // Moves on to the next item: `rows` is its slice of the row columns.
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

  template <typename Row>
  std::span<const Row> rows(const std::vector<Row>& column) const {
    return std::span<const Row>(column).subspan(begin_, count_);
  }
  // Null if the item was answered.
  const ItemError* error() const { return error_; }
  size_t item() const { return item_ - 1; }

 private:
  size_t item_ = 0;
  size_t begin_ = 0;
  size_t count_ = 0;
  size_t next_error_ = 0;
  const ItemError* error_ = nullptr;
};

// The same for moves, of which those that are clear have no counts.
class MoveCursor {
 public:
  struct Item {
    const ItemError* error = nullptr;
    std::span<const uint64_t> polygon_ids;
    std::span<const uint32_t> edge_counts;
    std::span<const EdgeRef> edges;
  };

  // Bit i of `clear` says that move i touches nothing: it has no count. The others have one each,
  // in order, and as many rows; each row has a count of edges.
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

// Prints the answers of one frame, query after query.
class Printer {
 public:
  explicit Printer(const std::vector<GroupResult>& results) : results_(results) {}

  std::string operator()(std::string_view q, const PointQuery&) {
    const LocateAnswers& answers = results_[0].answers.points;
    points_.Next(answers);
    if (points_.error()) return ErrorLine(q, ItemStatus(*points_.error(), "p"));
    return PointLine(q, RowsOf(answers));
  }

  // A segment is answered in two batches: its hits by its policy's group, its start by the points.
  std::string operator()(std::string_view q, const SegmentQuery& query) {
    const size_t group = GroupOf(query.inside);
    Cursor& cursor = segments_[group];
    const CastAnswers& answers = results_[group].answers.segments;
    const LocateAnswers& starts = results_[0].answers.points;
    cursor.Next(answers);
    // The location of the start is an item of the points, in the order of all queries that have
    // one.
    points_.Next(starts);
    if (cursor.error()) return ErrorLine(q, ItemStatus(*cursor.error(), "a"));
    if (std::ranges::binary_search(answers.truncated, cursor.item())) return TooMany(q);
    return SegmentLine(q, cursor.rows(answers.hits), RowsOf(starts));
  }

  std::string operator()(std::string_view q, const CircleQuery&) {
    const OverlapAnswers& answers = results_[0].answers.circles;
    circles_.Next(answers);
    if (circles_.error()) return ErrorLine(q, ItemStatus(*circles_.error(), "c"));
    return CircleLine(q, circles_.rows(answers.polygon_ids), circles_.rows(answers.touching));
  }

  std::string operator()(std::string_view q, const PolygonQuery&) {
    const OverlapAnswers& answers = results_[0].answers.polygons;
    polygons_.Next(answers);
    if (polygons_.error()) return ErrorLine(q, ItemStatus(*polygons_.error(), "rings"));
    return PolygonLine(q, polygons_.rows(answers.polygon_ids));
  }

  std::string operator()(std::string_view q, const DistanceQuery&) {
    const DistanceAnswers& answers = results_[0].answers.distances;
    distances_.Next(answers);
    if (distances_.error()) return ErrorLine(q, ItemStatus(*distances_.error(), "rings"));
    return DistanceLine(q, distances_.rows(answers.polygon_ids), distances_.rows(answers.rows));
  }

  std::string operator()(std::string_view q, const SweepQuery&) {
    const SweepAnswers& answers = results_[0].answers.sweeps;
    sweeps_.Next(answers);
    if (sweeps_.error()) return ErrorLine(q, ItemStatus(*sweeps_.error(), "rings"));
    if (std::ranges::binary_search(answers.truncated, sweeps_.item())) return TooMany(q);
    return SweepLine(q, sweeps_.rows(answers.hits));
  }

  std::string operator()(std::string_view q, const PosedSweepQuery& query) {
    const SweepAnswers& answers = results_[own_group_++].answers.sweeps;
    const SweepAnswers& start = results_[own_group_++].answers.sweeps;
    if (!answers.errors.empty()) return ErrorLine(q, MotionStatus(answers.errors[0]));
    if (!start.truncated.empty()) return TooMany(q);
    std::vector<uint64_t> overlapped;
    overlapped.reserve(start.hits.size());
    for (const SweepHit& hit : start.hits) overlapped.push_back(hit.polygon_id);
    const bool has_safe = IsBlocking(query.inside);
    return PosedSweepLine(q, answers.hits, overlapped, has_safe ? &answers.safe[0] : nullptr);
  }

  std::string operator()(std::string_view q, const SlideQuery&) {
    const SlideAnswers& answers = results_[own_group_++].answers.slides;
    if (!answers.errors.empty()) return ErrorLine(q, MotionStatus(answers.errors[0]));
    return SlideLine(q, answers.rows[0], answers.legs);
  }

  std::string operator()(std::string_view q, const BounceQuery&) {
    const BounceAnswers& answers = results_[own_group_++].answers.bounces;
    if (!answers.errors.empty()) return ErrorLine(q, ItemStatus(answers.errors[0], "a"));
    return BounceLine(q, answers.legs, !answers.stuck.empty());
  }

  std::string operator()(std::string_view q, const MoveQuery&) {
    const MoveAnswers& answers = results_[0].answers.moves;
    const MoveCursor::Item item = moves_.Next(answers);
    if (item.error) return ErrorLine(q, ItemStatus(*item.error, ""));
    return MoveLine(q, item.polygon_ids, item.edge_counts, item.edges);
  }

  // Shapes are placed where their vertices say, so an item error is one of their vertices.
  std::string operator()(std::string_view q, const ContactQuery&) {
    const ContactAnswers& answers = results_[0].answers.contacts;
    contacts_.Next(answers);
    if (contacts_.error()) return ErrorLine(q, ItemStatus(*contacts_.error(), "rings"));
    return ContactLine(q, contacts_.rows(answers.polygon_ids), contacts_.rows(answers.contacts));
  }

 private:
  static std::string TooMany(std::string_view q) {
    return ErrorLine(q, Refused(absl::StatusCode::kResourceExhausted, "op",
                                "hits more polygons than can be listed (65,536)"));
  }

  Holders RowsOf(const LocateAnswers& answers) const {
    return {points_.rows(answers.polygon_ids), points_.rows(answers.locations)};
  }

  const std::vector<GroupResult>& results_;
  Cursor points_, circles_, polygons_, distances_, sweeps_, contacts_;
  std::array<Cursor, 3> segments_;
  MoveCursor moves_;
  size_t own_group_ = QueryColumns::kSharedGroups;
};

// A query that was refused before it was asked keeps its place in the output.
std::string LineOf(const Pending& pending, Printer& printer) {
  if (!pending.query.ok()) return ErrorLine(pending.q, pending.query.status());
  return std::visit([&](const auto& query) { return printer(pending.q, query); }, *pending.query);
}

// The first error among the results, or OK.
// A limit of the frame refuses the group that passes it; the others then have answers in vain.
absl::Status FirstError(const std::vector<GroupResult>& results) {
  for (const GroupResult& result : results) {
    if (!result.status.ok()) return result.status;
  }
  return absl::OkStatus();
}

// An error of the whole frame, as the error of a line of it.
absl::Status OfTheLine(const absl::Status& status) {
  return Refused(status.code(), "op", status.message());
}

absl::Status AppendLines(std::span<const Pending> queries, Evaluator& evaluator,
                         std::vector<std::string>& out) {
  const QueryColumns columns(queries);
  absl::StatusOr<std::vector<GroupResult>> results = std::vector<GroupResult>();
  // Lines that all hold errors ask nothing, and need no service.
  const bool asks = std::ranges::any_of(queries, [](const Pending& p) { return p.query.ok(); });
  if (asks) results = evaluator.Evaluate(columns.groups());
  if (!results.ok()) return results.status();
  const absl::Status error = FirstError(*results);
  // Halving ends: a query alone gets its error. It costs a frame over the limit log2(queries) more
  // rounds, and answers that fit are asked again.
  if (absl::IsResourceExhausted(error) && queries.size() > 1) {
    const size_t half = queries.size() / 2;
    const absl::Status first = AppendLines(queries.first(half), evaluator, out);
    return first.ok() ? AppendLines(queries.subspan(half), evaluator, out) : first;
  }
  Printer printer(*results);
  for (const Pending& pending : queries) {
    out.push_back(pending.query.ok() && !error.ok() ? ErrorLine(pending.q, OfTheLine(error))
                                                    : LineOf(pending, printer));
  }
  return absl::OkStatus();
}

}  // namespace

QueryColumns::QueryColumns(std::span<const Pending> queries) : groups_(kSharedGroups) {
  for (const Pending& pending : queries) {
    if (pending.query.ok()) std::visit([this](const auto& query) { Add(query); }, *pending.query);
  }
  for (size_t i = 0; i < kSharedGroups; ++i) {
    groups_[i].cast_options = {.mode = CastMode::kAll,
                               .inside_policy = kPolicies[i],
                               .max_hits = kMaxMaxHits,
                               .mask = kEveryCategory};
    const Segments& segments = segments_[i];
    groups_[i].segments = {segments.ax, segments.ay, segments.bx, segments.by};
  }
  groups_[0].points = {point_x_, point_y_};
  groups_[0].circles = {circle_x_, circle_y_, circle_radius_};
  // Vertices of shapes are sent as they are, each shape at the position (0, 0) and unturned.
  zeros_.assign(queries.size(), 0);
  const auto at_zero = [this]<class S>(const std::vector<S>& shapes) {
    const std::span<const double> zeros = std::span(zeros_).first(shapes.size());
    return PlacedColumns<S>{
        .shapes = shapes, .shape = {}, .x = zeros, .y = zeros, .c = {}, .s = {}, .angle = {}};
  };
  groups_[0].polygons = at_zero(shapes_);
  groups_[0].distances = {at_zero(distance_shapes_), {}};
  groups_[0].sweeps = {.movers = at_zero(sweep_shapes_), .to_x = to_x_, .to_y = to_y_};
  groups_[0].sweep_options.mode = CastMode::kAll;
  groups_[0].sweep_options.max_hits = kMaxMaxHits;
  groups_[0].contacts = {at_zero(contact_shapes_), {}, {}};
  groups_[0].moves = {.tracker = tracker_, .x = move_x_, .y = move_y_, .c = move_c_, .s = move_s_};
  groups_[0].move_options.detail = OverlapDetail::kEdges;
}

void QueryColumns::AddPoint(Vec2 p) {
  point_x_.push_back(p.x);
  point_y_.push_back(p.y);
}

void QueryColumns::Add(const PointQuery& query) { AddPoint(query.p); }

// Items of a column are in the order of their queries, which is what Printer relies on.
void QueryColumns::Add(const SegmentQuery& query) {
  Segments& segments = segments_[GroupOf(query.inside)];
  segments.ax.push_back(query.segment.a.x);
  segments.ay.push_back(query.segment.a.y);
  segments.bx.push_back(query.segment.b.x);
  segments.by.push_back(query.segment.b.y);
  AddPoint(query.segment.a);
}

void QueryColumns::Add(const CircleQuery& query) {
  circle_x_.push_back(query.circle.center.x);
  circle_y_.push_back(query.circle.center.y);
  circle_radius_.push_back(query.circle.radius);
}

void QueryColumns::Add(const PolygonQuery& query) { shapes_.push_back(query.shape); }

void QueryColumns::Add(const DistanceQuery& query) { distance_shapes_.push_back(query.shape); }

void QueryColumns::Add(const SweepQuery& query) {
  sweep_shapes_.push_back(query.shape);
  to_x_.push_back(query.d.x);
  to_y_.push_back(query.d.y);
}

void QueryColumns::Add(const ContactQuery& query) { contact_shapes_.push_back(query.shape); }

// Spans point into the query, which outlives the columns.
void QueryColumns::Add(const PosedSweepQuery& query) {
  const Pose& pose = query.pose;
  const ShapeColumns movers{.shapes = {&query.shape, 1},
                            .x = {&pose.position.x, 1},
                            .y = {&pose.position.y, 1},
                            .c = {&pose.c, 1},
                            .s = {&pose.s, 1}};
  const bool is_blocking = IsBlocking(query.inside);
  Group& group = groups_.emplace_back();
  group.sweeps = {
      .movers = movers, .to_x = {}, .to_y = {}, .dx = {&query.d.x, 1}, .dy = {&query.d.y, 1}};
  if (is_blocking) group.sweeps.skin = {&query.skin, 1};
  group.sweep_options.inside_policy = query.inside;
  static constexpr double kZero = 0;
  Group& start = groups_.emplace_back();
  start.sweeps = {.movers = movers, .to_x = {}, .to_y = {}, .dx = {&kZero, 1}, .dy = {&kZero, 1}};
  start.sweep_options.mode = CastMode::kAll;
  start.sweep_options.max_hits = kMaxMaxHits;
  if (is_blocking) start.sweep_options.inside_policy = InsidePolicy::kBlocking;
}

void QueryColumns::Add(const SlideQuery& query) {
  Pushes& pushes = pushes_.emplace_back();
  for (const Vec2 d : query.pushes) {
    pushes.dx.push_back(d.x);
    pushes.dy.push_back(d.y);
  }
  pushes.count = static_cast<uint32_t>(query.pushes.size());
  const Pose& pose = query.pose;
  Group& group = groups_.emplace_back();
  group.slides.movers = {.shapes = {&query.shape, 1},
                         .x = {&pose.position.x, 1},
                         .y = {&pose.position.y, 1},
                         .c = {&pose.c, 1},
                         .s = {&pose.s, 1}};
  group.slides.dx = pushes.dx;
  group.slides.dy = pushes.dy;
  group.slides.pushes = {&pushes.count, 1};
  group.slides.skin = {&query.skin, 1};
  group.slide_options = query.options;
}

void QueryColumns::Add(const BounceQuery& query) {
  const auto& [a, b] = query.segment;
  Group& group = groups_.emplace_back();
  group.bounces = {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}};
  group.bounce_options.max_bounces = query.max_bounces;
}

void QueryColumns::Add(const MoveQuery& query) {
  tracker_.push_back(query.handle);
  move_x_.push_back(query.pose.position.x);
  move_y_.push_back(query.pose.position.y);
  move_c_.push_back(query.pose.c);
  move_s_.push_back(query.pose.s);
}

absl::StatusOr<std::vector<std::string>> AnswerLines(std::span<const Pending> queries,
                                                     Evaluator& evaluator) {
  std::vector<std::string> lines;
  lines.reserve(queries.size());
  const absl::Status status = AppendLines(queries, evaluator, lines);
  if (!status.ok()) return status;
  return lines;
}

}  // namespace carom::cli
