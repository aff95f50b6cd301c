// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/edge_bounds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/proximity/edge_bounds.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "proximity/measure_ring.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

void MeasureAny(std::span<const Vec2> ring, Vec2 point, EdgeBounds& bounds) {
  MeasureRing(ring, point, bounds);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(MeasureAny);

}  // namespace

EdgeBounds BoundsOfEdges(std::span<const Vec2> ring, Vec2 point) {
  EdgeBounds bounds;
  HWY_DYNAMIC_DISPATCH(MeasureAny)(ring, point, bounds);
  return bounds;
}

}  // namespace carom::internal
#endif  // HWY_ONCE
