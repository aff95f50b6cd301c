// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/load_stream.h"

#include <algorithm>
#include <utility>

#include "client/load/schedule.h"
#include "client/src/call_status.h"

namespace carom::load {
namespace {

constexpr char kMethod[] = "/carom.v1.QueryService/Stream";
// The method by name: a generic call takes bytes, which Frames has serialized beforehand.
constexpr int kOk = 0;
constexpr int kResourceExhausted = static_cast<int>(absl::StatusCode::kResourceExhausted);

}  // namespace

LoadStream::LoadStream(Run& run, uint32_t index, grpc::GenericStub& stub,
                       grpc::CompletionQueue& queue)
    : run_(run), index_(index), call_(stub.PrepareCall(&context_, kMethod, &queue)) {}

void LoadStream::Open() { call_->StartCall(&start_); }

// Counted as due whatever becomes of it. A frame that cannot be written yet, gRPC taking one at a
// time, waits with its due time, which its latency counts from.
void LoadStream::Send(int64_t due_ns, Tally& tally) {
  if (IsMeasured(due_ns)) ++tally.frames_due;
  MutexLock lock(mutex_);
  const uint64_t tick = next_tick_++;
  if (is_dead_ || is_closing_) return;
  waiting_.push_back({tick, due_ns});
  run_.waiting.fetch_add(1, kRelaxed);
  ++unsent_;
  if (!is_writing_) WriteNext(tally);
}

// The frame is made here, just before it is written: what waits is a tick and a time.
void LoadStream::WriteNext(Tally& tally) {
  const Waiting& next = waiting_[waiting_.size() - unsent_];
  --unsent_;
  is_writing_ = true;
  if (IsMeasured(next.due_ns)) {
    ++tally.frames_sent;
    tally.send_delay_ns.Add(static_cast<uint64_t>(std::max<int64_t>(0, NowNs() - next.due_ns)));
  }
  call_->Write(run_.frames.Frame(index_, next.tick), &write_);
}

// `ok` is what gRPC says of the operation: false for a write or a read that the end of the call cut
// off.
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

// One read is pending from here to the end of the stream.
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
  if (!ok || is_dead_) return;  // the read ends the stream
  if (unsent_ > 0) {
    WriteNext(tally);
  } else if (is_closing_) {
    is_writing_ = true;
    call_->WritesDone(&writes_done_);
  }
}

// The arrival is timed before anything is parsed, and of the answer only what is counted is parsed.
// A failed read is the end of the answers; Finish then asks for the status.
LoadStream::Event LoadStream::HandleRead(bool ok, Tally& tally) {
  if (!ok) {
    Finish();
    return Event::kNone;
  }
  const int64_t now = NowNs();
  const std::optional<AnswerHead> head = ReadAnswerHead(answer_);
  Event event = Event::kNone;
  Waiting waiting{};
  if (head && !is_open_) {
    is_open_ = true;
    event = Event::kOpened;
    if (head->frame_code != kOk) {
      status_ = absl::Status(static_cast<absl::StatusCode>(head->frame_code),
                             "the first frame, with the trackers, is refused");
    }
  } else if (head && Take(head->seq, waiting)) {
    Count(*head, waiting, now, tally);
    // A closed loop: an answer makes room for a frame.
    const bool goes_on = run_.options.is_closed() && now < run_.time.end_ns.load(kRelaxed);
    if (goes_on) Send(NowNs(), tally);
  } else {
    ++tally.strange_answers;
  }
  call_->Read(&answer_, &read_);
  return event;
}

// Answers come in order, so `found` is the first one unless an answer was lost; frames that are not
// sent cannot be answered.
bool LoadStream::Take(uint64_t seq, Waiting& waiting) {
  MutexLock lock(mutex_);
  const auto sent_end = waiting_.end() - static_cast<ptrdiff_t>(unsent_);
  const auto found = std::find_if(waiting_.begin(), sent_end,
                                  [&](const Waiting& sent) { return sent.tick + 1 == seq; });
  if (found == sent_end) return false;
  waiting = *found;
  waiting_.erase(found);
  run_.waiting.fetch_sub(1, kRelaxed);
  return true;
}

void LoadStream::Count(const AnswerHead& head, const Waiting& waiting, int64_t now_ns,
                       Tally& tally) {
  // Throughput counts answers by their arrival, fates and latency count frames by when they were
  // due: so a server that falls behind shows in both.
  const bool is_answered = head.frame_code == kOk && head.group_code == kOk && !head.skipped;
  if (now_ns >= run_.time.begin_ns.load(kRelaxed) && now_ns < run_.time.end_ns.load(kRelaxed)) {
    tally.frames_answered_in_time += is_answered;
    tally.answer_bytes += answer_.Length();
  }
  if (!IsMeasured(waiting.due_ns)) return;
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
  const int64_t latency = now_ns - waiting.due_ns;
  tally.latency_ns.Add(static_cast<uint64_t>(latency));
  // Late: the answer is of no use to a tick loop, for the next tick has begun.
  const double tick_ns = run_.options.is_closed() ? 0 : 1e9 / run_.options.rate_hz;
  tally.frames_late += tick_ns > 0 && static_cast<double>(latency) > tick_ns;
  tally.evaluate_ns += head.evaluate_ns;
  tally.shadow_differences += head.shadow_differences;
  tally.moves += head.moves;
  // Streams are checked in turns, each at another answer, so that the checker's work is spread.
  const uint32_t check = run_.options.check;
  if (run_.checker != nullptr && check > 0 && answers_++ % check == index_ % check) {
    run_.checker->Add(index_, waiting.tick, answer_);
  }
}

// What was not written is given up; it stays counted as due, and so as lost.
void LoadStream::Close() {
  MutexLock lock(mutex_);
  run_.waiting.fetch_sub(static_cast<int64_t>(unsent_), kRelaxed);
  waiting_.resize(waiting_.size() - unsent_);
  unsent_ = 0;
  is_closing_ = true;
  if (is_writing_ || is_dead_) return;
  is_writing_ = true;
  call_->WritesDone(&writes_done_);
}

// No write begins from here on: gRPC allows none after Finish.
void LoadStream::Finish() {
  MutexLock lock(mutex_);
  is_dead_ = true;
  call_->Finish(&finish_status_, &finish_);
}

// The last event of the stream, after which it may be deleted.
LoadStream::Event LoadStream::HandleFinish(Tally& tally) {
  MutexLock lock(mutex_);
  run_.waiting.fetch_sub(static_cast<int64_t>(waiting_.size()), kRelaxed);
  waiting_.clear();
  unsent_ = 0;
  const absl::Status finished = CallStatus(finish_status_);
  if (status_.ok()) status_ = finished;
  if (!is_closing_) ++tally.stream_ends[static_cast<int>(finished.code())];
  return Event::kEnded;
}

}  // namespace carom::load
