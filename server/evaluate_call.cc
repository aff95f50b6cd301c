// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/evaluate_call.h"

#include "server/rpc_status.h"

namespace carom::server {

grpc::ServerUnaryReactor* EvaluateCall::Start(grpc::CallbackServerContext& context,
                                              const v1::EvaluateRequest& request,
                                              v1::EvaluateResponse& response,
                                              QueryRuntime& runtime) {
  auto* call = new EvaluateCall(request, response, runtime);
  if (runtime.calls.Add(call)) {
    runtime.executor.Submit(call);
    return call;
  }
  delete call;
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(ToGrpcStatus(Draining()));
  return reactor;
}

EvaluateCall::EvaluateCall(const v1::EvaluateRequest& request, v1::EvaluateResponse& response,
                           QueryRuntime& runtime)
    : request_(request),
      response_(response),
      runtime_(runtime),
      received_(Clock::now()),
      session_(runtime.evaluator.limits().trackers) {}

void EvaluateCall::Run() {
  {
    // Waits for the run that parked, which may still hold the lock.
    absl::MutexLock lock(&mu_);
    ticket_ = 0;
  }
  if (work_.frame == nullptr) {
    runtime_.evaluator.Begin(request_.frame(), received_, session_, *response_.mutable_answer(),
                             work_);
  }
  if (!runtime_.Continue(work_, session_, cancelled_)) {
    absl::MutexLock lock(&mu_);
    if (!cancelled_) {
      ticket_ = runtime_.gate.Park(work_.waits, work_.deadline, this);
      return;
    }
  }
  Finish(cancelled_ ? grpc::Status::CANCELLED : ToGrpcStatus(work_.status));
}

void EvaluateCall::OnCancel() {
  absl::MutexLock lock(&mu_);
  cancelled_ = true;
  if (ticket_ != 0) runtime_.gate.Wake(ticket_);
}

void EvaluateCall::OnDone() {
  runtime_.calls.Remove(this);
  delete this;
}

}  // namespace carom::server
