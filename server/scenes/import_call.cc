// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/import_call.h"

#include <new>
#include <utility>

#include "google/protobuf/arena.h"
#include "server/base/rpc_status.h"
#include "server/scenes/scene_service.h"
#include "server/transport/message_io.h"
#include "wire/encode.h"

namespace carom::server {
namespace {

absl::Status ImportCancelled() {
  return absl::CancelledError("the import is cancelled; nothing is registered");
}

}  // namespace

void ImportCall::Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime) {
  auto* call = new ImportCall(service, loop, runtime);
  call->context_.AsyncNotifyWhenDone(&call->done_);
  service.RequestImportScene(&call->context_, &call->reader_, &loop.queue(), &loop.queue(),
                             &call->accepted_);
}

void ImportCall::OnAccepted(bool ok) {
  if (!ok) {
    Unref();  // no call arrived, so the event `done_` never comes
    return Unref();
  }
  Accept(service_, loop_, runtime_);
  const absl::Status admitted = Admit(Role::kWriter);
  chunk_charge_ = NewCharge(MemoryShare::kMessages);
  upload_.set_charge(NewCharge(MemoryShare::kScenes));
  if (!admitted.ok()) return Begin(admitted);
  CallWhenStarted([this](const absl::Status& started) { Begin(started); });
}

// Reads the first chunk, or ends the call with the error `started`. The caller passes the reference
// to the call that the event `accepted_` holds; the function releases it at the end.
void ImportCall::Begin(const absl::Status& started) {
  {
    absl::MutexLock lock(&mu_);
    if (!started.ok()) {
      Finish(started, {});
    } else if (!cancelled_) {
      StartTimer(total_timer_, Clock::now() + runtime_.limits->import_time,
                 [this] { CheckTotal(); });
      AwaitChunk();
      reader_.Read(&chunk_, &read_);
    }
  }
  Unref();
}

void ImportCall::AwaitChunk() {
  reading_ = true;
  StartTimer(idle_timer_, Clock::now() + runtime_.limits->idle_import, [this] { CheckIdle(); });
  Ref();
}

void ImportCall::OnRead(bool ok) {
  absl::MutexLock lock(&mu_);
  reading_ = false;
  StopTimer(idle_timer_);
  if (ok) {
    absl::Status status = runtime_.CheckLength(chunk_);
    if (status.ok()) status = chunk_charge_.Add(chunk_.Length());
    if (!status.ok()) Finish(status, {});
    return Submit(Work::kAdd);
  }
  if (ended_) return Submit(Work::kDiscard);
  // `ok` is false if the client has closed its side of the stream, but also if it has disconnected.
  // To distinguish the two cases, the call sends its initial metadata: sending fails for a
  // disconnected client, because gRPC has closed the stream.
  reader_.SendInitialMetadata(&headers_sent_);
}

void ImportCall::OnHeadersSent(bool ok) {
  absl::MutexLock lock(&mu_);
  if (!ok || cancelled_) {
    Finish(ImportCancelled(), {});
  } else if (absl::Status status = upload_.Check(); !status.ok()) {
    Finish(status, {});
  }
  Submit(Work::kRegister);
}

// Submits the call to the executor, which runs `Run` with the task `work`; `Run` releases the
// reference to the call that the caller of `Submit` holds. If the call has ended, `Run` only frees
// the upload: on the event loop, freeing millions of polygons would block a thread.
void ImportCall::Submit(Work work) {
  working_ = true;
  work_ = ended_ ? Work::kDiscard : work;
  if (work_ == Work::kRegister) {
    runtime_.writers.Submit(Key(), this);
  } else {
    runtime_.executor.Submit(this);
  }
}

void ImportCall::Run() {
  const Work work = work_;
  const std::string scene = Key();
  grpc::ByteBuffer answer;
  absl::Status status;
  try {
    if (work == Work::kAdd) status = Add();
    if (work == Work::kRegister) status = Register(answer);
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  chunk_.Clear();
  chunk_charge_.Clear();
  bool is_over = false;
  {
    absl::MutexLock lock(&mu_);
    working_ = false;
    if (work == Work::kRegister || !status.ok()) {
      Finish(cancelled_ && !status.ok() ? ImportCancelled() : status, answer);
    }
    is_over = ended_;
    if (!is_over) AwaitChunk();
  }
  // Calls `Read` without the lock: `OnRead` may begin on another thread before `Read` returns, and
  // would block that thread of the event loop.
  is_over ? upload_.Clear() : reader_.Read(&chunk_, &read_);
  if (work == Work::kRegister) runtime_.writers.Done(scene);
  Unref();
}

absl::Status ImportCall::Add() {
  if (cancelled_) return ImportCancelled();
  // A chunk can have tens of thousands of nested messages; the arena frees all of them at once.
  google::protobuf::Arena arena;
  auto& chunk = *google::protobuf::Arena::CreateMessage<v1::ImportSceneRequest>(&arena);
  MemoryCharge parsed = chunk_charge_.Another();
  absl::Status charged =
      ChargeParsed(chunk_, *chunk.GetDescriptor(), runtime_.limits->max_message_bytes, parsed);
  if (!charged.ok()) return charged;
  if (!Parse(chunk_, chunk)) return InvalidMessage(chunk.GetTypeName());
  return upload_.Add(chunk);
}

absl::Status ImportCall::Register(grpc::ByteBuffer& answer) {
  const auto abandoned = [this] { return cancelled_.load(); };
  const absl::StatusOr<Scene::Ptr> scene = runtime_.store.Import(
      Key(), upload_.mode(), std::move(upload_.polygons()), abandoned, upload_.note());
  if (!scene.ok()) return scene.status();
  v1::ImportSceneResponse response;
  wire::EncodeScene(upload_.name(), **scene, *response.mutable_scene());
  answer = Serialize(response);
  LogSceneChange(upload_.mode() == ImportMode::kReplace ? "scene_replaced" : "scene_created",
                 upload_.name());
  return absl::OkStatus();
}

void ImportCall::OnDone(bool) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(idle_timer_);
    StopTimer(total_timer_);
    if (context_.IsCancelled()) cancelled_ = true;
  }
  Unref();
}

void ImportCall::CheckIdle() {
  absl::MutexLock lock(&mu_);
  idle_timer_ = 0;
  if (reading_) Finish(absl::CancelledError("the import was idle; nothing is registered"), {});
}

void ImportCall::CheckTotal() {
  absl::MutexLock lock(&mu_);
  total_timer_ = 0;
  // If `Run` is registering the scene, the import may complete, because registering ends soon. If
  // `Run` is adding a chunk, the call ends with the error at once, and `Run` frees the upload after
  // that chunk.
  if (!working_ || work_ == Work::kAdd) {
    Finish(absl::CancelledError("the import took too long; nothing is registered"), {});
  }
}

void ImportCall::Finish(const absl::Status& status, const grpc::ByteBuffer& answer) {
  Ended(status);
  if (std::exchange(ended_, true)) return;
  Ref();
  if (status.ok()) {
    reader_.Finish(answer, grpc::Status::OK, &finished_);
  } else {
    reader_.FinishWithError(ToGrpcStatus(status), &finished_);
  }
}

}  // namespace carom::server
