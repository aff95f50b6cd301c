// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bullets and tracker moves does stream s send as queries at tick t?
//
// The queries are a function of s and t alone, so for each answer the checker can compute again
// which queries the frame contained.
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

// The queries of all streams of a run: bullets (segment casts) and moves of trackers (moving
// shapes). All coordinates are exactly representable as float, which halves their bytes in a
// message. Immutable, so thread-safe.
class Questions {
 public:
  // The least number of different bullets in a run.
  static constexpr uint32_t kLeastBullets = 65536;

  // Makes the queries for `map`; `scene` must contain the polygons of `map`. Errors:
  // INVALID_ARGUMENT if the options and the map give bullets or shapes with coordinates that a
  // query may not have.
  static absl::StatusOr<Questions> Create(const LoadOptions& options, const Map& map,
                                          const Scene& scene);

  // Bullets: there are `window_count` windows (lists) of `bullets` segments each, and each frame
  // queries all segments of one window.
  uint32_t window_count() const { return windows_; }
  // Returns the index of the window of bullets that `stream` queries at `tick`.
  uint32_t WindowOf(uint32_t stream, uint64_t tick) const {
    return static_cast<uint32_t>((uint64_t{stream} * 7919 + tick) % windows_);
  }
  SegmentColumns Window(uint32_t window) const;
  CastOptions cast_options() const { return {.detail = options_.detail}; }

  // Trackers: moving shapes, alternately circles and squares. Every stream defines trackers with
  // the same shapes and with the handles 0, 1, 2 and so on. Each tracker oscillates along a line
  // about its home position, by a quarter of `Map::spacing` to either side.
  uint32_t trackers() const { return options_.trackers; }
  TrackerDefinitions definitions() const { return {.shapes = shapes_, .shape = shape_of_tracker_}; }
  // Sets `x` and `y`, of length `trackers()`, to the positions of the trackers of `stream` at
  // `tick`.
  void Poses(uint32_t stream, uint64_t tick, std::span<float> x, std::span<float> y) const;

 private:
  // The least number of home positions, about which trackers oscillate; the trackers of a stream
  // have consecutive home positions.
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
  // vector from a home position to one end of the line along which a tracker oscillates
  std::vector<float> amplitude_x_, amplitude_y_;
  // number of home positions; after these, the columns `home_x_` to `amplitude_y_` repeat their
  // first `trackers()` entries
  uint32_t homes_ = 0;
  double period_ticks_ = 1;  // period of the oscillation in ticks
};

}  // namespace carom::load
