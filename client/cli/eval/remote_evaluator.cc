// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "client/cli/eval/evaluator.h"

namespace carom::cli {
namespace {

constexpr uint64_t kHandle = 1;
// Of trackers in one frame, but for the last one: 1 MiB or so on the wire.
constexpr size_t kMaxDefinedVertices = 65536;
constexpr size_t kVerticesOfAShape = 4;  // what it takes beside its own
// An import takes as long as its scene is large.
constexpr CallOptions kNoTimeout{.timeout = std::chrono::milliseconds(0)};

// A name that nobody else uses.
std::string PrivateName() {
  std::random_device random;
  return absl::StrCat("scenes/carom-eval-", getpid(), "-", absl::Hex(random(), absl::kZeroPad8),
                      absl::Hex(random(), absl::kZeroPad8));
}

class Remote final : public Evaluator {
 public:
  explicit Remote(std::unique_ptr<Client> client)
      : client_(std::move(client)), name_(PrivateName()) {}

  absl::Status Replace(std::vector<Polygon> polygons) override {
    const absl::Status status =
        client_->ImportScene(name_, polygons, ImportMode::kReplace, kNoTimeout).status();
    if (status.ok()) is_there_ = true;
    return status;
  }

  absl::Status ReplaceBy(const Scene::Ptr& scene) override {
    std::vector<Polygon> polygons;
    polygons.reserve(scene->polygon_count());
    for (size_t i = 0; i < scene->polygon_count(); ++i) polygons.push_back(scene->polygon(i));
    return Replace(std::move(polygons));
  }

  absl::Status Track(uint32_t handle, Shape shape) override {
    // What a server would refuse by default is refused here, before others wait for it.
    const TrackerDefinitions definition{.shapes = {&shape, 1}, .first_tracker = handle};
    const absl::Status defined = trackers_.Define({}, {&definition, 1});
    if (defined.ok()) undefined_.push_back(handle);
    return defined;
  }

  absl::StatusOr<std::vector<GroupResult>> Evaluate(std::span<const Group> groups) override {
    // Questions before the first scene line are asked in an empty scene.
    if (!is_there_) {
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

  // The stream first: it holds the scene by its handle.
  absl::Status Close() override {
    stream_.reset();
    return is_there_ ? client_->DeleteScene(name_) : absl::OkStatus();
  }

 private:
  absl::StatusOr<FrameAnswer> Ask(std::span<const Group> groups) {
    if (!stream_) stream_ = client_->OpenStream();
    const absl::Status defined = DefineTrackers();
    if (!defined.ok()) return defined;
    Frame frame;
    frame.bindings.push_back({kHandle, name_});
    for (const Group& group : groups) frame.groups.push_back({kHandle, 0, group});
    return Exchange(frame);
  }

  // Sends the definitions that the stream has not had, in frames of their own, each far below the
  // size of a message.
  absl::Status DefineTrackers() {
    // A tracker that was defined twice since is sent once, with its last shape.
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

  // One frame at a time: the answers of one are printed before the next is sent.
  absl::StatusOr<FrameAnswer> Exchange(const Frame& frame) {
    const absl::Status sent = stream_->Send(frame);
    if (!sent.ok()) return sent;
    return stream_->Receive();
  }

  const std::unique_ptr<Client> client_;
  const std::string name_;
  bool is_there_ = false;
  std::unique_ptr<Stream> stream_;
  TrackerTable trackers_;            // what the stream has, or gets before the next query
  std::vector<uint32_t> undefined_;  // handles whose definition is to be sent
};

}  // namespace

absl::StatusOr<std::unique_ptr<Evaluator>> RemoteEvaluator(const std::string& target,
                                                           const ClientOptions& options) {
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Connect(target, options);
  if (!client.ok()) return client.status();
  return std::make_unique<Remote>(*std::move(client));
}

}  // namespace carom::cli
