// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What Box2D and Parry share: columns of floats for the Rust library.

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

}  // namespace carom::bench
