// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Trackers on paths through a scene that changes, each frame answered warm and cold.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/tracker.h"
#include "tests/core/random_mover.h"
#include "tests/core/random_scene.h"

namespace carom::testing {

// Integers and ulps; stars as in a game; outlines of hundreds of vertices; all accepted numbers.
enum class JourneyKind { kGrid, kStars, kOutlines, kMagnitudes };

// A star-shaped outline about `center`, its radii between `low` and 1 times `radius`.
inline RingSpec StarRing(Random& random, Vec2 center, double radius, double low, int vertices) {
  RingSpec ring;
  for (int i = 0; i < vertices; ++i) {
    const double angle = 6.283185307179586 * i / vertices;
    const double r = radius * (low + (1 - low) * random.Unit());
    ring.vertices.push_back({center.x + r * std::cos(angle), center.y + r * std::sin(angle)});
  }
  return ring;
}

class Journey {
 public:
  Journey(JourneyKind kind, uint64_t seed) : kind_(kind), seed_(seed), random_(seed) {
    grid_.scale = kind == JourneyKind::kGrid ? std::ldexp(1.0, random_.Below(40) - 20) : 1;
    grid_.mixed = kind == JourneyKind::kMagnitudes;
    extent_ = kind == JourneyKind::kGrid ? grid_.size * grid_.scale : 100;
    std::vector<Polygon> polygons;
    const int count = kind == JourneyKind::kOutlines ? 2 : 1 + random_.Below(30);
    for (int i = 0; i < count; ++i) polygons.push_back(MakePolygon(next_id_++));
    scene_ = Scene::Create(std::move(polygons)).value();
    for (int i = 0; i < 6; ++i) trackers_.push_back(MakeTracker());
    poses_.resize(trackers_.size());
    for (Pose& pose : poses_) Jump(pose);
    last_poses_ = poses_;
  }

  // Returns false where warm and cold differ.
  bool Step() {
    ++frame_;
    if (random_.Below(12) == 0) Edit();
    if (random_.Below(25) == 0) trackers_[Pick()].Forget();
    if (random_.Below(40) == 0) trackers_[Pick()] = trackers_[Pick()];
    for (Pose& pose : poses_) Advance(pose);
    MoveOptions options;
    options.detail = random_.Below(3) == 0 ? OverlapDetail::kEdges : OverlapDetail::kIds;
    options.coherence = random_.Below(20) == 0 ? Coherence::kOff : Coherence::kOn;
    options.quiet_radii = random_.Below(2) == 0;
    if (random_.Below(10) == 0) options.memory_budget = 700 * random_.Below(4);
    const bool sweeps = kind_ != JourneyKind::kMagnitudes && random_.Below(4) == 0;
    if (random_.Below(2) == 0) options.tolerance = extent_ * std::ldexp(1.0, -4 - random_.Below(8));
    if (random_.Below(30) == 0) options.tolerance = std::ldexp(1.0, -60);
    const MoveAnswers warm = Move(options, sweeps);
    options.coherence = Coherence::kOff;
    const MoveAnswers cold = Move(options, sweeps);
    last_poses_ = poses_;
    tiers_ += warm.tiers;
    return SameVerdicts(warm, cold);
  }

  // With `sweeps`, from where the last step ended; half of the time without turning.
  MoveAnswers Move(const MoveOptions& options, bool sweeps = false) {
    std::vector<double> x, y, c, s;
    std::vector<double> from_x, from_y, from_c, from_s;
    for (const Pose& pose : last_poses_) {
      if (!sweeps) break;
      from_x.push_back(pose.position.x);
      from_y.push_back(pose.position.y);
      if (frame_ % 2 == 0) continue;
      from_c.push_back(pose.c);
      from_s.push_back(pose.s);
    }
    for (const Pose& pose : poses_) {
      x.push_back(pose.position.x);
      y.push_back(pose.position.y);
      c.push_back(pose.c);
      s.push_back(pose.s);
    }
    MoveAnswers answers;
    WorkMeter meter;
    EXPECT_TRUE(MoveTrackers(*scene_,
                             {trackers_, {}, x, y, c, s, {}, from_x, from_y, from_c, from_s},
                             options, answers, meter));
    return answers;
  }

  const Scene& scene() const { return *scene_; }
  std::vector<Tracker>& trackers() { return trackers_; }
  std::vector<Pose>& poses() { return poses_; }
  Random& random() { return random_; }
  const MoveTiers& tiers() const { return tiers_; }

  // How to get there again.
  std::string story() const {
    return absl::StrFormat("Journey(JourneyKind(%d), %d), frame %d", static_cast<int>(kind_), seed_,
                           frame_);
  }

 private:
  size_t Pick() { return static_cast<size_t>(random_.Below(static_cast<int>(trackers_.size()))); }
  double Within(double a) { return a * (2 * random_.Unit() - 1); }

  Polygon MakePolygon(uint64_t id) {
    PolygonSpec spec;
    if (kind_ == JourneyKind::kGrid || kind_ == JourneyKind::kMagnitudes) {
      spec = RandomPolygon(random_, grid_, id);
    } else {
      const bool large = kind_ == JourneyKind::kOutlines;
      const double radius = large ? 80 : 3 + 12 * random_.Unit();
      const int vertices = large ? 100 + random_.Below(900) : 3 + random_.Below(40);
      const Vec2 center = large ? Vec2{Within(20), Within(20)} : Vec2{Within(100), Within(100)};
      spec = {id, {StarRing(random_, center, radius, 0.5, vertices)}};
      if (random_.Below(3) == 0) {
        spec.rings.push_back(StarRing(random_, center, radius / 3, 0.5, vertices));
      }
      if (random_.Below(6) == 0) spec.solidity = Solidity::kBoundary;
    }
    spec.category = 1 + static_cast<uint64_t>(random_.Below(2));
    return Polygon::Create(spec).value();
  }

  Tracker MakeTracker() {
    TrackerOptions options;
    if (random_.Below(4) == 0) options.mask = 1;
    const bool exact = kind_ == JourneyKind::kGrid || kind_ == JourneyKind::kMagnitudes;
    if (random_.Below(4) == 0) {
      options.within = exact ? std::abs(grid_.Coordinate(random_)) : 4 * random_.Unit();
    }
    if (exact) return Tracker::Create(RandomMover(random_, grid_).shape, options).value();
    if (random_.Below(3) == 0) {
      const double radius = random_.Below(3) == 0 ? 0 : 5 * random_.Unit();
      const Vec2 end = random_.Below(2) == 0 ? Vec2{} : Vec2{Within(4), Within(4)};
      return Tracker::Create(Shape::Create(Capsule{{{0, 0}, end}, radius}).value(), options)
          .value();
    }
    const Vec2 center = random_.Below(2) == 0 ? Vec2{} : Vec2{Within(8), Within(8)};
    const int vertices = random_.Below(4) == 0 ? 100 + random_.Below(200) : 3 + random_.Below(12);
    PolygonSpec spec{0, {StarRing(random_, center, 1 + 8 * random_.Unit(), 0.4, vertices)}};
    if (random_.Below(6) == 0) spec.solidity = Solidity::kBoundary;
    return Tracker::Create(Polygon::Create(spec).value(), options).value();
  }

  void Jump(Pose& pose) {
    if (kind_ == JourneyKind::kGrid || kind_ == JourneyKind::kMagnitudes) {
      pose.position = grid_.Point(random_);
      // Now and then outside of all.
      if (kind_ == JourneyKind::kGrid && random_.Below(3) == 0) {
        pose.position = {4 * pose.position.x - extent_, 4 * pose.position.y - extent_};
      }
    } else {
      pose.position = {Within(110), Within(110)};
    }
  }

  void Turn(Pose& pose, double angle) {
    const double c = pose.c * std::cos(angle) - pose.s * std::sin(angle);
    const double s = pose.s * std::cos(angle) + pose.c * std::sin(angle);
    const double length = std::hypot(c, s) * (1 + Within(4e-7));
    pose.c = c / length;
    pose.s = s / length;
  }

  void Advance(Pose& pose) {
    switch (random_.Below(12)) {
      case 0:
        if (random_.Below(4) == 0) Jump(pose);
        break;
      case 1: {
        constexpr double kQuarters[][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
        const double* quarter = kQuarters[random_.Below(4)];
        pose.c = quarter[0];
        pose.s = quarter[1];
        break;
      }
      case 2:
        Turn(pose, Within(3));
        break;
      case 3:
        break;  // stays
      case 4:   // on the grid, where things touch
        if (kind_ == JourneyKind::kGrid) pose.position = grid_.Point(random_);
        break;
      default: {
        const double step = extent_ * std::ldexp(random_.Unit(), -3 - random_.Below(9));
        pose.position.x += Within(step);
        pose.position.y += Within(step);
        Turn(pose, Within(0.05));
      }
    }
  }

  void Edit() {
    std::vector<SceneEdit> edits;
    const int choice = scene_->polygon_count() > 1 ? random_.Below(3) : 0;
    if (choice == 0) {
      edits.push_back(AddPolygon{MakePolygon(next_id_++)});
    } else {
      const auto index =
          static_cast<size_t>(random_.Below(static_cast<int>(scene_->polygon_count())));
      const uint64_t id = scene_->polygon(index).id();
      if (choice == 1) edits.push_back(RemovePolygon{id});
      if (choice == 2) edits.push_back(ReplacePolygon{MakePolygon(id)});
    }
    scene_ = scene_->Commit(std::move(edits), scene_->version() + 1).value();
  }

  JourneyKind kind_;
  uint64_t seed_;
  Random random_;
  Grid grid_;
  double extent_;
  uint64_t next_id_ = 0;
  int frame_ = 0;
  Scene::Ptr scene_;
  std::vector<Tracker> trackers_;
  std::vector<Pose> poses_;
  std::vector<Pose> last_poses_;
  MoveTiers tiers_;
};

}  // namespace carom::testing
