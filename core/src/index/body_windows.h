// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where are the bodies of a history (moving shapes with poses by tick) about a moment?
//
// The ticks of a history are divided into windows of one or more ticks. Each window that a query
// asks about has the boxes that contain the bodies at every moment of the window. A window that
// many queries ask about has a tree of these boxes. The trees share one order of the bodies: bodies
// move little from window to window.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
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
    return Around({p, p}, reaches_[body]);
  }

  // Calls visit(i) for each body i whose box in the window of a kept moment passes `meets`, in no
  // particular order, until `visit` returns false or `meter` stops the work. Returns false if
  // `visit` or `meter` ended the traversal.
  template <class Meets, class Visit>
  bool Traverse(const BodyMoment& moment, WorkMeter& meter, const Meets& meets,
                const Visit& visit) {
    Window& window = WindowAt(moment, meter);
    if (window.scans < kMostScans) {
      ++window.scans;
      const std::vector<Box>& boxes = window.boxes;
      if (!meter.Spend(1 + boxes.size() / kBoxesOfUnit)) return false;
      for (size_t i = 0; i < boxes.size(); ++i) {
        if (meets(boxes[i]) && !visit(i)) return false;
      }
      return true;
    }
    return TreeOf(window).Traverse(meter, meets,
                                   [&](size_t item) { return visit(size_t{order_[item]}); });
  }

  // Returns a bitmap that marks where bodies are at the moments `as_of`, and possibly where they
  // are near these; empty: at the newest tick.
  const BoxRaster& RasterOf(std::span<const double> as_of, WorkMeter& meter);

 private:
  // Returns a box that contains a body with the reach wherever its position is in `positions`.
  // Interpolated positions are rounded thrice, and numbers below 2^-140 become 0: the margin is
  // larger than both.
  static Box Around(const Box& positions, const Box& reach) {
    const auto low = [](double at, double to) { return at + to - std::abs(at) * 0x1p-48; };
    const auto high = [](double at, double to) { return at + to + std::abs(at) * 0x1p-48; };
    const auto& [min, max] = positions;
    return {{low(min.x, reach.min.x), low(min.y, reach.min.y)},
            {high(max.x, reach.max.x), high(max.y, reach.max.y)}};
  }
  // To make a tree of 200 boxes takes about as long as to look at all of them so many times.
  static constexpr uint32_t kMostScans = 32;
  static constexpr size_t kBoxesOfUnit = 4;

  // Windows that are marked together in the bitmap.
  static constexpr size_t kWindowsOfMark = 8;

  struct Window {
    bool is_made = false, has_tree = false;
    uint32_t scans = 0;      // of all boxes
    std::vector<Box> boxes;  // of each body
    BoxTree tree;
  };

  // Returns the window of a tick by its index.
  Window& WindowAt(const BodyMoment& moment, WorkMeter& meter);
  // Returns the number of the window of a moment; `windows_.size()` if it is not kept, or, just
  // after the newest tick, the number of the last window.
  size_t NumberAt(double as_of) const;
  // Returns the indices [begin, end) of the ticks of the windows [first, last].
  std::pair<size_t, size_t> TicksOf(size_t first, size_t last) const;
  // Sets `boxes` to boxes that contain each body from each tick of the indices [begin, end) to the
  // next tick.
  void Sweep(size_t begin, size_t end, std::vector<Box>& boxes);
  // Adds to `marks_` boxes that contain each body in the windows that are asked among those from
  // `first` to `last`, at most `kWindowsOfMark`.
  void Mark(size_t first, size_t last, WorkMeter& meter);
  const BoxTree& TreeOf(Window& window);

  const BodyHistory* history_ = nullptr;
  BodyRotation rotation_ = BodyRotation::kNearest;
  size_t ticks_of_window_ = 1;
  std::vector<Window> windows_;
  bool has_gaps_ = false;  // ticks are missing between the oldest and the newest one
  // Of each body: a box that contains it, in any rotation that it has, about its position.
  std::vector<Box> reaches_;
  std::vector<Box> swept_, marks_;
  std::vector<uint8_t> is_asked_;  // of each window
  std::vector<uint32_t> order_;    // of the items of the trees; empty: no tree is made
  BoxRaster raster_;
};

}  // namespace carom::internal
