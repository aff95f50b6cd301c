// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/load_stream.h"

#include <algorithm>
#include <utility>

#include "client/load/schedule.h"
#include "client/src/call_status.h"

namespace carom::load {
namespace {

// Path of the gRPC method. A generic call, which takes the bytes that `Frames` has serialized
// instead of a message object, names its method by the path.
constexpr char kMethod[] = "/carom.v1.QueryService/Stream";
constexpr int kOk = 0;
constexpr int kResourceExhausted = static_cast<int>(absl::StatusCode::kResourceExhausted);

}  // namespace

LoadStream::LoadStream(Run& run, uint32_t index, grpc::GenericStub& stub,
                       grpc::CompletionQueue& queue)
    : run_(run), index_(index), call_(stub.PrepareCall(&context_, kMethod, &queue)) {}

void LoadStream::Open() { call_->StartCall(&start_); }

// Counts the frame as due even if the frame is never sent. gRPC accepts one write at a time, so a
// frame may have to wait; its latency is measured from its due time.
void LoadStream::Send(int64_t due_ns, Tally& tally) {
  if (IsMeasured(due_ns)) ++tally.frames_due;
  MutexLock lock(mutex_);
  const uint64_t tick = next_tick_++;
  if (is_finished_ || is_closing_) return;
  pending_.push_back({tick, due_ns});
  run_.pending.fetch_add(1, kRelaxed);
  ++unsent_;
  if (!is_writing_) WriteNext(tally);
}

// Builds the frame just before it is written: the queue has only the tick (the number of the frame
// in its stream) and the due time of a frame.
void LoadStream::WriteNext(Tally& tally) {
  const PendingFrame& next = pending_[pending_.size() - unsent_];
  --unsent_;
  is_writing_ = true;
  if (IsMeasured(next.due_ns)) {
    ++tally.frames_sent;
    tally.send_delay_ns.Add(static_cast<uint64_t>(std::max<int64_t>(0, NowNs() - next.due_ns)));
  }
  call_->Write(run_.frames.Frame(index_, next.tick), &write_);
}

// `ok` is the result of the operation: false for a read or write after the call has ended.
LoadStream::Event LoadStream::Handle(Op op, bool ok, Tally& tally) {
  switch (op) {
    case Op::kStart:
      HandleStart(ok);
      break;
    case Op::kWrite:
      HandleWrite(ok, tally);
      break;
    case Op::kRead:
      return HandleRead(ok, tally);
    case Op::kWritesDone:
      break;
    case Op::kFinish:
      return HandleFinish(tally);
  }
  return Event::kNone;
}

// Starts the first read, and writes the first frame of the stream. From here to the end of the
// stream one read is always active.
void LoadStream::HandleStart(bool ok) {
  if (!ok) {
    Finish();
    return;
  }
  call_->Read(&answer_, &read_);
  call_->Write(run_.frames.first(), &write_);
}

void LoadStream::HandleWrite(bool ok, Tally& tally) {
  MutexLock lock(mutex_);
  is_writing_ = false;
  if (!ok || is_finished_) return;  // after a failed write the read fails, too, and ends the stream
  if (unsent_ > 0) {
    WriteNext(tally);
  } else if (is_closing_) {
    is_writing_ = true;
    call_->WritesDone(&writes_done_);
  }
}

// Reads the clock before it parses the answer, and parses only the fields that are counted. A
// failed read means that no answer follows; the function then calls `Finish` to request the status
// of the call.
LoadStream::Event LoadStream::HandleRead(bool ok, Tally& tally) {
  if (!ok) {
    Finish();
    return Event::kNone;
  }
  const int64_t now = NowNs();
  const std::optional<AnswerHead> head = ReadAnswerHead(answer_);
  Event event = Event::kNone;
  PendingFrame pending{};
  if (head && !is_open_) {
    is_open_ = true;
    event = Event::kOpened;
    if (head->frame_code != kOk) {
      status_ = absl::Status(static_cast<absl::StatusCode>(head->frame_code),
                             "the server refused the first frame, which defines the trackers");
    }
  } else if (head && RemovePending(head->seq, pending)) {
    Count(*head, pending, now, tally);
    // In a closed loop an answer triggers the next frame.
    const bool sends_next = run_.options.is_closed() && now < run_.time.end_ns.load(kRelaxed);
    if (sends_next) Send(NowNs(), tally);
  } else {
    ++tally.unexpected_answers;
  }
  call_->Read(&answer_, &read_);
  return event;
}

// Answers arrive in order, so the search ends at the first pending frame unless an answer was lost.
// The search excludes unsent frames at the end of `pending_`, which cannot have an answer.
bool LoadStream::RemovePending(uint64_t seq, PendingFrame& pending) {
  MutexLock lock(mutex_);
  const auto sent_end = pending_.end() - static_cast<ptrdiff_t>(unsent_);
  const auto found = std::find_if(pending_.begin(), sent_end,
                                  [&](const PendingFrame& sent) { return sent.tick + 1 == seq; });
  if (found == sent_end) return false;
  pending = *found;
  pending_.erase(found);
  run_.pending.fetch_sub(1, kRelaxed);
  return true;
}

void LoadStream::Count(const AnswerHead& head, const PendingFrame& pending, int64_t now_ns,
                       Tally& tally) {
  // Throughput counts the answers that arrive in the measured time (the part of the run that the
  // report covers); outcomes and latency count the frames that are due in the measured time. So a
  // server that falls behind degrades both figures.
  const bool is_answered = head.frame_code == kOk && head.group_code == kOk && !head.skipped;
  if (now_ns >= run_.time.begin_ns.load(kRelaxed) && now_ns < run_.time.end_ns.load(kRelaxed)) {
    tally.frames_answered_in_time += is_answered;
    tally.answer_bytes += answer_.Length();
  }
  if (!IsMeasured(pending.due_ns)) return;
  if (head.frame_code == kResourceExhausted) {
    ++tally.frames_refused;
  } else if (head.frame_code != kOk) {
    ++tally.frame_errors[head.frame_code];
  } else if (head.skipped) {
    ++tally.frames_skipped;
  } else if (head.group_code != kOk) {
    ++tally.group_errors[head.group_code];
  }
  if (!is_answered) return;
  ++tally.frames_answered;
  const int64_t latency = now_ns - pending.due_ns;
  tally.latency_ns.Add(static_cast<uint64_t>(latency));
  // An answer is late if it arrives more than a tick (the time from one frame of the stream to the
  // next) after its frame was due: a tick loop cannot use it.
  const double tick_ns = run_.options.is_closed() ? 0 : 1e9 / run_.options.rate_hz;
  tally.frames_late += tick_ns > 0 && static_cast<double>(latency) > tick_ns;
  tally.evaluate_ns += head.evaluate_ns;
  tally.shadow_differences += head.shadow_differences;
  tally.moves += head.moves;
  // Passes one of every `check` answers of this stream to the checker. The index of the stream
  // selects which one, so that the checks of different streams are spread over time.
  const uint32_t check = run_.options.check;
  if (run_.checker != nullptr && check > 0 && answers_++ % check == index_ % check) {
    run_.checker->Add(index_, pending.tick, answer_);
  }
}

// Drops the frames that are not written. `Send` has counted these frames as due, so the report
// counts them as lost.
void LoadStream::Close() {
  MutexLock lock(mutex_);
  run_.pending.fetch_sub(static_cast<int64_t>(unsent_), kRelaxed);
  pending_.resize(pending_.size() - unsent_);
  unsent_ = 0;
  is_closing_ = true;
  if (is_writing_ || is_finished_) return;
  is_writing_ = true;
  call_->WritesDone(&writes_done_);
}

// Requests the status of the call. Sets `is_finished_`, so that no further write begins: gRPC
// allows no write after `Finish`.
void LoadStream::Finish() {
  MutexLock lock(mutex_);
  is_finished_ = true;
  call_->Finish(&finish_status_, &finish_);
}

// Handles the last event of the stream, after which the stream may be deleted.
LoadStream::Event LoadStream::HandleFinish(Tally& tally) {
  MutexLock lock(mutex_);
  run_.pending.fetch_sub(static_cast<int64_t>(pending_.size()), kRelaxed);
  pending_.clear();
  unsent_ = 0;
  const absl::Status finished = CallStatus(finish_status_);
  if (status_.ok()) status_ = finished;
  if (!is_closing_) ++tally.stream_ends[static_cast<int>(finished.code())];
  return Event::kEnded;
}

}  // namespace carom::load
