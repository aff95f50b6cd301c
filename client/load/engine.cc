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

// All at once would measure how a server accepts a flood of calls.
constexpr size_t kOpeningAtATime = 512;
constexpr int64_t kSecond = 1000 * kMillisecondNs;
constexpr int64_t kLongestOpeningNs = 60 * kSecond;
constexpr int64_t kLongestWaitNs = 5 * kSecond;
// Frames that fall due within this time leave together: a wake-up for each would cost more than
// the frame does.
constexpr int64_t kSenderSleepNs = 100000;
// A frame that is sent no later than this after the measured time is not lost for it.
constexpr int64_t kGraceNs = kSecond / 2;

// A channel that shares its connection with no other one.
std::unique_ptr<grpc::GenericStub> Connection(const std::string& address,
                                              const ClientSecurity& security) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Most of the generator's CPU time goes to the filters that each call passes, none of which is
  // used here. Retries alone would store each message until it is known to have arrived.
  arguments.SetInt(GRPC_ARG_MINIMAL_STACK, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  return std::make_unique<grpc::GenericStub>(security.Connect(address, arguments));
}

// Whether `done` came true within `longest_ns`; polls it every 2 ms.
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
    // Streams are dealt to connections in turns, as they are to threads.
    streams_.push_back(
        std::make_unique<LoadStream>(run, index, *stubs[index % stubs.size()], queue_));
  }
}

// The sender first: it uses streams whose events the poller takes.
LoadThread::~LoadThread() {
  JoinSending();
  Join();
}

void LoadThread::Open() {
  poller_ = std::thread([this] { Poll(); });
  for (size_t i = 0; i < std::min(kOpeningAtATime, streams_.size()); ++i) OpenNext();
}

// Called by the starting thread and by the poller, as each stream that opens makes room for
// another.
void LoadThread::OpenNext() {
  if (is_closing_) return;
  const size_t next = next_to_open_.fetch_add(1);
  if (next < streams_.size()) streams_[next]->Open();
}

// Runs until the queue is shut down and empty. `ok` is of the operation, not of the queue.
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

// Streams are in the order of their due times within a tick, so one pass over them is one tick. A
// sender that falls behind sends at once until it has caught up: no frame is left out, since the
// latency of a frame that is sent late counts from when it was due (no coordinated omission).
void LoadThread::SendOpenLoop(int64_t start_ns) {
  const Schedule schedule(start_ns, run_.options.rate_hz, run_.options.streams);
  for (uint64_t tick = 0;; ++tick) {
    for (const auto& stream : streams_) {
      const int64_t due = schedule.TimeOf(stream->index(), tick);
      for (int64_t now = NowNs(); now < due; now = NowNs()) {
        // A stop is noticed within 10 ms, however slow the rate is.
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

// The first frames; each answer sends the next one (LoadStream::HandleRead).
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

// Each thread counts into its own tally, without locks; they are added once both have ended.
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

// The sum over all threads of one of their counters.
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

// Statuses of streams may be read once the pollers have ended.
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
  WaitFor(kLongestWaitNs, [&] { return run_.waiting.load() <= 0; });
  CloseStreams();
  Tally all;
  for (const auto& thread : threads_) all.Merge(thread->Join());
  return all;
}

// Half-closes all streams and waits; what has not ended by then is cancelled.
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
