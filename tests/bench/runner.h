// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How long does each take, in one run?
//
// Contenders take turns, round by round, so that whatever slows the machine down slows all of them
// down; medians of the CPU time of the thread are what counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/peer.h"

namespace carom::bench {

// The CPU time of this thread, and the time on the wall.
double ThreadNanoseconds();
double WallNanoseconds();

// Instructions of this thread outside of the kernel since the first call. 0 where the machine has
// no counter, or none to give, as virtual machines often do not.
uint64_t ThreadInstructions();

double Median(std::vector<double> values);
double GeometricMean(const std::vector<double>& values);

struct Contender {
  std::string name;
  Question question;  // empty: left out
};

struct Timing {
  std::string name;
  double ns = 0;            // a query, the median over the rounds
  double spread = 0;        // (third quartile - first quartile) / median
  uint64_t hits = 0;        // of one pass
  double instructions = 0;  // a query, of the last round; 0 where the machine does not count them
};

// Every contender asks all of `queries` once to warm up and then once a round, in turns. Timings
// are in the order of the contenders.
std::vector<Timing> RunInterleaved(const std::vector<Contender>& contenders, size_t queries,
                                   int rounds);

// Asks the first `distinct` of as many queries as it is asked, again and again.
Question Repeated(Question question, size_t distinct);

// Of those that one pass takes about `seconds` for, how many queries, in [4096, queries].
size_t QueriesWithin(double seconds, const Question& slowest, size_t queries);

}  // namespace carom::bench
