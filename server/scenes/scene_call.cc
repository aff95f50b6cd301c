// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/scene_call.h"

#include <new>
#include <utility>

#include "server/access/identity.h"
#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/scenes/scene_service.h"
#include "server/transport/message_io.h"

namespace carom::server {
namespace {

// Longer than any name of a scene. Calls whose names are longer are refused, in turn.
constexpr size_t kMaxNameBytes = 128;

}  // namespace

absl::Status SceneRuntime::CheckLength(const grpc::ByteBuffer& bytes) const {
  return bytes.Length() <= limits.max_message_bytes ? absl::OkStatus()
                                                    : TooManyBytes(limits.max_message_bytes);
}

void SceneCall::Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime,
                       const SceneMethod& method) {
  auto* call = new SceneCall(service, loop, runtime, method);
  method.request(service, call->context_, call->bytes_, call->writer_, loop.queue(),
                 &call->accepted_);
}

void SceneCall::OnAccepted(bool ok) {
  if (!ok) return Unref();
  Accept(service_, loop_, runtime_, method_);
  absl::Status status = Admit(method_.least);
  if (status.ok()) status = runtime_.CheckLength(bytes_);
  charge_ = NewCharge(MemoryShare::kMessages);
  if (status.ok()) status = charge_.Add(bytes_.Length());
  if (!status.ok()) return Begin(status);
  OnceStarted([this](const absl::Status& started) { Begin(started); });
}

// With the reference of `accepted_`, which becomes that of the run.
void SceneCall::Begin(const absl::Status& started) {
  if (!started.ok()) {
    bytes_.Clear();  // the client may take its time
    Finish(started, {});
    return Unref();
  }
  if (method_.writes) {
    // What is no name is refused in turn, among the tenant's own.
    const std::string name = PeekName(bytes_).substr(0, kMaxNameBytes);
    scene_ = SceneKey(caller().tenant, IsSceneName(name) ? name : "");
    return runtime_.writers.Submit(scene_, this);
  }
  if (!MayTakeLoop(Clock::now())) return runtime_.executor.Submit(this);
  const LoopTime time(*this, Clock::now());
  Answer();
  Unref();
}

void SceneCall::Run() {
  // The deadline may have passed, and the credential have ended, while others wrote. The client
  // knows of no change, so there is none.
  if (context_.deadline() <= std::chrono::system_clock::now()) {
    Finish(absl::DeadlineExceededError("the call's deadline has passed"), {});
  } else if (!IsCallerValid()) {
    Finish(CredentialEnded(), {});
  } else {
    Answer();
  }
  if (method_.writes) runtime_.writers.Done(scene_);
  Unref();
}

// Memory that cannot be had is the call's error: nothing is registered before all of it is there.
void SceneCall::Answer() {
  grpc::ByteBuffer answer;
  absl::Status status;
  try {
    status = method_.handle(runtime_, caller(), bytes_, charge_, answer);
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  bytes_.Clear();
  charge_.Clear();
  Finish(status, answer);
}

void SceneCall::Finish(const absl::Status& status, const grpc::ByteBuffer& answer) {
  Ref();
  if (!status.ok()) return writer_.FinishWithError(ToGrpcStatus(status), &finished_);
  {
    absl::MutexLock lock(&mu_);
    unread_charge_ = NewCharge(MemoryShare::kMessages);
    unread_charge_.Set(answer.Length());
    StartTimer(unread_timer_, Clock::now() + runtime_.limits.stalled_answer,
               [this] { CheckUnread(); });
  }
  // Without the lock, for which `OnFinished` would keep a thread of the event loop waiting.
  writer_.Finish(answer, grpc::Status::OK, &finished_);
}

void SceneCall::OnFinished(bool) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
  }
  Unref();
}

// `OnFinished` may have come while the timer waited for the lock.
void SceneCall::CheckUnread() {
  absl::MutexLock lock(&mu_);
  if (std::exchange(unread_timer_, 0) != 0) CutOff(kUnread);
}

}  // namespace carom::server
