// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a scene look like, and what did a group of questions find in it?
//
// Start with `DrawSvg`, which returns a picture of a scene, of the questions of a group and of
// their answers as an SVG document. The `Append…` functions write the parts of such documents, for
// programs that make pictures of their own, as `carom demo` does.
//
//   const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
//   Group group;
//   group.segments = {ax, ay, bx, by};
//   GroupAnswers answers;
//   WorkMeter meter;
//   const absl::Status status = EvaluateGroup(*scene, group, answers, meter);
//   const std::string picture = DrawSvg(*scene, &group, &answers, {.width = 640});
//   // `picture` shows the square, a bullet that ends at (0, 1), and the normal there
//
// Places and radii are in the unit of the caller's coordinates, y up, unless a comment says pixels;
// pixels have y down. Error: pixels are rounded to hundredths. Equal input gives equal bytes on
// every machine. Cost: O(n) for n vertices of the scene, rows of the answers, and vertices of the
// shapes that the questions move, each counted once for each item. Thread-safe. Cheaper
// alternative: `AppendMap`, for the polygons alone. More powerful: carom/group.h, the numbers
// themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "carom/geometry.h"
#include "carom/group.h"
#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom {

inline constexpr uint32_t kMinSvgWidth = 64;
inline constexpr uint32_t kMaxSvgWidth = 16384;

struct SvgOptions {
  // Width of the document in pixels; a number outside of [kMinSvgWidth, kMaxSvgWidth] is read as
  // the nearest number in the range. The height follows from what is drawn and is at most 4/3 of
  // the width. Keep the default unless the picture has to fit into a page.
  uint32_t width = 1024;
};

// Returns an SVG document of `scene` and, over it, of the questions of `group` and of what
// `answers` found. `group` and `answers` may be null; with a group alone, the questions are drawn
// without a verdict. Never fails, and the document is well-formed XML without NaN or infinity,
// whatever the numbers are.
//
// The picture shows what the scene and the questions cover. Rays, beams of fans and arcs that hit
// nothing end where they leave that area, since they may be endless.
//   * Segments, rays, arcs: a bright line to the first hit, a thin one beyond (not for arcs), and
//     each hit with its normal, 9 pixels long.
//   * Points: dots, red inside a polygon, yellow on a boundary, else green.
//   * Circles, capsules, boxes, polygons, contacts, distances: outlines, filled red if the shape
//     touches something; the points and normals of contacts; the nearest points, joined.
//   * Sweeps, slides, depenetrations: the shape at the start, dashed, its path, and the shape where
//     it ends: red at the hit of a sweep, and where a depenetration did not get free.
//   * Fans: the beams, to their hits. Lines of sight: green, or red if something blocks them.
//   * Areas: the eye, and what it sees, filled.
//   * Bounces: the legs, with their hits. Moves of trackers: a cross at the pose, red if the
//     tracker touches something. Bodies: outlines.
//
// Leaves out: items in error; what has a coordinate that is not accepted; the questions, if
// `CheckGroup` refuses the group; and the answers to a kind if their number is not that of the
// questions. Moves are drawn without their trackers, which are not read.
std::string DrawSvg(const Scene& scene, const Group* group, const GroupAnswers* answers,
                    const SvgOptions& options = {});

// --- Parts of a document

// The space around a map in a picture, in pixels.
struct SvgMargins {
  double side = 0;  // left and right
  double top = 0;
  double bottom = 0;
};

// Maps world coordinates, with y up, to pixels, with y down. The map is `map_width` pixels wide, or
// less if its height is above 4/3 of its width. A box that is empty, has no extent or is not finite
// is replaced by a small one, so that no pixel is NaN or infinite. Thread-safe: immutable.
class SvgFrame {
 public:
  SvgFrame(const Box& bounds, double map_width, const SvgMargins& margins);

  Vec2 operator()(Vec2 p) const {
    return {margins_.side + (p.x - bounds_.min.x) * scale_,
            margins_.top + (bounds_.max.y - p.y) * scale_};
  }
  // Returns the box of the map: the box that the frame was made for, or the one that replaces it.
  const Box& bounds() const { return bounds_; }
  // Returns how many pixels a unit of length is.
  double scale() const { return scale_; }
  // `width` and `height` return the size of the whole picture in pixels, with its margins; `bottom`
  // returns the y coordinate of the lower end of the map.
  double width() const { return map_width_ + 2 * margins_.side; }
  double bottom() const { return margins_.top + (bounds_.max.y - bounds_.min.y) * scale_; }
  double height() const { return bottom() + margins_.bottom; }

 private:
  const Box bounds_;
  const double map_width_;
  const SvgMargins margins_;
  const double scale_;
};

// Appends a length in pixels, with at most two decimals. Magnitudes above 10^6 become 10^6, which
// is far outside of every picture and a number for every viewer; NaN becomes 0.
void AppendPixel(double value, std::string& out);
// Appends a path command, such as `M`, and a point in pixels.
void AppendAt(char command, Vec2 p, std::string& out);
// Appends the path commands of the straight line from `a` to `b`, points in pixels.
void AppendLine(Vec2 a, Vec2 b, std::string& out);
// Appends the path commands of all rings of a polygon. They must be put into one path element, so
// that SVG applies the fill rule to all rings together.
void AppendRings(const Polygon& polygon, const SvgFrame& frame, std::string& out);
// Appends an SVG path element with the CSS class `style` and the path commands `data`, unless
// `data` is empty. Neither may contain characters that XML reserves.
void AppendPath(std::string_view style, std::string_view data, std::string& out);
// Appends a text element of the CSS class `style`; `x` and `y` are the left end of its base line,
// in pixels. `text` may contain any bytes: bytes that XML does not allow, or that are not UTF-8,
// are replaced by U+FFFD.
void AppendText(double x, double y, std::string_view style, std::string_view text,
                std::string& out);

// Returns the CSS class for a polygon of the map: `even`, `nonzero` or `hollow`.
const char* StyleOf(const Polygon& polygon);
// Appends a path element for each polygon of the map, in the order of `map`, so that later polygons
// are above earlier ones.
void AppendMap(std::span<const Polygon> map, const SvgFrame& frame, std::string& out);

// What a document says about its size. SCALABLE: the view box alone, so that viewers fill what
// space they have. FIXED: also the width and the height in pixels.
enum class SvgSize : uint8_t { kScalable, kFixed };

// Appends the start of an SVG document: its size, the style sheet, and a dark background. The
// caller ends the document with `</svg>`. The style sheet has the classes of `StyleOf`, `title`,
// `sub`, `label` and `count` for texts, `free` and `over` for shapes, `shot`, `near`, `mid`, `far`,
// `hit` and `normal` for lines; the caller may append a style sheet with more.
void AppendHead(const SvgFrame& frame, SvgSize size, std::string& out);

}  // namespace carom
