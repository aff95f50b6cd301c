// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fast path of the nearest polygons of points: no shape is made or placed for a point, and the
// rows of those that are found are measured four at a time. Its answers are those of
// `DistanceQuery`, to the bit.
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

// One batch. Borrows all that it is made of.
class NearestPoints {
 public:
  NearestPoints(const Scene& scene, const DistanceColumns& columns, const DistanceOptions& options,
                DistanceAnswers& out, WorkMeter& meter);

  // Answers item i, all before it being answered. Returns false where it is left to
  // `DistanceQuery`. May stop the meter.
  bool Answer(size_t i);
  // Tries the cells for all items, however many were left of late: for tests.
  void TryAll() { tries_all_ = true; }
  // Completes the rows. To be called once, at the end.
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
  bool applies_;  // whether any item may be answered
  bool tries_all_ = false;
  size_t last_shape_ = SIZE_MAX;  // a point, which is there as described
  Vec2 last_point_;
  double max_distance_ = -1;
  Bounds2 reach2_;
  NearestRows rows_;
  std::array<NearestItem, kWindow> items_;  // of the window
};

}  // namespace carom::internal
