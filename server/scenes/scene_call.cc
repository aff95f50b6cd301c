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

// Before the request is parsed, a longer scene name is cut to this number of bytes. Valid names are
// shorter; the handler refuses a longer name when the call runs.
constexpr size_t kMaxNameBytes = 128;

}  // namespace

absl::Status SceneRuntime::CheckLength(const grpc::ByteBuffer& bytes) const {
  return bytes.Length() <= limits->max_message_bytes ? absl::OkStatus()
                                                     : TooManyBytes(limits->max_message_bytes);
}

void SceneCall::Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime,
                       const SceneMethod& method) {
  auto* call = new SceneCall(service, loop, runtime, method);
  if (method.is_long) {
    call->Ref();  // for the event `done_`
    call->context_.AsyncNotifyWhenDone(&call->done_);
  }
  method.request(service, call->context_, call->bytes_, call->writer_, loop.queue(),
                 &call->accepted_);
}

void SceneCall::OnAccepted(bool ok) {
  if (!ok) {
    if (method_.is_long) Unref();  // the event `done_` does not occur
    return Unref();
  }
  Accept(service_, loop_, runtime_, method_);
  absl::Status status = Admit(method_.required_role);
  if (status.ok()) status = runtime_.CheckLength(bytes_);
  charge_ = NewCharge(MemoryShare::kMessages);
  if (status.ok()) status = charge_.Add(bytes_.Length());
  if (!status.ok()) return Begin(status);
  CallWhenStarted([this](const absl::Status& started) { Begin(started); });
}

// Answers a call of a reading method, or queues the call for `Run`. The caller passes the reference
// to the call that the event `accepted_` holds; the function releases it, or passes it on to `Run`.
void SceneCall::Begin(const absl::Status& started) {
  if (!started.ok()) {
    bytes_.Clear();  // the call may live long: the client may read the error late
    Finish(started, {});
    return Unref();
  }
  if (method_.writes) {
    // A request without a valid scene name waits in the queue of the tenant's empty name, and the
    // handler refuses it when the call runs.
    const std::string name = PeekName(bytes_).substr(0, kMaxNameBytes);
    scene_ = SceneKey(caller().tenant, IsSceneName(name) ? name : "");
    return runtime_.writers.Submit(scene_, this);
  }
  if (method_.is_long || !MayTakeLoop(Clock::now())) return runtime_.executor.Submit(this);
  const LoopTime time(*this, Clock::now());
  Answer();
  Unref();
}

void SceneCall::Run() {
  // While the call waited for other writers, its deadline may have passed or its credential may
  // have ended. The call then changes nothing, as its client could not learn of the change.
  if (IsLate()) {
    Finish(absl::DeadlineExceededError("the call's deadline has passed"), {});
  } else if (!IsCallerValid()) {
    Finish(CredentialEnded(), {});
  } else {
    Answer();
  }
  if (method_.writes) runtime_.writers.Done(scene_);
  Unref();
}

// Answers the call. If memory runs out, the call fails and has changed nothing: the store makes a
// change visible only after all allocations for the change.
void SceneCall::Answer() {
  grpc::ByteBuffer answer;
  absl::Status status;
  try {
    const std::function<bool()> is_over = [this] { return IsOver(); };
    status = method_.handle(runtime_, caller(), bytes_, {charge_, is_over}, answer);
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  if (absl::IsCancelled(status) && IsLate()) {
    status = absl::DeadlineExceededError("the call's deadline has passed");
  }
  if (status.ok()) LogChange();
  bytes_.Clear();
  charge_.Clear();
  Finish(status, answer);
}

// Logs the creation, deletion or replacement of a scene. Commits are not logged: a client may
// commit sixty times a second.
void SceneCall::LogChange() const {
  const char* const event = method_.rpc == RpcMethod::kCreateScene     ? "scene_created"
                            : method_.rpc == RpcMethod::kDeleteScene   ? "scene_deleted"
                            : method_.rpc == RpcMethod::kRollbackScene ? "scene_replaced"
                                                                       : nullptr;
  if (event != nullptr) LogSceneChange(event, PeekName(bytes_));
}

void SceneCall::Finish(const absl::Status& status, const grpc::ByteBuffer& answer) {
  Ended(status);
  Ref();
  if (!status.ok()) return writer_.FinishWithError(ToGrpcStatus(status), &finished_);
  {
    absl::MutexLock lock(&mu_);
    unread_charge_ = NewCharge(MemoryShare::kMessages);
    unread_charge_.Set(answer.Length());
    StartTimer(unread_timer_, Clock::now() + runtime_.limits->stalled_answer,
               [this] { CheckUnread(); });
  }
  // Calls `writer_.Finish` without the lock: `OnFinished` may begin on another thread before it
  // returns, and would block that thread of the event loop.
  writer_.Finish(answer, grpc::Status::OK, &finished_);
}

void SceneCall::OnFinished(bool) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
  }
  Unref();
}

void SceneCall::OnDone(bool) {
  is_done_.store(true, std::memory_order_relaxed);
  Unref();
}

// Cancels the call because the client has not read the answer in time. Does nothing if `OnFinished`
// ran, and reset `unread_timer_`, while the timer's thread waited for the lock.
void SceneCall::CheckUnread() {
  absl::MutexLock lock(&mu_);
  if (std::exchange(unread_timer_, 0) != 0) Abort(kUnread);
}

}  // namespace carom::server
