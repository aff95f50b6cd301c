// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>

#include "tests/fuzz/laws.h"
#include "tests/support/answer_words.h"

namespace carom::testing {
namespace {

// One of the two parts of a batch that is cut before item `at` (or before its end, if that is
// less).
class Cut {
 public:
  enum class Part : uint8_t { kFirst, kSecond };

  Cut(size_t at, Cut::Part part) : at_(at), part_(part) {}

  template <class T>
  void operator()(std::span<const T>& column) const {
    const size_t at = std::min(at_, column.size());
    column = part_ == Part::kFirst ? column.first(at) : column.subspan(at);
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
  Part part_;
};

Group PartOf(Group group, size_t at, Cut::Part part) {
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
  AreaColumns& areas = group.areas;
  cut.All(areas.x, areas.y, areas.range, areas.from, areas.to);
  ForEachKind([&](const auto& kind) {
    if constexpr (HasScope<std::remove_reference_t<decltype(group.*kind.columns)>>) {
      Scope& scope = ScopeOf(group.*kind.columns);
      cut.All(scope.mask, scope.ignore_owner);
    }
  });
  return group;
}

// The items of each batch, in the order of `ForEachKind`.
std::vector<uint32_t> SizesOf(const Group& group) {
  std::vector<uint32_t> sizes;
  ForEachKind([&](const auto& kind) {
    sizes.push_back(static_cast<uint32_t>((group.*kind.columns).size()));
  });
  return sizes;
}

void RequireEqual(const GroupCase& made, const std::vector<Words>& expected, GroupAnswers& answers,
                  const char* law) {
  const std::vector<Words> words = WordsOf(answers);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == expected[i]) continue;
    std::fprintf(stderr, "batch %s\n", words[i].batch);
    Break(made, law, {});
  }
}

// The same polygons by another way: given in reverse, the first half by a commit later on, after
// something that does not remain.
Scene::Ptr OtherScene(const GroupCase& made) {
  std::vector<Polygon> first;
  std::vector<SceneEdit> edits;
  for (size_t i = made.specs.size(); i-- > 0;) {
    Polygon polygon = Polygon::Create(made.specs[i]).value();
    if (i % 2 == 0) {
      first.push_back(std::move(polygon));
    } else {
      edits.push_back(AddPolygon{std::move(polygon)});
    }
  }
  constexpr uint64_t kGone = 1000;
  PolygonSpec gone{.id = kGone, .rings = {{{{0, 0}, {9, 0}, {0, 9}}}}};
  first.push_back(Polygon::Create(gone).value());
  edits.push_back(RemovePolygon{kGone});
  const Scene::Ptr before = Scene::Create(std::move(first), 1).value();
  return before->Commit(std::move(edits), made.scene->version()).value();
}

}  // namespace

void CheckIndependence(Choices& choices, const GroupCase& made, GroupAnswers& answers) {
  const std::vector<Words> expected = WordsOf(answers);
  const size_t at = choices.Below(4);
  const Group first = PartOf(made.group, at, Cut::Part::kFirst);
  const Group second = PartOf(made.group, at, Cut::Part::kSecond);
  GroupAnswers together = Evaluate(made, first);
  GroupAnswers rest = Evaluate(made, second);
  Append(together, rest, SizesOf(first));
  RequireEqual(made, expected, together, "a batch in two parts has the same answers");
  Group otherwise = made.group;
  otherwise.move_options.coherence =
      made.group.move_options.coherence == Coherence::kOn ? Coherence::kOff : Coherence::kOn;
  GroupAnswers without = Evaluate(made, otherwise);
  RequireEqual(made, expected, without, "coherence changes nothing");
  GroupAnswers other;
  WorkMeter meter;
  const Scene::Ptr scene = OtherScene(made);
  Require(EvaluateGroup(*scene, made.group, other, meter).ok(), made, "nothing stops the work");
  RequireEqual(made, expected, other, "order and history of the polygons change nothing");
}

}  // namespace carom::testing
