// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/engine.h"

#include <grpcpp/support/channel_arguments.h>
#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/load/schedule.h"

namespace carom::load {
namespace {

// The number of streams that a `LoadThread` opens at a time. Opening all streams at once would
// overload the server before the measured time (the part of the run whose frames the report
// counts).
constexpr size_t kMaxConcurrentOpens = 512;
constexpr int64_t kSecond = 1000 * kMillisecondNs;
constexpr int64_t kLongestOpeningNs = 60 * kSecond;
constexpr int64_t kLongestWaitNs = 5 * kSecond;
// The least sleep of the sender, in nanoseconds. Frames that become due during one sleep are sent
// together, because a wake-up for each frame would cost more than the frame itself.
constexpr int64_t kSenderSleepNs = 100000;
// A sender that is behind its schedule still sends frames until this many nanoseconds after the end
// of the measured time.
constexpr int64_t kGraceNs = kSecond / 2;

// Returns a stub on a channel with its own connection to `address`.
std::unique_ptr<grpc::GenericStub> Connection(const std::string& address,
                                              const ClientSecurity& security) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Disables gRPC's channel filters, which would take most of the CPU time of `carom load` and are
  // not needed. Retries, for example, would keep a copy of each message until it can no longer be
  // resent.
  arguments.SetInt(GRPC_ARG_MINIMAL_STACK, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  return std::make_unique<grpc::GenericStub>(security.Connect(address, arguments));
}

// Calls `done` every 2 ms until `done` returns true, then returns true. Returns false if `done` has
// not returned true within `longest_ns`.
template <class Done>
bool WaitFor(int64_t longest_ns, const Done& done) {
  const int64_t end = NowNs() + longest_ns;
  while (!done()) {
    if (NowNs() >= end) return false;
    SleepUntil(NowNs() + 2 * kMillisecondNs);
  }
  return true;
}

}  // namespace

LoadThread::LoadThread(Run& run, const std::vector<uint32_t>& indices,
                       const std::vector<std::unique_ptr<grpc::GenericStub>>& stubs)
    : run_(run) {
  for (const uint32_t index : indices) {
    // The streams are assigned to the connections round-robin.
    streams_.push_back(
        std::make_unique<LoadStream>(run, index, *stubs[index % stubs.size()], queue_));
  }
}

// Joins the sender thread before the poller thread, because the sender uses the streams whose
// events the poller handles.
LoadThread::~LoadThread() {
  JoinSending();
  Join();
}

void LoadThread::Open() {
  poller_ = std::thread([this] { Poll(); });
  for (size_t i = 0; i < std::min(kMaxConcurrentOpens, streams_.size()); ++i) OpenNext();
}

// Opens the next stream. `Open` calls this function for the first streams; the poller thread calls
// it each time a stream has opened.
void LoadThread::OpenNext() {
  if (is_closing_) return;
  const size_t next = next_to_open_.fetch_add(1);
  if (next < streams_.size()) streams_[next]->Open();
}

// Runs in the poller thread: handles the events of the completion queue until the queue is shut
// down and empty. `ok` is true for an event whose operation succeeded.
void LoadThread::Poll() {
  prctl(PR_SET_NAME, "load-answers");
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    const auto [stream, op] = *static_cast<LoadStream::Tag*>(tag);
    const LoadStream::Event event = stream->Handle(op, ok, polled_);
    if (event == LoadStream::Event::kNone) continue;
    const bool has_failed = event == LoadStream::Event::kEnded || !stream->status().ok();
    if (status_.ok()) status_ = stream->status();
    failed_.fetch_add(has_failed);
    if (event == LoadStream::Event::kOpened) {
      opened_.fetch_add(1);
      OpenNext();
    } else {
      ended_.fetch_add(1);
    }
  }
}

void LoadThread::StartSending(int64_t start_ns) {
  sender_ = std::thread([this, start_ns] {
    prctl(PR_SET_NAME, "load-sender");
    prctl(PR_SET_TIMERSLACK, 1000ul);
    if (run_.options.is_closed()) {
      SendClosedLoop(start_ns);
    } else if (run_.options.rate_hz > 0) {
      SendOpenLoop(start_ns);
    }
  });
}

// The streams of the thread are ordered by their due times within a tick (the time from one frame
// of a stream to the next), so one pass over the streams is one tick. A sender that falls behind
// sends frames without pauses until it has caught up. It skips no frame, and latency is measured
// from the due time (no coordinated omission).
void LoadThread::SendOpenLoop(int64_t start_ns) {
  const Schedule schedule(start_ns, run_.options.rate_hz, run_.options.streams);
  for (uint64_t tick = 0;; ++tick) {
    for (const auto& stream : streams_) {
      const int64_t due = schedule.TimeOf(stream->index(), tick);
      for (int64_t now = NowNs(); now < due; now = NowNs()) {
        // Sleeps for 10 ms at most, because a stop by the user sets `end_ns` to an earlier time,
        // after which the sender should end soon.
        SleepUntil(std::min(std::max(due, now + kSenderSleepNs), now + 10 * kMillisecondNs));
        if (due >= run_.time.end_ns.load(std::memory_order_relaxed)) return;
      }
      const int64_t end = run_.time.end_ns.load(std::memory_order_relaxed);
      if (due >= end) return;
      if (NowNs() < end + kGraceNs) {
        stream->Send(due, sent_);
      } else {
        sent_.frames_due += due >= run_.time.begin_ns.load(std::memory_order_relaxed);
      }
    }
  }
}

// Sends the first `closed` frames of each stream; `LoadStream::HandleRead` sends the next frame
// when an answer arrives.
void LoadThread::SendClosedLoop(int64_t start_ns) {
  SleepUntil(start_ns);
  for (uint32_t i = 0; i < run_.options.closed; ++i) {
    for (const auto& stream : streams_) stream->Send(NowNs(), sent_);
  }
}

void LoadThread::JoinSending() {
  if (sender_.joinable()) sender_.join();
}

void LoadThread::Close() {
  is_closing_ = true;
  for (const auto& stream : streams_) stream->Close();
}

void LoadThread::Cancel() {
  for (const auto& stream : streams_) stream->Cancel();
}

// The poller and the sender count into separate tallies without locks, so the tallies are merged
// after both threads have ended; the caller must have joined the sender.
Tally LoadThread::Join() {
  if (poller_.joinable()) {
    queue_.Shutdown();
    poller_.join();
  }
  Tally all = polled_;
  all.Merge(sent_);
  return all;
}

Engine::Engine(Run& run, const ClientSecurity& security) : run_(run) {
  for (uint32_t i = 0; i < run.options.connections; ++i) {
    stubs_.push_back(Connection(run.options.address, security));
  }
  for (uint32_t thread = 0; thread < run.options.threads; ++thread) {
    std::vector<uint32_t> indices;
    for (uint32_t i = thread; i < run.options.streams; i += run.options.threads) {
      indices.push_back(i);
    }
    threads_.push_back(std::make_unique<LoadThread>(run, indices, stubs_));
  }
}

Engine::~Engine() { CloseStreams(); }

// Returns the sum of one counter over all threads.
uint64_t Engine::Sum(uint64_t (LoadThread::*member)() const) const {
  uint64_t sum = 0;
  for (const auto& thread : threads_) sum += ((*thread).*member)();
  return sum;
}

absl::Status Engine::Open(const StopFlag& stop) {
  for (const auto& thread : threads_) thread->Open();
  const uint64_t streams = run_.options.streams;
  uint64_t opened = 0;
  int64_t last_ns = NowNs();
  while (opened < streams) {
    if (Sum(&LoadThread::failed) > 0) return OpenFailure(opened);
    if (stop) return absl::CancelledError("stopped while streams were opened");
    if (NowNs() - last_ns > kLongestOpeningNs) {
      return absl::DeadlineExceededError(
          absl::StrCat(opened, " of ", streams, " streams were opened"));
    }
    SleepUntil(NowNs() + kMillisecondNs / 2);
    const uint64_t now_opened = Sum(&LoadThread::opened);
    if (now_opened > opened) last_ns = NowNs();
    opened = now_opened;
  }
  return Sum(&LoadThread::failed) > 0 ? OpenFailure(opened) : absl::OkStatus();
}

// Returns the error for a stream that did not open. Joins the pollers first, because a stream's
// status may be read only after its poller has ended.
absl::Status Engine::OpenFailure(uint64_t opened) {
  CloseStreams();
  for (const auto& thread : threads_) thread->Join();
  const absl::Status failed = status();
  const absl::StatusCode code = failed.ok() ? absl::StatusCode::kUnavailable : failed.code();
  return absl::Status(code, absl::StrCat("a stream did not open (", opened, " of ",
                                         run_.options.streams, " did): ", failed.message()));
}

void Engine::Start(int64_t start_ns) {
  for (const auto& thread : threads_) thread->StartSending(start_ns);
}

Tally Engine::Finish() {
  for (const auto& thread : threads_) thread->JoinSending();
  WaitFor(kLongestWaitNs, [&] { return run_.pending.load() <= 0; });
  CloseStreams();
  Tally all;
  for (const auto& thread : threads_) all.Merge(thread->Join());
  return all;
}

// Half-closes all streams and waits up to 5 s for their ends. If any stream has not ended by then,
// cancels all streams and waits up to 5 s again.
void Engine::CloseStreams() {
  if (std::exchange(is_closed_, true)) return;
  const auto all_ended = [&] {
    return std::ranges::all_of(threads_, [](const auto& thread) { return thread->all_ended(); });
  };
  for (const auto& thread : threads_) thread->Close();
  if (WaitFor(kLongestWaitNs, all_ended)) return;
  for (const auto& thread : threads_) thread->Cancel();
  WaitFor(kLongestWaitNs, all_ended);
}

absl::Status Engine::status() const {
  for (const auto& thread : threads_) {
    if (!thread->status().ok()) return thread->status();
  }
  return absl::OkStatus();
}

}  // namespace carom::load
