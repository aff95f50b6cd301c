// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/group_part.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>

#include "carom/group_kinds.h"

namespace carom::testing {
namespace {

// One of the two parts of a batch that is cut before item `at` (or before its end, if that is
// less).
class Cut {
 public:
  Cut(size_t at, GroupPart part) : at_(at), part_(part) {}

  template <class T>
  void operator()(std::span<const T>& column) const {
    const size_t at = std::min(at_, column.size());
    column = part_ == GroupPart::kFirst ? column.first(at) : column.subspan(at);
  }
  template <class... T>
  void All(T&... columns) const {
    ((*this)(columns), ...);
  }
  template <class S>
  void Poses(PlacedColumns<S>& movers) const {
    All(movers.shape, movers.x, movers.y, movers.c, movers.s, movers.angle);
  }

 private:
  size_t at_;
  GroupPart part_;
};

}  // namespace

Group PartOf(Group group, size_t at, GroupPart part) {
  const Cut cut(at, part);
  cut.All(group.segments.ax, group.segments.ay, group.segments.bx, group.segments.by);
  cut.All(group.points.x, group.points.y);
  cut.All(group.circles.x, group.circles.y, group.circles.radius);
  cut.Poses(group.polygons);
  cut.All(group.rays.x, group.rays.y, group.rays.dx, group.rays.dy, group.rays.t_min,
          group.rays.t_max);
  CapsuleColumns& capsules = group.capsules;
  cut.All(capsules.ax, capsules.ay, capsules.bx, capsules.by, capsules.radius);
  cut.All(group.boxes.min_x, group.boxes.min_y, group.boxes.max_x, group.boxes.max_y);
  cut.Poses(group.distances.movers);
  cut(group.distances.max_distance);
  cut.Poses(group.contacts.movers);
  cut.All(group.contacts.mass, group.contacts.polygon_mass);
  cut.Poses(group.depenetrations);
  cut.Poses(group.sweeps.movers);
  cut.All(group.sweeps.to_x, group.sweeps.to_y);
  RotatingSweepColumns& turning = group.rotating_sweeps;
  cut.Poses(turning.movers);
  cut.All(turning.to_x, turning.to_y, turning.to_c, turning.to_s, turning.to_angle,
          turning.tolerance);
  ArcColumns& arcs = group.arcs;
  cut.All(arcs.x, arcs.y, arcs.vx, arcs.vy, arcs.ax, arcs.ay, arcs.duration);
  cut.All(group.sights.ax, group.sights.ay, group.sights.bx, group.sights.by);
  FanColumns& fans = group.fans;
  cut.All(fans.x, fans.y, fans.angle, fans.step, fans.range, fans.beams);
  MoveColumns& moves = group.moves;
  cut.All(moves.tracker, moves.x, moves.y, moves.c, moves.s, moves.angle);
  cut.All(moves.from_x, moves.from_y, moves.from_c, moves.from_s, moves.from_angle);
  SlideColumns& slides = group.slides;
  // Of slides the displacements are cut where the items before have theirs.
  const std::span<const uint32_t> before = slides.pushes.first(std::min(at, slides.pushes.size()));
  const size_t pushes =
      slides.pushes.empty() ? at : std::accumulate(before.begin(), before.end(), size_t{0});
  Cut(pushes, part).All(slides.dx, slides.dy);
  cut.Poses(slides.movers);
  cut.All(slides.pushes, slides.skin);
  cut.All(group.bounces.ax, group.bounces.ay, group.bounces.bx, group.bounces.by);
  cut(group.body_contacts.body);
  RayBounceColumns& rays = group.ray_bounces;
  cut.All(rays.x, rays.y, rays.dx, rays.dy, rays.t_max, rays.max_bounces);
  for (AreaColumns* eyes : {&group.areas, &group.sees}) {
    cut.All(eyes->x, eyes->y, eyes->range, eyes->from, eyes->to, eyes->eye);
  }
  ForEachKind([&](const auto& kind) {
    if constexpr (HasScope<std::remove_reference_t<decltype(group.*kind.columns)>>) {
      Scope& scope = ScopeOf(group.*kind.columns);
      cut.All(scope.mask, scope.ignore_owner, scope.as_of);
    }
  });
  return group;
}

std::vector<uint32_t> SizesOf(const Group& group) {
  std::vector<uint32_t> sizes;
  ForEachKind([&](const auto& kind) {
    sizes.push_back(static_cast<uint32_t>((group.*kind.columns).size()));
  });
  return sizes;
}

}  // namespace carom::testing
