// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the unary methods of SceneService answer?
//
// A `SceneHandler` takes a request message and fills in the response message.
// server/scenes/scene_call.h calls it and chooses the thread.
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

// Sets `message` to the summary of a version of the scene `name`; the polygons of the version need
// not be in memory.
void EncodeSummary(absl::string_view name, const VersionSummary& summary, v1::Scene& message);

// Implements the unary methods of SceneService on a store of scenes. The store outlives the
// handler. After an error the content of the response is unspecified. Thread-safe.
class SceneHandler {
 public:
  SceneHandler(ForkStore& store, const PolygonLimits& polygon_limits,
               const SceneLimits& scene_limits)
      : store_(store), polygon_limits_(polygon_limits), scene_limits_(scene_limits) {}

  // The reading methods. `Get` costs O(1), or O(versions of the scene) if the request names a
  // version other than the current one; `List` costs O(scenes in the response), `ListVersions`
  // O(versions of the scene).
  absl::Status Get(const Caller& caller, const v1::GetSceneRequest& request,
                   v1::GetSceneResponse& response) const;
  absl::Status List(const Caller& caller, const v1::ListScenesRequest& request,
                    v1::ListScenesResponse& response) const;
  absl::Status ListVersions(const Caller& caller, const v1::ListSceneVersionsRequest& request,
                            v1::ListSceneVersionsResponse& response) const;

  // Creates a fork of a scene (server/store/fork.h), whose memory is charged to the peer of
  // `charge`. Cost O(1), or O(vertices) if the forked version is not in memory.
  absl::Status Fork(const Caller& caller, const v1::ForkSceneRequest& request,
                    const MemoryCharge& charge, v1::ForkSceneResponse& response);

  // The writing methods. Each costs O(vertices) and blocks while another writer of its scene is
  // active.
  absl::Status Create(const Caller& caller, const v1::CreateSceneRequest& request,
                      v1::CreateSceneResponse& response);
  absl::Status Delete(const Caller& caller, const v1::DeleteSceneRequest& request,
                      v1::DeleteSceneResponse& response);
  absl::Status Commit(const Caller& caller, const v1::CommitEditsRequest& request,
                      v1::CommitEditsResponse& response);
  absl::Status Rollback(const Caller& caller, const v1::RollbackSceneRequest& request,
                        v1::RollbackSceneResponse& response);

 private:
  // Sets the fields `base` and `base_version` in `message` if the scene at `key` is a fork of
  // another scene.
  void EncodeOrigin(absl::string_view key, v1::Scene& message) const;
  // Sets `response` to the version that an earlier commit with the `edit_id` of `request` made.
  // Returns false if the store has no version with that edit id, or if the scene is a fork.
  bool FindEdit(absl::string_view key, const v1::CommitEditsRequest& request,
                v1::CommitEditsResponse& response) const;

  ForkStore& store_;
  const PolygonLimits polygon_limits_;
  const SceneLimits scene_limits_;
};

}  // namespace carom::server
