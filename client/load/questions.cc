// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/questions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "client/load/random.h"

namespace carom::load {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
// Lengths in units of `Map::spacing`, the square root of the map's area per polygon.
constexpr double kRadius = 0.05;  // circumradius of a tracker's shape
// radius around a tracker's home position, about which it oscillates, that should be free of
// polygons
constexpr double kRoom = 0.1;
constexpr double kAmplitude = 0.25;  // amplitude of a tracker's oscillation about its home position

// random places that are tried for each home position, about which a tracker oscillates
constexpr int kSamples = 8;

// Rounds `value` to float precision, so that the encoder can send it as a float.
double AsFloat(double value) { return static_cast<double>(static_cast<float>(value)); }

// Returns a random point of `bounds` with float coordinates.
Vec2 RandomPlace(Random& random, const Box& bounds) {
  const double x = random.Between(bounds.min.x, bounds.max.x);
  const double y = random.Between(bounds.min.y, bounds.max.y);
  return {AsFloat(x), AsFloat(y)};
}

// Returns `count` random places: first the places without a polygon within the distance `room`,
// then the other places, each in the order in which they were drawn. If a crowded map has too few
// free places, the caller also uses places near or inside polygons.
std::vector<Vec2> PlacesFreeFirst(Random& random, const Map& map, const Scene& scene, size_t count,
                                  double room) {
  std::vector<Vec2> places;
  std::vector<double> x, y;
  for (size_t i = 0; i < count; ++i) {
    places.push_back(RandomPlace(random, map.bounds));
    x.push_back(places.back().x);
    y.push_back(places.back().y);
  }
  const std::vector<double> radius(count, room);
  Group group;
  group.circles = {x, y, radius};
  GroupAnswers answers;
  WorkMeter meter;
  if (!EvaluateGroup(scene, group, answers, meter).ok()) return places;
  std::vector<Vec2> sorted;
  for (const bool is_free : {true, false}) {
    for (size_t i = 0; i < count; ++i) {
      if ((answers.circles.counts[i] == 0) == is_free) sorted.push_back(places[i]);
    }
  }
  return sorted;
}

}  // namespace

absl::StatusOr<Questions> Questions::Create(const LoadOptions& options, const Map& map,
                                            const Scene& scene) {
  Questions questions(options);
  if (questions.options_.length == 0) questions.options_.length = map.spacing / 2;
  if (questions.options_.speed == 0) questions.options_.speed = map.spacing / 10;
  if (options.bullets > 0) questions.MakeBullets(map);
  Group group;
  group.segments = {questions.ax_, questions.ay_, questions.bx_, questions.by_};
  const absl::Status checked = CheckGroup(group);
  if (!checked.ok()) return checked;
  if (options.trackers > 0) {
    const absl::Status made = questions.MakeShapes(kRadius * map.spacing);
    if (!made.ok()) return made;
    questions.MakeHomes(map, scene);
  }
  return questions;
}

void Questions::MakeBullets(const Map& map) {
  // A window is the list of bullets that one frame queries. There are at least 16 windows, so that
  // not all streams query the same window at one time.
  windows_ = std::max(16u, (kLeastBullets + options_.bullets - 1) / options_.bullets);
  const size_t count = size_t{windows_} * options_.bullets;
  Random random(options_.seed ^ 0x62756c6c657473);
  for (std::vector<double>* column : {&ax_, &ay_, &bx_, &by_}) column->reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Vec2 a = RandomPlace(random, map.bounds);
    const double angle = random.Between(0, kTurn);
    ax_.push_back(a.x);
    ay_.push_back(a.y);
    bx_.push_back(AsFloat(a.x + options_.length * std::cos(angle)));
    by_.push_back(AsFloat(a.y + options_.length * std::sin(angle)));
  }
}

// Makes a circle and a square, both with circumradius `radius` about the reference point. The
// corners of the square are on the coordinate axes.
absl::Status Questions::MakeShapes(double radius) {
  absl::StatusOr<Shape> circle = Shape::Create(Capsule{{{0, 0}, {0, 0}}, radius});
  if (!circle.ok()) return circle.status();
  PolygonSpec spec;
  spec.rings.push_back({{{radius, 0}, {0, radius}, {-radius, 0}, {0, -radius}}});
  absl::StatusOr<Polygon> square = Polygon::Create(std::move(spec));
  if (!square.ok()) return square.status();
  shapes_.push_back(*std::move(circle));
  shapes_.emplace_back(*std::move(square));
  for (uint32_t i = 0; i < options_.trackers; ++i) shape_of_tracker_.push_back(i % 2);
  return absl::OkStatus();
}

// Sets the home positions, about each of which a tracker oscillates along a line, the vectors from
// them to the ends of these lines, and the period of the oscillation.
void Questions::MakeHomes(const Map& map, const Scene& scene) {
  homes_ = std::max(kHomes, options_.trackers);
  Random random(options_.seed ^ 0x686f6d6573);
  std::vector<Vec2> homes =
      PlacesFreeFirst(random, map, scene, size_t{kSamples} * homes_, kRoom * map.spacing);
  homes.resize(homes_);
  for (uint32_t i = 0; i < homes_ + options_.trackers; ++i) {
    const Vec2 home = homes[i % homes_];
    home_x_.push_back(static_cast<float>(home.x));
    home_y_.push_back(static_cast<float>(home.y));
  }
  const double amplitude = kAmplitude * map.spacing;
  for (uint32_t i = 0; i < homes_ + options_.trackers; ++i) {
    // The direction in which a tracker oscillates about home position i is the direction of the
    // preceding home position, turned by 0.618034 (1 / golden ratio) of a full turn, so that
    // consecutive home positions have different directions and no two of them have the same
    // direction.
    const double angle = kTurn * 0.618034 * (i % homes_);
    amplitude_x_.push_back(static_cast<float>(amplitude * std::cos(angle)));
    amplitude_y_.push_back(static_cast<float>(amplitude * std::sin(angle)));
  }
  period_ticks_ = std::max(2.0, 4 * amplitude / (options_.speed * options_.tick_s()));
}

// A window is the list of bullets (segments) that one frame queries. Returns views of the bullets
// of window `window` in the columns `ax_` to `by_`, valid as long as this object exists.
SegmentColumns Questions::Window(uint32_t window) const {
  const size_t first = size_t{window} * options_.bullets;
  const auto column = [&](const std::vector<double>& all) {
    return std::span<const double>(all).subspan(first, options_.bullets);
  };
  return {column(ax_), column(ay_), column(bx_), column(by_)};
}

// Sets the positions of the trackers of `stream` at `tick`. Each tracker oscillates along a line
// about its home position.
void Questions::Poses(uint32_t stream, uint64_t tick, std::span<float> x,
                      std::span<float> y) const {
  if (options_.trackers == 0) return;
  const size_t first = static_cast<size_t>(uint64_t{stream} * options_.trackers % homes_);
  // A triangle wave, so the trackers have constant speed: `along` is 0 (the home position) at tick
  // 0, rises to 1, falls to -1, and returns to 0.
  const double phase = std::fmod(static_cast<double>(tick) / period_ticks_ + 0.25, 1.0);
  const auto along = static_cast<float>(1 - std::abs(4 * phase - 2));
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = home_x_[first + i] + along * amplitude_x_[first + i];
    y[i] = home_y_[first + i] + along * amplitude_y_[first + i];
  }
}

}  // namespace carom::load
