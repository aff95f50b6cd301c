// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The condition of most traversals, in a form that trees judge eight boxes at a time.
#pragma once

#include "carom/geometry.h"

namespace carom::internal {

// The set of boxes that share a point with `reach`.
struct MeetsBox {
  Box reach;

  bool operator()(const Box& box) const { return reach.Intersects(box); }
};

}  // namespace carom::internal
