// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where are the bodies of a history (moving shapes with poses by tick) about a moment?
//
// The ticks of a history are divided into windows of one or more ticks. For each window that a
// query asks about, a tree has the boxes that contain the bodies at every moment of the window. The
// trees share one order of the bodies: bodies move little from window to window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "carom/body_history.h"
#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "index/body_tick.h"
#include "index/box_raster.h"
#include "index/box_tree.h"

namespace carom::internal {

// The moment of a query without `as_of`: the newest tick.
inline constexpr double kNewestTick = std::numeric_limits<double>::infinity();

// Sets `order` to the indices of `boxes`, sorted along a Z-order curve over their centers (Morton
// 1966), so that boxes that are near each other are near each other in the order.
void OrderAlongCurve(std::span<const Box> boxes, std::vector<uint32_t>& order);

// The windows of one history, for the queries of one group. The history must outlive its use. Not
// thread-safe.
class BodyWindows {
 public:
  // Begins with another history, without windows.
  void Start(const BodyHistory& history, BodyRotation rotation);
  // Forgets the history.
  void Clear();

  // Returns whether there is a history; the other functions may only be called if so.
  bool has_history() const { return history_ != nullptr; }
  const BodyHistory& history() const { return *history_; }
  BodyRotation rotation() const { return rotation_; }

  // Returns a moment; `kNewestTick` is the newest tick.
  BodyMoment MomentAt(double as_of) const {
    const bool is_newest = as_of == kNewestTick && history_->tick_count() != 0;
    return MomentOf(*history_, is_newest ? static_cast<double>(history_->newest_tick()) : as_of);
  }
  // Returns a box that contains the body at the moment.
  Box BoundsAt(const BodyMoment& moment, size_t body) const {
    const Vec2 p = PositionAt(moment, body);
    return Around(body, {p, p});
  }

  // Returns the tree of the window of a kept moment, and makes it at its first use. Item i of the
  // tree is the body `body_of(i)`.
  const BoxTree& TreeAt(const BodyMoment& moment, WorkMeter& meter);
  size_t body_of(size_t item) const { return order_[item]; }

  // Returns a bitmap that marks where bodies are at the moments `as_of`; empty: at the newest tick.
  // Moments that are not kept mark nothing.
  const BoxRaster& RasterOf(std::span<const double> as_of, WorkMeter& meter);

 private:
  struct Window {
    bool is_made = false;
    std::vector<Box> boxes;  // of each body
    BoxTree tree;
  };

  // Returns a box that contains the body wherever its reference point is in `positions`.
  Box Around(size_t body, const Box& positions) const;
  Window& WindowAt(const BodyMoment& moment, WorkMeter& meter);
  void Make(size_t number, Window& window);

  const BodyHistory* history_ = nullptr;
  BodyRotation rotation_ = BodyRotation::kNearest;
  size_t ticks_of_window_ = 1;
  std::vector<Window> windows_;
  std::vector<uint32_t> order_;  // empty: no window is made
  BoxRaster raster_;
};

}  // namespace carom::internal
