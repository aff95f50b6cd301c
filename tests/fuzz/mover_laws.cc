// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>

#include "carom/ring.h"
#include "carom/sincos.h"
#include "tests/fuzz/laws.h"

namespace carom::testing {
namespace {

using Ids = std::vector<std::vector<uint64_t>>;

// As batches read it.
Pose PoseOf(const ShapeColumns& movers, size_t item) {
  Pose pose{{movers.x[item], movers.y[item]}};
  if (!movers.c.empty()) {
    pose.c = movers.c[item];
    pose.s = movers.s[item];
  } else if (!movers.angle.empty()) {
    const CosSin turn = SinCos(movers.angle[item]);
    pose.c = turn.c;
    pose.s = turn.s;
  }
  return pose;
}

// The polygons that `shape` overlaps where it stands; nothing if it leaves the accepted range.
std::optional<std::vector<uint64_t>> Overlapped(const GroupCase& made, const Shape& shape,
                                                const Pose& pose) {
  const absl::StatusOr<Shape> placed = Placed(shape, pose);
  if (!placed.ok()) return std::nullopt;
  Group group;
  const double zero[] = {0};
  if (const Capsule* capsule = placed->capsule()) {
    const double numbers[] = {capsule->axis.a.x, capsule->axis.a.y, capsule->axis.b.x,
                              capsule->axis.b.y, capsule->radius};
    group.capsules = {
        {&numbers[0], 1}, {&numbers[1], 1}, {&numbers[2], 1}, {&numbers[3], 1}, {&numbers[4], 1}};
    return Evaluate(made, group).capsules.polygon_ids;
  }
  group.polygons.shapes = {placed->polygon(), 1};
  group.polygons.x = zero;
  group.polygons.y = zero;
  return Evaluate(made, group).polygons.polygon_ids;
}

bool IsConvexSolid(const Polygon& polygon) {
  return polygon.solidity() == Solidity::kSolid && polygon.ring_count() == 1 &&
         IsConvex(polygon.ring(0));
}
bool IsConvexSolid(const Shape& shape) {
  return shape.capsule() != nullptr || IsConvexSolid(*shape.polygon());
}

bool Has(const std::vector<uint64_t>& ids, uint64_t id) {
  return std::binary_search(ids.begin(), ids.end(), id);
}

// One case: movers, and for each what it overlaps at its pose.
class Movers {
 public:
  Movers(Choices& choices, GroupCase& made) : made_(made) {
    const size_t count = 1 + choices.Below(4);
    FillPoses(choices, BadNumbers::kNone, count, made, movers_);
    std::vector<Vec2> to;
    for (size_t i = 0; i < count; ++i) to.push_back(made.Point(choices));
    to_x_ = made.Column(count, [&](size_t i) { return to[i].x; });
    to_y_ = made.Column(count, [&](size_t i) { return to[i].y; });
    zero_ = made.Column(count, [](size_t) { return 0.0; });
    tolerance_ = made.Column(count, [&](size_t) { return made.numbers.scale / 64; });
    for (size_t i = 0; i < count; ++i) {
      overlapped_.push_back(Overlapped(made, ShapeOf(i), PoseOf(movers_, i)));
    }
  }

  void CheckDistances() {
    Group group;
    group.distances = {movers_, zero_};
    group.distance_options.mode = DistanceMode::kWithin;
    const GroupAnswers within = Evaluate(made_, group);
    group.distances.max_distance = {};
    group.distance_options.mode = DistanceMode::kAll;
    const DistanceAnswers all = Evaluate(made_, group).distances;
    group.distance_options.mode = DistanceMode::kNearest;
    const DistanceAnswers nearest = Evaluate(made_, group).distances;
    group.distance_options.mode = DistanceMode::kNearestK;
    group.distance_options.k = 3;
    const DistanceAnswers first = Evaluate(made_, group).distances;
    const Ids ids = IdsOf(within.distances.counts, within.distances.polygon_ids);
    size_t row = 0, near = 0, ranked = 0;
    for (size_t i = 0; i < movers_.size(); ++i) {
      if (!overlapped_[i]) {
        Is(i, all.counts[i] == 0, "a shape that leaves the range has no distance");
        continue;
      }
      Is(i, ids[i] == *overlapped_[i], "within 0 is overlapping");
      Is(i, all.counts[i] == QueryFilter(), "ALL without a bound has every polygon");
      double least = HUGE_VAL;
      for (uint32_t k = 0; k < all.counts[i]; ++k, ++row) {
        const double distance = all.rows[row].distance;
        Is(i, (distance == 0) == Has(*overlapped_[i], all.polygon_ids[row]),
           "the distance is 0 where they overlap, and only there");
        Is(i, distance != 0 || all.rows[row].point == all.rows[row].mover_point,
           "at distance 0 the two points are one");
        CheckPair(i, all.polygon_ids[row]);
        least = std::min(least, distance);
      }
      Is(i, first.counts[i] == std::min(all.counts[i], 3u), "NEAREST_K has k polygons, or all");
      for (uint32_t k = 0; k < first.counts[i]; ++k, ++ranked) {
        const double distance = first.rows[ranked].distance;
        Is(i, k == 0 ? distance == least : first.rows[ranked - 1].distance <= distance,
           "NEAREST_K goes from the least distance upward");
      }
      Is(i, (nearest.counts[i] > 0) == (all.counts[i] > 0), "NEAREST has a polygon where ALL has");
      for (uint32_t k = 0; k < nearest.counts[i]; ++k, ++near) {
        Is(i, nearest.rows[near].distance == least, "NEAREST is the least of ALL");
      }
    }
  }

  void CheckContacts() {
    Group group;
    group.contacts.movers = movers_;
    const ContactAnswers contacts = Evaluate(made_, group).contacts;
    const Ids ids = IdsOf(contacts.counts, contacts.polygon_ids);
    for (size_t i = 0; i < movers_.size(); ++i) {
      if (!overlapped_[i]) continue;
      const absl::StatusOr<Shape> placed = Placed(ShapeOf(i), PoseOf(movers_, i));
      for (size_t k = 0; k < made_.scene->polygon_count(); ++k) {
        const Polygon& polygon = made_.scene->polygon(k);
        const bool overlap = Has(*overlapped_[i], polygon.id()),
                   contact = Has(ids[i], polygon.id());
        // Contact takes the hull of a convex shape, which rounding may have made concave.
        if (!IsConvexSolid(ShapeOf(i)) || IsConvexSolid(*placed)) {
          Is(i, !contact || overlap, "a contact is an overlap");
        }
        if (IsConvexSolid(polygon) && IsConvexSolid(ShapeOf(i))) {
          Is(i, contact || !overlap, "an overlap of solid convex shapes is a contact");
        }
      }
    }
  }

  void CheckSweeps() {
    Group group;
    group.sweep_options = {.mode = CastMode::kAll, .max_hits = kMaxMaxHits};
    group.sweeps = {.movers = movers_, .to_x = to_x_, .to_y = to_y_};
    const SweepAnswers away = Evaluate(made_, group).sweeps;
    group.sweeps = {.movers = movers_, .to_x = movers_.x, .to_y = movers_.y};
    const SweepAnswers here = Evaluate(made_, group).sweeps;
    group = {};
    group.rotating_sweeps.movers = movers_;
    group.rotating_sweeps.to_x = movers_.x;
    group.rotating_sweeps.to_y = movers_.y;
    group.rotating_sweeps.tolerance = tolerance_;
    const RotatingSweepAnswers turning = Evaluate(made_, group).rotating_sweeps;
    size_t row = 0, turn = 0;
    for (size_t i = 0; i < movers_.size(); turn += turning.counts[i], ++i) {
      std::vector<uint64_t> at_start;
      for (uint32_t k = 0; k < away.counts[i]; ++k, ++row) {
        const SweepHit& hit = away.hits[row];
        Is(i, hit.starts_inside == (hit.fraction == 0), "fraction 0 is a start inside");
        if (hit.fraction == 0) at_start.push_back(hit.polygon_id);
      }
      const bool refused = std::any_of(away.errors.begin(), away.errors.end(),
                                       [&](const ItemError& error) { return error.index == i; });
      if (!overlapped_[i]) continue;
      std::sort(at_start.begin(), at_start.end());
      Is(i, refused || at_start == *overlapped_[i],
         "a sweep's fraction is 0 where the shapes overlap at the start, and only there");
      Is(i, IdsOf(here.counts, here.hits)[i] == *overlapped_[i],
         "a sweep to where it starts hits what is overlapped there");
      if (turning.counts[i] == 1 && !overlapped_[i]->empty()) {
        Is(i, turning.hits[turn].low == 0 && turning.hits[turn].high == 0,
           "a rotating sweep that starts in contact hits at [0, 0]");
      }
    }
  }

  // Where they come to, slides overlap nothing that they did not at their start, and each leg is
  // the sweep that it says.
  void CheckSlides() {
    Group group;
    const auto dx = Differences(to_x_, movers_.x);
    const auto dy = Differences(to_y_, movers_.y);
    group.slides = {movers_, dx, dy};
    const SlideAnswers slides = Evaluate(made_, group).slides;
    size_t row = 0;
    for (size_t i = 0; i < movers_.size(); ++i) {
      const uint32_t legs = slides.rows[i].legs;
      Vec2 at{movers_.x[i], movers_.y[i]};
      if (legs == 0) continue;
      const std::vector<uint64_t> before = Blocked(i, at);
      for (uint32_t k = 0; k < legs; ++k, ++row) {
        const SlideLeg& leg = slides.legs[row];
        const SweepAnswers sweep = Swept(i, leg.from, leg.d);
        Is(i, leg.from == Normalized(at), "a leg starts where the one before it ends");
        Is(i, sweep.counts[0] == (leg.has_hit ? 1 : 0), "a leg is a sweep");
        if (leg.has_hit) {
          const SweepHit& hit = sweep.hits[0];
          Is(i,
             hit.fraction == leg.hit.fraction && hit.normal == leg.hit.normal &&
                 hit.polygon_id == leg.hit.polygon_id && hit.point == leg.hit.point,
             "a leg is a sweep");
        }
        at = sweep.safe[0];
      }
      Is(i, slides.rows[i].position == at, "a slide ends where its last leg does");
      for (const uint64_t id : Blocked(i, at)) {
        Is(i, Has(before, id), "a slide ends free of what its start was free of");
      }
    }
  }

  void CheckStanding() {
    Group group;
    group.depenetrations = movers_;
    const DepenetrateAnswers moved = Evaluate(made_, group).depenetrations;
    for (size_t i = 0; i < movers_.size(); ++i) {
      if (!overlapped_[i]) continue;
      Pose pose = PoseOf(movers_, i);
      if (overlapped_[i]->empty()) {
        Is(i,
           moved.finished[i] == 1 && moved.steps[i] == 0 &&
               moved.positions[i] == Normalized(pose.position),
           "what stands free stays");
        continue;
      }
      pose.position = moved.positions[i];
      const auto there = Overlapped(made_, ShapeOf(i), pose);
      Is(i, !there || (moved.finished[i] == 1) == there->empty(),
         "a shape that got free overlaps nothing");
    }
  }

 private:
  std::span<const double> Differences(std::span<const double> a, std::span<const double> b) {
    return made_.Column(a.size(), [&](size_t i) {
      const double d = a[i] - b[i];
      return IsAccepted(d) ? d : 0;
    });
  }
  // The sweep of one mover from a position.
  SweepAnswers Swept(size_t item, const Vec2& from, const Vec2& d,
                     const SweepOptions& options = {CastMode::kClosest,
                                                    InsidePolicy::kBlockingLeave}) const {
    const auto one = [&](std::span<const double> column) {
      return column.empty() ? column : column.subspan(item, 1);
    };
    Group group;
    group.sweep_options = options;
    group.sweeps.movers = {movers_.shapes,    movers_.shape.subspan(item, 1),
                           {&from.x, 1},      {&from.y, 1},
                           one(movers_.c),    one(movers_.s),
                           one(movers_.angle)};
    group.sweeps.dx = {&d.x, 1};
    group.sweeps.dy = {&d.y, 1};
    return Evaluate(made_, group).sweeps;
  }
  // What it overlaps in more than touch there.
  std::vector<uint64_t> Blocked(size_t item, const Vec2& at) const {
    const SweepAnswers answers =
        Swept(item, at, {0, 0}, {CastMode::kAll, InsidePolicy::kBlocking, kMaxMaxHits});
    std::vector<uint64_t> ids;
    for (const SweepHit& hit : answers.hits) ids.push_back(hit.polygon_id);
    return ids;
  }

  const Shape& ShapeOf(size_t item) const { return made_.shapes[movers_.shape[item]]; }

  // Category 0 hides a polygon.
  size_t QueryFilter() const {
    return static_cast<size_t>(
        std::count_if(made_.specs.begin(), made_.specs.end(),
                      [](const PolygonSpec& spec) { return spec.category != 0; }));
  }

  void Is(size_t item, bool holds, const char* law) const {
    if (holds) return;
    const Pose pose = PoseOf(movers_, item);
    Break(made_, law,
          {static_cast<double>(movers_.shape[item]), pose.position.x, pose.position.y, pose.c,
           pose.s, to_x_[item], to_y_[item]});
  }

  // The functions of two shapes.
  void CheckPair(size_t item, uint64_t id) const {
    const absl::StatusOr<Shape> placed = Placed(ShapeOf(item), PoseOf(movers_, item));
    const Shape polygon(*made_.scene->Find(id));
    const double distance = Distance(polygon, *placed).distance;
    Is(item, distance == Distance(*placed, polygon).distance, "distances are symmetric");
    Is(item, (distance == 0) == IsWithin(polygon, *placed, 0), "within 0 is distance 0");
    Is(item, (distance == 0) == Has(*overlapped_[item], id), "distance 0 is an overlap");
  }

  GroupCase& made_;
  ShapeColumns movers_;
  std::span<const double> to_x_, to_y_, zero_, tolerance_;
  std::vector<std::optional<std::vector<uint64_t>>> overlapped_;
};

}  // namespace

void CheckMoverLaws(Choices& choices, GroupCase& made) {
  Movers movers(choices, made);
  movers.CheckDistances();
  movers.CheckContacts();
  movers.CheckSweeps();
  movers.CheckSlides();
  movers.CheckStanding();
}

}  // namespace carom::testing
