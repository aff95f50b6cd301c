// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does stream s ask at tick t? Bullets and moves, computed from both alone, so that whoever
// checks an answer finds its question again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/group.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/tracker.h"
#include "carom/tracker_table.h"
#include "client/load/map.h"
#include "client/load/options.h"

namespace carom::load {

// Every number is a float, which halves what it takes on the wire. Immutable once made:
// thread-safe.
class Questions {
 public:
  // A bullet's window is of so many different ones at least.
  static constexpr uint32_t kLeastBullets = 65536;

  // `scene` holds the polygons of `map`. Errors: INVALID_ARGUMENT for a length or a map with
  // numbers that no scene takes.
  static absl::StatusOr<Questions> Create(const LoadOptions& options, const Map& map,
                                          const Scene& scene);

  // Bullets: `window_count` windows of `bullets` segments each, one of which is asked at a time.
  uint32_t window_count() const { return windows_; }
  uint32_t WindowOf(uint32_t stream, uint64_t tick) const {
    return static_cast<uint32_t>((uint64_t{stream} * 7919 + tick) % windows_);
  }
  SegmentColumns Window(uint32_t window) const;
  CastOptions cast_options() const { return {.detail = options_.detail}; }

  // Trackers: circles and squares, in turns, defined alike by every stream under handles from 0.
  // Each oscillates along a line of its own, a quarter of the spacing to either side of its home.
  uint32_t trackers() const { return options_.trackers; }
  TrackerDefinitions definitions() const { return {.shapes = shapes_, .shape = shape_of_tracker_}; }
  // Fills `x` and `y`, `trackers()` long.
  void Poses(uint32_t stream, uint64_t tick, std::span<float> x, std::span<float> y) const;

 private:
  // Homes of trackers, of which each stream has consecutive ones.
  static constexpr uint32_t kHomes = 16384;

  explicit Questions(const LoadOptions& options) : options_(options) {}
  void MakeBullets(const Map& map);
  void MakeHomes(const Map& map, const Scene& scene);
  absl::Status MakeShapes(double radius);

  LoadOptions options_;
  uint32_t windows_ = 0;
  std::vector<double> ax_, ay_, bx_, by_;
  std::vector<Shape> shapes_;
  std::vector<uint32_t> shape_of_tracker_;
  std::vector<float> home_x_, home_y_;
  std::vector<float> amplitude_x_, amplitude_y_;  // from the home to one end of the path
  uint32_t homes_ = 0;                            // the first `trackers()` follow once more
  double period_ticks_ = 1;
};

}  // namespace carom::load
