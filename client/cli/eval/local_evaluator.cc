// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "carom/scene.h"
#include "carom/tracker_table.h"
#include "carom/work_meter.h"
#include "client/cli/eval/evaluator.h"

namespace carom::cli {
namespace {

// A server's default limit of answer rows (such as hits or touched polygons) per frame.
constexpr uint64_t kMaxRowsPerFrame = 262144;

// An evaluator that answers with the library, in this process.
class Local final : public Evaluator {
 public:
  Local() : scene_(*Scene::Create({})) {}

  absl::Status Replace(std::vector<Polygon> polygons) override {
    absl::StatusOr<Scene::Ptr> scene = Scene::Create(std::move(polygons));
    if (!scene.ok()) return scene.status();
    scene_ = *std::move(scene);
    return absl::OkStatus();
  }

  absl::Status ReplaceBy(const Scene::Ptr& scene) override {
    scene_ = scene;
    return absl::OkStatus();
  }

  absl::Status Track(uint32_t handle, Shape shape) override {
    const TrackerDefinitions definition{.shapes = {&shape, 1}, .first_tracker = handle};
    return trackers_.Define({}, {&definition, 1});
  }

  absl::Status DefineBodies(const BodyDefinition& bodies) override {
    absl::StatusOr<BodyHistory> history = BodyHistory::Create(bodies);
    if (!history.ok()) return history.status();
    history_ = *std::move(history);
    return absl::OkStatus();
  }
  absl::Status AddPoses(const PoseColumns& poses) override { return history_.Add(poses); }
  const BodyHistory& body_history() const override { return history_; }

  // Evaluates the groups of a frame as a server does, with one limit of rows for all groups
  // together, so that the local and the remote evaluator give equal answers.
  absl::StatusOr<std::vector<GroupResult>> Evaluate(std::span<const Group> groups) override {
    WorkMeter meter;
    meter.set_max_rows(kMaxRowsPerFrame);
    trackers_.BeginFrame();
    std::vector<GroupResult> results(groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      GroupResult& result = results[i];
      Group group = groups[i];
      result.status = CheckGroup(group);
      if (!result.status.ok()) continue;
      trackers_.Begin(group);
      result.status = EvaluateGroup(*scene_, group, result.answers, meter);
      trackers_.End(result.answers.moves.memory_growth);
    }
    return results;
  }

  absl::Status Close() override { return absl::OkStatus(); }

 private:
  Scene::Ptr scene_;
  TrackerTable trackers_;
  BodyHistory history_;
};

}  // namespace

std::unique_ptr<Evaluator> LocalEvaluator() { return std::make_unique<Local>(); }

}  // namespace carom::cli
