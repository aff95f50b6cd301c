// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves the SceneService of proto/carom/v1/scene_service.proto.
#pragma once

#include <grpcpp/grpcpp.h>

#include "carom/v1/scene_service.grpc.pb.h"
#include "server/scenes/scene_call.h"
#include "server/transport/event_loop.h"

namespace carom::server {

template <class Base>
using RawSceneMethods = v1::SceneService::WithRawMethod_CreateScene<
    v1::SceneService::WithRawMethod_GetScene<v1::SceneService::WithRawMethod_ListScenes<
        v1::SceneService::WithRawMethod_DeleteScene<v1::SceneService::WithRawMethod_CommitEdits<
            v1::SceneService::WithRawMethod_ListSceneVersions<
                v1::SceneService::WithRawMethod_RollbackScene<
                    v1::SceneService::WithRawMethod_ForkScene<
                        v1::SceneService::WithRawMethod_ImportScene<
                            v1::SceneService::WithRawMethod_ExportScene<
                                v1::SceneService::WithRawMethod_WatchScene<
                                    v1::SceneService::WithRawMethod_LintScene<
                                        v1::SceneService::WithRawMethod_GetMetrics<
                                            Base>>>>>>>>>>>>>;

// The asynchronous SceneService, whose methods receive the unparsed bytes of their requests. A
// waiting call holds no thread, and a request is parsed only after its call is counted against the
// limit of calls. Thread-safe.
class SceneService final : public RawSceneMethods<v1::SceneService::Service> {
 public:
  // Accepts calls of all methods until the server is shut down. `loop` and `runtime` outlive the
  // last call.
  void Accept(EventLoop& loop, SceneRuntime& runtime);
};

}  // namespace carom::server
