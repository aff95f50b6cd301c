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

// A body moves far in some windows if the box that contains it grows to so many times its size.
constexpr double kFar = 4;

// Returns the greater of the width and the height.
double SizeOf(const Box& box) { return std::max(box.max.x - box.min.x, box.max.y - box.min.y); }

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
  if (windows_.size() <= kMaxKeptWindows) return;
  windows_ = std::vector<Window>();
  marks_ = std::vector<Box>();
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
  has_gaps_ = history.tick_count() != 0 &&
              history.newest_tick() - history.oldest_tick() + 1 != history.tick_count();
  reaches_.clear();
  if (history.tick_count() == 0) return;
  const bool turns = history.tick_at(0).form != RotationForm::kNone;
  const DefinedBodies& defined = history.defined();
  for (size_t i = 0; i < history.size(); ++i) {
    const ShapeReach& reach = defined.reaches[defined.shape_of(i)];
    const double r = reach.radius, margin = r * 0x1p-48 + 0x1p-138;
    const auto& [min, max] = reach.upright;
    const Box box = turns ? Box{{-r, -r}, {r, r}} : Box{min, max};
    reaches_.push_back(
        {{box.min.x - margin, box.min.y - margin}, {box.max.x + margin, box.max.y + margin}});
  }
}

BodyWindows::Window& BodyWindows::WindowAt(const BodyMoment& moment, WorkMeter& meter) {
  const size_t number = moment.index / ticks_of_window_;
  Window& window = windows_[number];
  if (!window.is_made) {
    meter.Spend(4 * history_->size() * ticks_of_window_);
    const auto [begin, end] = TicksOf(number, number);
    Sweep(begin, end, window.boxes);
    window.is_made = true;
    window.has_tree = false;
    window.scans = 0;
  }
  return window;
}

std::pair<size_t, size_t> BodyWindows::TicksOf(size_t first, size_t last) const {
  return {first * ticks_of_window_,
          std::min((last + 1) * ticks_of_window_, history_->tick_count())};
}

// A body that moves to the next tick reaches that tick's position; others stay until then.
void BodyWindows::Sweep(size_t begin, size_t end, std::vector<Box>& boxes) {
  const size_t bodies = history_->size();
  boxes.assign(bodies, Box());
  const auto has_bits = [](const BodyTick& tick) {
    return !tick.alive.empty() || !tick.teleported.empty();
  };
  for (size_t t = begin; t < end; ++t) {
    BodyMoment moment{&history_->tick_at(t), nullptr, 0, t};
    for (size_t i = 0; i < bodies; ++i) boxes[i].Extend(moment.a->position(i));
    if (t + 1 == history_->tick_count()) continue;
    moment.b = &history_->tick_at(t + 1);
    const bool all_move = !has_bits(*moment.a) && !has_bits(*moment.b);
    if (all_move && t + 1 < end) continue;  // the next tick extends all boxes
    for (size_t i = 0; i < bodies; ++i) {
      if (all_move || moment.Moves(i)) boxes[i].Extend(moment.b->position(i));
    }
  }
  for (size_t i = 0; i < bodies; ++i) boxes[i] = Around(boxes[i], reaches_[i]);
}

const BoxTree& BodyWindows::TreeOf(Window& window) {
  const std::vector<Box>& boxes = window.boxes;
  if (window.has_tree) return window.tree;
  if (order_.size() != boxes.size()) OrderAlongCurve(boxes, order_);
  window.tree = BoxTree(boxes.size(), [&](size_t item) { return boxes[order_[item]]; });
  window.has_tree = true;
  return window.tree;
}

size_t BodyWindows::NumberAt(double as_of) const {
  const double at = as_of - static_cast<double>(history_->oldest_tick());
  if (!has_gaps_ && at >= 0 && at < static_cast<double>(history_->tick_count())) {
    return static_cast<size_t>(at) / ticks_of_window_;
  }
  const BodyMoment moment = MomentAt(as_of);
  return moment.is_kept() ? moment.index / ticks_of_window_ : windows_.size();
}

// A body that moves far, such as one that teleports, is marked for each window alone.
void BodyWindows::Mark(size_t first, size_t last, WorkMeter& meter) {
  const auto [begin, end] = TicksOf(first, last);
  meter.Spend(history_->size() * (end - begin) / 2);
  Sweep(begin, end, swept_);
  for (size_t i = 0; i < swept_.size(); ++i) {
    const Box& box = swept_[i];
    if (first == last || SizeOf(box) <= kFar * SizeOf(reaches_[i])) {
      marks_.push_back(box);
      continue;
    }
    for (size_t number = first; number <= last; ++number) {
      if (is_asked_[number] == 0) continue;
      const size_t t = TicksOf(number, number).first;
      marks_.push_back(WindowAt({&history_->tick_at(t), nullptr, 0, t}, meter).boxes[i]);
    }
  }
}

const BoxRaster& BodyWindows::RasterOf(std::span<const double> as_of, WorkMeter& meter) {
  const double newest[] = {kNewestTick};
  is_asked_.assign(windows_.size() + 1, 0);
  for (const double at : as_of.empty() ? std::span<const double>(newest) : as_of) {
    is_asked_[NumberAt(at)] = 1;
  }
  is_asked_.back() = 0;  // what is not kept
  marks_.clear();
  for (size_t first = 0; first < windows_.size(); ++first) {
    if (is_asked_[first] == 0) continue;
    size_t last = first;
    for (size_t next = first; next < std::min(first + kWindowsOfMark, windows_.size()); ++next) {
      if (is_asked_[next] != 0) last = next;
    }
    Mark(first, last, meter);
    first = last;
  }
  Box frame;
  for (const Box& box : marks_) frame.Extend(box);
  raster_.Start(frame.empty() ? Box{{0, 0}, {0, 0}} : frame);
  for (const Box& box : marks_) raster_.Add(box);
  return raster_;
}

}  // namespace carom::internal
