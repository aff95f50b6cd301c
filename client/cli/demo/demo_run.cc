// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/demo/demo_run.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "client/src/mutex.h"

namespace carom::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kSceneHandle = 1;

// A result of `Stream::Receive` and the time when it arrived.
struct Arrival {
  absl::StatusOr<FrameAnswer> answer;
  Clock::time_point time;
};

// Receives answers on a thread of its own, so that the recorded time of arrival does not depend on
// the thread that sends frames. The destructor cancels the stream.
class Receiver {
 public:
  explicit Receiver(Stream& stream) : stream_(stream), thread_([this] { Loop(); }) {}
  ~Receiver() {
    stream_.Cancel();
    thread_.join();
  }

  // Waits for the next answer and returns it.
  Arrival Next() {
    MutexLock lock(mutex_);
    while (arrivals_.empty()) changed_.Wait(mutex_);
    Arrival arrival = std::move(arrivals_.front());
    arrivals_.pop_front();
    return arrival;
  }

 private:
  void Loop() {
    for (bool open = true; open;) {
      Arrival arrival{stream_.Receive(), Clock::now()};
      open = arrival.answer.ok();
      MutexLock lock(mutex_);
      arrivals_.push_back(std::move(arrival));
      changed_.NotifyAll();
    }
  }

  Stream& stream_;
  Mutex mutex_;
  ConditionVariable changed_;  // notified when `arrivals_` has grown
  std::deque<Arrival> arrivals_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

// Returns the sum of the first `size` counts.
uint64_t Sum(const std::vector<uint32_t>& counts, size_t size) {
  return std::accumulate(counts.begin(), counts.begin() + static_cast<ptrdiff_t>(size),
                         uint64_t{0});
}

// Runs a demo on one stream, with one frame (a message with all queries of one tick) per tick.
class DemoRun {
 public:
  DemoRun(Stream& stream, std::string scene, DemoWorld& world, const DemoProgress& progress)
      : stream_(stream),
        scene_(std::move(scene)),
        world_(world),
        progress_(progress),
        receiver_(stream) {}

  // Runs `ticks` ticks. A round of the loop sends the queries of one tick, and receives the answers
  // to the queries that the round `kLag` rounds before sent. So the last `kLag` rounds send
  // nothing.
  absl::StatusOr<DemoOutcome> operator()(uint64_t ticks) {
    absl::Status status = Settle();
    const Clock::time_point start = Clock::now();
    for (uint64_t tick = 0; tick < ticks + DemoWorld::kLag && status.ok(); ++tick) {
      if (tick >= DemoWorld::kLag) {
        status = HandleAnswer(tick, ticks);
        if (!status.ok()) break;
      }
      if (tick < ticks) status = Ask(tick + 1, world_.Tick(tick));
    }
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (status.ok()) status = stream_.Finish();
    if (!status.ok()) return status;
    // `Finish` has waited for the end of the stream, so every answer has arrived.
    Summarize(ticks, elapsed.count());
    return std::move(outcome_);
  }

 private:
  // Sends frame 0, which gives the scene the number `kSceneHandle` for later frames and tests
  // random places, and then moves each shape to a place that, by the answer, touches no polygon.
  absl::Status Settle() {
    Frame frame;
    frame.bindings.push_back({kSceneHandle, scene_});
    frame.groups.push_back({kSceneHandle, 0, world_.RoomQuestion()});
    absl::Status status = stream_.Send(frame);
    if (!status.ok()) return status;
    absl::StatusOr<FrameAnswer> answer = Next(nullptr);
    if (!answer.ok()) return answer.status();
    world_.Settle(answer->groups.front().answers.circles);
    return absl::OkStatus();
  }

  // Sends the frame with the queries of a tick. `seq` is the tick plus 1, because frame 0 is the
  // frame that `Settle` sends.
  absl::Status Ask(uint64_t seq, const Group& group) {
    Frame frame;
    frame.seq = seq;
    frame.groups.push_back({kSceneHandle, 0, group});
    queries_ += group.query_count();
    sent_.push_back(Clock::now());
    return stream_.Send(frame);
  }

  // Waits for the next answer and sets `time` to the time of its arrival, unless `time` is null.
  // Returns an error if the server refused the frame or its group.
  absl::StatusOr<FrameAnswer> Next(Clock::time_point* time) {
    Arrival arrival = receiver_.Next();
    if (!arrival.answer.ok()) return arrival.answer.status();
    if (!arrival.answer->status.ok()) return arrival.answer->status;
    if (arrival.answer->groups.size() != 1)
      return absl::InternalError("the answer must have one group");
    if (!arrival.answer->groups[0].status.ok()) return arrival.answer->groups[0].status;
    if (time) *time = arrival.time;
    return std::move(arrival.answer);
  }

  // Receives the answer to the frame of tick `tick - kLag`, updates the figures and bounces the
  // shapes that are about to hit a polygon.
  absl::Status HandleAnswer(uint64_t tick, uint64_t ticks) {
    Clock::time_point time;
    absl::StatusOr<FrameAnswer> answer = Next(&time);
    if (!answer.ok()) return answer.status();
    latencies_ms_.push_back(
        std::chrono::duration<double, std::milli>(time - sent_.front()).count());
    sent_.pop_front();
    GroupAnswers& answers = answer->groups.front().answers;
    DemoFigures& figures = outcome_.figures;
    figures.hits += Sum(answers.segments.counts, world_.bullet_count());
    figures.overlapping_pairs += Sum(answers.circles.counts, answers.circles.counts.size()) +
                                 Sum(answers.polygons.counts, answers.polygons.counts.size());
    // The evaluation time does not include decoding and waiting.
    evaluate_ns_ += answer->stats.evaluate_ns;
    if (tick < ticks) world_.Bounce(tick, answers);
    const uint64_t done = tick - DemoWorld::kLag + 1;
    progress_(done, ticks, figures.hits);
    if (done == ticks) outcome_.last_tick = std::move(answers);
    return absl::OkStatus();
  }

  // Sets the members of `outcome_.figures` that are known only after the last tick.
  void Summarize(uint64_t ticks, double seconds) {
    DemoFigures& figures = outcome_.figures;
    figures.ticks = ticks;
    figures.queries = queries_;
    figures.bullets = ticks * world_.bullet_count();
    figures.evaluate_ns_per_query =
        static_cast<double>(evaluate_ns_) / static_cast<double>(queries_);
    figures.latency_p50_ms = Quantile(latencies_ms_, 0.5);
    figures.latency_p99_ms = Quantile(latencies_ms_, 0.99);
    figures.queries_per_second = static_cast<double>(queries_) / seconds;
  }

  Stream& stream_;
  const std::string scene_;
  DemoWorld& world_;
  const DemoProgress& progress_;
  std::deque<Clock::time_point> sent_;
  std::vector<double> latencies_ms_;
  uint64_t queries_ = 0;
  uint64_t evaluate_ns_ = 0;
  DemoOutcome outcome_;
  Receiver receiver_;
};

}  // namespace

double Quantile(std::vector<double>& values, double share) {
  const auto rank = static_cast<ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<size_t>(rank)];
}

absl::StatusOr<DemoOutcome> RunDemo(Client& client, const std::string& scene, uint64_t ticks,
                                    DemoWorld& world, const DemoProgress& progress) {
  const std::unique_ptr<Stream> stream =
      client.OpenStream({.max_in_flight = static_cast<uint32_t>(DemoWorld::kLag)});
  return DemoRun(*stream, scene, world, progress)(ticks);
}

}  // namespace carom::cli
