// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/editor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/load/random.h"
#include "client/load/schedule.h"

namespace carom::load {
namespace {

// 20 ms: the longest sleep of the thread, for which `Finish` may have to wait
constexpr int64_t kLongestSleepNs = 20000000;

}  // namespace

Editor::Editor(const LoadScene& target, const LoadOptions& options, Scene::Ptr version,
               SceneVersions& versions)
    : target_(target),
      options_(options),
      scene_(std::move(version)),
      versions_(versions),
      thread_([this] { Loop(); }) {}

const EditFigures& Editor::Finish() {
  is_stopped_ = true;
  if (thread_.joinable()) thread_.join();
  return figures_;
}

// Commits in an open loop: commit i is due i / `edits_hz` seconds after the start, however long
// earlier commits took, and its latency is measured from its due time.
void Editor::Loop() {
  const Schedule schedule(NowNs(), options_.edits_hz, 1);
  uint64_t index = 0;
  while (!is_stopped_ && figures_.status.ok()) {
    const int64_t due = schedule.TimeOf(0, index);
    const int64_t now = NowNs();
    if (now < due) {
      SleepUntil(std::min(due, now + kLongestSleepNs));
      continue;
    }
    figures_.status = Commit(index++);
    if (!figures_.status.ok()) break;
    ++figures_.commits;
    figures_.latency_ns.Add(static_cast<uint64_t>(NowNs() - due));
  }
  versions_.Close();
}

// Moves a random polygon a little from its position in the map, so that repeated edits do not move
// a polygon far. Applies the edit also to the copy of the scene in this process, so that the
// checker can compute answers in the version that the server made.
absl::Status Editor::Commit(uint64_t index) {
  const Map& map = target_.map;
  Random random(options_.seed ^ (index * 0x9e3779b97f4a7c15));
  PolygonSpec spec = map.polygons[random.Below(map.polygons.size())].spec();
  const Vec2 by{random.Between(-0.1, 0.1) * map.spacing, random.Between(-0.1, 0.1) * map.spacing};
  for (RingSpec& ring : spec.rings) {
    for (Vec2& vertex : ring.vertices) vertex = {vertex.x + by.x, vertex.y + by.y};
  }
  absl::StatusOr<Polygon> polygon = Polygon::Create(std::move(spec));
  if (!polygon.ok()) return polygon.status();
  std::vector<SceneEdit> edits;
  edits.emplace_back(ReplacePolygon{*std::move(polygon)});
  const absl::StatusOr<SceneSummary> committed = target_.client.CommitEdits(target_.name, 0, edits);
  if (!committed.ok()) return committed.status();
  absl::StatusOr<Scene::Ptr> next = scene_->Commit(std::move(edits), committed->version);
  if (!next.ok()) return next.status();
  scene_ = *std::move(next);
  versions_.Add(scene_);
  return absl::OkStatus();
}

}  // namespace carom::load
