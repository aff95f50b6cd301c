// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the pictures of `carom demo` and `carom demo match` share: the map, and how SVG is written.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom::cli {

inline constexpr double kMapWidth = 1600;  // pixels
inline constexpr double kMargin = 48;
inline constexpr double kHeader = 108;
inline constexpr double kFooter = 132;

// World to pixels, y up to y down.
class Frame2d {
 public:
  explicit Frame2d(const Box& bounds)
      : bounds_(bounds),
        scale_(kMapWidth /
               std::max(bounds.max.x - bounds.min.x, (bounds.max.y - bounds.min.y) * 0.75)) {}

  Vec2 operator()(Vec2 p) const {
    return {kMargin + (p.x - bounds_.min.x) * scale_, kHeader + (bounds_.max.y - p.y) * scale_};
  }
  double scale() const { return scale_; }
  // Pixels of the whole picture, margins included.
  double width() const { return kMapWidth + 2 * kMargin; }
  double bottom() const { return kHeader + (bounds_.max.y - bounds_.min.y) * scale_; }
  double height() const { return bottom() + kFooter; }

 private:
  const Box bounds_;
  const double scale_;
};

// Writes a length in pixels, two decimals at most.
void AppendPixel(double value, std::string& out);
// Writes a command of a path, such as `M`, and a point in pixels.
void AppendAt(char command, Vec2 p, std::string& out);
void AppendLine(Vec2 a, Vec2 b, std::string& out);
// Writes one path for all rings, so that the fill rule of SVG does what that of the polygon does.
void AppendRings(const Polygon& polygon, const Frame2d& frame, std::string& out);
// Writes a path of the class `style`; nothing where it is empty: SVG has no use for it.
void AppendPath(std::string_view style, std::string_view data, std::string& out);
// Writes text; `x` and `y` are the left end of its base line, in pixels.
void AppendText(double x, double y, std::string_view style, std::string_view text,
                std::string& out);

// The class of a polygon of the map: `even`, `nonzero` or `hollow`.
const char* StyleOf(const Polygon& polygon);
void AppendMap(std::span<const Polygon> map, const Frame2d& frame, std::string& out);

// Writes the start of a document: its size, the classes above and others, and a dark ground.
void AppendHead(const Frame2d& frame, std::string& out);

}  // namespace carom::cli
