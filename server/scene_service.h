// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The SceneService of proto/carom/v1/scene_service.proto.
#pragma once

#include <grpcpp/grpcpp.h>

#include "carom/v1/scene_service.grpc.pb.h"
#include "server/event_loop.h"
#include "server/scene_call.h"

namespace carom::server {

template <class Base>
using RawSceneMethods = v1::SceneService::WithRawMethod_CreateScene<
    v1::SceneService::WithRawMethod_GetScene<v1::SceneService::WithRawMethod_ListScenes<
        v1::SceneService::WithRawMethod_DeleteScene<v1::SceneService::WithRawMethod_CommitEdits<
            v1::SceneService::WithRawMethod_ListSceneVersions<
                v1::SceneService::WithRawMethod_RollbackScene<
                    v1::SceneService::WithRawMethod_ImportScene<
                        v1::SceneService::WithRawMethod_ExportScene<
                            v1::SceneService::WithRawMethod_WatchScene<Base>>>>>>>>>>;

// Asynchronous, but for the one method that is not part of this release. Thread-safe.
class SceneService final : public RawSceneMethods<v1::SceneService::Service> {
 public:
  // Takes calls from here until the server is shut down. `loop` and `runtime` outlive the last of
  // them.
  void Accept(EventLoop& loop, SceneRuntime& runtime);

  grpc::Status LintScene(grpc::ServerContext* context, const v1::LintSceneRequest* request,
                         v1::LintSceneResponse* response) override;
};

}  // namespace carom::server
