// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A polygon that somebody else owns: copying it counts no owner, and reads nothing of the polygon.
#pragma once

#include "carom/polygon.h"

namespace carom::internal {

// Valid while a `Polygon` that it was made of, or a copy of that, exists. Thread-safe to read.
class PolygonView {
 public:
  explicit PolygonView(const Polygon& polygon) : polygon_(polygon.block_) {}
  PolygonView(const PolygonView& other) : polygon_(other.polygon_.block_) {}
  PolygonView& operator=(const PolygonView& other) {
    polygon_.block_ = other.polygon_.block_;
    return *this;
  }
  ~PolygonView() {}  // NOLINT(modernize-use-equals-default): the polygon is not destroyed

  // A copy of it is an owner as any other.
  const Polygon& get() const { return polygon_; }

 private:
  union {
    Polygon polygon_;
  };
};

}  // namespace carom::internal
