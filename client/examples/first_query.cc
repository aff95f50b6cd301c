// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A first query: imports a square with a hole as a scene, sends one frame of queries about the
// scene, and deletes the scene.
//
//   first_query [ADDRESS]        (of a running caromd; default 127.0.0.1:7420)

#include <cstdio>
#include <string>
#include <vector>

#include "carom/client.h"

namespace {

absl::Status Run(const std::string& address) {
  absl::StatusOr<std::unique_ptr<carom::Client>> client = carom::Client::Connect(address);
  if (!client.ok()) return client.status();

  // A polygon has an id and rings. The second ring of polygon 7 is a hole.
  carom::PolygonSpec spec;
  spec.id = 7;
  spec.rings = {{{{0, 0}, {10, 0}, {10, 10}, {0, 10}}}, {{{4, 4}, {6, 4}, {6, 6}, {4, 6}}}};
  absl::StatusOr<carom::Polygon> polygon = carom::Polygon::Create(spec);
  if (!polygon.ok()) return polygon.status();
  const std::string scene = "scenes/first-query";
  auto summary = (*client)->ImportScene(scene, {&*polygon, 1}, carom::ImportMode::kReplace);
  if (!summary.ok()) return summary.status();

  // A frame with one group (the queries of one scene): two bullets (segments), given as columns of
  // coordinates, and a circle in the hole.
  const std::vector<double> ax{-5, 5}, ay{5, 5}, bx{15, 5}, by{5, 5.5};
  const std::vector<double> x{5}, y{5}, radius{1};
  carom::Frame frame;
  carom::FrameGroup group;
  group.scene = scene;
  group.group.segments = {ax, ay, bx, by};
  group.group.circles = {x, y, radius};
  frame.groups.push_back(group);
  const absl::StatusOr<carom::FrameAnswer> answer = (*client)->Evaluate(frame);
  if (!answer.ok()) return answer.status();
  const carom::GroupResult& result = answer->groups[0];
  if (!result.status.ok()) return result.status;

  size_t row = 0;
  for (size_t i = 0; i < result.answers.segments.counts.size(); ++i) {
    if (result.answers.segments.counts[i] == 0) {
      std::printf("bullet %zu hits nothing\n", i);
      continue;
    }
    const carom::CastHit& hit = result.answers.segments.hits[row++];
    std::printf("bullet %zu hits polygon %d at (%g, %g), normal (%g, %g)\n", i,
                static_cast<int>(hit.polygon_id), hit.point.x, hit.point.y, hit.normal.x,
                hit.normal.y);
  }
  const carom::OverlapAnswers& circles = result.answers.circles;
  std::printf("the circle touches %u polygon(s)%s\n", circles.counts[0],
              circles.counts[0] == 1 && circles.touching[0] != 0 ? ", just so" : "");
  return (*client)->DeleteScene(scene);
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "127.0.0.1:7420");
  if (status.ok()) return 0;
  std::fprintf(stderr, "first_query: %s\n", std::string(status.message()).c_str());
  return 1;
}
