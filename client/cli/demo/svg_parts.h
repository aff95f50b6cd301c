// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes the SVG elements that the pictures of `carom demo` and `carom demo match` share.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom::cli {

inline constexpr double kMapWidth = 1600;  // width of the map in the picture, in pixels
inline constexpr double kMargin = 48;
inline constexpr double kHeader = 108;
inline constexpr double kFooter = 132;

// Maps world coordinates, with y up, to pixels, with y down.
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
  // `width` and `height` return the size of the whole picture in pixels, with its margins; `bottom`
  // returns the y coordinate of the lower end of the map.
  double width() const { return kMapWidth + 2 * kMargin; }
  double bottom() const { return kHeader + (bounds_.max.y - bounds_.min.y) * scale_; }
  double height() const { return bottom() + kFooter; }

 private:
  const Box bounds_;
  const double scale_;
};

// Appends a length in pixels, with at most two decimals.
void AppendPixel(double value, std::string& out);
// Appends a path command, such as `M`, and a point in pixels.
void AppendAt(char command, Vec2 p, std::string& out);
// Appends the path commands of the straight line from `a` to `b`, points in pixels.
void AppendLine(Vec2 a, Vec2 b, std::string& out);
// Appends the path commands of all rings of a polygon. They must be put into one path element, so
// that SVG applies the fill rule to all rings together.
void AppendRings(const Polygon& polygon, const Frame2d& frame, std::string& out);
// Appends an SVG path element with the CSS class `style` and the path commands `data`, unless
// `data` is empty.
void AppendPath(std::string_view style, std::string_view data, std::string& out);
// Appends a text element; `x` and `y` are the left end of its base line, in pixels.
void AppendText(double x, double y, std::string_view style, std::string_view text,
                std::string& out);

// Returns the CSS class for a polygon of the map: `even`, `nonzero` or `hollow`.
const char* StyleOf(const Polygon& polygon);
// Appends a path element for each polygon of the map.
void AppendMap(std::span<const Polygon> map, const Frame2d& frame, std::string& out);

// Appends the start of an SVG document: the view box, the style sheet, and a dark background.
void AppendHead(const Frame2d& frame, std::string& out);

}  // namespace carom::cli
