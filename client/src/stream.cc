// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/stream.h"

#include <algorithm>
#include <utility>

#include "client/src/call_status.h"
#include "client/src/frame_codec.h"
#include "client/src/stream_impl.h"

namespace carom {

Stream::Stream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Stream::~Stream() = default;

absl::Status Stream::Send(const Frame& frame) { return impl_->Send(frame); }
absl::StatusOr<FrameAnswer> Stream::Receive() { return impl_->Receive(); }
absl::Status Stream::Finish() { return impl_->Finish(); }
void Stream::Cancel() { impl_->Cancel(); }

Stream::Impl::Impl(std::shared_ptr<v1::QueryService::Stub> stub, const StreamOptions& options)
    : stub_(std::move(stub)),
      max_in_flight_(std::max<uint32_t>(options.max_in_flight, 1)),
      call_(stub_->Stream(&context_)),
      reader_([this] { ReadAnswers(); }) {}

Stream::Impl::~Impl() {
  context_.TryCancel();
  reader_.join();
}

absl::Status Stream::Impl::Send(const Frame& frame) {
  MutexLock sending(sending_);
  if (finished_) return absl::FailedPreconditionError("the stream is finished");
  EncodeFrame(frame, *request_.mutable_frame());
  const absl::Status place = TakePlace();
  if (!place.ok()) return place;
  if (call_->Write(request_)) return absl::OkStatus();
  // The call is over; the reader finds out why.
  MutexLock lock(mutex_);
  while (!ended_) changed_.Wait(mutex_);
  return SendingEnd();
}

absl::Status Stream::Impl::TakePlace() {
  MutexLock lock(mutex_);
  while (!ended_ && in_flight_ >= max_in_flight_) changed_.Wait(mutex_);
  if (ended_) return SendingEnd();
  ++in_flight_;
  return absl::OkStatus();
}

absl::Status Stream::Impl::SendingEnd() const {
  return end_.ok() ? absl::UnavailableError("the server has closed the stream") : end_;
}

absl::StatusOr<FrameAnswer> Stream::Impl::Receive() {
  MutexLock lock(mutex_);
  while (!ended_ && answers_.empty()) changed_.Wait(mutex_);
  if (answers_.empty()) {
    return end_.ok() ? absl::OutOfRangeError("the stream has ended; every answer was received")
                     : end_;
  }
  FrameAnswer answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

absl::Status Stream::Impl::Finish() {
  {
    MutexLock sending(sending_);
    if (!finished_) call_->WritesDone();
    finished_ = true;
  }
  MutexLock lock(mutex_);
  while (!ended_) changed_.Wait(mutex_);
  return end_;
}

void Stream::Impl::Cancel() { context_.TryCancel(); }

void Stream::Impl::ReadAnswers() {
  v1::StreamResponse response;
  while (call_->Read(&response)) {
    FrameAnswer answer;
    const absl::Status decoded = DecodeFrameAnswer(response.answer(), answer);
    if (!decoded.ok()) {
      context_.TryCancel();
      call_->Finish();
      End(decoded);
      return;
    }
    MutexLock lock(mutex_);
    answers_.push_back(std::move(answer));
    if (in_flight_ > 0) --in_flight_;
    changed_.NotifyAll();
  }
  End(CallStatus(call_->Finish()));
}

void Stream::Impl::End(absl::Status status) {
  MutexLock lock(mutex_);
  if (status.ok() && in_flight_ > 0) {
    status = absl::UnavailableError("the server closed the stream before every frame was answered");
  }
  end_ = std::move(status);
  ended_ = true;
  changed_.NotifyAll();
}

}  // namespace carom
