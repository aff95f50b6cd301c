// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/eval/query_columns.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace carom::cli {
namespace {

constexpr InsidePolicy kSegmentPolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kIgnore,
                                             InsidePolicy::kExit};

// Returns the scope of a query that is alone in its batch, as views of `scope`.
Scope ScopeOfOne(const ItemScope& scope) {
  Scope one{scope.against, {}, {&scope.ignore_owner, 1}};
  if (scope.as_of.has_value()) one.as_of = {&*scope.as_of, 1};
  return one;
}

}  // namespace

size_t QueryColumns::PolicyIndex(InsidePolicy policy) {
  return static_cast<size_t>(
      std::find(std::begin(kSegmentPolicies), std::end(kSegmentPolicies), policy) -
      std::begin(kSegmentPolicies));
}

QueryColumns::QueryColumns(std::span<const Pending> queries, const BatchBodies& bodies)
    : bodies_(bodies), groups_(kSharedGroups) {
  for (const Pending& pending : queries) {
    if (!pending.query.ok()) continue;
    std::visit([&](const auto& query) { Add(query, pending.scope); }, *pending.query);
  }
  zeros_.assign(queries.size(), 0);
  for (const Against against : {Against::kScene, Against::kBodies, Against::kBoth}) {
    FillShared(against);
  }
  groups_[0].moves = {.tracker = tracker_, .x = move_x_, .y = move_y_, .c = move_c_, .s = move_s_};
  groups_[0].move_options.detail = OverlapDetail::kEdges;
}

// Makes the columns of the shared groups views of the batches: segments in the group for their
// inside policy, the queries of every other kind in the first group. Places shapes at (0, 0)
// without rotation, because their vertices are world coordinates.
void QueryColumns::FillShared(Against against) {
  const Batches& batches = batches_[static_cast<size_t>(against)];
  const std::span<Group> groups = std::span(groups_).subspan(FirstGroup(against), kPolicies);
  for (size_t i = 0; i < kPolicies; ++i) {
    groups[i].cast_options = {.mode = CastMode::kAll,
                              .inside_policy = kSegmentPolicies[i],
                              .max_hits = kMaxMaxHits,
                              .mask = kEveryCategory};
    const Segments& segments = batches.segments[i];
    groups[i].segments = {segments.ax, segments.ay, segments.bx, segments.by,
                          segments.scope.columns(against)};
  }
  const auto at_zero = [&]<class S>(const Shapes<S>& batch) {
    const std::span<const double> zeros = std::span(zeros_).first(batch.shapes.size());
    return PlacedColumns<S>{
        .shapes = batch.shapes, .x = zeros, .y = zeros, .scope = batch.scope.columns(against)};
  };
  const auto& [x, y, radius, scope] = batches.circles;
  Group& first = groups[0];
  first.points = {batches.points.x, batches.points.y, batches.points.scope.columns(against)};
  first.circles = {x, y, radius, scope.columns(against)};
  first.polygons = at_zero(batches.polygons);
  first.distances = {at_zero(batches.distances), {}};
  first.sweeps = {
      .movers = at_zero(batches.sweeps), .to_x = batches.sweeps.to_x, .to_y = batches.sweeps.to_y};
  first.sweep_options.mode = CastMode::kAll;
  first.sweep_options.max_hits = kMaxMaxHits;
  first.contacts = {at_zero(batches.contacts), {}, {}};
  if (against == Against::kScene) return;
  for (Group& group : groups) {
    if (group.query_count() > 0) bodies_.AddTo(group);
  }
}

// Adds a point query, or the start of a segment query, to the batch of points to locate.
void QueryColumns::AddPoint(Vec2 p, const ItemScope& scope) {
  Points& points = BatchesOf(scope).points;
  points.x.push_back(p.x);
  points.y.push_back(p.y);
  points.scope.Add(scope);
}

void QueryColumns::Add(const PointQuery& query, const ItemScope& scope) {
  AddPoint(query.p, scope);
}

// Appends the segment to the batch of segments with its inside policy, and its start to the batch
// of points. `Printer` reads the answers of a batch in the order in which the queries were added.
void QueryColumns::Add(const SegmentQuery& query, const ItemScope& scope) {
  Segments& segments = BatchesOf(scope).segments[PolicyIndex(query.inside)];
  segments.ax.push_back(query.segment.a.x);
  segments.ay.push_back(query.segment.a.y);
  segments.bx.push_back(query.segment.b.x);
  segments.by.push_back(query.segment.b.y);
  segments.scope.Add(scope);
  AddPoint(query.segment.a, scope);
  if (query.soft) AddSoft(query, scope);
}

// Adds a group for the hit that stops the segment, because the options of soft walls apply to all
// segments of a group.
void QueryColumns::AddSoft(const SegmentQuery& query, const ItemScope& scope) {
  const auto& [a, b] = query.segment;
  Group& group = groups_.emplace_back();
  group.segments = {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}};
  group.cast_options.inside_policy = query.inside;
  group.cast_options.mask = scope.mask;
  group.cast_options.soft_mask = query.soft->mask;
  group.cast_options.soft_count = query.soft->count;
  group.cast_options.soft_length = true;
  AskBodies(scope, group.segments.scope, group);
}

void QueryColumns::Add(const SightQuery& query, const ItemScope& scope) {
  const auto& [a, b] = query.segment;
  Group& group = groups_.emplace_back();
  group.sights = {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}};
  group.sight_options = {scope.mask, query.soft.mask, query.soft.count};
  AskBodies(scope, group.sights.scope, group);
}

// Gives a group of one query the bodies, if the query considers them.
void QueryColumns::AskBodies(const ItemScope& scope, Scope& asked, Group& group) const {
  if (!scope.includes_bodies()) return;
  asked = ScopeOfOne(scope);
  bodies_.AddTo(group);
}

void QueryColumns::Add(const CircleQuery& query, const ItemScope& scope) {
  Points& circles = BatchesOf(scope).circles;
  circles.x.push_back(query.circle.center.x);
  circles.y.push_back(query.circle.center.y);
  circles.radius.push_back(query.circle.radius);
  circles.scope.Add(scope);
}

void QueryColumns::Add(const PolygonQuery& query, const ItemScope& scope) {
  BatchesOf(scope).polygons.shapes.push_back(query.shape);
  BatchesOf(scope).polygons.scope.Add(scope);
}

void QueryColumns::Add(const DistanceQuery& query, const ItemScope& scope) {
  BatchesOf(scope).distances.shapes.emplace_back(query.shape);
  BatchesOf(scope).distances.scope.Add(scope);
}

void QueryColumns::Add(const SweepQuery& query, const ItemScope& scope) {
  Shapes<Shape>& sweeps = BatchesOf(scope).sweeps;
  sweeps.shapes.push_back(query.shape);
  sweeps.to_x.push_back(query.d.x);
  sweeps.to_y.push_back(query.d.y);
  sweeps.scope.Add(scope);
}

void QueryColumns::Add(const ContactQuery& query, const ItemScope& scope) {
  BatchesOf(scope).contacts.shapes.emplace_back(query.shape);
  BatchesOf(scope).contacts.scope.Add(scope);
}

// Adds two groups: one for the sweep, and one with a displacement of zero, which finds what the
// shape overlaps at the start. The groups have views of `query` and `scope`, which must outlive
// this object.
void QueryColumns::Add(const PosedSweepQuery& query, const ItemScope& scope) {
  const Pose& pose = query.pose;
  ShapeColumns movers{.shapes = {&query.shape, 1},
                      .x = {&pose.position.x, 1},
                      .y = {&pose.position.y, 1},
                      .c = {&pose.c, 1},
                      .s = {&pose.s, 1}};
  if (scope.includes_bodies()) movers.scope = ScopeOfOne(scope);
  const bool is_blocking = IsBlocking(query.inside);
  Group& group = groups_.emplace_back();
  group.sweeps = {
      .movers = movers, .to_x = {}, .to_y = {}, .dx = {&query.d.x, 1}, .dy = {&query.d.y, 1}};
  if (is_blocking) group.sweeps.skin = {&query.skin, 1};
  group.sweep_options.inside_policy = query.inside;
  group.sweep_options.mask = scope.mask;
  static constexpr double kZero = 0;
  Group& start = groups_.emplace_back();
  start.sweeps = {.movers = movers, .to_x = {}, .to_y = {}, .dx = {&kZero, 1}, .dy = {&kZero, 1}};
  start.sweep_options.mode = CastMode::kAll;
  start.sweep_options.max_hits = kMaxMaxHits;
  start.sweep_options.mask = scope.mask;
  if (is_blocking) start.sweep_options.inside_policy = InsidePolicy::kBlocking;
  if (!scope.includes_bodies()) return;
  // Uses indices, because the second `emplace_back` may have moved the first group, so the
  // reference `group` may be invalid.
  bodies_.AddTo(groups_[groups_.size() - 2]);
  bodies_.AddTo(groups_.back());
}

// Copies the displacements of the slide to columns in `pushes_`, which exist as long as the group
// that has views of them.
void QueryColumns::Add(const SlideQuery& query, const ItemScope& scope) {
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
  group.slide_options.mask = scope.mask;
  AskBodies(scope, group.slides.movers.scope, group);
}

// Adds a group for this query alone, because `bounce_options` apply to all queries of a group.
void QueryColumns::Add(const BounceQuery& query, const ItemScope& scope) {
  const auto& [a, b] = query.segment;
  Group& group = groups_.emplace_back();
  group.bounces = {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}};
  group.bounce_options = {query.max_bounces, scope.mask};
}

void QueryColumns::Add(const RayBounceQuery& query, const ItemScope& scope) {
  Group& group = groups_.emplace_back();
  group.ray_bounces = {{&query.origin.x, 1},    {&query.origin.y, 1}, {&query.direction.x, 1},
                       {&query.direction.y, 1}, {&query.t_max, 1},    {&query.max_bounces, 1}};
  group.ray_bounce_mask = scope.mask;
}

// Adds a group for this query alone, because `distance_options` apply to all queries of a group.
void QueryColumns::Add(const NearestQuery& query, const ItemScope& scope) {
  static constexpr double kZero = 0;
  Group& group = groups_.emplace_back();
  group.distances.movers = {.shapes = {&query.shape, 1}, .x = {&kZero, 1}, .y = {&kZero, 1}};
  group.distances.max_distance = {&query.max_distance, 1};
  group.distance_options = {DistanceMode::kNearestK, scope.mask, query.k};
  AskBodies(scope, group.distances.movers.scope, group);
}

AreaColumns ColumnsOf(const AreaQuery& query) {
  AreaColumns columns{{&query.eye.x, 1}, {&query.eye.y, 1}, {&query.range, 1}};
  if (query.cone) {
    columns.from = {&query.cone->first, 1};
    columns.to = {&query.cone->second, 1};
  }
  return columns;
}

void QueryColumns::Add(const AreaQuery& query, const ItemScope& scope) {
  Group& group = groups_.emplace_back();
  group.areas = ColumnsOf(query);
  group.area_options = {query.inside, kMaxMaxHits, scope.mask};
  AskBodies(scope, group.areas.scope, group);
}

// Considers the bodies, whatever the scope says.
void QueryColumns::Add(const SeesQuery& query, const ItemScope& scope) {
  Group& group = groups_.emplace_back();
  group.sees = ColumnsOf(query.area);
  group.see_options = {query.area.inside, query.margin, scope.mask};
  group.sees.scope = ScopeOfOne(scope);
  bodies_.AddTo(group);
}

void QueryColumns::Add(const MoveQuery& query, const ItemScope&) {
  tracker_.push_back(query.handle);
  move_x_.push_back(query.pose.position.x);
  move_y_.push_back(query.pose.position.y);
  move_c_.push_back(query.pose.c);
  move_s_.push_back(query.pose.s);
}

// Bodies are placed shapes besides the scene; each group whose queries consider bodies has a copy
// of them. A segment query is in two groups that it shares with other queries: the group for
// segments with the query's inside policy, and the first group with the query's value of `Against`,
// which locates the start of the segment. A sweep from a pose has two groups for itself alone, a
// slide, an area, an observer, a sight, a query for the k nearest and a segment with soft walls
// have one.
size_t CopiesOfBodies(const Query& query, const ItemScope& scope, uint32_t& used) {
  if (std::holds_alternative<SeesQuery>(query)) return 1;
  if (!scope.includes_bodies()) return 0;
  if (std::holds_alternative<PosedSweepQuery>(query)) return 2;
  if (std::holds_alternative<SlideQuery>(query)) return 1;
  if (std::holds_alternative<NearestQuery>(query)) return 1;
  if (std::holds_alternative<SightQuery>(query)) return 1;
  if (std::holds_alternative<AreaQuery>(query)) return 1;
  const auto* segment = std::get_if<SegmentQuery>(&query);
  const size_t first = QueryColumns::FirstGroup(scope.against);
  uint32_t groups = uint32_t{1} << first;
  if (segment != nullptr)
    groups |= uint32_t{1} << (first + QueryColumns::PolicyIndex(segment->inside));
  const uint32_t added = groups & ~used;
  used |= groups;
  const bool has_own = segment != nullptr && segment->soft;
  return static_cast<size_t>(std::popcount(added)) + (has_own ? 1 : 0);
}

}  // namespace carom::cli
