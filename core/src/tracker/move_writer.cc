// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/move_writer.h"

#include <algorithm>
#include <cmath>

#include "numeric/exact.h"

namespace carom::internal {

// Writes an item (move) that touches nothing at its end as clear, one bit of `MoveAnswers::clear`;
// except for a sweep (a move along a path) that touches something on its path, which gets a first
// touch and a count of 0.
void MoveWriter::Write(size_t i, const Touched& touched) {
  const bool is_path_clear = !moves_.sweeps() || sweeps_.IsClear(i);
  if (touched.polygons.empty() && is_path_clear) return WriteClear(i);
  if (moves_.sweeps()) {
    out_.first_touches.push_back(is_path_clear ? FirstTouch{} : sweeps_.result(i).first_touch);
  }
  out_.counts.push_back(static_cast<uint32_t>(touched.polygons.size()));
  for (const TouchedPolygon& polygon : touched.polygons) {
    out_.polygon_ids.push_back(polygon.id);
    if (options_.detail == OverlapDetail::kEdges) out_.edge_counts.push_back(polygon.edge_count);
  }
  out_.edges.insert(out_.edges.end(), touched.edges.begin(), touched.edges.end());
}

void MoveWriter::WriteFailed() {
  out_.counts.push_back(0);
  if (moves_.sweeps()) out_.first_touches.push_back({});
  if (options_.quiet_radii) out_.quiet_radii.push_back(0);
}

// A disc about the item's position fits into the quiet ball (the disc in which the tracker's answer
// holds) if its radius is at most the radius of the ball less the distance between the item's
// position and the centre of the ball. The roots and the difference are rounded so that the result
// is not too large.
void MoveWriter::WriteQuietRadius(size_t i, const QuietBall& ball) {
  const double dx = moves_.x[i] - ball.center.x;
  const double dy = moves_.y[i] - ball.center.y;
  const double radius = ball.radius2[1] > 0 ? std::sqrt(ball.radius2[1]) * kDown : 0;
  const double distance = std::sqrt(dx * dx + dy * dy) * kUp;
  out_.quiet_radii.push_back(std::max(0.0, (radius - distance) * kDown));
}

}  // namespace carom::internal
