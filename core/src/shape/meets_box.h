// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The condition of most traversals: does a box meet a given box? Trees test it for eight boxes at a
// time.
#pragma once

#include "carom/geometry.h"

namespace carom::internal {

// The condition that a box shares a point with `reach`.
struct MeetsBox {
  Box reach;

  bool operator()(const Box& box) const { return reach.Intersects(box); }
};

}  // namespace carom::internal
