// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/stream.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "carom/status.h"
#include "client/src/answer_check.h"
#include "client/src/call_status.h"
#include "client/src/frame_codec.h"
#include "client/src/stream_impl.h"

namespace carom {
namespace {

// The greatest number of frames that a call has sent and that are not answered, if
// `max_frames_in_flight` is 0 (unknown) in the limits that the server sent.
constexpr uint64_t kDefaultFramesInFlight = 16;

// The backoff between calls that fail one after the other: no pause before the second call, then
// pauses that double from the first to the longest. A random jitter shortens each pause by up to
// half, so that the clients of a server that stopped do not all reconnect at one time.
constexpr std::chrono::milliseconds kFirstBackoff(20);
constexpr std::chrono::milliseconds kLongestBackoff(2000);
constexpr uint32_t kMaxDoublings = 7;  // 20 ms << 7 is more than the longest pause

// The largest size and number of the request messages that a stream keeps for reuse; the stream
// frees other messages.
constexpr uint64_t kMaxSpareBytes = 256 << 10;
constexpr size_t kMaxSpares = 16;

// Returns the status of a stream that its user cancelled.
absl::Status Cancelled() { return absl::CancelledError("the stream is cancelled"); }

// Returns whether another call may succeed after a call that ended with `status`; carom/stream.h
// lists the statuses.
bool IsRetryable(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return true;
    default:
      return RetryDelay(status) != 0;
  }
}

// Returns whether `frame` changes the scene handles, trackers or body sets of the stream, if the
// server does not refuse the frame.
bool Defines(const v1::Frame& frame) {
  return frame.bindings_size() + frame.removed_trackers_size() + frame.trackers_size() +
             frame.removed_body_sets_size() + frame.body_sets_size() + frame.poses_size() !=
         0;
}

}  // namespace

Stream::Stream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Stream::~Stream() = default;

absl::Status Stream::Send(const Frame& frame) { return impl_->Send(frame); }
absl::StatusOr<FrameAnswer> Stream::Receive() { return impl_->Receive(); }
absl::Status Stream::Finish() { return impl_->Finish(); }
void Stream::Cancel() { impl_->Cancel(); }
uint64_t Stream::reconnects() const { return impl_->reconnects(); }

// Reads the messages of one call, one after the other; `impl_` does everything else, under
// `impl_.mutex_`. A hold (`AddHold`) keeps gRPC from ending the call before `EndReading` removes
// the hold, so that `impl_` may start writes until then.
class Stream::Impl::Call final
    : public grpc::ClientBidiReactor<v1::StreamRequest, v1::StreamResponse> {
 public:
  explicit Call(Impl& impl) : impl_(impl) {}

  void Start(v1::QueryService::Stub& stub) {
    stub.async()->Stream(&context_, this);
    AddHold();
    StartRead(&response_);
    StartCall();
  }
  void TryCancel() { context_.TryCancel(); }

  void OnReadDone(bool ok) override {
    if (!ok) return impl_.EndReading();
    FrameAnswer answer;
    const absl::Status decoded = DecodeFrameAnswer(response_.answer(), answer);
    impl_.TakeResponse(response_, decoded, std::move(answer));
    StartRead(&response_);
  }
  void OnWriteDone(bool ok) override { impl_.EndWrite(ok); }
  // `EndCall` makes the keeper (the thread that opens calls) delete this object.
  void OnDone(const grpc::Status& status) override { impl_.EndCall(CallStatus(status)); }

 private:
  Impl& impl_;
  grpc::ClientContext context_;
  v1::StreamResponse response_;
};

Stream::Impl::Impl(std::shared_ptr<Addresses> addresses, const StreamOptions& options)
    : addresses_(std::move(addresses)),
      max_in_flight_(std::max<uint32_t>(options.max_in_flight, 1)),
      reconnect_timeout_(options.reconnect_timeout),
      random_(std::random_device()()) {
  {
    MutexLock lock(mutex_);
    BeginRecording(options);
  }
  keeper_ = std::thread([this] { RunKeeper(); });
}

void Stream::Impl::BeginRecording(const StreamOptions& options) {
  if (options.record.empty()) return;
  absl::StatusOr<std::unique_ptr<RecordingWriter>> recording =
      RecordingWriter::Create(options.record, options.record_max_bytes);
  if (recording.ok()) {
    recording_ = *std::move(recording);
  } else {
    state_ = State::kFailed;
    final_status_ = recording.status();
  }
}

Stream::Impl::~Impl() {
  Cancel();
  keeper_.join();
}

// --- Functions that users call

// Locks `sending_` while it encodes, so that frames are queued in the order of the `Send` calls
// while `mutex_` stays free for answers. The length of `unanswered_` limits senders, not the writes
// of the call: an encoded frame waits in `unanswered_`, whether or not a call is open.
absl::Status Stream::Impl::Send(const Frame& frame) {
  MutexLock sending(sending_);
  SentFrame sent{TakeSpare(), 0, std::chrono::system_clock::now()};
  EncodeFrame(frame, *sent.request->mutable_frame());
  sent.bytes = sent.request->ByteSizeLong();
  MutexLock lock(mutex_);
  while (!finished_ && state_ != State::kEnded && unanswered_.size() >= max_in_flight_) {
    changed_.Wait(mutex_);
  }
  if (finished_) return absl::FailedPreconditionError("the stream is finished");
  if (state_ == State::kEnded) return final_status_;
  unanswered_.push_back(std::move(sent));
  WriteNext();
  if (call_ == nullptr) wake_.NotifyAll();
  return absl::OkStatus();
}

// Returns all answers that have arrived before it returns the error with which the stream ended.
absl::StatusOr<FrameAnswer> Stream::Impl::Receive() {
  MutexLock lock(mutex_);
  while (state_ != State::kEnded && answers_.empty()) changed_.Wait(mutex_);
  if (answers_.empty()) {
    return final_status_.ok()
               ? absl::OutOfRangeError("the stream has ended; every answer was received")
               : final_status_;
  }
  FrameAnswer answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

// Locks `sending_` to wait for running `Send` calls, so that their frames are queued before
// `finished_` is set. Wakes the thread `keeper_`, because a stream whose call broke and that has no
// unanswered frame must end.
absl::Status Stream::Impl::Finish() {
  MutexLock sending(sending_);
  MutexLock lock(mutex_);
  finished_ = true;
  WriteNext();
  wake_.NotifyAll();
  while (state_ != State::kEnded) changed_.Wait(mutex_);
  return final_status_;
}

void Stream::Impl::Cancel() {
  MutexLock lock(mutex_);
  // A stream that has failed or ended keeps its status.
  if (state_ == State::kRunning) state_ = State::kCancelled;
  write_state_ = WriteState::kClosed;
  if (call_ != nullptr) call_->TryCancel();
  wake_.NotifyAll();
}

uint64_t Stream::Impl::reconnects() const {
  MutexLock lock(mutex_);
  return reconnects_;
}

// --- Functions that the call runs at its events

void Stream::Impl::TakeResponse(const v1::StreamResponse& response, const absl::Status& decoded,
                                FrameAnswer answer) {
  MutexLock lock(mutex_);
  // If `write_state_` is kClosed, the stream uses no further answer of this call. The next call may
  // send the frames again, so a frame whose answer is accepted here could get two answers.
  if (write_state_ == WriteState::kClosed) return;
  if (response.has_limits()) limits_ = response.limits();
  if (call_state_ != CallState::kAnswered && calls_ > 1) ++reconnects_;
  call_state_ = CallState::kAnswered;
  absl::Status fault = decoded;
  if (fault.ok()) {
    fault = replayed_forks_.empty() ? TakeFrameAnswer(response.answer(), std::move(answer))
                                    : TakeReplayAnswer(answer);
  }
  if (!fault.ok()) {
    state_ = State::kFailed;
    final_status_ = std::move(fault);
  }
  if (state_ == State::kFailed || !refusal_.ok()) {
    write_state_ = WriteState::kClosed;
    call_->TryCancel();
  }
  WriteNext();
}

absl::Status Stream::Impl::TakeReplayAnswer(const FrameAnswer& answer) {
  // Frames that replay the scene handles and trackers of `session_` have seq 0 and are sent before
  // all other frames, so the first answers of a call are answers to replay frames. A retryable
  // refusal breaks the call. The server refuses the body sets of a fork that has other sets, and of
  // a scene that is no fork: the session drops these sets. The server keeps the sets of a fork that
  // does not exist until it does. Any other refusal ends the stream.
  --outstanding_;
  const std::string fork = std::move(replayed_forks_.front());
  replayed_forks_.pop_front();
  if (answer.seq != 0) return absl::InternalError("the answer has the seq of another frame");
  if (answer.status.ok()) return absl::OkStatus();
  if (IsRetryable(answer.status)) {
    refusal_ = answer.status;
    return absl::OkStatus();
  }
  if (fork.empty()) return answer.status;
  session_.DropFork(fork);
  return absl::OkStatus();
}

absl::Status Stream::Impl::TakeFrameAnswer(const v1::FrameAnswer& message_of_answer,
                                           FrameAnswer answer) {
  if (sent_ == 0) return absl::InternalError("the server answered a frame that was not sent");
  const absl::Status fits = CheckFrameAnswer(unanswered_.front().request->frame(), answer);
  if (!fits.ok()) return fits;
  SentFrame frame = std::move(unanswered_.front());
  unanswered_.pop_front();
  if (recording_ != nullptr) {
    recording_->Add(frame.sent, frame.request->frame(), message_of_answer);
  }
  --sent_;
  --outstanding_;
  failures_ = 0;
  give_up_.reset();
  // An answer may arrive before gRPC reports the end of the write. Until that report gRPC reads the
  // message of the frame, so the message must not change or be reused: the definitions in the
  // message are applied from a copy.
  const bool is_in_use = frame.request.get() == writing_;
  v1::Frame& message = *frame.request->mutable_frame();
  if (answer.status.ok() && Defines(message)) {
    v1::Frame copy;
    if (is_in_use) copy = message;
    session_.Apply(is_in_use ? copy : message);
  }
  RecordEdits(frame.request->frame(), answer);
  if (is_in_use) {
    answered_ = std::move(frame);
  } else {
    Recycle(std::move(frame));
  }
  answers_.push_back(std::move(answer));
  changed_.NotifyAll();
  return absl::OkStatus();
}

// Records the successful edits of forks in the client's `ForkLog`, and removes forks that no longer
// exist from the log.
void Stream::Impl::RecordEdits(const v1::Frame& asked, const FrameAnswer& answer) {
  for (size_t i = 0; i < answer.groups.size(); ++i) {
    const v1::Group& group = asked.groups(static_cast<int>(i));
    const GroupResult& result = answer.groups[i];
    const bool scene_is_missing = absl::IsNotFound(result.status) &&
                                  !Violations(result.status).empty() &&
                                  absl::StartsWith(Violations(result.status)[0].field, "scene");
    if (result.edited_version == 0 && !scene_is_missing) continue;
    const std::string* const scene = session_.SceneOf(group);
    if (scene == nullptr) continue;
    if (scene_is_missing) {
      addresses_->forks().RemoveMissing(*scene, address_);
    } else {
      addresses_->forks().Record(*scene, group.edits(), result.edited_version, address_);
    }
  }
}

// A failed read is the last one: no answer follows, so the stream stops writing to the call. Once
// the hold, which keeps the call from ending, is removed and `mutex_` is unlocked, the call may end
// on another thread.
void Stream::Impl::EndReading() {
  MutexLock lock(mutex_);
  write_state_ = WriteState::kClosed;
  call_->RemoveHold();
}

// A failed write does not end the call: reading continues, and `EndCall` gets the status.
void Stream::Impl::EndWrite(bool ok) {
  MutexLock lock(mutex_);
  writing_ = nullptr;
  if (answered_.request != nullptr) Recycle(std::exchange(answered_, {}));
  if (!ok) return;
  if (call_state_ == CallState::kConnecting) call_state_ = CallState::kConnected;
  WriteNext();
}

// Handles the last event of a call. Leaves the deletion of `call_` to the thread `keeper_`, because
// a function of the `Call` object runs this function.
void Stream::Impl::EndCall(absl::Status status) {
  MutexLock lock(mutex_);
  call_state_ = CallState::kOver;
  status_ = std::move(status);
  wake_.NotifyAll();
}

// --- Writing

// Starts at most one write at a time: gRPC allows no more, and reads `*writing_` until the write
// ends.
void Stream::Impl::WriteNext() {
  if (writing_ != nullptr) return;
  if (write_state_ == WriteState::kReplaying) {
    if (!HasRoom()) return;
    if (session_.Replay(limits_, replay_position_, *replay_message_.mutable_frame())) {
      replayed_forks_.push_back(session_.ForkOf(replay_message_.frame()));
      return Write(replay_message_);
    }
    write_state_ = WriteState::kFrames;
  }
  if (write_state_ != WriteState::kFrames) return;
  if (sent_ < unanswered_.size()) {
    if (HasRoom()) Write(*unanswered_[sent_++].request);
  } else if (finished_) {
    write_state_ = WriteState::kHalfClosed;
    call_->StartWritesDone();
  }
}

// Returns whether the call may send another message (a frame) before the server answers the
// messages sent. The first answer of a call contains the server's limits, so before the first
// answer only one message may be unanswered.
bool Stream::Impl::HasRoom() const {
  if (outstanding_ == 0) return true;
  if (call_state_ != CallState::kAnswered) return false;
  const uint64_t max_frames =
      limits_.max_frames_in_flight() != 0 ? limits_.max_frames_in_flight() : kDefaultFramesInFlight;
  return outstanding_ < max_frames;
}

// `request` must stay valid until `EndWrite`: it is `replay_message_`, or the message that is
// owned, by pointer, by a frame of `unanswered_` or by the frame `answered_`.
void Stream::Impl::Write(const v1::StreamRequest& request) {
  ++outstanding_;
  writing_ = &request;
  call_->StartWrite(&request);
}

// Keeps the message of `frame` for a later `Send`. A protobuf message keeps its memory when it is
// cleared, so a stream of frames of equal size does not allocate.
void Stream::Impl::Recycle(SentFrame frame) {
  if (spare_.size() >= kMaxSpares || frame.bytes > kMaxSpareBytes) return;
  spare_.push_back(std::move(frame.request));
}

Stream::Impl::Request Stream::Impl::TakeSpare() {
  MutexLock lock(mutex_);
  if (spare_.empty()) return std::make_unique<v1::StreamRequest>();
  Request request = std::move(spare_.back());
  spare_.pop_back();
  return request;
}

// --- Calls

void Stream::Impl::RunKeeper() {
  MutexLock lock(mutex_);
  // the status with which the stream ends; absent while the keeper should open another call
  std::optional<absl::Status> end;
  if (state_ == State::kCancelled) end = Cancelled();
  if (state_ == State::kFailed) end = final_status_;
  address_ = addresses_->current();
  while (!end.has_value()) {
    OpenCall(calls_ == 0 ? absl::OkStatus() : RestoreForks());
    end = EndAfter(AwaitCallEnd());
    if (!end.has_value()) end = AwaitAttempt();
  }
  End(*std::move(end));
}

// Unlocks `mutex_` while it restores forks, because restoring makes calls. Returns CANCELLED if the
// stream was cancelled meanwhile: `Cancel` does not cancel a call that is opened after the call of
// `Cancel`.
absl::Status Stream::Impl::RestoreForks() {
  const size_t address = address_;
  mutex_.unlock();
  const absl::Status status = addresses_->forks().Restore(*addresses_, address, [this] {
    MutexLock lock(mutex_);
    return state_ != State::kRunning;
  });
  mutex_.lock();
  return state_ == State::kRunning ? status : Cancelled();
}

// Resets the state so that the call sends all unanswered frames. Answers do not depend on history,
// so a frame whose answer was lost gets an equal answer again. The limits that the server of the
// former call sent hold until the first answer of this call, which has the limits of its server.
void Stream::Impl::OpenCall(const absl::Status& ready) {
  ++calls_;
  refusal_ = absl::OkStatus();
  outstanding_ = 0;
  replayed_forks_.clear();
  sent_ = 0;
  replay_position_ = {};
  call_ = std::make_unique<Call>(*this);
  status_ = ready;
  if (ready.ok()) {
    status_ = addresses_->BeginCall(
        [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { call_->Start(addresses_->queries(address_)); });
  }
  call_state_ = status_.ok() ? CallState::kConnecting : CallState::kOver;
  write_state_ = status_.ok() ? WriteState::kReplaying : WriteState::kClosed;
  WriteNext();
}

// Cancels the call at the time `give_up_` if the write of the first message of the call has not
// ended by then, as with a host that drops packets. After the first write the call has no deadline,
// because keepalive (ClientOptions) detects a server that does not respond.
absl::Status Stream::Impl::AwaitCallEnd() {
  bool gives_up = false;
  while (call_state_ != CallState::kOver) {
    if (call_state_ != CallState::kConnecting || gives_up || !give_up_.has_value()) {
      wake_.Wait(mutex_);
    } else if (Clock::now() < *give_up_) {
      wake_.WaitUntil(mutex_, *give_up_);
    } else {
      gives_up = true;
      call_->TryCancel();
    }
  }
  call_.reset();
  if (gives_up) return last_failure_;
  return refusal_.ok() ? status_ : refusal_;
}

std::optional<absl::Status> Stream::Impl::EndAfter(absl::Status status) {
  // The first of the following that applies decides: a server fault (an answer that breaks the
  // protocol, kFailed); success, even if the stream was cancelled meanwhile; `Cancel`; `status`.
  if (state_ == State::kFailed) return final_status_;
  const bool all_answered = finished_ && unanswered_.empty();
  if (all_answered && status.ok()) return status;
  if (state_ == State::kCancelled) return Cancelled();
  if (status.ok()) {
    status = absl::UnavailableError("the server closed the stream before every frame was answered");
  }
  const bool is_retryable = IsRetryable(status);
  // If every frame has its answer, only the call's final status was lost, so the stream succeeded.
  if (all_answered && is_retryable) return absl::OkStatus();
  const bool gives_up = give_up_.has_value() && Clock::now() >= *give_up_;
  if (!is_retryable || gives_up || reconnect_timeout_ <= std::chrono::milliseconds::zero()) {
    return status;
  }
  BackOff(status);
  last_failure_ = std::move(status);
  return std::nullopt;
}

void Stream::Impl::BackOff(const absl::Status& status) {
  // A server ends an idle stream with ABORTED, which is no reason to fail over.
  if (status.code() != absl::StatusCode::kAborted) addresses_->FailOver(address_);
  address_ = addresses_->current();
  Clock::duration wait = Clock::duration::zero();
  if (failures_ > 0) {
    const auto longest =
        std::min(kLongestBackoff, kFirstBackoff * (1 << std::min(failures_ - 1, kMaxDoublings)));
    std::uniform_real_distribution<double> part(0.5, 1);
    wait = std::chrono::duration_cast<Clock::duration>(part(random_) * longest);
  }
  ++failures_;
  const auto delay = std::chrono::microseconds(std::min<uint64_t>(
      RetryDelay(status), std::chrono::microseconds(std::chrono::hours(24)).count()));
  next_attempt_ = Clock::now() + std::max<Clock::duration>(wait, delay);
}

// Waits for an unanswered frame before another call is opened, so that streams without unanswered
// frames do not load a server that starts again. The time of `reconnect_timeout` begins with the
// first attempt to reconnect while a frame waits, and the next answer to a frame ends it.
std::optional<absl::Status> Stream::Impl::AwaitAttempt() {
  while (unanswered_.empty() && !finished_ && state_ == State::kRunning) wake_.Wait(mutex_);
  if (unanswered_.empty() && state_ == State::kRunning) return absl::OkStatus();
  if (!give_up_.has_value()) give_up_ = Clock::now() + reconnect_timeout_;
  while (state_ == State::kRunning) {
    if (next_attempt_ >= *give_up_) return last_failure_;
    if (Clock::now() >= next_attempt_) return std::nullopt;
    wake_.WaitUntil(mutex_, next_attempt_);
  }
  return Cancelled();
}

// Keeps the answers for `Receive` and frees the memory of `unanswered_`, `session_` and `spare_`.
void Stream::Impl::End(absl::Status status) {
  final_status_ = std::move(status);
  state_ = State::kEnded;
  unanswered_.clear();
  recording_.reset();
  session_ = {};
  spare_.clear();
  changed_.NotifyAll();
}

}  // namespace carom
