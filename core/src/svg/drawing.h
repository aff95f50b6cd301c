// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is to be drawn over a map, while the extent of the picture is not known yet?
//
// A `Drawing` collects lines, dots and shapes in world coordinates and the box that contains them.
// Once everything is collected, `Append` writes it. What has a coordinate that is not accepted is
// left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "carom/geometry.h"
#include "carom/shape.h"
#include "carom/svg.h"

namespace carom::internal {

// How something is drawn, in the order in which it is drawn: later inks are above earlier ones.
enum class Ink : uint8_t {
  kReach,     // the box of a question
  kDropped,   // an edge of a candidate that is not in the answer
  kKept,      // an edge of a candidate of the answer
  kPassage,   // the passage of a cast
  kArea,      // what is visible from a point
  kBody,      // a body
  kAsked,     // an outline or a line whose answer is not known
  kStart,     // a shape where it starts
  kApart,     // a shape that touches nothing
  kTouching,  // a shape that touches something
  kEnd,       // a shape where it ends without a hit
  kBeam,      // a beam of a fan
  kBeyond,    // a line beyond its first hit
  kMiss,      // a line that hits nothing
  kShot,      // a line up to its first hit
  kPath,      // the path of a shape
  kGap,       // the line between nearest points
  kSeen,      // a line of sight
  kUnseen,    // a line of sight that something blocks
  kDot,       // a point whose answer is not known
  kOutside,   // a point in no polygon, a tracker that touches nothing
  kBoundary,  // a point on the boundary of a polygon, and in none
  kInside,    // a point in a polygon, a tracker that touches something
  kNormal,    // a normal
  kHit,       // a hit
};
inline constexpr size_t kInkCount = static_cast<size_t>(Ink::kHit) + 1;

// The points origin + t * velocity + t^2 / 2 * acceleration; t is at least 0. A line without
// acceleration is a ray.
struct Trajectory {
  Vec2 origin;
  Vec2 velocity;
  Vec2 acceleration = {};

  Vec2 At(double t) const {
    return {origin.x + t * (velocity.x + t * acceleration.x / 2),
            origin.y + t * (velocity.y + t * acceleration.y / 2)};
  }
};

// Not thread-safe while it is filled.
class Drawing {
 public:
  // Adds a chain of straight lines; a chain of one point is a dot.
  void AddLine(Ink ink, std::span<const Vec2> points);
  void AddLine(Ink ink, Vec2 a, Vec2 b) { AddLine(ink, std::array{a, b}); }
  void AddDot(Ink ink, Vec2 point) { AddLine(ink, {&point, 1}); }
  // Adds a cross of a fixed size in pixels.
  void AddCross(Ink ink, Vec2 point);
  // Adds the part of a trajectory from `begin` to `end`, both of which belong to the picture.
  void AddTrajectory(Ink ink, const Trajectory& trajectory, double begin, double end);
  // Adds the part of a trajectory from `begin` to `end`, which may be infinite. The picture is not
  // enlarged for it, except for its start: the line ends where it leaves the picture.
  void AddEndless(Ink ink, const Trajectory& trajectory, double begin, double end);
  // Adds the outline of a shape, filled if the ink fills shapes.
  void AddShape(Ink ink, const Shape& shape);
  // Adds a hit and its unit normal, of a fixed length in pixels; a normal of zero is not drawn.
  void AddHit(Vec2 point, Vec2 normal);

  // Returns the box that contains everything but endless lines.
  const Box& bounds() const { return bounds_; }

  // Appends a style sheet and the elements: one path for all lines of an ink, and one for each
  // shape. Endless lines end at the sides of `box`, which contains `bounds()`.
  void Append(const Box& box, const SvgFrame& frame, std::string& out) const;

 private:
  struct Endless {
    Trajectory trajectory;
    double begin = 0;
    double end = 0;
  };
  struct Normal {
    Vec2 point;
    Vec2 direction;
  };
  // What is drawn in one ink.
  struct Layer {
    std::vector<Shape> shapes;
    std::vector<Vec2> points;  // of all chains
    std::vector<size_t> ends;  // of each chain, in `points`
    std::vector<Vec2> crosses;
    std::vector<Endless> endless;
    std::vector<Normal> normals;
  };

  Layer& LayerOf(Ink ink) { return layers_[static_cast<size_t>(ink)]; }
  static void AppendLines(const Layer& layer, const Box& box, const SvgFrame& frame,
                          std::string& out);

  std::array<Layer, kInkCount> layers_;
  Box bounds_;
};

}  // namespace carom::internal
