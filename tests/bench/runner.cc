// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/runner.h"

#include <ctime>

#include <algorithm>
#include <cmath>

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

}  // namespace

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
    timings.push_back({contender.name, 0, 0, contender.question(0, queries)});
    questions.push_back(&contender.question);
  }
  std::vector<std::vector<double>> times(timings.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < questions.size(); ++i) {
      const double start = ThreadNanoseconds();
      (*questions[i])(0, queries);
      times[i].push_back((ThreadNanoseconds() - start) / static_cast<double>(queries));
    }
  }
  for (size_t i = 0; i < timings.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    timings[i].ns = Quantile(times[i], 0.5);
    timings[i].spread = (Quantile(times[i], 0.75) - Quantile(times[i], 0.25)) / timings[i].ns;
  }
  return timings;
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
