// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `SceneService.WatchScene` call.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/v1/scene_service.pb.h"
#include "server/scenes/scene_call.h"
#include "server/store/scene_change.h"
#include "server/store/watch_hub.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"
#include "wire/pieces.h"

namespace carom::server {

// Has no queue: it knows the version that its client has, and asks the store what came after that.
// So a client that reads slowly costs one part, and the change that is being sent to it, whatever
// is committed meanwhile, until what it needs next is no longer kept. A call that waits for a
// commit or for its client holds no thread.
//
//   OnAccepted  the request is here; the next call is waited for.
//   Run         on an executor thread: the next part is written, of the change that is being sent
//               or of the one after it; else the call waits.
//   OnWritten   the client has taken a part, or, the first time, knows that its call is here.
//   OnChange    a call that waits goes on.
//   OnDone      the call is over.
//   CheckUnread on the timer's thread: RESOURCE_EXHAUSTED for a client that takes no part for the
//               stalled time.
//   Drain       UNAVAILABLE, after the part that is being written.
class WatchCall final : public AsyncCall, public SceneWatcher {
 public:
  // Takes one call, and each that follows, until the server is shut down.
  static void Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime);

  void Run() override;
  void Drain() override;
  void OnChange(uint64_t version, const SceneChange::Ptr& change) override;

 private:
  WatchCall(SceneService& service, EventLoop& loop, SceneRuntime& runtime)
      : AsyncCall(loop, runtime.watches, 2), service_(service), runtime_(runtime) {}
  ~WatchCall() override = default;

  void OnAccepted(bool ok);
  void Begin(absl::Status status);
  void OnWritten(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool) { Unref(); }
  void CheckUnread(uint64_t part);

  // Parses and checks, and is notified of changes from then on.
  absl::Status Open();
  // What is sent first: the current version as a whole, or, where the client has a version, nothing
  // but the news that its call is here.
  absl::Status Begin();
  // The next part, or a wait; an error ends the call.
  absl::Status Continue();
  // The change after `version_`; null: there is none, and the call waits.
  absl::StatusOr<SceneChange::Ptr> Next();
  // Why nothing more is sent; OK if that is not so.
  absl::Status CheckEnd() ABSL_LOCKS_EXCLUDED(mu_);
  // True if the call waits from here on; false if something has happened since `Next` looked.
  bool Wait() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Write() ABSL_LOCKS_EXCLUDED(mu_);
  // Adds what `cursor_` stands at to a part, and goes on; of a large polygon a piece.
  void Add(v1::WatchSceneResponse& part);
  void Finish(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

  SceneService& service_;
  SceneRuntime& runtime_;
  // No lock: of the event or the run that is in progress, one after the other.
  grpc::ByteBuffer bytes_;
  std::string name_;
  std::string key_;  // of the scene in the store
  uint64_t from_version_ = 0;
  bool wants_polygons_ = false;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer_{&context_};
  bool begun_ = false;
  uint64_t version_ = 0;        // that the client has
  uint64_t first_current_ = 0;  // that was current when the watch began
  SceneChange::Ptr change_;     // that is being sent, or null
  ChangeCursor cursor_;
  bool is_first_part_ = true;  // of the change
  wire::PieceStart piece_;
  Clock::time_point sent_since_;  // of the change
  MemoryCharge part_charge_;      // of what is being written
  EventOf<WatchCall, &WatchCall::OnAccepted> accepted_{this};
  EventOf<WatchCall, &WatchCall::OnWritten> written_{this};
  EventOf<WatchCall, &WatchCall::OnDone> done_{this};
  EventOf<WatchCall, &WatchCall::OnFinished> finished_{this};

  bool added_ ABSL_GUARDED_BY(mu_) = false;    // to the hub
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;  // `OnDone` was here
  bool waits_ ABSL_GUARDED_BY(mu_) = false;    // for a change; else a run or an event is to come
  bool changed_ ABSL_GUARDED_BY(mu_) = false;  // since `Next` looked
  bool deleted_ ABSL_GUARDED_BY(mu_) = false;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  // A change that the store does not keep, which is there as long as somebody has it.
  SceneChange::Ptr large_ ABSL_GUARDED_BY(mu_);
  uint64_t parts_ ABSL_GUARDED_BY(mu_) = 0;  // that were written
  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
