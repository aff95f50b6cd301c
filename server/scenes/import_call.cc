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

absl::Status Abandoned() {
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
    Unref();  // there is no call, so `done_` never happens
    return Unref();
  }
  Accept(service_, loop_, runtime_);
  const absl::Status admitted = Admit(Role::kWriter);
  part_charge_ = NewCharge(MemoryShare::kMessages);
  upload_.set_charge(NewCharge(MemoryShare::kScenes));
  if (!admitted.ok()) return Begin(admitted);
  OnceStarted([this](const absl::Status& started) { Begin(started); });
}

// With the reference of `accepted_`.
void ImportCall::Begin(const absl::Status& started) {
  {
    absl::MutexLock lock(&mu_);
    if (!started.ok()) {
      Finish(started, {});
    } else if (!cancelled_) {
      StartTimer(total_timer_, Clock::now() + runtime_.limits.import_time,
                 [this] { CheckTotal(); });
      AwaitPart();
      reader_.Read(&part_, &read_);
    }
  }
  Unref();
}

void ImportCall::AwaitPart() {
  reading_ = true;
  StartTimer(idle_timer_, Clock::now() + runtime_.limits.idle_import, [this] { CheckIdle(); });
  Ref();
}

void ImportCall::OnRead(bool ok) {
  absl::MutexLock lock(&mu_);
  reading_ = false;
  StopTimer(idle_timer_);
  if (ok) {
    absl::Status status = runtime_.CheckLength(part_);
    if (status.ok()) status = part_charge_.Add(part_.Length());
    if (!status.ok()) Finish(status, {});
    return Submit(Work::kAdd);
  }
  if (ended_) return Submit(Work::kDiscard);
  // The read of a client that is gone ends as that of one that has closed its side. But gRPC has
  // closed the stream by then, so that nothing can be sent.
  reader_.SendInitialMetadata(&headers_sent_);
}

void ImportCall::OnHeadersSent(bool ok) {
  absl::MutexLock lock(&mu_);
  if (!ok || cancelled_) {
    Finish(Abandoned(), {});
  } else if (absl::Status status = upload_.Check(); !status.ok()) {
    Finish(status, {});
  }
  Submit(Work::kRegister);
}

// The reference of the event becomes that of the run. After the end what was read is freed there,
// as millions of polygons take a while.
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
  part_.Clear();
  part_charge_.Clear();
  bool is_over = false;
  {
    absl::MutexLock lock(&mu_);
    working_ = false;
    if (work == Work::kRegister || !status.ok()) {
      Finish(cancelled_ && !status.ok() ? Abandoned() : status, answer);
    }
    is_over = ended_;
    if (!is_over) AwaitPart();
  }
  // Without the lock, for which `OnRead` would keep a thread of the event loop waiting.
  is_over ? upload_.Clear() : reader_.Read(&part_, &read_);
  if (work == Work::kRegister) runtime_.writers.Done(scene);
  Unref();
}

absl::Status ImportCall::Add() {
  if (cancelled_) return Abandoned();
  // Which frees ten thousands of messages at once.
  google::protobuf::Arena arena;
  auto& part = *google::protobuf::Arena::CreateMessage<v1::ImportSceneRequest>(&arena);
  MemoryCharge parsed = part_charge_.Another();
  absl::Status charged =
      ChargeParsed(part_, *part.GetDescriptor(), runtime_.limits.max_message_bytes, parsed);
  if (!charged.ok()) return charged;
  if (!Parse(part_, part)) return NoSuchMessage(part.GetTypeName());
  return upload_.Add(part);
}

absl::Status ImportCall::Register(grpc::ByteBuffer& answer) {
  const auto abandoned = [this] { return cancelled_.load(); };
  const absl::StatusOr<Scene::Ptr> scene =
      runtime_.store.Import(Key(), upload_.mode(), std::move(upload_.polygons()), abandoned);
  if (!scene.ok()) return scene.status();
  v1::ImportSceneResponse response;
  wire::EncodeScene(upload_.name(), **scene, *response.mutable_scene());
  answer = Serialize(response);
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
  // What is being registered is there in a moment; a part that is being added is the last one.
  if (!working_ || work_ == Work::kAdd) {
    Finish(absl::CancelledError("the import took too long; nothing is registered"), {});
  }
}

void ImportCall::Finish(const absl::Status& status, const grpc::ByteBuffer& answer) {
  if (std::exchange(ended_, true)) return;
  Ref();
  if (status.ok()) {
    reader_.Finish(answer, grpc::Status::OK, &finished_);
  } else {
    reader_.FinishWithError(ToGrpcStatus(status), &finished_);
  }
}

}  // namespace carom::server
