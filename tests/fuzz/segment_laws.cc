// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iterator>
#include <span>

#include "tests/fuzz/laws.h"

namespace carom::testing {
namespace {

using Ids = std::vector<std::vector<uint64_t>>;

// Whether `difference`, which is b - a rounded, is b - a and is not read as 0.
bool IsDifference(double b, double a, double difference) {
  const double part = b - difference;
  return (b - (difference + part)) + (part - a) == 0 && Normalized(difference) == difference &&
         IsAccepted(difference);
}

double Half(double a, double b) { return a / 2 + b / 2; }

// Whether `half` is exactly between a and b, and read as it is.
bool IsHalf(double a, double b, double half) {
  if (half != Normalized(half)) return false;
  const double forth = half - a, back = b - half;
  return forth == back && IsDifference(half, a, forth) && IsDifference(b, half, back);
}

// Segments with every other way to ask the same.
struct Segments {
  std::vector<Vec2> a, b;
  std::vector<bool> is_exact;  // b - a is
  SegmentColumns forth, back;
  std::span<const double> dx, dy, zero, one;
  Polygon point = Polygon::Create({.id = 0, .rings = {{{{0, 0}}}}}).value();

  size_t size() const { return a.size(); }
};

Segments Make(Choices& choices, GroupCase& made) {
  Segments s;
  const size_t count = 1 + choices.Below(6);
  for (size_t i = 0; i < count; ++i) {
    s.a.push_back(Normalized(made.Point(choices)));
    s.b.push_back(Normalized(made.Point(choices)));
  }
  const auto column = [&](auto f) { return made.Column(count, f); };
  s.forth = {column([&](size_t i) { return s.a[i].x; }), column([&](size_t i) { return s.a[i].y; }),
             column([&](size_t i) { return s.b[i].x; }),
             column([&](size_t i) { return s.b[i].y; })};
  s.back = {s.forth.bx, s.forth.by, s.forth.ax, s.forth.ay};
  s.dx = column([&](size_t i) { return s.b[i].x - s.a[i].x; });
  s.dy = column([&](size_t i) { return s.b[i].y - s.a[i].y; });
  s.zero = column([](size_t) { return 0.0; });
  s.one = column([](size_t) { return 1.0; });
  for (size_t i = 0; i < count; ++i) {
    s.is_exact.push_back(IsDifference(s.b[i].x, s.a[i].x, s.dx[i]) &&
                         IsDifference(s.b[i].y, s.a[i].y, s.dy[i]));
  }
  return s;
}

// Every question about the same segments.
Group Ask(const Segments& s, GroupCase& made, CastMode mode, InsidePolicy policy) {
  Group group;
  group.cast_options = {.mode = mode, .inside_policy = policy, .max_hits = kMaxMaxHits};
  group.segments = s.forth;
  group.ray_options = group.cast_options;
  group.rays = {s.forth.ax, s.forth.ay, s.dx, s.dy, s.zero, s.one};
  group.capsules = {s.forth.ax, s.forth.ay, s.forth.bx, s.forth.by, s.zero};
  group.sights = s.forth;
  if (mode == CastMode::kAllPassages) return group;
  group.sweep_options = {.mode = mode, .inside_policy = policy, .max_hits = kMaxMaxHits};
  group.sweeps.movers.shapes = made.shapes;
  group.sweeps.movers.shape =
      made.Indices(s.size(), [&](size_t) { return static_cast<uint32_t>(made.shapes.size() - 1); });
  group.sweeps.movers.x = s.forth.ax;
  group.sweeps.movers.y = s.forth.ay;
  group.sweeps.to_x = s.forth.bx;
  group.sweeps.to_y = s.forth.by;
  group.arc_options = {.mode = mode, .inside_policy = policy, .max_hits = kMaxMaxHits};
  group.arcs = {s.forth.ax, s.forth.ay, s.dx, s.dy, s.zero, s.zero, s.one};
  return group;
}

// The ids of an item in the order of the hits.
template <class Answers>
std::vector<uint64_t> Ordered(const Answers& answers, size_t item) {
  size_t row = 0;
  for (size_t i = 0; i < item; ++i) row += answers.counts[i];
  std::vector<uint64_t> ids;
  for (uint32_t k = 0; k < answers.counts[item]; ++k) {
    ids.push_back(answers.hits[row + k].polygon_id);
  }
  return ids;
}

void CompareRays(const GroupCase& made, const Segments& s, const GroupAnswers& all) {
  size_t row = 0, ray = 0;
  for (size_t i = 0; i < s.size(); row += all.segments.counts[i], ray += all.rays.counts[i], ++i) {
    if (!s.is_exact[i] || s.a[i] == s.b[i]) continue;
    const std::initializer_list<double> numbers = {s.a[i].x, s.a[i].y, s.b[i].x, s.b[i].y};
    Require(all.segments.counts[i] == all.rays.counts[i], made,
            "a ray over [0, 1] hits what its segment hits", numbers);
    for (uint32_t k = 0; k < all.segments.counts[i]; ++k) {
      const CastHit& x = all.segments.hits[row + k];
      const CastHit& y = all.rays.hits[ray + k];
      Require(x.polygon_id == y.polygon_id && x.fraction == y.fraction &&
                  x.exit_fraction == y.exit_fraction && x.feature == y.feature &&
                  x.starts_inside == y.starts_inside && x.ends_inside == y.ends_inside &&
                  x.has_exit_edge == y.has_exit_edge && x.normal == y.normal &&
                  x.exit_normal == y.exit_normal &&
                  (x.feature == Feature::kNone || x.edge == y.edge),
              made, "a ray over [0, 1] answers as its segment", numbers);
    }
  }
}

// Sweeps and arcs of a point.
void ComparePaths(const GroupCase& made, const Segments& s, const GroupAnswers& all) {
  size_t row = 0, sweep = 0, arc = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    const std::initializer_list<double> numbers = {s.a[i].x, s.a[i].y, s.b[i].x, s.b[i].y};
    if (s.is_exact[i]) {
      const std::vector<uint64_t> ids = Ordered(all.segments, i);
      Require(Ordered(all.sweeps, i) == ids, made, "a point's sweep hits what its segment hits",
              numbers);
      Require(IdsOf(all.arcs.counts, all.arcs.hits)[i] ==
                  IdsOf(all.segments.counts, all.segments.hits)[i],
              made, "an arc without acceleration hits what its segment hits", numbers);
      for (uint32_t k = 0; k < all.segments.counts[i]; ++k) {
        Require(all.sweeps.hits[sweep + k].fraction == all.segments.hits[row + k].fraction, made,
                "a point's sweep has the fractions of its segment", numbers);
        const double fraction = all.segments.hits[row + k].fraction;
        const double time = all.arcs.hits[arc + k].time;
        Require(time == fraction || time == std::nextafter(fraction, HUGE_VAL), made,
                "an arc's times are the fractions rounded up", numbers);
      }
    }
    row += all.segments.counts[i];
    sweep += all.sweeps.counts[i];
    arc += all.arcs.counts[i];
  }
}

// ANY and CLOSEST against ALL, for casts, rays, sweeps and arcs.
template <class Answers>
void CompareModes(const GroupCase& made, const Answers& all, const Answers& any,
                  const Answers& closest) {
  size_t row = 0;
  for (size_t i = 0; i < all.counts.size(); row += all.counts[i], ++i) {
    Require(any.counts[i] == (all.counts[i] > 0 ? 1 : 0), made, "ANY says whether ALL has a hit");
    Require(closest.counts[i] == any.counts[i], made, "CLOSEST has a hit where ALL has");
    if (all.counts[i] == 0) continue;
    Require(Ordered(closest, i)[0] == all.hits[row].polygon_id, made,
            "CLOSEST is the first of ALL");
  }
}

// The hits of both halves are those of the whole, where the middle is exactly on the segment.
void CompareHalves(const GroupCase& made, const Segments& s, const Ids& whole) {
  for (size_t i = 0; i < s.size(); ++i) {
    const Vec2 a = s.a[i], b = s.b[i], half{Half(a.x, b.x), Half(a.y, b.y)};
    if (!IsHalf(a.x, b.x, half.x) || !IsHalf(a.y, b.y, half.y)) continue;
    const double ax[] = {a.x, half.x}, ay[] = {a.y, half.y};
    const double bx[] = {half.x, b.x}, by[] = {half.y, b.y};
    Group group;
    group.cast_options = {.mode = CastMode::kAll, .max_hits = kMaxMaxHits};
    group.segments = {ax, ay, bx, by};
    const GroupAnswers answers = Evaluate(made, group);
    const Ids halves = IdsOf(answers.segments.counts, answers.segments.hits);
    std::vector<uint64_t> both;
    std::set_union(halves[0].begin(), halves[0].end(), halves[1].begin(), halves[1].end(),
                   std::back_inserter(both));
    Require(both == whole[i], made, "a cut through a segment loses no hit", {a.x, a.y, b.x, b.y});
  }
}

// Past soft walls: the hit is the row of ALL_PASSAGES after the soft rows that the line passes.
void CompareSoft(Choices& choices, const GroupCase& made, const Segments& s, Group asked) {
  const GroupAnswers events = Evaluate(made, asked);
  CastOptions& options = asked.cast_options;
  options.mode = CastMode::kClosest;
  options.soft_mask = 1 + choices.Below(3);
  options.soft_count = 1 + choices.Below(4);
  options.soft_length = true;
  Group soft;
  soft.cast_options = options;
  soft.segments = s.forth;
  const CastAnswers got = Evaluate(made, soft).segments;
  const auto is_soft = [&](const CastHit& hit) {
    for (size_t i = 0; i < made.scene->polygon_count(); ++i) {
      const Polygon& polygon = made.scene->polygon(i);
      if (polygon.id() == hit.polygon_id) return (polygon.category() & options.soft_mask) != 0;
    }
    return false;
  };
  size_t row = 0, hit = 0;
  for (size_t i = 0; i < s.size(); row += events.segments.counts[i++]) {
    const std::initializer_list<double> numbers = {s.a[i].x, s.a[i].y, s.b[i].x, s.b[i].y};
    const auto rows = std::span(events.segments.hits).subspan(row, events.segments.counts[i]);
    uint32_t stop = 0;
    while (stop < rows.size() && stop < options.soft_count && is_soft(rows[stop])) ++stop;
    Require(got.passed[i] == stop, made, "soft rows of ALL_PASSAGES are passed", numbers);
    Require(got.counts[i] == (stop < rows.size() ? 1 : 0), made,
            "the row after the passed ones is the hit", numbers);
    if (got.counts[i] == 0) continue;
    const CastHit& x = rows[stop];
    const CastHit& y = got.hits[hit++];
    Require(x.polygon_id == y.polygon_id && x.fraction == y.fraction && x.point == y.point &&
                x.normal == y.normal && x.exit_fraction == y.exit_fraction,
            made, "the hit is the row of ALL_PASSAGES", numbers);
  }
}

}  // namespace

void CheckSegmentLaws(Choices& choices, GroupCase& made) {
  const Segments s = Make(choices, made);
  made.shapes.push_back(s.point);
  const Group asked = Ask(s, made, CastMode::kAll, InsidePolicy::kReportStart);
  const GroupAnswers all = Evaluate(made, asked);
  Group reversed;
  reversed.cast_options = asked.cast_options;
  reversed.segments = s.back;
  reversed.sights = s.back;
  const GroupAnswers back = Evaluate(made, reversed);
  const Ids ids = IdsOf(all.segments.counts, all.segments.hits);
  const Ids back_ids = IdsOf(back.segments.counts, back.segments.hits);
  const Ids capsules = IdsOf(all.capsules.counts, all.capsules.polygon_ids);
  for (size_t i = 0; i < s.size(); ++i) {
    const std::initializer_list<double> numbers = {s.a[i].x, s.a[i].y, s.b[i].x, s.b[i].y};
    Require(ids[i] == back_ids[i], made, "a segment hits what its reverse hits", numbers);
    Require(ids[i] == capsules[i], made, "a cast hits what a capsule of radius 0 overlaps",
            numbers);
    Require((all.sights.visible[i] == 0) == !ids[i].empty(), made,
            "sight is blocked where a cast hits", numbers);
    Require(all.sights.visible[i] == back.sights.visible[i], made, "sight is symmetric", numbers);
  }
  CompareRays(made, s, all);
  ComparePaths(made, s, all);
  CompareHalves(made, s, ids);
  constexpr InsidePolicy kPolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kIgnore,
                                        InsidePolicy::kExit};
  const InsidePolicy policy = kPolicies[choices.Below(3)];
  const GroupAnswers every = Evaluate(made, Ask(s, made, CastMode::kAll, policy));
  const GroupAnswers any = Evaluate(made, Ask(s, made, CastMode::kAny, policy));
  const GroupAnswers closest = Evaluate(made, Ask(s, made, CastMode::kClosest, policy));
  CompareRays(made, s, every);
  CompareModes(made, every.segments, any.segments, closest.segments);
  CompareModes(made, every.rays, any.rays, closest.rays);
  CompareModes(made, every.sweeps, any.sweeps, closest.sweeps);
  CompareModes(made, every.arcs, any.arcs, closest.arcs);
  CompareRays(made, s, Evaluate(made, Ask(s, made, CastMode::kAllPassages, policy)));
  CompareSoft(choices, made, s, Ask(s, made, CastMode::kAllPassages, policy));
}

void CheckPointLaws(Choices& choices, GroupCase& made) {
  const size_t count = 1 + choices.Below(6);
  std::vector<Vec2> points;
  for (size_t i = 0; i < count; ++i) points.push_back(Normalized(made.Point(choices)));
  const auto x = made.Column(count, [&](size_t i) { return points[i].x; });
  const auto y = made.Column(count, [&](size_t i) { return points[i].y; });
  const auto zero = made.Column(count, [](size_t) { return 0.0; });
  const auto radius =
      made.Column(count, [&](size_t) { return Normalized(made.numbers.Length(choices)); });
  const auto less = made.Column(
      count, [&](size_t i) { return radius[i] == 0 ? 0 : std::nextafter(radius[i], 0); });
  made.shapes.push_back(Polygon::Create({.id = 0, .rings = {{{{0, 0}}}}}).value());
  Group group;
  group.points = {x, y};
  group.circles = {x, y, zero};
  group.boxes = {x, y, x, y};
  group.cast_options = {.mode = CastMode::kAll, .max_hits = kMaxMaxHits};
  group.segments = {x, y, x, y};
  group.capsules = {x, y, x, y, radius};
  group.distance_options.mode = DistanceMode::kWithin;
  group.distances.movers.shapes = made.shapes;
  group.distances.movers.shape =
      made.Indices(count, [&](size_t) { return static_cast<uint32_t>(made.shapes.size() - 1); });
  group.distances.movers.x = x;
  group.distances.movers.y = y;
  group.distances.max_distance = zero;
  const GroupAnswers at = Evaluate(made, group);
  group.circles.radius = radius;
  group.distances.max_distance = radius;
  const GroupAnswers near = Evaluate(made, group);
  group.circles.radius = less;
  const GroupAnswers nearer = Evaluate(made, group);
  const Ids held = IdsOf(at.points.counts, at.points.polygon_ids);
  const Ids discs = IdsOf(near.circles.counts, near.circles.polygon_ids);
  const Ids inner = IdsOf(nearer.circles.counts, nearer.circles.polygon_ids);
  size_t row = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::initializer_list<double> numbers = {x[i], y[i], radius[i]};
    const auto is = [&](const Ids& ids, const Ids& others, const char* law) {
      Require(ids[i] == others[i], made, law, numbers);
    };
    is(IdsOf(at.circles.counts, at.circles.polygon_ids), held, "a disc of radius 0 is a point");
    is(IdsOf(at.boxes.counts, at.boxes.polygon_ids), held, "a box of one point is a point");
    is(IdsOf(at.segments.counts, at.segments.hits), held, "a segment of length 0 is a point");
    is(IdsOf(at.distances.counts, at.distances.polygon_ids), held, "distance 0 is a shared point");
    is(IdsOf(near.capsules.counts, near.capsules.polygon_ids), discs,
       "a capsule of length 0 is a disc");
    is(IdsOf(near.distances.counts, near.distances.polygon_ids), discs,
       "a disc overlaps what is within its radius");
    for (uint32_t k = 0; k < near.circles.counts[i]; ++k, ++row) {
      const uint64_t id = near.circles.polygon_ids[row];
      const bool within = std::binary_search(inner[i].begin(), inner[i].end(), id);
      Require(near.circles.touching[row] == 0 || radius[i] == 0 || !within, made,
              "what a disc just touches, a smaller one does not", numbers);
      Require(near.circles.touching[row] == near.capsules.touching[row], made,
              "a capsule of length 0 touches as its disc does", numbers);
    }
  }
}

}  // namespace carom::testing
