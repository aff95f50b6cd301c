// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `SceneService.ExportScene` call.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/v1/scene_service.pb.h"
#include "server/scenes/scene_call.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"
#include "wire/pieces.h"

namespace carom::server {

// Writes a part, and the next one when the client has taken it: the call holds one part and a
// snapshot of the scene, which is not disturbed by commits.
//
//   OnAccepted  the request is here; the next call is waited for, and the first part is written.
//   Run         on an executor thread: the polygons of an older version are read first.
//   OnWritten   the next part, or the end.
//   CheckUnread on the timer's thread: the call ends whose client takes no part for that long.
//   Drain       nothing: the export goes on while the drain lasts.
class ExportCall final : public AsyncCall {
 public:
  // Takes one call, and each that follows, until the server is shut down.
  static void Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime);

  void Run() override;
  void Drain() override {}

 private:
  ExportCall(SceneService& service, EventLoop& loop, SceneRuntime& runtime)
      : AsyncCall(loop, runtime.calls, 1), service_(service), runtime_(runtime) {}
  ~ExportCall() override = default;

  void OnAccepted(bool ok);
  void Begin(absl::Status status);
  void OnWritten(bool ok);
  void OnFinished(bool);
  void CheckUnread(uint64_t part);

  // What is asked for: its summary, and its polygons, unless they are still to be read.
  absl::Status Open();
  absl::Status ReadOld();
  // The next part, or the end.
  void Write();
  // The same, or the error that there is no memory.
  void TryWrite();
  const Polygon& polygon(size_t i) const {
    return scene_ != nullptr ? scene_->polygon(i) : polygons_[i];
  }
  void Finish(const absl::Status& status);

  SceneService& service_;
  SceneRuntime& runtime_;
  // No lock: of one event after the other.
  grpc::ByteBuffer bytes_;
  std::string name_;
  std::string key_;  // of the scene in the store
  uint64_t version_ = 0;
  v1::Scene summary_;
  Clock::time_point last_moment_;  // when the client must have taken it all
  Scene::Ptr scene_;               // the version, if it is in memory
  std::vector<Polygon> polygons_;  // else what was read of it
  MemoryCharge charge_;            // of those
  size_t next_ = 0;                // polygon
  wire::PieceStart piece_;         // of that
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer_{&context_};
  EventOf<ExportCall, &ExportCall::OnAccepted> accepted_{this};
  EventOf<ExportCall, &ExportCall::OnWritten> written_{this};
  EventOf<ExportCall, &ExportCall::OnFinished> finished_{this};

  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t parts_ ABSL_GUARDED_BY(mu_) = 0;  // that were written
};

}  // namespace carom::server
