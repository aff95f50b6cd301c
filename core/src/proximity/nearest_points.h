// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Finds the nearest polygon of each point of a batch on a fast path. The path makes and places no
// shape for a point, and computes the answer rows (distance and nearest point) of several points at
// a time. The answers are bit-identical to those of `DistanceQuery`, the general path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "carom/distance.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "proximity/nearest_rows.h"
#include "proximity/nearest_search.h"
#include "shape/approach.h"

namespace carom::internal {

// Answers the items of one batch whose shapes are points on the fast path (without a shape for each
// point, and several points at a time). Keeps references to the arguments of the constructor.
class NearestPoints {
 public:
  NearestPoints(const Scene& scene, const DistanceColumns& columns, const DistanceOptions& options,
                DistanceAnswers& out, WorkMeter& meter);

  // Appends the answer of item i. Calls come in ascending order of items. Returns false if the fast
  // path cannot decide the item, which the caller then answers by `DistanceQuery`. May stop the
  // meter.
  bool Answer(size_t i);
  // Makes the fast path search all items, however many it could not decide recently: for tests.
  void AlwaysTryFastPath() { always_tries_fast_path_ = true; }
  // Completes the rows of `out`, some of which wait until there are enough of them to fill a SIMD
  // vector. To be called once, after the last item.
  void Finish() { rows_.Flush(out_.rows); }

 private:
  // The number of consecutive items that are searched together.
  static constexpr size_t kWindow = kMostNearestItems;

  bool ReadPoint(size_t i, Vec2& point);
  void ReadWindow(size_t begin);

  const SceneIndex& scene_;
  const DistanceColumns& columns_;
  const uint64_t mask_;
  DistanceAnswers& out_;
  WorkMeter& meter_;
  bool applies_;  // whether the fast path supports the options and columns of the batch
  bool always_tries_fast_path_ = false;
  size_t last_shape_ = SIZE_MAX;  // index of the shape that was read last
  Vec2 last_point_;               // the point that shape `last_shape_` is, before it is placed
  double max_distance_ = -1;      // search distance of the item that was read last
  Bounds2 reach2_;                // bounds of the square of `max_distance_`
  NearestRows rows_;
  std::array<NearestItem, kWindow> items_;  // the items that are searched together
};

}  // namespace carom::internal
