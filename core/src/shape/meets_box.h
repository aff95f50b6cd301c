// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The condition by which most traversals of bounding-box trees select boxes: does a box share a
// point with a given box? Trees test it for eight boxes at a time.
#pragma once

#include "carom/geometry.h"

namespace carom::internal {

// The condition that a box shares a point with the box `reach`.
struct MeetsBox {
  Box reach;

  bool operator()(const Box& box) const { return reach.Intersects(box); }
};

}  // namespace carom::internal
