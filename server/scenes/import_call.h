// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves one `SceneService.ImportScene` call: how is a scene of any size received?
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include "absl/base/thread_annotations.h"
#include "server/scenes/scene_call.h"
#include "server/scenes/scene_upload.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"

namespace carom::server {

// One import of a scene. A chunk is one message of the request stream. The call reads a chunk, adds
// the chunk to the upload (the polygons received so far) on an executor thread, and reads the next
// chunk. It registers the scene in the store once the client has closed its side of the stream.
//
//   OnAccepted     A call has arrived; requests the next call from gRPC and reads the first chunk.
//   OnRead         A chunk has arrived, or `ok` is false: the client has closed its side of the
//                  stream or has disconnected.
//   OnHeadersSent  The initial metadata is sent; `ok` false: the client has disconnected.
//   Run            On an executor thread: adds the chunk, registers the scene, or frees the upload.
//   OnDone         The call is over. A cancelled call registers no scene from then on.
//   CheckIdle      On the timer's thread: ends the call with CANCELLED if no chunk arrives within
//                  `SceneCallLimits::idle_import`.
//   CheckTotal     On the timer's thread: ends the call with CANCELLED after
//                  `SceneCallLimits::import_time`, the time that an import may take.
//   Drain          Does nothing: the import continues during the drain.
class ImportCall final : public AsyncCall {
 public:
  // Accepts ImportScene calls, one after the other, until the server is shut down.
  static void Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime);

  void Run() override;
  void Drain() override {}

 private:
  // What `Run` does: adds a chunk to the upload, registers the scene, or frees the upload.
  enum class Work { kAdd, kRegister, kDiscard };

  ImportCall(SceneService& service, EventLoop& loop, SceneRuntime& runtime)
      : AsyncCall(loop, runtime.calls, RpcMethod::kImportScene, 2),
        service_(service),
        runtime_(runtime) {}
  ~ImportCall() override = default;

  void OnAccepted(bool ok);
  void Begin(const absl::Status& started);
  void OnRead(bool ok);
  void OnHeadersSent(bool ok);
  void OnDone(bool ok);
  void OnFinished(bool) { Unref(); }
  void CheckIdle();
  void CheckTotal();

  // Starts the idle timer, and acquires the reference to the call that the next read needs until
  // `OnRead`. Called before `reader_.Read`.
  void AwaitChunk() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Submit(Work work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the call with `answer` if `status` is OK, else with the error `status`. Does nothing if
  // the call has ended.
  void Finish(const absl::Status& status, const grpc::ByteBuffer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::string Key() const { return runtime_.store.KeyOf(caller().tenant, upload_.name()); }
  absl::Status Add();
  absl::Status Register(grpc::ByteBuffer& answer);

  SceneService& service_;
  SceneRuntime& runtime_;
  // The members from here to `work_` need no lock: while `working_` is true, only `Run` uses them;
  // while it is false, only gRPC and the handlers of gRPC's events use them.
  grpc::ServerAsyncReader<grpc::ByteBuffer, grpc::ByteBuffer> reader_{&context_};
  grpc::ByteBuffer chunk_;
  MemoryCharge chunk_charge_;
  SceneUpload upload_{runtime_.limits->polygons, runtime_.limits->scenes};
  Work work_ = Work::kAdd;
  EventOf<ImportCall, &ImportCall::OnAccepted> accepted_{this};
  EventOf<ImportCall, &ImportCall::OnRead> read_{this};
  EventOf<ImportCall, &ImportCall::OnHeadersSent> headers_sent_{this};
  EventOf<ImportCall, &ImportCall::OnDone> done_{this};
  EventOf<ImportCall, &ImportCall::OnFinished> finished_{this};

  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  bool working_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  Timer::Id idle_timer_ ABSL_GUARDED_BY(mu_) = 0;  // set while the call waits for a chunk
  Timer::Id total_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
