// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What Box2D, Parry and Rapier share: columns of floats for the Rust library.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/peer.h"
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

// Players of a peer whose function walks one tick of them.
using WalkTick = void (*)(const void* world, const RustWalker* walker, float* positions,
                          const float* pushes, size_t count);
Question FloatWalks(const void* world, WalkTick tick, const Walks& walks, std::vector<Vec2>& trace);

}  // namespace carom::bench
