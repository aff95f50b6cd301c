// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Uses the library without a server: casts segments, tests circles, sweeps a box against a scene in
// memory, and computes the contact of two shapes.

#include <cstdio>
#include <string>
#include <vector>

#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/overlap.h"
#include "carom/scene.h"
#include "carom/sweep.h"

namespace {

// Returns a scene with a square of side 10 that has a hole of side 2 in the middle.
absl::StatusOr<carom::Scene::Ptr> MakeScene() {
  carom::PolygonSpec spec;
  spec.id = 7;
  spec.rings = {{{{0, 0}, {10, 0}, {10, 10}, {0, 10}}}, {{{4, 4}, {6, 4}, {6, 6}, {4, 6}}}};
  absl::StatusOr<carom::Polygon> polygon = carom::Polygon::Create(spec);
  if (!polygon.ok()) return polygon.status();
  std::vector<carom::Polygon> polygons;
  polygons.push_back(*std::move(polygon));
  return carom::Scene::Create(std::move(polygons));
}

void Cast(const carom::Scene& scene) {
  // The columns describe the bullets: bullet i is the segment (ax[i], ay[i]) to (bx[i], by[i]).
  const std::vector<double> ax{-5, 5}, ay{5, 5}, bx{15, 5}, by{5, 5.5};
  carom::CastAnswers answers;
  carom::WorkMeter meter;
  carom::CastSegments(scene, {ax, ay, bx, by}, {}, answers, meter);
  // `hits` has counts[i] rows for bullet i, one bullet after the other. A miss has no row.
  size_t row = 0;
  for (size_t i = 0; i < answers.counts.size(); ++i) {
    if (answers.counts[i] == 0) {
      std::printf("bullet %zu hits nothing\n", i);
      continue;
    }
    const carom::CastHit& hit = answers.hits[row++];
    std::printf("bullet %zu hits polygon %d at (%g, %g), normal (%g, %g)\n", i,
                static_cast<int>(hit.polygon_id), hit.point.x, hit.point.y, hit.normal.x,
                hit.normal.y);
  }
}

void Overlap(const carom::Scene& scene) {
  const std::vector<double> x{5, 5}, y{5, 5}, radius{0.5, 1};
  carom::OverlapAnswers answers;
  carom::WorkMeter meter;
  carom::OverlapCircles(scene, {x, y, radius}, {}, answers, meter);
  for (size_t i = 0; i < answers.counts.size(); ++i) {
    std::printf("a circle of radius %g in the hole touches %u polygon(s)\n", radius[i],
                answers.counts[i]);
  }
}

void Sweep(const carom::Scene& scene, const carom::Shape& box) {
  const std::vector<double> x{-4}, y{5}, to_x{6}, to_y{5};
  carom::SweepColumns columns;
  // Sweeps one shape from one pose, without rotation: the column of angles is empty.
  columns.movers.shapes = {&box, 1};
  columns.movers.x = x;
  columns.movers.y = y;
  columns.to_x = to_x;
  columns.to_y = to_y;
  carom::SweepAnswers answers;
  carom::WorkMeter meter;
  carom::SweepShapes(scene, columns, {}, answers, meter);
  for (const carom::SweepHit& hit : answers.hits) {
    std::printf("the box runs into polygon %d at fraction %g of its path, normal (%g, %g)\n",
                static_cast<int>(hit.polygon_id), hit.fraction, hit.normal.x, hit.normal.y);
  }
}

void Contact(const carom::Shape& fixed, const carom::Shape& box) {
  const absl::StatusOr<carom::Shape> placed = carom::Placed(box, {{-0.75, 5}});
  if (!placed.ok()) return;
  if (const auto contact = carom::Collide(fixed, *placed)) {
    std::printf("the box is %g deep in the wall, the axis of minimum penetration is (%g, %g)\n",
                contact->depth, contact->normal.x, contact->normal.y);
  }
}

absl::Status Run() {
  const absl::StatusOr<carom::Scene::Ptr> scene = MakeScene();
  if (!scene.ok()) return scene.status();
  // The vertices of a moving shape are relative to its reference point. A moving shape needs no id.
  absl::StatusOr<carom::Polygon> box =
      carom::Polygon::Create({.rings = {{{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}}}});
  if (!box.ok()) return box.status();
  absl::StatusOr<carom::Polygon> wall =
      carom::Polygon::Create({.rings = {{{{0, 0}, {10, 0}, {10, 10}, {0, 10}}}}});
  if (!wall.ok()) return wall.status();
  Cast(**scene);
  Overlap(**scene);
  Sweep(**scene, *box);
  Contact(*wall, *box);
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "core_only: %s\n", std::string(status.message()).c_str());
  return 1;
}
