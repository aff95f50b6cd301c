// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/scene_handler.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom::server {
namespace {

// `kDefaultPageSize`: number of scenes in a response of ListScenes if the request gives no
// `page_size`. `kMaxPageSize`: the maximum of `page_size`. Both are documented in
// proto/carom/v1/scene_service.proto.
constexpr int kDefaultPageSize = 100;
constexpr int kMaxPageSize = 1000;

// Returns the name of a scene that a page token contains in web-safe base64: the last name of the
// preceding page. For an empty token returns the empty name.
absl::StatusOr<std::string> DecodePageToken(const std::string& token) {
  if (token.empty()) return std::string();
  std::string name;
  if (absl::WebSafeBase64Unescape(token, &name) && IsSceneName(name)) return name;
  return InvalidField("page_token", "must be absent or the next_page_token of an earlier page");
}

// If `scene` is a scene that a call has created or changed, sets `summary` to its summary for the
// response; otherwise returns the error in `scene`.
absl::Status Encode(absl::string_view name, const absl::StatusOr<Scene::Ptr>& scene,
                    v1::Scene& summary) {
  if (scene.ok()) wire::EncodeScene(name, **scene, summary);
  return scene.status();
}

}  // namespace

// Sets the same fields of `message` as `wire::EncodeScene`. `wire::EncodeScene` needs the polygons
// of the version in memory; this function does not.
void EncodeSummary(absl::string_view name, const VersionSummary& summary, v1::Scene& message) {
  message.set_name(name.data(), name.size());
  message.set_version(summary.version);
  message.set_polygon_count(summary.polygon_count);
  message.set_vertex_count(summary.vertex_count);
  if (!summary.bounds.empty()) wire::EncodeBounds(summary.bounds, *message.mutable_bounds());
}

absl::Status SceneHandler::Create(const Caller& caller, const v1::CreateSceneRequest& request,
                                  v1::CreateSceneResponse& response) {
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  if (absl::Status status = CheckNote(request.note()); !status.ok()) return status;
  const std::string key = store_.KeyOf(caller.tenant, request.name());
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
  return Encode(request.name(), store_.Create(key, std::move(polygons), request.note()),
                *response.mutable_scene());
}

void SceneHandler::EncodeOrigin(absl::string_view key, v1::Scene& message) const {
  const std::optional<ForkOrigin> origin = store_.OriginOf(key);
  if (!origin.has_value()) return;
  message.set_base(origin->base);
  message.set_base_version(origin->version);
}

absl::Status SceneHandler::Fork(const Caller& caller, const v1::ForkSceneRequest& request,
                                const MemoryCharge& charge, v1::ForkSceneResponse& response) {
  if (absl::Status status = CheckSceneName("base", request.base()); !status.ok()) return status;
  if (!request.name().empty()) {
    if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  }
  const ForkOrder order{.tenant = caller.tenant,
                        .base = request.base(),
                        .version = request.version(),
                        .name = request.name(),
                        .lease_seconds = request.lease_seconds()};
  const absl::StatusOr<NamedScene> fork = store_.MakeFork(order, charge.shared_peer());
  if (!fork.ok()) return fork.status();
  wire::EncodeScene(fork->name, *fork->scene, *response.mutable_scene());
  EncodeOrigin(store_.KeyOf(caller.tenant, fork->name), *response.mutable_scene());
  response.set_lease_seconds(store_.LeaseOf(order));
  return absl::OkStatus();
}

absl::Status SceneHandler::Get(const Caller& caller, const v1::GetSceneRequest& request,
                               v1::GetSceneResponse& response) const {
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  const std::string key = store_.KeyOf(caller.tenant, request.name());
  const Scene::Ptr scene = store_.Find(key);
  if (scene == nullptr) return store_.WhyMissing(key, "name");
  if (request.version() == 0 || request.version() == scene->version()) {
    wire::EncodeScene(request.name(), *scene, *response.mutable_scene());
    EncodeOrigin(key, *response.mutable_scene());
    return absl::OkStatus();
  }
  for (const VersionSummary& known : store_.Versions(key)) {
    if (known.version != request.version()) continue;
    EncodeSummary(request.name(), known, *response.mutable_scene());
    EncodeOrigin(key, *response.mutable_scene());
    return absl::OkStatus();
  }
  return Refused(absl::StatusCode::kOutOfRange, "version", "no such version is known");
}

// Lists the versions of a scene. The store keeps the summaries in memory, so the call does not wait
// for a disk.
absl::Status SceneHandler::ListVersions(const Caller& caller,
                                        const v1::ListSceneVersionsRequest& request,
                                        v1::ListSceneVersionsResponse& response) const {
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  const std::string key = store_.KeyOf(caller.tenant, request.name());
  const std::vector<VersionSummary> versions = store_.Versions(key);
  // If the scene is deleted after this check, the response has the versions that were read before
  // the deletion.
  if (versions.empty() || store_.Find(key) == nullptr) {
    return store_.WhyMissing(key, "name");
  }
  for (const VersionSummary& known : versions) {
    v1::SceneVersion& version = *response.add_versions();
    EncodeSummary(request.name(), known, *version.mutable_scene());
    version.set_edit_id(known.edit_id);
    version.set_created_us(known.created_us);
    version.set_note(known.note);
  }
  return absl::OkStatus();
}

absl::Status SceneHandler::Rollback(const Caller& caller, const v1::RollbackSceneRequest& request,
                                    v1::RollbackSceneResponse& response) {
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  const std::string key = store_.KeyOf(caller.tenant, request.name());
  if (request.version() == 0) return InvalidField("version", "must be given");
  return Encode(request.name(), store_.Rollback(key, request.version(), request.base_version()),
                *response.mutable_scene());
}

absl::Status SceneHandler::List(const Caller& caller, const v1::ListScenesRequest& request,
                                v1::ListScenesResponse& response) const {
  if (request.page_size() < 0) return InvalidField("page_size", "must be in [0, 1000]");
  const absl::StatusOr<std::string> after = DecodePageToken(request.page_token());
  if (!after.ok()) return after.status();
  const int size = request.page_size() == 0 ? kDefaultPageSize
                                            : std::min<int>(request.page_size(), kMaxPageSize);
  // A scene that is created or deleted between the calls for two pages may or may not be listed;
  // every other scene is on exactly one page.
  const ScenePage page = store_.ListOf(caller.tenant, *after, size);
  for (const NamedScene& named : page.scenes) {
    v1::Scene& scene = *response.add_scenes();
    wire::EncodeScene(named.name, *named.scene, scene);
    EncodeOrigin(store_.KeyOf(caller.tenant, named.name), scene);
  }
  if (!page.last) {
    response.set_next_page_token(absl::WebSafeBase64Escape(page.scenes.back().name));
  }
  return absl::OkStatus();
}

absl::Status SceneHandler::Delete(const Caller& caller, const v1::DeleteSceneRequest& request,
                                  v1::DeleteSceneResponse&) {
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  const std::string key = store_.KeyOf(caller.tenant, request.name());
  // A fork is temporary, so a caller with the role kWriter may delete it; deleting any other scene
  // requires the role kAdmin.
  if (!store_.OriginOf(key).has_value()) {
    if (absl::Status status = caller.Check(Role::kAdmin); !status.ok()) return status;
  }
  return store_.Delete(key, request.version());
}

absl::Status SceneHandler::Commit(const Caller& caller, const v1::CommitEditsRequest& request,
                                  v1::CommitEditsResponse& response) {
  if (absl::Status status = CheckSceneName("name", request.name()); !status.ok()) return status;
  const std::string key = store_.KeyOf(caller.tenant, request.name());
  if (request.edit_id().size() > kMaxEditIdBytes) {
    return InvalidField("edit_id", absl::StrCat("must have at most ", kMaxEditIdBytes, " bytes"));
  }
  // The scene is looked up before the edits are decoded, as decoding takes longer than a failed
  // lookup.
  Scene::Ptr scene = store_.Find(key);
  if (scene == nullptr) {
    if (absl::Status status = store_.CatchUp(); !status.ok()) return status;
    scene = store_.Find(key);
  }
  if (scene == nullptr) return store_.WhyMissing(key, "name");
  // No other call of this server writes to the scene between this check and the commit, as the
  // writers of a scene run one at a time.
  if (FindEdit(key, request, response)) return absl::OkStatus();
  absl::StatusOr<std::vector<SceneEdit>> edits =
      wire::DecodeEdits(request.edits(), polygon_limits_);
  if (!edits.ok()) {
    // If the edits exceed a limit and the base version is stale (not the current version), the call
    // returns the error of the stale base version. Every other decoding error is returned even if
    // the base version is stale.
    const bool stale = request.base_version() != 0 && request.base_version() != scene->version();
    return stale && absl::IsResourceExhausted(edits.status())
               ? StaleVersion("base_version", scene->version())
               : edits.status();
  }
  const absl::StatusOr<Scene::Ptr> made =
      store_.Commit(key, request.base_version(), *std::move(edits), request.edit_id());
  // The commit may have failed because another server has committed the edits with this `edit_id`,
  // from an earlier attempt of the client, meanwhile.
  if (!made.ok() && FindEdit(key, request, response)) return absl::OkStatus();
  return Encode(request.name(), made, *response.mutable_scene());
}

// Looks `edit_id` up in the versions of a scene. Does not search the versions of a fork: the
// store's `Commit` checks the id for a fork, and compares the edits, too, because query frames
// (clients' messages of queries and edits for one tick) also edit forks and may have used the id
// for other edits.
bool SceneHandler::FindEdit(absl::string_view key, const v1::CommitEditsRequest& request,
                            v1::CommitEditsResponse& response) const {
  if (request.edit_id().empty() || store_.OriginOf(key).has_value()) return false;
  for (const VersionSummary& known : store_.Versions(key)) {
    if (known.edit_id != request.edit_id()) continue;
    EncodeSummary(request.name(), known, *response.mutable_scene());
    return true;
  }
  return false;
}

}  // namespace carom::server
