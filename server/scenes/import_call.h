// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One `SceneService.ImportScene` call.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include "absl/base/thread_annotations.h"
#include "server/scenes/scene_call.h"
#include "server/scenes/scene_upload.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"

namespace carom::server {

// Reads a part, adds it to the upload on an executor thread, reads the next; and registers the
// scene once the client has closed its side.
//
//   OnAccepted     a call is here; the next one is waited for, and its first part.
//   OnRead         a part is here, or `ok` false: the client has closed its side, or is gone.
//   OnHeadersSent  the answer has begun; `ok` false: the client is gone.
//   Run            on an executor thread: the part is added, or the scene registered.
//   OnDone         the call is over. If it was cancelled, nothing is registered.
//   CheckIdle      on the timer's thread: CANCELLED after the idle time without a part.
//   CheckTotal     likewise: CANCELLED after the time that an import may take.
//   Drain          nothing: the import goes on while the drain lasts.
class ImportCall final : public AsyncCall {
 public:
  // Takes one call, and each that follows, until the server is shut down.
  static void Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime);

  void Run() override;
  void Drain() override {}

 private:
  enum class Work { kAdd, kRegister, kDiscard };

  ImportCall(SceneService& service, EventLoop& loop, SceneRuntime& runtime)
      : AsyncCall(loop, runtime.calls, 2), service_(service), runtime_(runtime) {}
  ~ImportCall() override = default;

  void OnAccepted(bool ok);
  void Begin(const absl::Status& started);
  void OnRead(bool ok);
  void OnHeadersSent(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool) { Unref(); }
  void CheckIdle();
  void CheckTotal();

  // Before `reader_.Read`.
  void AwaitPart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Submit(Work work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the call, unless it has ended.
  void Finish(const absl::Status& status, const grpc::ByteBuffer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string Key() const { return runtime_.store.KeyOf(caller().tenant, upload_.name()); }
  absl::Status Add();
  absl::Status Register(grpc::ByteBuffer& answer);

  SceneService& service_;
  SceneRuntime& runtime_;
  // No lock: given to gRPC, and of the run while there is one, which `working_` says.
  grpc::ServerAsyncReader<grpc::ByteBuffer, grpc::ByteBuffer> reader_{&context_};
  grpc::ByteBuffer part_;
  MemoryCharge part_charge_;
  SceneUpload upload_{runtime_.limits.polygons, runtime_.limits.scenes};
  Work work_ = Work::kAdd;
  EventOf<ImportCall, &ImportCall::OnAccepted> accepted_{this};
  EventOf<ImportCall, &ImportCall::OnRead> read_{this};
  EventOf<ImportCall, &ImportCall::OnHeadersSent> headers_sent_{this};
  EventOf<ImportCall, &ImportCall::OnDone> done_{this};
  EventOf<ImportCall, &ImportCall::OnFinished> finished_{this};

  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  bool working_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  Timer::Id idle_timer_ ABSL_GUARDED_BY(mu_) = 0;  // while a part is waited for
  Timer::Id total_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
