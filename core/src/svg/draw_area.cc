// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Areas of sight as pictures.

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "svg/picture.h"

namespace carom::internal {
namespace {

// An arc is drawn as 2^kHalvings straight lines.
constexpr int kHalvings = 6;

// Returns the unit vector in the middle of the arc that turns counter-clockwise from `a` to `b`,
// unit vectors; equal ones are a whole turn. The functions of libm are not used, since they have
// other bits on other machines.
Vec2 MiddleOf(Vec2 a, Vec2 b) {
  const Vec2 sum{a.x + b.x, a.y + b.y};
  const double length = std::sqrt(sum.x * sum.x + sum.y * sum.y);
  if (length < 0x1p-20) return {-a.y, a.x};
  const double turn = a.x * b.y - a.y * b.x;
  const double scale = (turn > 0 ? 1 : -1) / length;
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
  // Appends the points between two directions.
  void Append(Vec2 a, Vec2 b, int halvings, std::vector<Vec2>& out) const {
    if (halvings == 0) return;
    const Vec2 middle = MiddleOf(a, b);
    Append(a, middle, halvings - 1, out);
    out.push_back({eye.x + range * middle.x, eye.y + range * middle.y});
    Append(middle, b, halvings - 1, out);
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
      arc.Append(arc.Toward(start), arc.Toward(end), kHalvings, points);
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

}  // namespace carom::internal
