// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a program talk to a Carom server?
//
// `Client::Connect` gives a client; scenes are registered and edited through it, and questions are
// asked by `Evaluate` (one frame, one call) or on a `Stream` (carom/stream.h), which a tick loop
// wants. A program that links the library needs no server: see carom/group.h.
//
//   auto client = Client::Connect(address).value();  // such as "127.0.0.1:7420"
//   auto scene = client->ImportScene("scenes/arena", polygons, ImportMode::kReplace);
//   Frame frame;
//   frame.groups.push_back({.scene = "scenes/arena", .group = group});
//   auto answer = client->Evaluate(frame);
//   // answer->groups[0].answers.points.polygon_ids[0] == 7
//
// Lengths are in the unit of the caller's coordinates. Error: none, answers are the bytes that the
// library gives. Cost: a round trip a call, and bytes O(n), n the vertices or items that are sent.
// Thread-safe. Cheaper: carom/group.h, without a server; richer: carom/stream.h.
//
// Statuses carry the field violations that the server sent: read them with `carom::Violations`
// (carom/status.h). Every call may also end with UNAVAILABLE (the server cannot be reached, or
// drains), DEADLINE_EXCEEDED (`CallOptions::timeout`) and RESOURCE_EXHAUSTED (a message above the
// server's 4 MiB); what else it may return stands beside it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/frame.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/stream.h"
#include "carom/watch.h"

namespace carom {

struct ClientOptions {
  // Behaviour. How long a call may take when its `CallOptions` do not say; zero: for ever. Streams
  // have no such limit: their ticks have `Frame::budget_us`.
  std::chrono::milliseconds call_timeout{30000};
  // After this much silence during a call or a stream, the server is asked whether it is alive; if
  // it does not answer in the same time again (20 s at most), they end with UNAVAILABLE. Below 10 s
  // a server takes it for an attack and closes the connection. Zero: never.
  std::chrono::milliseconds keepalive_interval{60000};

  // Security. Paths of files, which `Connect` checks, and which are read again when they change:
  // those of certificates within a second, for connections from then on, that of a token for calls
  // from then on. What cannot be used then leaves what was.
  // Of the authorities, in PEM, that have signed the server's certificate: with it connections are
  // encrypted by TLS; empty: plaintext.
  std::string ca_file = {};
  // Of the client's certificate, with those that signed it after it, and its key without a
  // passphrase, in PEM; they may be one file. Empty: none.
  std::string certificate_file = {};
  std::string key_file = {};
  // Of a token, which every call brings; over TLS, or to a server on this machine. Empty: none.
  std::string token_file = {};

  // Performance. Clients of one process share a connection to the same target, unless this is set:
  // one connection carries about one core's worth of traffic. Leave it alone below that.
  bool own_connection = false;
  // The largest answer that is accepted, in bytes. A frame of 262,144 hits, the server's default
  // limit, is below 32 MiB.
  int32_t max_receive_bytes = 64 << 20;
};

struct CallOptions {
  // Absent: `ClientOptions::call_timeout`. Zero: for ever.
  std::optional<std::chrono::milliseconds> timeout;
};

// Of a fork that is made.
struct ForkOptions {
  uint64_t version = 0;           // of the base; 0: the current one
  std::string name = {};          // `scenes/{scene}`; empty: one is made up
  std::chrono::seconds lease{0};  // without a frame; 0: the server's default, 60 s
};

// Scenes by ascending name.
struct ScenePage {
  std::vector<SceneSummary> scenes;
  std::string next_page_token;  // empty: this is the last page
};

// What an import does with a scene that is there: CREATE fails with ALREADY_EXISTS, REPLACE puts
// the polygons in place of the old ones, under a new version.
enum class ImportMode : uint8_t { kCreate, kReplace };

namespace internal {
class ClientMaker;
}  // namespace internal

// A connection to a server, or to several that hold the same scenes, one at a time. Thread-safe.
// Streams and watches may outlive their client.
class Client {
 public:
  // A client of the server at `target`, which is `host:port` or `unix:PATH`, or a list of them with
  // commas between. Returns at once: the connection is made by the first call, and made again
  // whenever it is lost. Calls go to one server, at first the first of the list. A call that finds
  // none, or a draining one, fails with UNAVAILABLE, and later calls go to the next in the list, in
  // a circle; it may be tried again, unless it may have had its effect. Streams pass on by
  // themselves.
  //
  // Errors: INVALID_ARGUMENT naming `target` for another form, or `ca_file`, `certificate_file`,
  // `key_file` or `token_file` of the options with the reason why that cannot be used.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(absl::string_view target,
                                                         const ClientOptions& options = {});

  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Scenes. Names are `scenes/{scene}` with {scene} matching [a-z0-9-]{1,63}; another form is
  // INVALID_ARGUMENT naming `name`.

  // Registers a scene in one message; `ImportScene` takes scenes of any size.
  //
  // Errors: ALREADY_EXISTS; INVALID_ARGUMENT naming `polygons[i].id` for an id that occurs twice;
  // RESOURCE_EXHAUSTED over a limit of the server.
  absl::StatusOr<SceneSummary> CreateScene(absl::string_view name,
                                           std::span<const Polygon> polygons,
                                           const CallOptions& options = {});

  // The current version. Errors: NOT_FOUND.
  absl::StatusOr<SceneSummary> GetScene(absl::string_view name, const CallOptions& options = {});

  // The next at most `page_size` scenes ([0, 1000]; 0: 100) after the page that gave `page_token`.
  //
  // Errors: INVALID_ARGUMENT for a page size or token out of range.
  absl::StatusOr<ScenePage> ListScenes(int32_t page_size = 0, absl::string_view page_token = "",
                                       const CallOptions& options = {});

  // All scenes, page after page. A scene that comes or goes meanwhile may or may not be there.
  absl::StatusOr<std::vector<SceneSummary>> ListAllScenes(const CallOptions& options = {});

  // Removes a scene, or, if `version` is not 0, only that version of it.
  //
  // Errors: NOT_FOUND; ABORTED if `version` is not the current one.
  absl::Status DeleteScene(absl::string_view name, uint64_t version = 0,
                           const CallOptions& options = {});

  // Makes all of the edits, or none. They are refused with ABORTED if the scene's version is not
  // `base_version`, unless that is 0. Where the answer is lost, or no server is there, the call
  // tries again for some seconds, within its timeout; the commit has an id by which the server
  // makes it once.
  //
  // Errors: NOT_FOUND for the scene, or naming `edits[i]` for a polygon to replace or remove that
  // is not there; INVALID_ARGUMENT for an id that occurs twice; ABORTED; ALREADY_EXISTS naming
  // `edits[i]` for a polygon to add that is there; RESOURCE_EXHAUSTED over a limit; OUT_OF_RANGE,
  // of a fork, if they were made by an attempt before and their version is no longer kept.
  absl::StatusOr<SceneSummary> CommitEdits(absl::string_view name, uint64_t base_version,
                                           std::span<const SceneEdit> edits,
                                           const CallOptions& options = {});

  // Makes a fork: a scene that begins as a version of `base`, on its memory, and changes apart from
  // it, by `GroupEdits` of frames (carom/frame.h) or `CommitEdits`. It is not durable, lives on one
  // server until it is deleted or nobody uses it for its lease, and keeps its last versions. Frames
  // are a use of it, and so are `CommitEdits`, `RollbackScene` and forks of it; reading it by other
  // calls is none. Costs some microseconds and next to no memory, but waits for the changes of
  // `base` that are under way, an import for instance.
  //
  // The streams of this client make a fork again that its server has lost: see carom/stream.h.
  //
  // Errors: NOT_FOUND naming `base`; OUT_OF_RANGE if its version is not kept; ALREADY_EXISTS;
  // INVALID_ARGUMENT naming `lease_seconds` for a lease that is too long; RESOURCE_EXHAUSTED over a
  // limit: of forks each peer has a part, and on the server's own machine each connection is a
  // peer.
  absl::StatusOr<SceneSummary> ForkScene(absl::string_view base, const ForkOptions& fork = {},
                                         const CallOptions& options = {});

  // The versions of a scene that the server knows, ascending; the last one is current. How far its
  // history reaches is the server's to say. Errors: NOT_FOUND.
  absl::StatusOr<std::vector<SceneVersion>> ListSceneVersions(absl::string_view name,
                                                              const CallOptions& options = {});

  // Makes a version with the polygons of an older one, unless the current one is not
  // `base_version`, if that is not 0. A fork that was rolled back is not made again by this client
  // when its server loses it: the client knows of edits alone, and not of what went back.
  //
  // Errors: NOT_FOUND; ABORTED; OUT_OF_RANGE if the server does not keep the polygons of `version`.
  absl::StatusOr<SceneSummary> RollbackScene(absl::string_view name, uint64_t version,
                                             uint64_t base_version = 0,
                                             const CallOptions& options = {});

  // Registers a scene of any size, sent in parts of about 1 MiB, as are polygons that are larger;
  // nothing is visible before all of them are there.
  //
  // Errors: as for CreateScene; ALREADY_EXISTS under CREATE only.
  absl::StatusOr<SceneSummary> ImportScene(absl::string_view name,
                                           std::span<const Polygon> polygons, ImportMode mode,
                                           const CallOptions& options = {});

  // The polygons of a scene by ascending id, of its current version or of an older one.
  //
  // Errors: NOT_FOUND; OUT_OF_RANGE if the server does not keep the polygons of `version`.
  absl::StatusOr<std::vector<Polygon>> ExportScene(absl::string_view name, uint64_t version = 0,
                                                   const CallOptions& options = {});

  // The versions of a scene as they are made, from the current one or from one that the caller has.
  // Returns at once: errors are those of the first `SceneWatch::Next`.
  std::unique_ptr<SceneWatch> WatchScene(absl::string_view name, const WatchOptions& options = {});

  // Questions.

  // Answers one frame. Handles that it binds live as long as the frame.
  //
  // Errors: INVALID_ARGUMENT and RESOURCE_EXHAUSTED when the frame as a whole is refused; what
  // concerns a group or an item is in the answer, whose own `status` is OK.
  absl::StatusOr<FrameAnswer> Evaluate(const Frame& frame, const CallOptions& options = {});

  // A stream of frames. Returns at once; if there is no server for `reconnect_timeout`, the
  // stream's calls say so.
  std::unique_ptr<Stream> OpenStream(const StreamOptions& options = {});

 private:
  friend class internal::ClientMaker;
  class Impl;

  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom
