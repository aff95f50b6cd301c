// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program talk to a Carom server?
//
// `Client::Connect` makes a client, which registers and edits scenes. `Client::Evaluate` sends one
// frame of queries; a `Stream` (carom/stream.h) sends a sequence of frames, as a tick loop does. A
// program that links the library needs no server: see carom/group.h.
//
//   auto client = Client::Connect(address).value();  // such as "127.0.0.1:7420"
//   auto scene = client->ImportScene("scenes/arena", polygons, ImportMode::kReplace);
//   Frame frame;
//   frame.groups.push_back({.scene = "scenes/arena", .group = group});
//   auto answer = client->Evaluate(frame);
//   // answer->groups[0].answers.points.polygon_ids[0] == 7
//
// Lengths are in the unit of the caller's coordinates. Rounding error: as in the library, whose
// answers equal those of the server bit for bit. Cost: a round trip per call, and O(n) bytes, n the
// vertices or items that are sent. Thread-safe. Cheaper alternative: carom/group.h, without a
// server. More powerful: carom/stream.h.
//
// Statuses carry the field violations of the server: read them with `carom::Violations`
// (carom/status.h). Every call may fail with UNAVAILABLE (the server cannot be reached, or is
// shutting down), DEADLINE_EXCEEDED (`CallOptions::timeout`) and RESOURCE_EXHAUSTED (a message
// above the server's 4 MiB). The comment of each function lists its further errors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/client_options.h"
#include "carom/explain.h"
#include "carom/frame.h"
#include "carom/geometry.h"
#include "carom/lint.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/stream.h"
#include "carom/watch.h"

namespace carom {

// A version of a scene as bytes, of `Client::ExportBundle`.
struct ExportedBundle {
  SceneSummary scene;  // with the version, which a bundle does not contain
  std::string bytes;   // described by docs/bundle.md
};

// What a query to explain refers to besides its group (`Client::Explain`).
struct ExplainContext {
  uint64_t version = 0;  // version of the scene that is queried; 0: its current version
  // the trackers that the moves of the group name by their handles
  std::vector<TrackerDefinitions> trackers = {};
};

// A page of scenes by ascending name.
struct ScenePage {
  std::vector<SceneSummary> scenes;
  std::string next_page_token;  // token for `ListScenes`; empty: this is the last page
};

// The findings of `LintScene`, and the version that they are about.
struct SceneLint {
  LintReport report;
  uint64_t version = 0;
};

// What `ImportScene` does if a scene with the given name exists: kCreate fails with ALREADY_EXISTS,
// kReplace replaces all polygons of the scene, as a new version.
enum class ImportMode : uint8_t { kCreate, kReplace };

namespace internal {
class ClientMaker;
}  // namespace internal

// A client of one server, or of several servers that have the same scenes; the client uses one
// server at a time. Thread-safe. Streams and watches may outlive their client.
class Client {
 public:
  // Returns a client of the server at `target`: `host:port` or `unix:PATH`, or a list of servers
  // separated by commas. `Connect` returns at once: the first call opens the network connection,
  // and later calls open another one whenever the connection is lost.
  //
  // Calls use one server, at first the first of the list. A call that cannot reach the server, or
  // finds it shutting down, fails with UNAVAILABLE; later calls use the next server of the list;
  // the first server follows the last one. The caller may retry the failed call, unless the server
  // may already have carried it out and must not do so twice. Streams fail over by themselves.
  //
  // Errors: INVALID_ARGUMENT naming `target` if `target` has another form; INVALID_ARGUMENT naming
  // `ca_file`, `certificate_file`, `key_file` or `token_file` with the reason why the file cannot
  // be used.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(absl::string_view target,
                                                         const ClientOptions& options = {});

  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Scenes. Names are `scenes/{scene}` with {scene} matching [a-z0-9-]{1,63}; other names are
  // INVALID_ARGUMENT naming `name`.

  // Registers a scene by one message; `ImportScene` registers scenes of any size.
  //
  // Errors: ALREADY_EXISTS: a scene of this name exists; INVALID_ARGUMENT naming `polygons[i].id`
  // for an id that occurs twice; RESOURCE_EXHAUSTED over a limit of the server.
  absl::StatusOr<SceneSummary> CreateScene(absl::string_view name,
                                           std::span<const Polygon> polygons,
                                           const CallOptions& options = {});

  // Returns the summary of the current version of a scene. Errors: NOT_FOUND.
  absl::StatusOr<SceneSummary> GetScene(absl::string_view name, const CallOptions& options = {});

  // Returns a page of at most `page_size` scenes, in [0, 1000]; 0 means 100. `page_token` is the
  // `next_page_token` of the preceding page; an empty token means the first page.
  //
  // Errors: INVALID_ARGUMENT for a page size or token out of range.
  absl::StatusOr<ScenePage> ListScenes(int32_t page_size = 0, absl::string_view page_token = "",
                                       const CallOptions& options = {});

  // Returns all scenes, read page after page. A scene that is registered or deleted meanwhile may
  // or may not be among them.
  absl::StatusOr<std::vector<SceneSummary>> ListAllScenes(const CallOptions& options = {});

  // Deletes a scene with all its versions. If `version` is not 0, the server deletes the scene only
  // if that version is current.
  //
  // Errors: NOT_FOUND; ABORTED if `version` is neither 0 nor the current version.
  absl::Status DeleteScene(absl::string_view name, uint64_t version = 0,
                           const CallOptions& options = {});

  // Applies all of `edits` to the scene, or none, and returns the version that they make. If
  // `base_version` is neither 0 nor the current version, the commit fails with ABORTED.
  //
  // The client retries a commit that fails with UNAVAILABLE, with backoff, for about 6 s and no
  // longer than the timeout of the call. Each commit has an id, so that the server makes it only
  // once.
  //
  // Errors: NOT_FOUND for the scene; NOT_FOUND naming `edits[i]` for a polygon to replace or remove
  // that is not in the scene; INVALID_ARGUMENT for an id that occurs twice; ABORTED; ALREADY_EXISTS
  // naming `edits[i]` for a polygon to add with an id that is in the scene; RESOURCE_EXHAUSTED over
  // a limit; for a fork, OUT_OF_RANGE if an earlier attempt made the edits and their version is no
  // longer kept.
  absl::StatusOr<SceneSummary> CommitEdits(absl::string_view name, uint64_t base_version,
                                           std::span<const SceneEdit> edits,
                                           const CallOptions& options = {});

  // Makes a fork: a scene that begins as a version of `base`, shares the memory of that version,
  // and is edited independently, by `GroupEdits` of frames (carom/frame.h) or `CommitEdits`. The
  // server keeps the last versions of a fork. A fork is not durable. It exists on one server, until
  // it is deleted or has not been used for the time of its lease (`ForkOptions::lease`). Frames,
  // `CommitEdits`, `RollbackScene` and `ForkScene` of a fork renew its lease; calls that only read
  // the fork do not. A fork costs some microseconds and next to no memory, but the call waits for
  // running changes of `base`, such as an import.
  //
  // If the server loses a fork, the streams of this client restore it: see carom/stream.h.
  //
  // Errors: NOT_FOUND naming `base`; OUT_OF_RANGE if the version of the base is not kept;
  // ALREADY_EXISTS; INVALID_ARGUMENT naming `lease_seconds` for a lease that is too long;
  // RESOURCE_EXHAUSTED over the server's limit of all forks, or of the forks that one peer has
  // made. A peer is a client address; on the server's own machine, a connection.
  absl::StatusOr<SceneSummary> ForkScene(absl::string_view base, const ForkOptions& fork = {},
                                         const CallOptions& options = {});

  // Returns the version history of a scene as far as the server keeps it, ascending; the last
  // version is the current one. Errors: NOT_FOUND.
  absl::StatusOr<std::vector<SceneVersion>> ListSceneVersions(absl::string_view name,
                                                              const CallOptions& options = {});

  // Returns the probable mistakes in version `version` of a scene; 0 means the current version. The
  // server keeps at most 10,000 findings and 65,536 vertices of outlines.
  //
  // Errors: NOT_FOUND; INVALID_ARGUMENT naming a field of `lint` that is out of range; OUT_OF_RANGE
  // if `version` is not kept; RESOURCE_EXHAUSTED if the lint needs more than the server allows.
  absl::StatusOr<SceneLint> LintScene(absl::string_view name, const LintOptions& lint = {},
                                      uint64_t version = 0, const CallOptions& options = {});

  // Makes a new version with the polygons of the older version `version`. If `base_version` is
  // neither 0 nor the current version, the rollback fails with ABORTED. If the server later loses a
  // fork that was rolled back, the client does not restore the fork, because the client records
  // edits of forks, but no rollbacks.
  //
  // Errors: NOT_FOUND; ABORTED; OUT_OF_RANGE if the server does not keep the polygons of `version`.
  absl::StatusOr<SceneSummary> RollbackScene(absl::string_view name, uint64_t version,
                                             uint64_t base_version = 0,
                                             const CallOptions& options = {});

  // Registers a scene of any size. The client sends chunks (messages) of about 1 MiB, and sends a
  // polygon that does not fit in a chunk as several pieces; the scene becomes visible when the
  // server has received all chunks.
  //
  // Errors: as for `CreateScene`, but ALREADY_EXISTS only if `mode` is kCreate.
  absl::StatusOr<SceneSummary> ImportScene(absl::string_view name,
                                           std::span<const Polygon> polygons, ImportMode mode,
                                           const CallOptions& options = {});

  // Returns the polygons of version `version` of a scene, by ascending id; 0 means the current
  // version.
  //
  // Errors: NOT_FOUND; OUT_OF_RANGE if the server does not keep the polygons of `version`.
  absl::StatusOr<std::vector<Polygon>> ExportScene(absl::string_view name, uint64_t version = 0,
                                                   const CallOptions& options = {});

  // Returns version `version` of a scene as a bundle, which `ReadBundle` (carom/bundle.h) opens
  // without building its index anew; 0 means the current version.
  //
  // Errors: NOT_FOUND; OUT_OF_RANGE if the server does not keep the polygons of `version`;
  // RESOURCE_EXHAUSTED if the server has no memory for the bundle.
  absl::StatusOr<ExportedBundle> ExportBundle(absl::string_view name, uint64_t version = 0,
                                              const CallOptions& options = {});

  // Returns a watch of the versions of a scene as they are made, from the current version on or
  // from a version that the caller has. Returns at once; the first `SceneWatch::Next` returns the
  // errors of the call.
  std::unique_ptr<SceneWatch> WatchScene(absl::string_view name, const WatchOptions& options = {});

  // Queries.

  // Returns the server's answer to one frame. Scene handles that the frame binds
  // (`Frame::bindings`) are valid for the frame only.
  //
  // Errors: INVALID_ARGUMENT and RESOURCE_EXHAUSTED if the server refuses the frame as a whole.
  // Errors of groups and items are in the answer; `FrameAnswer::status` is then OK.
  absl::StatusOr<FrameAnswer> Evaluate(const Frame& frame, const CallOptions& options = {});

  // Explains the only item of `group`, a query of the scene `scene` (carom/explain.h): what the
  // query considered, and why each candidate is in the answer or not. For moves, `tracker` holds
  // handles of `context.trackers`.
  //
  // Errors: those of the library's `Explain`; NOT_FOUND naming `scene`; OUT_OF_RANGE if
  // `context.version` is not kept; INVALID_ARGUMENT for a malformed definition of a tracker;
  // RESOURCE_EXHAUSTED and DEADLINE_EXCEEDED if the explanation takes more than the server allows.
  absl::StatusOr<Explanation> Explain(absl::string_view scene, const Group& group,
                                      const ExplainOptions& explain = {},
                                      const ExplainContext& context = {},
                                      const CallOptions& options = {});

  // Opens a stream of frames. Returns at once; if no server can be reached for `reconnect_timeout`,
  // the functions of the stream return UNAVAILABLE.
  std::unique_ptr<Stream> OpenStream(const StreamOptions& options = {});

 private:
  friend class internal::ClientMaker;
  class Impl;

  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom
