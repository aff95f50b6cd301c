// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/runner.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

namespace carom::bench {
namespace {

double Nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const size_t i = static_cast<size_t>(at);
  const size_t j = std::min(i + 1, sorted.size() - 1);
  return sorted[i] + (sorted[j] - sorted[i]) * (at - static_cast<double>(i));
}

// A descriptor, or less than 0.
int InstructionCounter() {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

}  // namespace

uint64_t ThreadInstructions() {
  static thread_local const int counter = InstructionCounter();
  uint64_t count = 0;
  if (counter < 0 || read(counter, &count, sizeof(count)) != sizeof(count)) return 0;
  return count;
}

double ThreadNanoseconds() { return Nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
double WallNanoseconds() { return Nanoseconds(CLOCK_MONOTONIC); }

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return Quantile(values, 0.5);
}

double GeometricMean(const std::vector<double>& values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

std::vector<Timing> RunInterleaved(const std::vector<Contender>& contenders, size_t queries,
                                   int rounds) {
  std::vector<Timing> timings;
  std::vector<const Question*> questions;
  for (const Contender& contender : contenders) {
    if (!contender.question) continue;
    timings.push_back({contender.name, 0, 0, contender.question(0, queries), 0});
    questions.push_back(&contender.question);
  }
  std::vector<std::vector<double>> times(timings.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < questions.size(); ++i) {
      const uint64_t before = ThreadInstructions();
      const double start = ThreadNanoseconds();
      (*questions[i])(0, queries);
      times[i].push_back((ThreadNanoseconds() - start) / static_cast<double>(queries));
      timings[i].instructions =
          static_cast<double>(ThreadInstructions() - before) / static_cast<double>(queries);
    }
  }
  for (size_t i = 0; i < timings.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    timings[i].ns = Quantile(times[i], 0.5);
    timings[i].spread = (Quantile(times[i], 0.75) - Quantile(times[i], 0.25)) / timings[i].ns;
  }
  return timings;
}

Question Repeated(Question question, size_t distinct) {
  return [question = std::move(question), distinct](size_t begin, size_t end) {
    uint64_t hits = 0;
    for (; begin < end; begin += distinct) hits += question(0, std::min(distinct, end - begin));
    return hits;
  };
}

size_t QueriesWithin(double seconds, const Question& slowest, size_t queries) {
  constexpr size_t kPilot = 512;
  const double start = ThreadNanoseconds();
  slowest(0, std::min(kPilot, queries));
  const double each = (ThreadNanoseconds() - start) / kPilot;
  const double within = std::fmax(4096, seconds * 1e9 / each);
  return within < static_cast<double>(queries) ? static_cast<size_t>(within) : queries;
}

}  // namespace carom::bench
