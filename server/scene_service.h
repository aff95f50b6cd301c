// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The SceneService of proto/carom/v1/scene_service.proto.
//
// Each method is check, call, translate: the private function of the same purpose works on
// absl::Status, the public one refuses under a drain and translates.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "server/call_registry.h"
#include "server/options.h"
#include "server/scene_store.h"
#include "server/timer.h"

namespace carom::server {

// Registers, edits and lists scenes of a store. Synchronous API: each call holds one of gRPC's
// threads, whose number the server bounds. Thread-safe; what the
// constructor takes by reference outlives it.
class SceneService final : public v1::SceneService::Service {
 public:
  SceneService(SceneStore& store, Timer& timer, CallRegistry& calls, const ServerOptions& options);

  grpc::Status CreateScene(grpc::ServerContext* context, const v1::CreateSceneRequest* request,
                           v1::CreateSceneResponse* response) override;
  grpc::Status GetScene(grpc::ServerContext* context, const v1::GetSceneRequest* request,
                        v1::GetSceneResponse* response) override;
  grpc::Status ListScenes(grpc::ServerContext* context, const v1::ListScenesRequest* request,
                          v1::ListScenesResponse* response) override;
  grpc::Status DeleteScene(grpc::ServerContext* context, const v1::DeleteSceneRequest* request,
                           v1::DeleteSceneResponse* response) override;
  grpc::Status CommitEdits(grpc::ServerContext* context, const v1::CommitEditsRequest* request,
                           v1::CommitEditsResponse* response) override;
  grpc::Status ImportScene(grpc::ServerContext* context,
                           grpc::ServerReader<v1::ImportSceneRequest>* reader,
                           v1::ImportSceneResponse* response) override;
  grpc::Status ExportScene(grpc::ServerContext* context, const v1::ExportSceneRequest* request,
                           grpc::ServerWriter<v1::ExportSceneResponse>* writer) override;
  grpc::Status WatchScene(grpc::ServerContext* context, const v1::WatchSceneRequest* request,
                          grpc::ServerWriter<v1::WatchSceneResponse>* writer) override;
  grpc::Status LintScene(grpc::ServerContext* context, const v1::LintSceneRequest* request,
                         v1::LintSceneResponse* response) override;

 private:
  absl::Status Create(const v1::CreateSceneRequest& request, v1::Scene& summary);
  absl::Status Describe(const v1::GetSceneRequest& request, v1::Scene& summary) const;
  absl::Status List(const v1::ListScenesRequest& request, v1::ListScenesResponse& response) const;
  absl::Status Delete(const v1::DeleteSceneRequest& request);
  absl::Status Commit(const v1::CommitEditsRequest& request, v1::Scene& summary);
  absl::Status Import(grpc::ServerContext& context,
                      grpc::ServerReader<v1::ImportSceneRequest>& reader, v1::Scene& summary);

  // RESOURCE_EXHAUSTED for a message above the limit: gRPC's own is higher, for frames.
  absl::Status CheckBytes(const google::protobuf::MessageLite& request) const;

  // What `call` returns, or UNAVAILABLE under a drain.
  grpc::Status Answer(absl::FunctionRef<absl::Status()> call);

  SceneStore& store_;
  Timer& timer_;
  CallRegistry& calls_;
  const PolygonLimits polygon_limits_;
  const SceneLimits scene_limits_;
  const size_t max_message_bytes_;
  const Clock::duration idle_;
};

}  // namespace carom::server
