// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What Box2D, Parry and Rapier share: columns of floats for the Rust library.

#include "tests/bench/rust_peers.h"

namespace carom::bench {

FloatPolygons::FloatPolygons(const std::vector<Outline>& outlines) : starts{0} {
  for (const Outline& outline : outlines) {
    for (const Vec2 p : outline) {
      xy.push_back(static_cast<float>(p.x));
      xy.push_back(static_cast<float>(p.y));
    }
    starts.push_back(static_cast<uint32_t>(xy.size() / 2));
  }
}

std::vector<RustSegment> FloatSegments(const Segments& segments) {
  std::vector<RustSegment> result;
  for (size_t i = 0; i < segments.size(); ++i) {
    result.push_back({static_cast<float>(segments.ax[i]), static_cast<float>(segments.ay[i]),
                      static_cast<float>(segments.bx[i]), static_cast<float>(segments.by[i])});
  }
  return result;
}

Question FloatWalks(const void* world, WalkTick tick, const Walks& walks,
                    std::vector<Vec2>& trace) {
  const Segment& axis = walks.axis;
  const RustWalker walker{static_cast<float>(axis.a.x), static_cast<float>(axis.a.y),
                          static_cast<float>(axis.b.x), static_cast<float>(axis.b.y),
                          static_cast<float>(walks.radius)};
  std::vector<float> pushes;
  pushes.reserve(2 * walks.pushes.size());
  for (const Vec2 push : walks.pushes) {
    pushes.push_back(static_cast<float>(push.x));
    pushes.push_back(static_cast<float>(push.y));
  }
  return [=, &walks, &trace, at = std::vector<float>()](size_t begin, size_t end) mutable {
    const size_t players = walks.players();
    if (begin == 0) {
      at.clear();
      for (size_t p = 0; p < players; ++p) {
        at.push_back(static_cast<float>(walks.start.x[p]));
        at.push_back(static_cast<float>(walks.start.y[p]));
      }
    }
    for (size_t first = begin; first < end; first += players) {
      tick(world, &walker, at.data(), pushes.data() + 2 * first, players);
      for (size_t p = 0; p < players; ++p) trace[first + p] = {at[2 * p], at[2 * p + 1]};
    }
    return end - begin;
  };
}

}  // namespace carom::bench
