// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bullets and moves does stream s ask at tick t?
//
// The questions are a function of s and t alone, so the checker can compute the question of an
// answer again.
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

// The questions of all streams of a run. All coordinates are exactly representable as float, which
// halves their bytes in a message. Immutable, so thread-safe.
class Questions {
 public:
  // The least number of different bullets in a run.
  static constexpr uint32_t kLeastBullets = 65536;

  // Makes the questions for `map`; `scene` must contain the polygons of `map`. Errors:
  // INVALID_ARGUMENT for a length or a map whose coordinates are out of a scene's range.
  static absl::StatusOr<Questions> Create(const LoadOptions& options, const Map& map,
                                          const Scene& scene);

  // Bullets: there are `window_count` windows of `bullets` segments each, and each frame asks one
  // window.
  uint32_t window_count() const { return windows_; }
  // Returns the window that `stream` asks at `tick`.
  uint32_t WindowOf(uint32_t stream, uint64_t tick) const {
    return static_cast<uint32_t>((uint64_t{stream} * 7919 + tick) % windows_);
  }
  SegmentColumns Window(uint32_t window) const;
  CastOptions cast_options() const { return {.detail = options_.detail}; }

  // Trackers: circles and squares alternately. Every stream defines equal trackers under handles
  // from 0. Each tracker oscillates along a line, a quarter of the map's spacing to either side of
  // its home position.
  uint32_t trackers() const { return options_.trackers; }
  TrackerDefinitions definitions() const { return {.shapes = shapes_, .shape = shape_of_tracker_}; }
  // Sets `x` and `y`, of length `trackers()`, to the positions of the trackers of `stream` at
  // `tick`.
  void Poses(uint32_t stream, uint64_t tick, std::span<float> x, std::span<float> y) const;

 private:
  // The least number of home positions; the trackers of a stream have consecutive ones.
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
  std::vector<float> amplitude_x_, amplitude_y_;  // vector from the home to one end of the path
  uint32_t homes_ = 0;       // distinct homes; the columns repeat the first `trackers()` at the end
  double period_ticks_ = 1;  // period of the oscillation
};

}  // namespace carom::load
