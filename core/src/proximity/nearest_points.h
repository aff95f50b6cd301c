// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Finds the nearest polygons of points on a fast path: it makes and places no shape for a point,
// and measures the rows of found polygons four at a time. The answers are bit-identical to those of
// `DistanceQuery`.
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

// Answers the points of one batch. Keeps references to the constructor arguments.
class NearestPoints {
 public:
  NearestPoints(const Scene& scene, const DistanceColumns& columns, const DistanceOptions& options,
                DistanceAnswers& out, WorkMeter& meter);

  // Appends the answer of item i. Calls come in ascending order of items. Returns false if the item
  // is undecided and takes `DistanceQuery` instead. May stop the meter.
  bool Answer(size_t i);
  // Makes the fast path search all items, however many were undecided recently: for tests.
  void AlwaysTryFastPath() { always_tries_fast_path_ = true; }
  // Completes the rows. To be called once, after the last item.
  void Finish() { rows_.Flush(out_.rows); }

 private:
  static constexpr size_t kWindow = kMostNearestItems;

  bool ReadPoint(size_t i, Vec2& point);
  void ReadWindow(size_t begin);

  const SceneIndex& scene_;
  const DistanceColumns& columns_;
  const uint64_t mask_;
  DistanceAnswers& out_;
  WorkMeter& meter_;
  bool applies_;  // whether the fast path supports the batch
  bool always_tries_fast_path_ = false;
  size_t last_shape_ = SIZE_MAX;  // index of the last shape that was a point
  Vec2 last_point_;
  double max_distance_ = -1;
  Bounds2 reach2_;
  NearestRows rows_;
  std::array<NearestItem, kWindow> items_;  // items of the window
};

}  // namespace carom::internal
