// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/depenetrate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "carom/contact.h"
#include "contact/feature_contact.h"
#include "edges/placed_shape.h"
#include "edges/shape_facts.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"

namespace carom {
namespace {

using internal::PlacedShape;

// Maximum number of passes over the contacts of the shape at one position. The passes search a
// translation of the shape that ends all of these contacts.
constexpr int kRelaxations = 8;

// Limits of the search for a position without overlap on circles around the start, with sixteen
// positions on each circle and radii that grow by half from circle to circle: the number of
// circles, and the number of bisection steps back towards the start.
constexpr int kMaxRings = 400;
constexpr int kHalvings = 6;

// The unit vectors at multiples of a sixteenth of a turn, rounded.
constexpr double kCos1 = 0.92387953251128674;
constexpr double kCos2 = 0.70710678118654752;
constexpr double kCos3 = 0.38268343236508977;
constexpr Vec2 kDirections[] = {
    {1, 0},           {0, 1},           {-1, 0},          {0, -1},
    {kCos2, kCos2},   {-kCos2, kCos2},  {-kCos2, -kCos2}, {kCos2, -kCos2},
    {kCos1, kCos3},   {kCos3, kCos1},   {-kCos3, kCos1},  {-kCos1, kCos3},
    {-kCos1, -kCos3}, {-kCos3, -kCos1}, {kCos3, -kCos1},  {kCos1, -kCos3},
};

struct Push {
  Vec2 normal;
  double depth;
};

double LargestMagnitude(const Box& box) {
  return std::max(std::max(std::abs(box.min.x), std::abs(box.max.x)),
                  std::max(std::abs(box.min.y), std::abs(box.max.y)));
}

// Searches a position near the start where one shape overlaps no polygon of the scene: first by
// pushes along contact normals, then on circles around the start.
class Depenetrator {
 public:
  Depenetrator(const Scene& scene, const Shape& shape, const Pose& start,
               const DepenetrateOptions& options, WorkMeter& meter)
      : scene_(scene), shape_(shape), start_(start), options_(options), meter_(meter) {}

  // Runs the search for a position without overlap. Returns false if the shape cannot be placed at
  // the start, or once the meter stops.
  bool Run() {
    pose_ = start_;
    if (!meter_.Spend(shape_.vertex_count())) return false;
    is_convex_ = internal::IsConvexShape(shape_);
    bool is_placed = PlaceAt(pose_.position);
    if (!is_placed) return false;
    const Box box = mover_.bounds();
    start_box_ = box;
    size_ = std::max(box.max.x - box.min.x, box.max.y - box.min.y);
    // A push goes beyond the depth of a contact by this margin, since placing the pushed shape may
    // lose several roundings of the largest coordinate.
    margin_ = std::max(64 * 0x1p-53 * LargestMagnitude(box), kSmallestMagnitude);
    const uint32_t max_steps = std::clamp<uint32_t>(options_.max_steps, 1, kMaxDepenetrateSteps);
    const uint32_t max_pushes = std::max<uint32_t>(1, max_steps - 1);
    while (is_placed && !meter_.stopped()) {
      finished_ = CollectPushes();
      if (finished_ || steps_ == max_pushes) break;
      const std::optional<Vec2> next = NextPosition();
      if (!next) break;
      is_placed = PlaceAt(*next);
      if (!is_placed) break;
      pose_.position = *next;
      ++steps_;
    }
    if (!finished_ && steps_ < max_steps && !meter_.stopped()) JumpToFreePosition();
    return true;
  }

  Vec2 position() const { return pose_.position; }
  bool finished() const { return finished_; }
  uint32_t steps() const { return steps_; }

 private:
  // Places the shape at `position`. Returns false if a vertex is out of range, or once the meter
  // stops.
  bool PlaceAt(Vec2 position) {
    if (!IsAccepted(position) || !meter_.Spend(shape_.vertex_count())) return false;
    Pose pose = start_;
    pose.position = Normalized(position);
    return mover_.Place(shape_, pose, is_convex_);
  }

  // Sets `pushes_` to a push (contact normal and depth) for each polygon that the shape overlaps at
  // its current position, the deepest first. Returns whether the shape overlaps no polygon.
  bool CollectPushes() {
    pushes_.clear();
    if (!meter_.Spend(shape_.vertex_count())) return false;
    const Box reach = mover_.bounds();
    bool is_free = true;
    internal::VisitPolygons(
        scene_, options_.mask, meter_, [&](const Box& box) { return reach.Intersects(box); },
        [&](const IndexedPolygon& fixed) {
          if (!internal::SharePoint(PlacedShape(fixed), mover_.RingView(), meter_)) {
            return !meter_.stopped();
          }
          is_free = false;
          const std::optional<Contact> contact = internal::ContactOf(fixed, mover_, meter_);
          if (contact) pushes_.push_back({contact->normal, contact->depth});
          return !meter_.stopped();
        });
    std::stable_sort(pushes_.begin(), pushes_.end(), [](const Push& a, const Push& b) {
      if (a.depth != b.depth) return a.depth > b.depth;
      return a.normal.x != b.normal.x ? a.normal.x > b.normal.x : a.normal.y > b.normal.y;
    });
    return is_free && !meter_.stopped();
  }

  // Returns the position after a translation that moves the shape out of all polygons of `pushes_`,
  // as far as the pushes along the contact normals do not undo each other; nullopt if `pushes_` is
  // empty, or once the meter stops. Doubles `margin_`, which is added to each depth, up to a 64th
  // of the shape's size, so that the small steps of a shape in a crease between polygons come to an
  // end.
  std::optional<Vec2> NextPosition() {
    if (pushes_.empty()) return std::nullopt;
    Vec2 move;
    for (int round = 0; round < kRelaxations; ++round) {
      bool moved = false;
      for (const Push& push : pushes_) {
        if (!meter_.Spend(1)) return std::nullopt;
        const double deficit =
            push.depth + margin_ - (move.x * push.normal.x + move.y * push.normal.y);
        if (deficit <= 0.5 * margin_) continue;
        moved = true;
        move.x += push.normal.x * deficit;
        move.y += push.normal.y * deficit;
      }
      if (!moved) break;
    }
    margin_ = std::max(margin_, std::min(2 * margin_, size_ / 64));
    return Normalized(Vec2{pose_.position.x + move.x, pose_.position.y + move.y});
  }

  bool IsFree(Vec2 position) {
    if (!PlaceAt(position) || !meter_.Spend(shape_.vertex_count())) return false;
    const PlacedShape mover = mover_.RingView();
    const Box reach = mover_.bounds();
    bool is_free = true;
    internal::VisitPolygons(
        scene_, options_.mask, meter_, [&](const Box& box) { return reach.Intersects(box); },
        [&](const IndexedPolygon& fixed) {
          is_free = !internal::SharePoint(PlacedShape(fixed), mover, meter_);
          return is_free && !meter_.stopped();
        });
    return is_free && !meter_.stopped();
  }

  Vec2 Along(Vec2 direction, double length) const {
    return Normalized(
        Vec2{start_.position.x + direction.x * length, start_.position.y + direction.y * length});
  }

  // Moves the shape to the first overlap-free position on growing circles around the start, then
  // back towards the start as far as bisection finds overlap-free positions. Does nothing if no
  // circle has such a position.
  void JumpToFreePosition() {
    const Box& world = scene_.bounds();
    const double end = 4 * (LargestMagnitude(world) + LargestMagnitude(start_box_) +
                            LargestMagnitude({start_.position, start_.position}));
    double radius = std::max(size_ / 8, margin_);
    double inner = 0;
    for (int ring = 0; ring < kMaxRings && !meter_.stopped(); ++ring) {
      for (const Vec2 direction : kDirections) {
        if (meter_.stopped()) return;
        const Vec2 place = Along(direction, radius);
        if (!IsFree(place)) continue;
        finished_ = true;
        ++steps_;
        pose_.position = place;
        double low = inner;
        double high = radius;
        for (int k = 0; k < kHalvings; ++k) {
          const double middle = (low + high) / 2;
          const Vec2 nearer = Along(direction, middle);
          if (IsFree(nearer)) {
            high = middle;
            pose_.position = nearer;
          } else {
            low = middle;
          }
        }
        return;
      }
      if (radius > end) return;
      inner = radius;
      radius *= 1.5;
    }
  }

  const Scene& scene_;
  const Shape& shape_;
  Pose start_;
  const DepenetrateOptions& options_;
  WorkMeter& meter_;
  bool is_convex_ = false;
  internal::MovingShape mover_;
  Pose pose_;
  Box start_box_;
  double size_ = 0;
  double margin_ = 0;
  std::vector<Push> pushes_;
  bool finished_ = false;
  uint32_t steps_ = 0;
};

}  // namespace

void DepenetrateAnswers::Clear() {
  positions.clear();
  finished.clear();
  steps.clear();
  errors.clear();
}

bool Depenetrate(const Scene& scene, const ShapeColumns& movers, const DepenetrateOptions& options,
                 DepenetrateAnswers& out, WorkMeter& meter) {
  out.Clear();
  for (size_t i = 0; i < movers.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const Shape* shape = internal::ShapeOf(movers, i, check);
    const std::optional<Pose> pose =
        shape == nullptr ? std::nullopt : internal::PoseOf(movers, i, check);
    Vec2 position;
    bool finished = false;
    uint32_t steps = 0;
    if (pose) {
      Depenetrator depenetrator(scene, *shape, *pose, options, meter);
      position = pose->position;
      if (depenetrator.Run()) {
        position = depenetrator.position();
        finished = depenetrator.finished();
        steps = depenetrator.steps();
      } else if (!meter.stopped()) {
        check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
      }
    } else {
      // If the shape or the pose of the item (a shape to move out of the polygons that it overlaps)
      // is invalid, the item does not move: its answer is the requested position if that has
      // accepted coordinates, else the origin.
      const Vec2 asked{movers.x[i], movers.y[i]};
      position = IsAccepted(asked) ? Normalized(asked) : Vec2{};
    }
    if (meter.stopped()) return false;
    out.positions.push_back(position);
    out.finished.push_back(finished ? 1 : 0);
    out.steps.push_back(steps);
  }
  return true;
}

}  // namespace carom
