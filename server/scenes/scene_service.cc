// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/scene_service.h"

#include <array>

#include "server/base/rpc_status.h"
#include "server/scenes/export_call.h"
#include "server/scenes/import_call.h"
#include "server/scenes/lint_answer.h"
#include "server/scenes/watch_call.h"
#include "server/transport/message_io.h"

namespace carom::server {
namespace {

// Requests a call of a method; `kRequest` is the service's member function for the method, which
// gRPC declares in a separate base class for each method.
template <auto kRequest>
void Request(SceneService& service, grpc::ServerContext& context, grpc::ByteBuffer& bytes,
             SceneMethod::Writer& writer, grpc::ServerCompletionQueue& queue, Event* accepted) {
  (service.*kRequest)(&context, &bytes, &writer, &queue, &queue, accepted);
}

template <class Request, class Response, auto kHandle>
absl::Status Handle(const SceneRuntime& runtime, const Caller& caller,
                    const grpc::ByteBuffer& bytes, const SceneCallUse& use,
                    grpc::ByteBuffer& answer) {
  Request request;
  Response response;
  MemoryCharge parsed = use.bytes_charge.Another();
  absl::Status status =
      ChargeParsed(bytes, *request.GetDescriptor(), runtime.limits->max_message_bytes, parsed);
  if (!status.ok()) return status;
  if (!Parse(bytes, request)) return InvalidMessage(request.GetTypeName());
  status = (runtime.handler.*kHandle)(caller, request, response);
  if (status.ok()) answer = Serialize(response);
  return status;
}

// Answers a call of a method that only reads. May run on a thread of the event loop, so it refuses
// requests that are not short (`ParseShort`).
template <class Request, class Response, auto kHandle>
absl::Status HandleShort(const SceneRuntime& runtime, const Caller& caller,
                         const grpc::ByteBuffer& bytes, const SceneCallUse&,
                         grpc::ByteBuffer& answer) {
  Request request;
  Response response;
  absl::Status status = ParseShort(bytes, request);
  if (status.ok()) status = (runtime.handler.*kHandle)(caller, request, response);
  if (status.ok()) answer = Serialize(response);
  return status;
}

// Answers a ForkScene call. The fork is charged to the peer that creates it.
absl::Status Fork(const SceneRuntime& runtime, const Caller& caller, const grpc::ByteBuffer& bytes,
                  const SceneCallUse& use, grpc::ByteBuffer& answer) {
  v1::ForkSceneRequest request;
  v1::ForkSceneResponse response;
  absl::Status status = ParseShort(bytes, request);
  if (status.ok()) status = runtime.handler.Fork(caller, request, use.bytes_charge, response);
  if (status.ok()) answer = Serialize(response);
  return status;
}

// Answers GetMetrics. The metrics are those of all tenants, so no tenant may read them.
absl::Status GetMetrics(const SceneRuntime& runtime, const Caller& caller,
                        const grpc::ByteBuffer& bytes, const SceneCallUse&,
                        grpc::ByteBuffer& answer) {
  v1::GetMetricsRequest request;
  v1::GetMetricsResponse response;
  if (absl::Status status = ParseShort(bytes, request); !status.ok()) return status;
  if (caller.tenant != kDefaultTenant) {
    return absl::PermissionDeniedError(
        "the metrics are those of all tenants; tenants cannot read them");
  }
  response.set_text(runtime.metrics());
  answer = Serialize(response);
  return absl::OkStatus();
}

constexpr std::array kMethods = {
    SceneMethod{RpcMethod::kCreateScene, Request<&SceneService::RequestCreateScene>,
                Handle<v1::CreateSceneRequest, v1::CreateSceneResponse, &SceneHandler::Create>,
                true, Role::kWriter},
    SceneMethod{RpcMethod::kCommitEdits, Request<&SceneService::RequestCommitEdits>,
                Handle<v1::CommitEditsRequest, v1::CommitEditsResponse, &SceneHandler::Commit>,
                true, Role::kWriter},
    SceneMethod{RpcMethod::kDeleteScene, Request<&SceneService::RequestDeleteScene>,
                Handle<v1::DeleteSceneRequest, v1::DeleteSceneResponse, &SceneHandler::Delete>,
                true, Role::kWriter},
    SceneMethod{RpcMethod::kGetScene, Request<&SceneService::RequestGetScene>,
                HandleShort<v1::GetSceneRequest, v1::GetSceneResponse, &SceneHandler::Get>, false,
                Role::kReader},
    SceneMethod{RpcMethod::kListScenes, Request<&SceneService::RequestListScenes>,
                HandleShort<v1::ListScenesRequest, v1::ListScenesResponse, &SceneHandler::List>,
                false, Role::kReader},
    SceneMethod{RpcMethod::kListSceneVersions, Request<&SceneService::RequestListSceneVersions>,
                HandleShort<v1::ListSceneVersionsRequest, v1::ListSceneVersionsResponse,
                            &SceneHandler::ListVersions>,
                false, Role::kReader},
    SceneMethod{
        RpcMethod::kRollbackScene, Request<&SceneService::RequestRollbackScene>,
        Handle<v1::RollbackSceneRequest, v1::RollbackSceneResponse, &SceneHandler::Rollback>, true,
        Role::kWriter},
    SceneMethod{RpcMethod::kForkScene, Request<&SceneService::RequestForkScene>, Fork, true,
                Role::kWriter},
    SceneMethod{RpcMethod::kLintScene, Request<&SceneService::RequestLintScene>, AnswerLint, false,
                Role::kReader, true},
    SceneMethod{RpcMethod::kGetMetrics, Request<&SceneService::RequestGetMetrics>, GetMetrics,
                false, Role::kReader},
};

}  // namespace

void SceneService::Accept(EventLoop& loop, SceneRuntime& runtime) {
  for (const SceneMethod& method : kMethods) SceneCall::Accept(*this, loop, runtime, method);
  ImportCall::Accept(*this, loop, runtime);
  ExportCall::Accept(*this, loop, runtime);
  WatchCall::Accept(*this, loop, runtime);
}

}  // namespace carom::server
