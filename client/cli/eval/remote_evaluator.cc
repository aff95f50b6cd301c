// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "client/cli/eval/bodies_line.h"
#include "client/cli/eval/evaluator.h"

namespace carom::cli {
namespace {

constexpr uint32_t kBodySet = 1;  // handle of the body set of the stream
constexpr size_t kPosesOfAFrame = 16384;
constexpr uint64_t kHandle = 1;  // number that stands for the scene in the frames of the stream
// When the tracker shapes in a frame have this many vertices, about 1 MiB, further tracker
// definitions are sent in the next frame.
constexpr size_t kMaxDefinedVertices = 65536;
// The encoded size of the fields of a shape besides its vertices, in units of an encoded vertex.
constexpr size_t kVerticesOfAShape = 4;
// The options of an import, which has no deadline, because its time depends on the size of the
// scene.
constexpr CallOptions kNoTimeout{.timeout = std::chrono::milliseconds(0)};

// Returns the options of a stream that ends with its gRPC call.
StreamOptions OneCall() { return {.reconnect_timeout = std::chrono::milliseconds(0)}; }

// Returns a scene name from the process id and 64 random bits, so that no other process uses it.
std::string PrivateName() {
  std::random_device random;
  return absl::StrCat("scenes/carom-eval-", getpid(), "-", absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8));
}

// An evaluator that answers with a server, over one stream.
class Remote final : public Evaluator {
 public:
  // `name` is the scene to ask; empty: a scene of the evaluator's own.
  explicit Remote(std::unique_ptr<Client> client, std::string name = "")
      : client_(std::move(client)),
        is_own_(name.empty()),
        name_(is_own_ ? PrivateName() : std::move(name)),
        exists_(!is_own_) {}

  absl::Status Replace(std::vector<Polygon> polygons) override {
    if (!is_own_) return absl::FailedPreconditionError("the scene cannot be replaced");
    const absl::Status status =
        client_->ImportScene(name_, polygons, ImportMode::kReplace, kNoTimeout).status();
    if (status.ok()) exists_ = true;
    return status;
  }

  absl::Status ReplaceBy(const Scene::Ptr& scene) override {
    std::vector<Polygon> polygons;
    polygons.reserve(scene->polygon_count());
    for (size_t i = 0; i < scene->polygon_count(); ++i) polygons.push_back(scene->polygon(i));
    return Replace(std::move(polygons));
  }

  absl::Status Track(uint32_t handle, Shape shape) override {
    // Checks the definition at once, against a server's default limits; `DefineTrackers` sends the
    // definition before the next groups, together with other definitions.
    const TrackerDefinitions definition{.shapes = {&shape, 1}, .first_tracker = handle};
    const absl::Status defined = trackers_.Define({}, {&definition, 1});
    if (defined.ok()) undefined_.push_back(handle);
    return defined;
  }

  // Checks definitions and ticks at once; `Ask` sends them before the next groups.
  absl::Status DefineBodies(const BodyDefinition& bodies) override {
    absl::StatusOr<BodyHistory> history = BodyHistory::Create(bodies);
    if (!history.ok()) return history.status();
    history_ = *std::move(history);
    bodies_ = bodies;
    unsent_ = {};
    is_defined_ = false;
    return absl::OkStatus();
  }
  absl::Status AddPoses(const PoseColumns& poses) override {
    const absl::Status added = history_.Add(poses);
    if (!added.ok()) return added;
    const auto copy = [](std::span<const double> column) {
      return std::vector<double>(column.begin(), column.end());
    };
    unsent_.push_back({poses.tick, copy(poses.x), copy(poses.y), copy(poses.c), copy(poses.s)});
    if (unsent_.size() > kMaxKeepTicks) unsent_.pop_front();
    return added;
  }
  const BodyHistory& body_history() const override { return history_; }

  absl::StatusOr<std::vector<GroupResult>> Evaluate(std::span<const Group> groups) override {
    // Queries before the first scene line are about an empty scene.
    if (!exists_) {
      const absl::Status made = Replace({});
      if (!made.ok()) return made;
    }
    absl::StatusOr<FrameAnswer> answer = Ask(groups);
    if (!answer.ok()) return answer.status();
    if (answer->status.ok()) return std::move(answer->groups);
    std::vector<GroupResult> refused(groups.size());
    for (GroupResult& result : refused) result.status = answer->status;
    return refused;
  }

  // Ends the stream before it deletes the scene, because the stream has a handle of the scene.
  absl::Status Close() override {
    stream_.reset();
    return exists_ && is_own_ ? client_->DeleteScene(name_) : absl::OkStatus();
  }

 private:
  // Sends the tracker definitions in `undefined_` and then the groups, and returns the answer to
  // the groups.
  absl::StatusOr<FrameAnswer> Ask(std::span<const Group> groups) {
    if (!stream_) stream_ = client_->OpenStream(is_own_ ? StreamOptions() : OneCall());
    const absl::Status defined = DefineTrackers();
    if (!defined.ok()) return defined;
    Frame frame;
    frame.bindings.push_back({kHandle, name_});
    for (const Group& group : groups) {
      FrameGroup& asked = frame.groups.emplace_back(FrameGroup{kHandle, 0, group});
      if (group.body_history == nullptr) continue;
      const absl::Status sent = SendBodySet();
      if (!sent.ok()) return sent;
      asked.body_set = kBodySet;
    }
    return Exchange(frame);
  }

  // Sends the definition of the body set and its ticks, as far as the stream does not have them, in
  // frames of at most `kPosesOfAFrame` poses.
  absl::Status SendBodySet() {
    while (!is_defined_ || !unsent_.empty()) {
      Frame frame;
      if (!is_defined_) {
        frame.removed_body_sets = {kBodySet};
        frame.body_sets.push_back({.body_set = kBodySet, .bodies = bodies_});
      }
      size_t poses = 0;
      for (const PoseTable& tick : unsent_) {
        if (poses != 0 && poses + tick.x.size() > kPosesOfAFrame) break;
        poses += tick.x.size();
        frame.poses.push_back({kBodySet, tick.columns()});
      }
      const absl::StatusOr<FrameAnswer> answer = Exchange(frame);
      if (!answer.ok()) return answer.status();
      if (!answer->status.ok()) return answer->status;
      is_defined_ = true;
      unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<ptrdiff_t>(frame.poses.size()));
    }
    return absl::OkStatus();
  }

  // Sends the tracker definitions that the stream does not have yet, in frames far below a server's
  // message limit (4 MiB by default).
  absl::Status DefineTrackers() {
    // Removes duplicates: a tracker that was defined several times is sent only once, with its last
    // shape.
    std::ranges::sort(undefined_);
    undefined_.erase(std::unique(undefined_.begin(), undefined_.end()), undefined_.end());
    for (size_t i = 0; i < undefined_.size();) {
      std::vector<Shape> shapes;
      const size_t first = i;
      for (size_t vertices = 0; i < undefined_.size() && vertices < kMaxDefinedVertices; ++i) {
        shapes.push_back(trackers_.Find(undefined_[i])->shape());
        vertices += shapes.back().vertex_count() + kVerticesOfAShape;
      }
      const auto handles = std::span<const uint32_t>(undefined_).subspan(first, i - first);
      Frame frame;
      frame.trackers.push_back({.shapes = shapes, .tracker = handles});
      const absl::StatusOr<FrameAnswer> answer = Exchange(frame);
      if (!answer.ok()) return answer.status();
      if (!answer->status.ok()) return answer->status;
    }
    undefined_.clear();
    return absl::OkStatus();
  }

  // Sends a frame and waits for its answer.
  absl::StatusOr<FrameAnswer> Exchange(const Frame& frame) {
    const absl::Status sent = stream_->Send(frame);
    if (!sent.ok()) return sent;
    return stream_->Receive();
  }

  const std::unique_ptr<Client> client_;
  const bool is_own_;  // whether the scene is private to this evaluator
  const std::string name_;
  bool exists_;  // whether the server has the scene `name_`
  std::unique_ptr<Stream> stream_;
  TrackerTable trackers_;            // trackers that the stream has, and those in `undefined_`
  std::vector<uint32_t> undefined_;  // handles whose definitions are not sent yet
  BodyHistory history_;              // the body set of the stream, with the ticks of `unsent_`
  BodyDefinition bodies_;            // the definition of `history_`
  std::deque<PoseTable> unsent_;     // ticks that are not sent yet
  bool is_defined_ = false;          // whether the stream has the definition
};

}  // namespace

absl::StatusOr<std::unique_ptr<Evaluator>> RemoteEvaluator(const std::string& target,
                                                           const ClientOptions& options) {
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Connect(target, options);
  if (!client.ok()) return client.status();
  return std::make_unique<Remote>(*std::move(client));
}

std::unique_ptr<Evaluator> SceneEvaluator(std::unique_ptr<Client> client, std::string name) {
  return std::make_unique<Remote>(std::move(client), std::move(name));
}

}  // namespace carom::cli
