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
  windows_.Clear();
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

// Builds `tree_` and `raster_` over the boxes, in an order in which the boxes of one node of the
// tree are near each other.
void BodySet::Arrange() {
  Box frame;
  std::vector<Box> boxes;
  boxes.reserve(count_);
  for (size_t i = 0; i < count_; ++i) {
    boxes.push_back(bodies_[i]->bounds_);
    frame.Extend(boxes.back());
  }
  OrderAlongCurve(boxes, order_);
  tree_ = BoxTree(count_, [&](size_t item) { return boxes[order_[item]]; });
  raster_.Start(frame);
  for (const Box& box : boxes) raster_.Add(box);
}

void BodySet::Follow(const BodyHistory& history, BodyRotation rotation, WorkMeter& meter) {
  windows_.Start(history, rotation);
  count_ = history.tick_count() == 0 ? 0 : history.size();
  while (bodies_.size() < count_) bodies_.push_back(std::make_unique<Body>());
  meter.Spend(2 * count_);
  const DefinedBodies& defined = history.defined();
  for (size_t i = 0; i < count_; ++i) {
    Body& body = *bodies_[i];
    body.category_ = defined.category(i);
    body.owner_ = defined.owner(i);
    body.index_ = static_cast<uint32_t>(i);
    body.as_of_ = std::numeric_limits<double>::quiet_NaN();
    vertices_ += defined.definition.shapes[defined.shape_of(i)].vertex_count();
  }
}

// Never fails: `BodyHistory` accepts no pose and no shape that could leave the accepted range.
void BodySet::PlaceAt(const BodyMoment& moment, double as_of, Body& body, WorkMeter& meter) {
  const DefinedBodies& defined = windows_.history().defined();
  const Shape& shape = defined.definition.shapes[defined.shape_of(body.index_)];
  meter.Spend(4 + shape.vertex_count());
  body.shape_.Place(shape, PoseAt(moment, body.index_, windows_.rotation()));
  const Capsule* const capsule = body.shape_.capsule();
  if (capsule == nullptr) body.shape_.polygon().MakeIndex();
  body.radius_ = capsule == nullptr ? 0 : capsule->radius;
  body.bounds_ = body.shape_.bounds();
  body.as_of_ = as_of;
}

Body& BodySet::BodyAt(size_t index, const QueryFilter& query_filter, WorkMeter& meter) {
  Body& body = *bodies_[index];
  if (windows_.has_history() && body.as_of_ != query_filter.as_of) {
    PlaceAt(windows_.MomentAt(query_filter.as_of), query_filter.as_of, body, meter);
  }
  return body;
}

bool BodySet::MayMeet(const MeetsBox& reach, const QueryFilter& query_filter, WorkMeter& meter) {
  const auto stop = [](size_t) { return false; };
  if (!windows_.has_history()) return !tree_.Traverse(meter, reach, stop);
  const BodyMoment moment = windows_.MomentAt(query_filter.as_of);
  return moment.is_kept() && !windows_.Traverse(moment, meter, reach, stop);
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
