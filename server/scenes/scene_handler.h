// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the unary methods of SceneService answer?
//
// Message in, message out; who calls and on which thread is server/scenes/scene_call.h.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/v1/scene_service.pb.h"
#include "server/access/identity.h"
#include "server/base/memory_account.h"
#include "server/store/fork_store.h"
#include "server/store/scene_store.h"

namespace carom::server {

// The message of a version that is known.
void EncodeSummary(absl::string_view name, const VersionSummary& summary, v1::Scene& message);

// Registers, edits and lists scenes of a store, which outlives it. A response means nothing after
// an error. Thread-safe.
class SceneHandler {
 public:
  SceneHandler(ForkStore& store, const PolygonLimits& polygon_limits,
               const SceneLimits& scene_limits)
      : store_(store), polygon_limits_(polygon_limits), scene_limits_(scene_limits) {}

  // Those that read: cost O(1), and O(scenes of a page).
  absl::Status Get(const Caller& caller, const v1::GetSceneRequest& request,
                   v1::GetSceneResponse& response) const;
  absl::Status List(const Caller& caller, const v1::ListScenesRequest& request,
                    v1::ListScenesResponse& response) const;
  absl::Status ListVersions(const Caller& caller, const v1::ListSceneVersionsRequest& request,
                            v1::ListSceneVersionsResponse& response) const;

  // Makes a fork for the peer whose call has `charge`. Cost O(1), or O(vertices) for a version that
  // is not in memory.
  absl::Status Fork(const Caller& caller, const v1::ForkSceneRequest& request,
                    const MemoryCharge& charge, v1::ForkSceneResponse& response);

  // Those that write: cost O(vertices), and they wait for other writers of their scene.
  absl::Status Create(const Caller& caller, const v1::CreateSceneRequest& request,
                      v1::CreateSceneResponse& response);
  absl::Status Delete(const Caller& caller, const v1::DeleteSceneRequest& request,
                      v1::DeleteSceneResponse& response);
  absl::Status Commit(const Caller& caller, const v1::CommitEditsRequest& request,
                      v1::CommitEditsResponse& response);
  absl::Status Rollback(const Caller& caller, const v1::RollbackSceneRequest& request,
                        v1::RollbackSceneResponse& response);

 private:
  // Says where a fork comes from.
  void EncodeOrigin(absl::string_view key, v1::Scene& message) const;
  // Answers a commit by the version that edits of the same id have made; false if none is known.
  bool FindEdit(absl::string_view key, const v1::CommitEditsRequest& request,
                v1::CommitEditsResponse& response) const;

  ForkStore& store_;
  const PolygonLimits polygon_limits_;
  const SceneLimits scene_limits_;
};

}  // namespace carom::server
