// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/body_set.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "index/placed_items.h"

namespace carom {
namespace internal {
namespace {

constexpr size_t kMaxBodyVertices = 16 * kMaxMovingVertices;

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

// Returns the error for bodies (the moving shapes of a group of queries) that together exceed a
// limit on their number or on the number of their vertices; `what` states the limit. The error does
// not say which body is at fault.
absl::Status TooMany(absl::string_view what) {
  Refusal refusal;
  refusal.Add("bodies", what);
  return refusal.status(absl::StatusCode::kResourceExhausted);
}

}  // namespace

// Refuses all bodies (moving shapes) of `columns` if one body cannot be placed at its pose, since
// an answer to a query that silently omits the body would be wrong.
absl::Status BodySet::Place(const BodyColumns& columns, WorkMeter& meter) {
  count_ = 0;
  if (columns.size() > kMaxBodies) {
    return TooMany(absl::StrCat("must be at most ", kMaxBodies, " bodies"));
  }
  std::vector<ItemError> errors;
  size_t vertices = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i == bodies_.size()) bodies_.push_back(std::make_unique<Body>());
    Body& body = *bodies_[i];
    ItemChecker check(i, errors);
    if (!meter.Spend(8)) return absl::OkStatus();
    if (!PlaceItem(columns.placed, i, check, meter, body.shape_)) continue;
    vertices += body.shape_.vertex_count();
    if (vertices > kMaxBodyVertices) {
      return TooMany(absl::StrCat("must have at most ", kMaxBodyVertices, " vertices in all"));
    }
    const Capsule* const capsule = body.shape_.capsule();
    if (capsule == nullptr) body.shape_.polygon().MakeIndex();
    body.radius_ = capsule == nullptr ? 0 : capsule->radius;
    body.bounds_ = body.shape_.bounds();
    body.category_ = columns.category.empty() ? 1 : columns.category[i];
    body.owner_ = columns.owner.empty() ? 0 : columns.owner[i];
    body.index_ = static_cast<uint32_t>(i);
  }
  if (!errors.empty()) {
    Refusal refusal;
    for (const ItemError& error : errors) {
      refusal.Add(absl::StrCat("bodies.placed.", Name(error.column), "[", error.index, "]"),
                  Description(error.fault));
    }
    return refusal.status();
  }
  count_ = columns.size();
  vertices_ += vertices;
  Arrange();
  return absl::OkStatus();
}

// Sorts the bodies (the moving shapes of the set) along a Z-order curve over the centers of their
// boxes (Morton 1966), so that the boxes of one node of `tree_` are near each other. Then builds
// `tree_` and `raster_` over the boxes.
void BodySet::Arrange() {
  Box frame;
  for (size_t i = 0; i < count_; ++i) frame.Extend(bodies_[i]->bounds_);
  std::vector<std::pair<uint32_t, uint32_t>> places;
  places.reserve(count_);
  for (size_t i = 0; i < count_; ++i) {
    const auto& [min, max] = bodies_[i]->bounds_;
    const uint32_t x = PlaceIn(frame.min.x, frame.max.x, Middle(min.x, max.x));
    const uint32_t y = PlaceIn(frame.min.y, frame.max.y, Middle(min.y, max.y));
    places.emplace_back(Spread(x) | Spread(y) << 1, static_cast<uint32_t>(i));
  }
  std::sort(places.begin(), places.end());
  order_.clear();
  for (const auto& [place, index] : places) order_.push_back(index);
  tree_ = BoxTree(count_, [&](size_t item) { return arranged(item).bounds(); });
  raster_.Start(frame);
  for (size_t i = 0; i < count_; ++i) raster_.Add(bodies_[i]->bounds_);
}

}  // namespace internal

Bodies::Bodies() : set_(std::make_unique<internal::BodySet>()) {}
Bodies::Bodies(Bodies&&) noexcept = default;
Bodies& Bodies::operator=(Bodies&&) noexcept = default;
Bodies::~Bodies() = default;

// Places the bodies with a meter that never stops the work, since `Place` limits the number of
// bodies and of their vertices.
absl::StatusOr<Bodies> Bodies::Create(const BodyColumns& columns) {
  Bodies bodies;
  WorkMeter meter;
  const absl::Status status = bodies.set_->Place(columns, meter);
  if (!status.ok()) return status;
  return bodies;
}

size_t Bodies::size() const { return set_->size(); }

}  // namespace carom
