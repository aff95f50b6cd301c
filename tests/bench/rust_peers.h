// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What Box2D and Parry share: columns of floats for the Rust library.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/peers/peers.h"
#include "tests/bench/scenes.h"

namespace carom::bench {

struct FloatPolygons {
  explicit FloatPolygons(const std::vector<Outline>& outlines);

  RustPolygons view() const { return {xy.data(), starts.data(), starts.size() - 1}; }

  std::vector<float> xy;
  std::vector<uint32_t> starts;
};

std::vector<RustSegment> FloatSegments(const Segments& segments);

}  // namespace carom::bench
