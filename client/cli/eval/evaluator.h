// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers the queries of `carom eval`, either by the library in this process or by a server.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/client.h"
#include "carom/frame.h"
#include "carom/group.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"

namespace carom::cli {

// Holds one scene, which is empty at first, and trackers, and answers queries about the scene and
// the trackers. Not thread-safe.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Replaces the polygons of the scene by `polygons`, or leaves the scene unchanged and returns an
  // error: INVALID_ARGUMENT or RESOURCE_EXHAUSTED about the polygons (see `IsRequestError`), any
  // other code about the service.
  virtual absl::Status Replace(std::vector<Polygon> polygons) = 0;
  // Replaces the scene by `scene`; returns errors as `Replace` does.
  virtual absl::Status ReplaceBy(const Scene::Ptr& scene) = 0;

  // Defines the tracker (a shape that is moved from query to query) with the number `handle`, which
  // must be below kMaxTrackers, or replaces the former tracker of this number. Returns errors as
  // `Replace` does. `Replace` keeps the trackers.
  static constexpr uint32_t kMaxTrackers = 65536;
  virtual absl::Status Track(uint32_t handle, Shape shape) = 0;

  // Replaces the body set (bodies with poses by tick) by one of `bodies` without ticks. Returns
  // errors as `Replace` does. `Replace` keeps the set.
  // UNIMPLEMENTED: the evaluator keeps no body sets.
  virtual absl::Status DefineBodies(const BodyDefinition&) { return absl::UnimplementedError(""); }
  // Adds a tick to the body set. Returns the errors of `BodyHistory::Add`.
  virtual absl::Status AddPoses(const PoseColumns&) { return absl::UnimplementedError(""); }
  // Returns the body set, for `Group::body_history` of the groups of the next `Evaluate`.
  virtual const BodyHistory& body_history() const {
    static const auto* const kNone = new BodyHistory();
    return *kNone;
  }

  // Answers `groups` as the groups of one frame (one message, if a server answers); does not use
  // their spans after it returns. Returns an error only if the service failed; if a group is
  // refused, its `GroupResult` has the error.
  virtual absl::StatusOr<std::vector<GroupResult>> Evaluate(std::span<const Group> groups) = 0;

  // Releases the evaluator's resources, such as its scene on a server. Must be the last call.
  virtual absl::Status Close() = 0;
};

// Returns whether `status` is an error of a single request and not a failure of the service: the
// evaluator may then answer other requests.
inline bool IsRequestError(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument ||
         status.code() == absl::StatusCode::kResourceExhausted;
}

// Returns an evaluator that uses the library, with the default limits of a server.
std::unique_ptr<Evaluator> LocalEvaluator();

// Returns an evaluator that uses the server at `target`, with one stream and a scene with a random
// name, which `Close` deletes. Returns INVALID_ARGUMENT for a malformed target.
absl::StatusOr<std::unique_ptr<Evaluator>> RemoteEvaluator(const std::string& target,
                                                           const ClientOptions& options = {});

// Returns an evaluator that asks the scene `name`, `scenes/{scene}`, with one stream, which ends
// with the first call that fails. `Replace` and `ReplaceBy` are FAILED_PRECONDITION.
std::unique_ptr<Evaluator> SceneEvaluator(std::unique_ptr<Client> client, std::string name);

}  // namespace carom::cli
