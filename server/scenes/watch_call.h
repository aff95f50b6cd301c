// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves one `SceneService.WatchScene` call: how does a client receive the versions of a scene?
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/v1/scene_service.pb.h"
#include "server/scenes/outgoing_bundle.h"
#include "server/scenes/scene_call.h"
#include "server/store/scene_change.h"
#include "server/store/watch_hub.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"
#include "wire/pieces.h"

namespace carom::server {

// Sends the versions of a scene as they are committed. A change is the difference between a version
// and the next one; a chunk is one message of the response stream, with a part of a change. A
// `WatchCall` has no queue: it stores the number of the version that the client has, and reads the
// change after that version from the store. A client that reads slowly therefore costs the server
// one chunk and the change that is being sent, however many versions are committed meanwhile; the
// call ends when the store no longer keeps the next change. A call that waits for a commit or for
// its client holds no thread.
//
//   OnAccepted  The request has arrived; requests the next call from gRPC.
//   Run         On an executor thread: writes the next chunk of the change that is being sent, or
//               the first chunk of the next change; without a next change the call waits.
//   OnWritten   gRPC has sent a chunk, or the initial metadata of the call.
//   OnChange    The scene has changed: submits the call if it waits.
//   OnDone      The call is over.
//   CheckUnread On the timer's thread: ends the call with RESOURCE_EXHAUSTED if the client does not
//               read a chunk within `SceneCallLimits::stalled_answer`.
//   Drain       Ends the call with UNAVAILABLE, after the chunk that is being written.
class WatchCall final : public AsyncCall, public SceneWatcher {
 public:
  // Accepts WatchScene calls, one after the other, until the server is shut down.
  static void Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime);

  void Run() override;
  void Drain() override;
  void OnChange(uint64_t version, const SceneChange::Ptr& change) override;

 private:
  WatchCall(SceneService& service, EventLoop& loop, SceneRuntime& runtime)
      : AsyncCall(loop, runtime.watches, RpcMethod::kWatchScene, 2),
        service_(service),
        runtime_(runtime) {}
  ~WatchCall() override = default;

  void OnAccepted(bool ok);
  void Begin(absl::Status status);
  void OnWritten(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool) { Unref(); }
  void CheckUnread(uint64_t chunk);

  // Checks the name of the scene and registers the call with the `WatchHub`, which calls `OnChange`
  // for each later change of the scene.
  absl::Status Open();
  // Sends the first message: all of the current version, or only the initial metadata if the client
  // has a version already. An error ends the call.
  absl::Status Begin();
  // Writes the next chunk, or makes the call wait for a change. An error ends the call.
  absl::Status Continue();
  // Returns the change after `version_`, or null if `version_` is current.
  absl::StatusOr<SceneChange::Ptr> Next();
  // Returns why the call sends nothing more (cancelled, draining or the scene was deleted), or OK.
  absl::Status CheckEnd() ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the call wait for the next change, and returns true. Returns false, and does not wait, if
  // a change, a drain or a deletion came after `Next` began. Also returns true if the call is
  // cancelled.
  bool Wait() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Write() ABSL_LOCKS_EXCLUDED(mu_);
  // Adds the change of the polygon at `cursor_` to `chunk`; of a large polygon, it adds only the
  // next piece. Moves `cursor_` to the next polygon after the last piece.
  void Add(v1::WatchSceneResponse& chunk);
  void Finish(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

  SceneService& service_;
  SceneRuntime& runtime_;
  // The members from here to `finished_` need no lock: only the handler of one event of gRPC, or
  // `Run`, is in progress at a time, and nothing else uses these members.
  grpc::ByteBuffer bytes_;
  std::string name_;
  std::string key_;  // key of the scene in the store
  uint64_t from_version_ = 0;
  bool wants_polygons_ = false;
  bool wants_bundle_ = false;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer_{&context_};
  bool begun_ = false;
  uint64_t version_ = 0;        // version that the client has
  uint64_t first_current_ = 0;  // version that was current when the watch began
  SceneChange::Ptr change_;     // the change being sent, or null
  ChangeCursor cursor_;         // the next changed polygon of `change_` to be sent
  OutgoingBundle bundle_;       // in place of the polygons of a whole version
  bool is_first_chunk_ = true;  // true: the next chunk is the first of `change_`
  wire::PieceStart piece_;
  Clock::time_point send_start_;  // when the first chunk of `change_` was written
  MemoryCharge chunk_charge_;     // memory of the chunk being written
  EventOf<WatchCall, &WatchCall::OnAccepted> accepted_{this};
  EventOf<WatchCall, &WatchCall::OnWritten> written_{this};
  EventOf<WatchCall, &WatchCall::OnDone> done_{this};
  EventOf<WatchCall, &WatchCall::OnFinished> finished_{this};

  // true: the call is registered with the `WatchHub`, which calls `OnChange`
  bool is_in_hub_ ABSL_GUARDED_BY(mu_) = false;
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;  // `OnDone` has run
  // true: the call waits for a change of the scene; false: `Run` or an event of gRPC is pending
  bool is_waiting_ ABSL_GUARDED_BY(mu_) = false;
  bool changed_ ABSL_GUARDED_BY(mu_) = false;  // a change or a drain came after `Next` began
  bool deleted_ ABSL_GUARDED_BY(mu_) = false;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  // A change after `version_` that the store does not keep in memory; this pointer keeps it for the
  // call.
  SceneChange::Ptr uncached_ ABSL_GUARDED_BY(mu_);
  uint64_t chunks_ ABSL_GUARDED_BY(mu_) = 0;  // number of chunks written so far
  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
