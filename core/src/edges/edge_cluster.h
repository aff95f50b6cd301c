// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does an edge share a point with one of up to eight other edges?
#pragma once

#include <cstddef>
#include <optional>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "numeric/lanes.h"
#include "shape/lane_box.h"

namespace carom::internal {

// Holds up to eight edges and their bounding boxes, as a structure of arrays for SIMD comparisons.
// The constructor initialises nothing: call `Clear` first.
class EdgeCluster {
 public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }
  Segment edge(size_t i) const { return {{a_[i][0], a_[i][1]}, {b_[i][0], b_[i][1]}}; }
  bool full() const { return count_ == kLanes; }
  // Returns the smallest box that contains all edges of the cluster.
  const LaneBox& box() const { return box_; }

  void Clear() {
    count_ = 0;
    box_ = LaneBox::Empty();
  }
  // Adds `edge`, which has the bounding box `box`. The cluster must not be full.
  void Add(const Segment& edge, const LaneBox& box) {
    a_[count_] = LoadLanes(&edge.a.x);
    b_[count_] = LoadLanes(&edge.b.x);
    min_x_[count_] = box.min[0];
    min_y_[count_] = box.min[1];
    max_x_[count_] = box.max[0];
    max_y_[count_] = box.max[1];
    box_.Extend(box);
    ++count_;
  }
  void Add(const Segment& edge) { Add(edge, LaneBox(edge)); }

  // Returns the index of the first edge of the cluster that shares a point with `edge`; nullopt if
  // none does. `box` is the bounding box of `edge`. Counts on `meter` one work unit for each edge
  // of the cluster with a box that meets `box`.
  std::optional<size_t> FirstMeeting(const Segment& edge, const LaneBox& box,
                                     WorkMeter& meter) const {
    if (!box.Meets(box_)) return std::nullopt;
    return FirstMeetingNear(edge, box, meter);
  }
  std::optional<size_t> FirstMeeting(const Segment& edge, WorkMeter& meter) const {
    return FirstMeeting(edge, LaneBox(edge), meter);
  }
  bool Meets(const Segment& edge, const LaneBox& box, WorkMeter& meter) const {
    return box.Meets(box_) && FirstMeetingNear(edge, box, meter).has_value();
  }
  bool Meets(const Segment& edge, WorkMeter& meter) const {
    return Meets(edge, LaneBox(edge), meter);
  }

 private:
  std::optional<size_t> FirstMeetingNear(const Segment& edge, const LaneBox& box,
                                         WorkMeter& meter) const;

  Double2 a_[kLanes], b_[kLanes];  // the two ends of each edge
  alignas(16) double min_x_[kLanes], min_y_[kLanes], max_x_[kLanes], max_y_[kLanes];
  LaneBox box_;
  size_t count_;
};

}  // namespace carom::internal
