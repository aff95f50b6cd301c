// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "svg/drawing.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace carom::internal {
namespace {

constexpr double kNormalLength = 9;   // in pixels
constexpr double kLeastRadius = 0.5;  // of a capsule that is drawn as one, in pixels
// The number of straight lines that stand for a curve.
constexpr int kCurveLines = 48;

// The CSS classes of the inks, in their order. `over`, `shot`, `near`, `normal` and `hit` are in
// the style sheet of `AppendHead`, the others in `kStyle`.
constexpr std::array<std::string_view, kInkCount> kClasses = {
    "reach",  "dropped", "kept", "passage", "area", "body",   "asked", "start", "apart",
    "over",   "end",     "beam", "beyond",  "near", "shot",   "path",  "gap",   "seen",
    "unseen", "dot",     "out",  "border",  "in",   "normal", "hit"};

// `holes` and `edges` are for shapes in addition to the class of their ink, so they come last.
constexpr std::string_view kStyle = R"(<style>
.area{fill:#ffe9a8;fill-opacity:.2;stroke:#ffe9a8;stroke-width:1}
.body{fill:#ffd166;fill-opacity:.16;stroke:#ffd166;stroke-width:1.5}
.asked,.start,.apart{fill:none;stroke:#93a3cf;stroke-width:1.2}
.start{stroke-dasharray:4 3}
.apart{stroke:#2fd6c3;stroke-width:1.5}
.end{fill:#2fd6c3;fill-opacity:.22;stroke:#2fd6c3;stroke-width:1.5}
.beam,.beyond{fill:none;stroke:#ffd166;stroke-width:.6;stroke-opacity:.34}
.path,.gap{fill:none;stroke:#7fd4ff;stroke-width:1.3}
.gap{stroke-dasharray:2 3}
.seen{fill:none;stroke:#8dff9e;stroke-width:1.2}
.unseen{fill:none;stroke:#ff4d6d;stroke-width:1.2}
.dot,.out,.border,.in{fill:none;stroke:#93a3cf;stroke-width:6;stroke-linecap:round}
.out{stroke:#2fd6c3}.border{stroke:#ffd166}.in{stroke:#ff4d6d}
.cross{stroke-width:2}
.holes{fill-rule:evenodd}
.edges{fill:none}
</style>
)";

// Returns the class of a shape of the ink with the class `ink`: a shape that is not filled by the
// non-zero rule, or not at all, has a second one.
std::string ClassOf(std::string_view ink, const Shape& shape) {
  std::string result(ink);
  const Polygon* const polygon = shape.polygon();
  if (polygon == nullptr) return result;
  if (polygon->solidity() == Solidity::kBoundary) {
    result += " edges";
  } else if (polygon->fill_rule() == FillRule::kEvenOdd) {
    result += " holes";
  }
  return result;
}

// Appends the outline of a capsule: two half circles and the two straight lines between them. A
// capsule that is too thin to be seen is a line, and one that is too small a little circle.
void AppendCapsule(const Capsule& capsule, const SvgFrame& frame, std::string& out) {
  const Vec2 a = frame(capsule.axis.a);
  const Vec2 b = frame(capsule.axis.b);
  const Vec2 along{b.x - a.x, b.y - a.y};
  const double length = std::sqrt(along.x * along.x + along.y * along.y);
  double radius = capsule.radius * frame.scale();
  if (radius < kLeastRadius && length > kLeastRadius) return AppendLine(a, b, out);
  radius = std::max(radius, kLeastRadius);
  // The vector of the length `radius` across the axis, any one for a circle.
  const Vec2 across =
      length > 0 ? Vec2{along.y / length * radius, -along.x / length * radius} : Vec2{0, -radius};
  const auto append_half_circle = [&](Vec2 to) {
    AppendAt('A', {radius, radius}, out);
    out += " 0 0 1";  // not turned, and of the two arcs the one that is clockwise on the screen
    AppendAt(' ', to, out);
  };
  AppendAt('M', {a.x + across.x, a.y + across.y}, out);
  AppendAt('L', {b.x + across.x, b.y + across.y}, out);
  append_half_circle({b.x - across.x, b.y - across.y});
  AppendAt('L', {a.x - across.x, a.y - across.y}, out);
  append_half_circle({a.x + across.x, a.y + across.y});
  out += 'Z';
}

// Returns the last time in [begin, end] at which `trajectory` is in `box`, up to rounding; `begin`
// if there is none after it.
double LastTimeIn(const Box& box, const Trajectory& trajectory, double begin, double end) {
  const Vec2 from = trajectory.origin;
  if (std::isfinite(end) && box.Contains(trajectory.At(end))) return end;
  const double slack =
      0x1p-40 * std::max({box.max.x - box.min.x, box.max.y - box.min.y, std::abs(box.min.x),
                          std::abs(box.max.x), std::abs(box.min.y), std::abs(box.max.y),
                          std::abs(from.x), std::abs(from.y)});
  const Box wide{{box.min.x - slack, box.min.y - slack}, {box.max.x + slack, box.max.y + slack}};
  double last = begin;
  const auto consider = [&](double numerator, double denominator) {
    if (denominator == 0) return;
    const double t = numerator / denominator;
    if (t > last && t <= end && wide.Contains(trajectory.At(t))) last = t;
  };
  // The times at which one coordinate is at `side` are the roots of offset + v t + a t^2 / 2, where
  // `offset` is the coordinate at 0 minus `side`. If there is none, the vertex is harmless.
  const auto consider_side = [&](double offset, double v, double a) {
    const double root = std::sqrt(std::max(0.0, v * v - 2 * a * offset));
    const double q = -(v + std::copysign(root, v));
    consider(q, a);
    consider(2 * offset, q);
  };
  for (const Vec2 corner : {box.min, box.max}) {
    consider_side(from.x - corner.x, trajectory.velocity.x, trajectory.acceleration.x);
    consider_side(from.y - corner.y, trajectory.velocity.y, trajectory.acceleration.y);
  }
  return last;
}

// Returns the points by which a trajectory from `begin` to `end` is drawn: two for a ray.
std::vector<Vec2> PointsOf(const Trajectory& trajectory, double begin, double end) {
  const int lines = trajectory.acceleration == Vec2{} ? 1 : kCurveLines;
  std::vector<Vec2> points;
  for (int i = 0; i <= lines; ++i) {
    points.push_back(trajectory.At(begin + (end - begin) * i / lines));
  }
  return points;
}

void AppendChain(std::span<const Vec2> points, const SvgFrame& frame, std::string& out) {
  char command = 'M';
  for (const Vec2 p : points) {
    AppendAt(command, frame(p), out);
    command = 'L';
  }
  if (points.size() == 1) out += "h0";
}

}  // namespace

void Drawing::AddLine(Ink ink, std::span<const Vec2> points) {
  const auto is_accepted = [](Vec2 p) { return IsAccepted(p); };
  if (points.empty() || !std::ranges::all_of(points, is_accepted)) return;
  for (const Vec2 p : points) bounds_.Extend(p);
  Layer& layer = LayerOf(ink);
  layer.points.insert(layer.points.end(), points.begin(), points.end());
  layer.ends.push_back(layer.points.size());
}

void Drawing::AddCross(Ink ink, Vec2 point) {
  if (!IsAccepted(point)) return;
  bounds_.Extend(point);
  LayerOf(ink).crosses.push_back(point);
}

void Drawing::AddTrajectory(Ink ink, const Trajectory& trajectory, double begin, double end) {
  AddLine(ink, PointsOf(trajectory, begin, end));
}

void Drawing::AddEndless(Ink ink, const Trajectory& trajectory, double begin, double end) {
  const Vec2 start = trajectory.At(begin);
  const bool is_accepted = IsAccepted(start) && IsAccepted(trajectory.origin) &&
                           IsAccepted(trajectory.velocity) && IsAccepted(trajectory.acceleration);
  if (!is_accepted || !(begin <= end)) return;
  bounds_.Extend(start);
  LayerOf(ink).endless.push_back({trajectory, begin, end});
}

void Drawing::AddShape(Ink ink, const Shape& shape) {
  bounds_.Extend(shape.bounds());
  LayerOf(ink).shapes.push_back(shape);
}

void Drawing::AddHit(Vec2 point, Vec2 normal) {
  if (!IsAccepted(point)) return;
  AddDot(Ink::kHit, point);
  if (IsAccepted(normal) && normal != Vec2{}) {
    LayerOf(Ink::kNormal).normals.push_back({point, normal});
  }
}

void Drawing::AppendLines(const Layer& layer, const Box& box, const SvgFrame& frame,
                          std::string& out) {
  size_t begin = 0;
  for (const size_t end : layer.ends) {
    AppendChain(std::span(layer.points).subspan(begin, end - begin), frame, out);
    begin = end;
  }
  for (const Endless& line : layer.endless) {
    const double last = LastTimeIn(box, line.trajectory, line.begin, line.end);
    if (last > line.begin) AppendChain(PointsOf(line.trajectory, line.begin, last), frame, out);
  }
  for (const Normal& normal : layer.normals) {
    const Vec2 p = frame(normal.point);
    const Vec2 n = normal.direction;
    AppendLine(p, {p.x + n.x * kNormalLength, p.y - n.y * kNormalLength}, out);
  }
}

void Drawing::Append(const Box& box, const SvgFrame& frame, std::string& out) const {
  out += kStyle;
  for (size_t ink = 0; ink < kInkCount; ++ink) {
    const Layer& layer = layers_[ink];
    for (const Shape& shape : layer.shapes) {
      std::string data;
      if (shape.polygon() != nullptr) {
        AppendRings(*shape.polygon(), frame, data);
      } else {
        AppendCapsule(*shape.capsule(), frame, data);
      }
      AppendPath(ClassOf(kClasses[ink], shape), data, out);
    }
    std::string data;
    AppendLines(layer, box, frame, data);
    AppendPath(kClasses[ink], data, out);
    data.clear();
    for (const Vec2 point : layer.crosses) {
      AppendAt('M', frame(point), data);
      data += "m-5 -5l10 10m0 -10l-10 10";
    }
    AppendPath(std::string(kClasses[ink]) + " cross", data, out);
  }
}

}  // namespace carom::internal
