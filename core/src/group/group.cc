// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/group.h"

namespace carom {

uint64_t FanQueryCount(std::span<const uint32_t> beams) {
  uint64_t count = 0;
  for (const uint32_t n : beams) count += n >= 1 && n <= kMaxBeams ? n : 1;
  return count;
}

uint64_t Group::query_count() const {
  const uint64_t count = segments.size() + points.size() + circles.size() + polygons.size() +
                         rays.size() + capsules.size() + boxes.size() + distances.size() +
                         contacts.size() + depenetrations.size() + sweeps.size() +
                         rotating_sweeps.size() + arcs.size() + sights.size() + moves.size();
  return count + FanQueryCount(fans.beams);
}

void GroupAnswers::Clear() {
  version = 0;
  segments.Clear();
  points.Clear();
  circles.Clear();
  polygons.Clear();
  rays.Clear();
  capsules.Clear();
  boxes.Clear();
  distances.Clear();
  contacts.Clear();
  depenetrations.Clear();
  sweeps.Clear();
  rotating_sweeps.Clear();
  arcs.Clear();
  sights.Clear();
  fans.Clear();
  moves.Clear();
}

absl::Status EvaluateGroup(const Scene& scene, const Group& group, GroupAnswers& out,
                           WorkMeter& meter) {
  out.version = scene.version();
  out.moves.Clear();  // what is not reached learns nothing
  // Most kinds ask nothing, and have nothing to be cleared.
  const auto ask = [&](auto answer, const auto& columns, const auto& options, auto& answers) {
    if (columns.size() != 0) return answer(scene, columns, options, answers, meter);
    answers.Clear();
    return true;
  };
  const bool finished =
      ask(CastSegments, group.segments, group.cast_options, out.segments) &&
      ask(LocatePoints, group.points, group.point_mask, out.points) &&
      ask(OverlapCircles, group.circles, group.circle_options, out.circles) &&
      ask(OverlapPolygons, group.polygons, group.polygon_options, out.polygons) &&
      ask(CastRays, group.rays, group.ray_options, out.rays) &&
      ask(OverlapCapsules, group.capsules, group.capsule_options, out.capsules) &&
      ask(OverlapBoxes, group.boxes, group.box_options, out.boxes) &&
      ask(MeasureDistances, group.distances, group.distance_options, out.distances) &&
      ask(FindContacts, group.contacts, group.contact_options, out.contacts) &&
      ask(Depenetrate, group.depenetrations, group.depenetration_options, out.depenetrations) &&
      ask(SweepShapes, group.sweeps, group.sweep_options, out.sweeps) &&
      ask(SweepRotating, group.rotating_sweeps, group.rotating_sweep_options,
          out.rotating_sweeps) &&
      ask(CastArcs, group.arcs, group.arc_options, out.arcs) &&
      ask(TestLinesOfSight, group.sights, group.sight_mask, out.sights) &&
      ask(ScanFans, group.fans, group.fan_options, out.fans) &&
      ask(MoveTrackers, group.moves, group.move_options, out.moves);
  if (finished && !meter.stopped()) return absl::OkStatus();
  if (meter.out_of_rows()) {
    return absl::ResourceExhaustedError("the answers have too many rows (answer rows a frame)");
  }
  return absl::DeadlineExceededError("the work was stopped: the frame's budget or deadline ended");
}

}  // namespace carom
