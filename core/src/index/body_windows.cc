// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/body_windows.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace carom::internal {
namespace {

// The most boxes of all windows of a history, which bounds the memory and the time that a group of
// queries takes for windows: 4 MB.
constexpr size_t kMaxBoxes = 65536;

constexpr size_t kMaxKeptWindows = 64;

// Returns the low 16 bits of `bits` with a zero bit inserted above each, for a Morton code.
uint32_t Spread(uint32_t bits) {
  bits = (bits | bits << 8) & 0x00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f;
  bits = (bits | bits << 2) & 0x33333333;
  return (bits | bits << 1) & 0x55555555;
}

// Returns the position of `value` in [low, high], scaled to [0, 65535].
uint32_t PlaceIn(double low, double high, double value) {
  if (!(high > low)) return 0;
  return static_cast<uint32_t>(std::clamp((value - low) / (high - low), 0.0, 1.0) * 65535);
}

double Middle(double a, double b) { return a + (b - a) / 2; }

}  // namespace

void OrderAlongCurve(std::span<const Box> boxes, std::vector<uint32_t>& order) {
  Box frame;
  for (const Box& box : boxes) frame.Extend(box);
  std::vector<std::pair<uint32_t, uint32_t>> places;
  places.reserve(boxes.size());
  for (const auto& [min, max] : boxes) {
    const uint32_t x = PlaceIn(frame.min.x, frame.max.x, Middle(min.x, max.x));
    const uint32_t y = PlaceIn(frame.min.y, frame.max.y, Middle(min.y, max.y));
    places.emplace_back(Spread(x) | Spread(y) << 1, static_cast<uint32_t>(places.size()));
  }
  std::sort(places.begin(), places.end());
  order.clear();
  for (const auto& [place, index] : places) order.push_back(index);
}

// A thread keeps the memory of a few windows for its next group.
void BodyWindows::Clear() {
  history_ = nullptr;
  if (windows_.size() > kMaxKeptWindows) windows_ = {};
}

// Each window has the least power of two of ticks by which all windows have at most `kMaxBoxes`
// boxes.
void BodyWindows::Start(const BodyHistory& history, BodyRotation rotation) {
  history_ = &history;
  rotation_ = rotation;
  ticks_of_window_ = 1;
  const auto count = [&] {
    return (history.tick_count() + ticks_of_window_ - 1) / ticks_of_window_;
  };
  while (count() > 1 && count() * history.size() > kMaxBoxes) ticks_of_window_ *= 2;
  windows_.resize(std::max(windows_.size(), count()));
  for (Window& window : windows_) window.is_made = false;
  order_.clear();
}

// Interpolated positions are rounded thrice, and numbers below 2^-140 become 0: the margin is
// larger than both.
Box BodyWindows::Around(size_t body, const Box& positions) const {
  const DefinedBodies& defined = history_->defined();
  const ShapeReach& reach = defined.reaches[defined.shape_of(body)];
  const bool turns = history_->tick_at(0).form != RotationForm::kNone;
  const auto low = [&](double position, double upright) {
    const double from = position + (turns ? -reach.radius : upright);
    return from - (std::abs(position) + reach.radius) * 0x1p-48 - 0x1p-138;
  };
  const auto high = [&](double position, double upright) {
    const double to = position + (turns ? reach.radius : upright);
    return to + (std::abs(position) + reach.radius) * 0x1p-48 + 0x1p-138;
  };
  const auto& [min, max] = reach.upright;
  return {{low(positions.min.x, min.x), low(positions.min.y, min.y)},
          {high(positions.max.x, max.x), high(positions.max.y, max.y)}};
}

const BoxTree& BodyWindows::TreeAt(const BodyMoment& moment, WorkMeter& meter) {
  return WindowAt(moment, meter).tree;
}

BodyWindows::Window& BodyWindows::WindowAt(const BodyMoment& moment, WorkMeter& meter) {
  const size_t number = moment.index / ticks_of_window_;
  Window& window = windows_[number];
  if (!window.is_made) {
    meter.Spend(4 * history_->size() * ticks_of_window_);
    Make(number, window);
  }
  return window;
}

// A body that moves to the next tick reaches that tick's position; others stay until then.
void BodyWindows::Make(size_t number, Window& window) {
  const size_t begin = number * ticks_of_window_;
  const size_t end = std::min(begin + ticks_of_window_, history_->tick_count());
  const size_t bodies = history_->size();
  std::vector<Box>& boxes = window.boxes;
  boxes.assign(bodies, Box());
  for (size_t t = begin; t < end; ++t) {
    BodyMoment moment{&history_->tick_at(t), nullptr, 0, t};
    if (t + 1 < history_->tick_count()) moment.b = &history_->tick_at(t + 1);
    for (size_t i = 0; i < bodies; ++i) {
      boxes[i].Extend(moment.a->position(i));
      if (moment.Moves(i)) boxes[i].Extend(moment.b->position(i));
    }
  }
  for (size_t i = 0; i < bodies; ++i) boxes[i] = Around(i, boxes[i]);
  if (order_.size() != bodies) OrderAlongCurve(boxes, order_);
  window.tree = BoxTree(bodies, [&](size_t item) { return boxes[order_[item]]; });
  window.is_made = true;
}

const BoxRaster& BodyWindows::RasterOf(std::span<const double> as_of, WorkMeter& meter) {
  const double newest[] = {kNewestTick};
  std::vector<bool> is_asked(windows_.size());
  std::vector<const Window*> asked;
  Box frame;
  for (const double at : as_of.empty() ? std::span<const double>(newest) : as_of) {
    const BodyMoment moment = MomentAt(at);
    if (!moment.is_kept()) continue;
    const size_t number = moment.index / ticks_of_window_;
    if (is_asked[number]) continue;
    is_asked[number] = true;
    asked.push_back(&WindowAt(moment, meter));
    meter.Spend(history_->size());
    for (const Box& box : asked.back()->boxes) frame.Extend(box);
  }
  raster_.Start(frame.empty() ? Box{{0, 0}, {0, 0}} : frame);
  for (const Window* const window : asked) {
    for (const Box& box : window->boxes) raster_.Add(box);
  }
  return raster_;
}

}  // namespace carom::internal
