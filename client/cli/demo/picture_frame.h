// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The size of the pictures of `carom demo` and `carom demo match`: a map with room for a title
// above it and for a legend below it.
#pragma once

#include <span>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/svg.h"

namespace carom::cli {

inline constexpr double kMapWidth = 1600;  // width of the map in the picture, in pixels
inline constexpr double kMargin = 48;

// Returns the frame of a picture of `map`.
inline SvgFrame PictureFrame(std::span<const Polygon> map) {
  Box bounds;
  for (const Polygon& polygon : map) bounds.Extend(polygon.bounds());
  return SvgFrame(bounds, kMapWidth, {.side = kMargin, .top = 108, .bottom = 132});
}

}  // namespace carom::cli
