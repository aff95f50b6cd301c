// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Areas of sight as pictures.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "carom/predicates.h"
#include "svg/picture.h"

namespace carom::internal {
namespace {

// An arc is drawn as 2^kHalvings straight lines.
constexpr int kHalvings = 6;

// Returns the unit vector in the middle of the arc that turns counter-clockwise from `a` to `b`,
// unit vectors, by half a turn at most or, with `is_long`, at least. The functions of libm are not
// used, since they have other bits on other machines.
Vec2 MiddleOf(Vec2 a, Vec2 b, bool is_long) {
  const Vec2 sum{a.x + b.x, a.y + b.y};
  const double length = std::sqrt(sum.x * sum.x + sum.y * sum.y);
  if (length < 0x1p-20) return {-a.y, a.x};
  const double scale = (is_long ? -1 : 1) / length;
  return {sum.x * scale, sum.y * scale};
}

struct Arc {
  Vec2 eye;
  double range;

  Vec2 Toward(Vec2 p) const {
    const Vec2 d{p.x - eye.x, p.y - eye.y};
    const double length = std::sqrt(d.x * d.x + d.y * d.y);
    return length > 0 ? Vec2{d.x / length, d.y / length} : Vec2{-1, 0};
  }
  // Returns whether the point is in the direction of `p`, a point of the circle.
  bool IsToward(Vec2 p, Vec2 point) const {
    const double dot = (p.x - eye.x) * (point.x - eye.x) + (p.y - eye.y) * (point.y - eye.y);
    return dot > 0 && Orientation(eye, p, point) == 0;
  }
  // Returns whether piece k, an arc, turns by more than half a turn. Where both of its ends are in
  // one direction, it makes the whole turn exactly if the other pieces make none.
  bool IsLong(std::span<const AreaPiece> pieces, size_t k) const {
    const Vec2 start = pieces[k].start, end = pieces[(k + 1) % pieces.size()].start;
    if (!IsToward(start, end)) return Orientation(eye, start, end) < 0;
    return std::all_of(pieces.begin(), pieces.end(),
                       [&](const AreaPiece& piece) { return IsToward(start, piece.start); });
  }
  // Appends the points between two directions.
  void Append(Vec2 a, Vec2 b, bool is_long, int halvings, std::vector<Vec2>& out) const {
    if (halvings == 0) return;
    const Vec2 middle = MiddleOf(a, b, is_long);
    Append(a, middle, false, halvings - 1, out);
    out.push_back({eye.x + range * middle.x, eye.y + range * middle.y});
    Append(middle, b, false, halvings - 1, out);
  }
};

}  // namespace

void DrawArea(Vec2 eye, double range, std::span<const AreaPiece> pieces, Drawing& out) {
  const Arc arc{eye, range};
  std::vector<Vec2> points;
  bool is_accepted = true;
  for (size_t k = 0; k < pieces.size(); ++k) {
    const Vec2 start = pieces[k].start, end = pieces[(k + 1) % pieces.size()].start;
    points.push_back(start);
    const bool has_extent = start != end || pieces.size() == 1;
    if (pieces[k].kind == AreaPieceKind::kArc && has_extent) {
      const bool is_long = arc.IsLong(pieces, k);
      arc.Append(arc.Toward(start), arc.Toward(end), is_long, kHalvings, points);
    }
  }
  for (const Vec2 p : points) is_accepted = is_accepted && IsAccepted(p);
  if (!points.empty() && is_accepted) {
    std::optional<Polygon> ring;
    RingInto(points, ring);
    out.AddShape(Ink::kArea, *std::move(ring));
  }
  out.AddDot(Ink::kDot, eye);
}

void DrawEyes(const AreaColumns& observers, Drawing& out) {
  for (size_t i = 0; i < observers.size(); ++i) {
    const Vec2 eye{observers.x[i], observers.y[i]};
    if (IsAccepted(eye)) out.AddDot(Ink::kDot, eye);
  }
}

}  // namespace carom::internal
