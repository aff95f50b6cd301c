// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scene_service.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/rpc_status.h"
#include "server/scene_name.h"
#include "server/scene_upload.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom::server {
namespace {

// Of ListScenes, as its message in the .proto says.
constexpr int kDefaultPageSize = 100;
constexpr int kMaxPageSize = 1000;

// Page tokens are the last name of the page before, in web-safe base64.
absl::StatusOr<std::string> DecodePageToken(const std::string& token) {
  if (token.empty()) return std::string();
  std::string name;
  if (absl::WebSafeBase64Unescape(token, &name) && IsSceneName(name)) return name;
  return InvalidField("page_token", "must be absent or the next_page_token of an earlier page");
}

// The summary of a scene that a call has made or changed, or why it has not.
absl::Status Encode(absl::string_view name, const absl::StatusOr<Scene::Ptr>& scene,
                    v1::Scene& summary) {
  if (scene.ok()) wire::EncodeScene(name, **scene, summary);
  return scene.status();
}

grpc::Status Unimplemented(absl::string_view method) {
  return ToGrpcStatus(
      absl::UnimplementedError(absl::StrCat(method, " is not part of this release")));
}

// A drain waits for it and changes nothing about it.
class CallInProgress final : public Drainable {
 public:
  void Drain() override {}
};

// Cancels a call whose client sends nothing for a while, so that it does not keep its thread.
class ReadWatch {
 public:
  ReadWatch(grpc::ServerContext& context, Timer& timer, Clock::duration idle)
      : timer_(timer),
        id_(timer.Schedule(Clock::now() + idle, [&context] { context.TryCancel(); })) {}
  ~ReadWatch() { timer_.CancelAndWait(id_); }

 private:
  Timer& timer_;
  const Timer::Id id_;
};

}  // namespace

SceneService::SceneService(SceneStore& store, Timer& timer, CallRegistry& calls,
                           const ServerOptions& options)
    : store_(store),
      timer_(timer),
      calls_(calls),
      polygon_limits_(options.polygon_limits()),
      scene_limits_(options.scene_limits()),
      max_message_bytes_(options.max_message_bytes),
      idle_(std::chrono::seconds(options.idle_stream_seconds)) {}

grpc::Status SceneService::Answer(absl::FunctionRef<absl::Status()> call) {
  // A drain that begins after `Add` waits for the call; one that began before refuses it.
  CallInProgress in_progress;
  if (!calls_.Add(&in_progress)) return ToGrpcStatus(Draining());
  const absl::Status status = call();
  calls_.Remove(&in_progress);
  return ToGrpcStatus(status);
}

grpc::Status SceneService::CreateScene(grpc::ServerContext*, const v1::CreateSceneRequest* request,
                                       v1::CreateSceneResponse* response) {
  return Answer([&] { return Create(*request, *response->mutable_scene()); });
}

grpc::Status SceneService::GetScene(grpc::ServerContext*, const v1::GetSceneRequest* request,
                                    v1::GetSceneResponse* response) {
  return Answer([&] { return Describe(*request, *response->mutable_scene()); });
}

grpc::Status SceneService::ListScenes(grpc::ServerContext*, const v1::ListScenesRequest* request,
                                      v1::ListScenesResponse* response) {
  return Answer([&] { return List(*request, *response); });
}

grpc::Status SceneService::DeleteScene(grpc::ServerContext*, const v1::DeleteSceneRequest* request,
                                       v1::DeleteSceneResponse*) {
  return Answer([&] { return Delete(*request); });
}

grpc::Status SceneService::CommitEdits(grpc::ServerContext*, const v1::CommitEditsRequest* request,
                                       v1::CommitEditsResponse* response) {
  return Answer([&] { return Commit(*request, *response->mutable_scene()); });
}

grpc::Status SceneService::ImportScene(grpc::ServerContext* context,
                                       grpc::ServerReader<v1::ImportSceneRequest>* reader,
                                       v1::ImportSceneResponse* response) {
  return Answer([&] { return Import(*context, *reader, *response->mutable_scene()); });
}

// Specified, and not part of this release: a client finds out by UNIMPLEMENTED.

grpc::Status SceneService::ExportScene(grpc::ServerContext*, const v1::ExportSceneRequest*,
                                       grpc::ServerWriter<v1::ExportSceneResponse>*) {
  return Unimplemented("ExportScene");
}

grpc::Status SceneService::WatchScene(grpc::ServerContext*, const v1::WatchSceneRequest*,
                                      grpc::ServerWriter<v1::WatchSceneResponse>*) {
  return Unimplemented("WatchScene");
}

grpc::Status SceneService::LintScene(grpc::ServerContext*, const v1::LintSceneRequest*,
                                     v1::LintSceneResponse*) {
  return Unimplemented("LintScene");
}

absl::Status SceneService::CheckBytes(const google::protobuf::MessageLite& request) const {
  return request.ByteSizeLong() <= max_message_bytes_ ? absl::OkStatus()
                                                      : TooManyBytes(max_message_bytes_);
}

absl::Status SceneService::Create(const v1::CreateSceneRequest& request, v1::Scene& summary) {
  if (absl::Status status = CheckBytes(request); !status.ok()) return status;
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  const auto polygon_count = static_cast<size_t>(request.polygons_size());
  if (absl::Status status = scene_limits_.Check(polygon_count, 0); !status.ok()) {
    return status;
  }
  std::vector<Polygon> polygons;
  if (absl::Status status =
          wire::DecodePolygons(request.polygons(), "polygons", 0, polygon_limits_, polygons);
      !status.ok()) {
    return status;
  }
  return Encode(request.name(), store_.Create(request.name(), std::move(polygons)), summary);
}

absl::Status SceneService::Describe(const v1::GetSceneRequest& request, v1::Scene& summary) const {
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  const Scene::Ptr scene = store_.Find(request.name());
  if (scene == nullptr) return NoSuchScene();
  wire::EncodeScene(request.name(), *scene, summary);
  return absl::OkStatus();
}

absl::Status SceneService::List(const v1::ListScenesRequest& request,
                                v1::ListScenesResponse& response) const {
  if (request.page_size() < 0) return InvalidField("page_size", "must be in [0, 1000]");
  const absl::StatusOr<std::string> after = DecodePageToken(request.page_token());
  if (!after.ok()) return after.status();
  const int size = request.page_size() == 0 ? kDefaultPageSize
                                            : std::min<int>(request.page_size(), kMaxPageSize);
  // Scenes that come or go between two pages are listed or not; no other is missed or repeated.
  const ScenePage page = store_.List(*after, size);
  for (const NamedScene& named : page.scenes) {
    wire::EncodeScene(named.name, *named.scene, *response.add_scenes());
  }
  if (!page.last) {
    response.set_next_page_token(absl::WebSafeBase64Escape(page.scenes.back().name));
  }
  return absl::OkStatus();
}

absl::Status SceneService::Delete(const v1::DeleteSceneRequest& request) {
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  return store_.Delete(request.name(), request.version());
}

absl::Status SceneService::Commit(const v1::CommitEditsRequest& request, v1::Scene& summary) {
  if (absl::Status status = CheckBytes(request); !status.ok()) return status;
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  // Decoding takes longer than finding out that the scene is not there.
  const Scene::Ptr scene = store_.Find(request.name());
  if (scene == nullptr) return NoSuchScene();
  absl::StatusOr<std::vector<SceneEdit>> edits =
      wire::DecodeEdits(request.edits(), polygon_limits_);
  if (!edits.ok()) {
    // A stale base comes before a limit, and after everything else that decoding can find.
    const bool stale = request.base_version() != 0 && request.base_version() != scene->version();
    return stale && absl::IsResourceExhausted(edits.status())
               ? StaleVersion("base_version", scene->version())
               : edits.status();
  }
  return Encode(request.name(),
                store_.Commit(request.name(), request.base_version(), *std::move(edits)), summary);
}

absl::Status SceneService::Import(grpc::ServerContext& context,
                                  grpc::ServerReader<v1::ImportSceneRequest>& reader,
                                  v1::Scene& summary) {
  SceneUpload upload(polygon_limits_, scene_limits_);
  v1::ImportSceneRequest part;
  const auto read = [&] {
    ReadWatch watch(context, timer_, idle_);
    return reader.Read(&part);
  };
  while (read()) {
    absl::Status status = CheckBytes(part);
    if (status.ok()) status = upload.Add(part);
    if (!status.ok()) return status;
  }
  // `Read` ends alike for a client that has sent all and for one that is gone; only the second has
  // cancelled the call.
  const auto abandoned = [&context] { return context.IsCancelled(); };
  if (abandoned()) return absl::CancelledError("the import is cancelled; nothing is registered");
  if (absl::Status status = upload.Check(); !status.ok()) return status;
  return Encode(
      upload.name(),
      store_.Import(upload.name(), upload.mode(), std::move(upload.polygons()), abandoned),
      summary);
}

}  // namespace carom::server
