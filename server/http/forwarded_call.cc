// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/forwarded_call.h"

#include <algorithm>
#include <utility>

namespace carom::server {
namespace {

// Returns whether gRPC accepts `value` in metadata. gRPC ends the process at other values.
bool IsMetadata(const std::string& value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c <= 0x7E; });
}

// The most events that the thread which starts a unary call handles. The call has four: the receipt
// of the request, the end of the call at the server (two), and the receipt of the answer.
constexpr int kUnaryEvents = 6;

}  // namespace

std::shared_ptr<ForwardedCall> CallForwarder::NewCall(const ForwardedHeaders& headers,
                                                      std::function<void()> notify) {
  std::shared_ptr<ForwardedCall> call(new ForwardedCall(loop_, std::move(notify)));
  AddForwardedClient(headers.client, call->context_);
  if (!headers.authorization.empty()) {
    // A token with other characters is a token that no client has.
    call->context_.AddMetadata("authorization",
                               IsMetadata(headers.authorization) ? headers.authorization : "?");
  }
  if (!headers.traceparent.empty() && IsMetadata(headers.traceparent)) {
    call->context_.AddMetadata("traceparent", headers.traceparent);
  }
  if (headers.deadline != std::chrono::system_clock::time_point::max()) {
    call->context_.set_deadline(headers.deadline);
  }
  return call;
}

std::shared_ptr<ForwardedCall> CallForwarder::Start(const std::string& method,
                                                    const ForwardedHeaders& headers,
                                                    std::function<void()> notify) {
  const std::shared_ptr<ForwardedCall> call = NewCall(headers, std::move(notify));
  absl::MutexLock lock(&mu_);
  if (stopped_) return nullptr;
  absl::MutexLock call_lock(&call->mu_);
  call->rpc_ = stub_.PrepareCall(&call->context_, method, &loop_.queue());
  call->self_ = call;
  call->operations_ = 1;
  call->rpc_->StartCall(&call->started_event_);
  return call;
}

std::shared_ptr<ForwardedCall> CallForwarder::StartUnary(const std::string& method,
                                                         const ForwardedHeaders& headers,
                                                         const grpc::ByteBuffer& request,
                                                         std::function<void()> notify) {
  std::shared_ptr<ForwardedCall> call = NewCall(headers, std::move(notify));
  const auto start = [&] {
    absl::MutexLock lock(&mu_);
    if (stopped_) return call.reset();
    absl::MutexLock call_lock(&call->mu_);
    call->self_ = call;
    call->operations_ = 1;
    call->finishing_ = true;  // there is nothing to read or to write
    call->unary_rpc_ = stub_.PrepareUnaryCall(&call->context_, method, request, &loop_.queue());
    call->unary_rpc_->StartCall();
    call->unary_rpc_->Finish(&call->incoming_, &call->final_, &call->finished_event_);
  };
  loop_.RunAndHandle(
      start, [&] { return call == nullptr || call->has_ended(); }, kUnaryEvents);
  return call;
}

void CallForwarder::Stop() {
  absl::MutexLock lock(&mu_);
  stopped_ = true;
}

void ForwardedCall::Send(const grpc::ByteBuffer& message) {
  absl::MutexLock lock(&mu_);
  outgoing_.push_back(message);
  Advance();
}

void ForwardedCall::CloseSend() {
  absl::MutexLock lock(&mu_);
  close_send_ = true;
  Advance();
}

size_t ForwardedCall::unsent() const {
  absl::MutexLock lock(&mu_);
  return outgoing_.size() + (writing_ ? 1 : 0);
}

std::optional<grpc::ByteBuffer> ForwardedCall::Receive() {
  absl::MutexLock lock(&mu_);
  if (arrived_.empty()) return std::nullopt;
  grpc::ByteBuffer message = arrived_.front();
  arrived_.pop_front();
  held_bytes_ -= std::min(held_bytes_, message.Length());
  Advance();
  return message;
}

std::optional<grpc::Status> ForwardedCall::status() const {
  absl::MutexLock lock(&mu_);
  if (!ended_ || !arrived_.empty()) return std::nullopt;
  return final_;
}

bool ForwardedCall::has_ended() const {
  absl::MutexLock lock(&mu_);
  return ended_;
}

void ForwardedCall::Abandon() {
  {
    absl::MutexLock lock(&notify_mu_);
    notify_ = nullptr;
  }
  context_.TryCancel();
  absl::MutexLock lock(&mu_);
  arrived_.clear();
  held_bytes_ = 0;
  Advance();  // a read that fails reports the end of the call
}

void ForwardedCall::OnStarted(bool ok) {
  {
    absl::MutexLock lock(&mu_);
    started_ = true;
    if (ok) {
      Advance();
    } else {
      Finish();
    }
  }
  Completed();
}

void ForwardedCall::OnRead(bool ok) {
  {
    absl::MutexLock lock(&mu_);
    reading_ = false;
    if (ok) {
      held_bytes_ += incoming_.Length();
      arrived_.push_back(incoming_);
      incoming_ = grpc::ByteBuffer();
      Advance();
    } else {
      Finish();
    }
  }
  if (ok) Notify();
  Completed();
}

// A failed write needs no action: the call has ended, and a read reports the end.
void ForwardedCall::OnWritten(bool) {
  bool is_empty = false;
  {
    absl::MutexLock lock(&mu_);
    writing_ = false;
    Advance();
    is_empty = !writing_;
  }
  if (is_empty) Notify();
  Completed();
}

void ForwardedCall::OnSendClosed(bool) { Completed(); }

void ForwardedCall::OnFinished(bool) {
  {
    absl::MutexLock lock(&mu_);
    if (unary_rpc_ != nullptr && final_.ok()) arrived_.push_back(incoming_);
    ended_ = true;
  }
  Notify();
  Completed();
}

void ForwardedCall::Advance() {
  if (!started_ || finishing_) return;
  if (!reading_ && held_bytes_ <= kMaxHeldBytes) {
    reading_ = true;
    ++operations_;
    rpc_->Read(&incoming_, &read_event_);
  }
  if (writing_) return;
  if (!outgoing_.empty()) {
    writing_ = true;
    ++operations_;
    const grpc::ByteBuffer message = outgoing_.front();
    outgoing_.pop_front();
    if (close_send_ && outgoing_.empty()) {
      send_closed_ = true;
      rpc_->WriteLast(message, grpc::WriteOptions(), &written_event_);
    } else {
      rpc_->Write(message, &written_event_);
    }
  } else if (close_send_ && !send_closed_) {
    send_closed_ = true;
    ++operations_;
    rpc_->WritesDone(&send_closed_event_);
  }
}

void ForwardedCall::Finish() {
  finishing_ = true;
  ++operations_;
  rpc_->Finish(&final_, &finished_event_);
}

void ForwardedCall::Completed() {
  std::shared_ptr<ForwardedCall> released;  // destroyed after the lock is released
  absl::MutexLock lock(&mu_);
  if (--operations_ == 0 && ended_) released = std::move(self_);
}

void ForwardedCall::Notify() {
  absl::MutexLock lock(&notify_mu_);
  if (notify_ != nullptr) notify_();
}

}  // namespace carom::server
