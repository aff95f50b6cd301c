// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who answers the questions of `carom eval`: the library in this process, or a server.
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

// One scene, empty at first, and whoever answers questions to it. Not thread-safe.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Puts `polygons` in place of the scene, or leaves it as it is and says why: INVALID_ARGUMENT or
  // RESOURCE_EXHAUSTED for the polygons (see `IsOfTheRequest`), anything else for the service.
  virtual absl::Status Replace(std::vector<Polygon> polygons) = 0;
  // The same for a scene that is there already.
  virtual absl::Status ReplaceBy(const Scene::Ptr& scene) = 0;

  // Gives the handle, below kMaxTrackers, a tracker of this shape, in place of one it had. An error
  // of the request: as above. The tracker outlives the scene.
  static constexpr uint32_t kMaxTrackers = 65536;
  virtual absl::Status Track(uint32_t handle, Shape shape) = 0;

  // Answers groups as the groups of one frame; their spans are read before it returns. An error is
  // one of the service as a whole: what concerns a group is in its result.
  virtual absl::StatusOr<std::vector<GroupResult>> Evaluate(std::span<const Group> groups) = 0;

  // Gives back what the evaluator holds. The last call.
  virtual absl::Status Close() = 0;
};

// Whether `status` is due to what was asked, so that the next request may well succeed.
inline bool IsOfTheRequest(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument ||
         status.code() == absl::StatusCode::kResourceExhausted;
}

// Answers by the library, under the limits that a server has by default.
std::unique_ptr<Evaluator> LocalEvaluator();

// Answers by the server at `target`, over one stream, from a scene of its own that `Close` deletes.
// INVALID_ARGUMENT for a malformed target.
absl::StatusOr<std::unique_ptr<Evaluator>> RemoteEvaluator(const std::string& target,
                                                           const ClientOptions& options = {});

}  // namespace carom::cli
