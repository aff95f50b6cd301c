// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What came out: a table to read, summary.tsv, results.json and ratios.svg.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/bench/runner.h"

namespace carom::bench {

// What is demanded of a row: a least ratio, or a greatest value of `ours`.
struct Goal {
  enum class Kind { kRatioAtLeast, kRatioAtMost, kValueAtMost };
  Kind kind = Kind::kRatioAtLeast;
  double bound = 0;
};
inline Goal RatioAtLeast(double bound) { return {Goal::Kind::kRatioAtLeast, bound}; }
inline Goal RatioAtMost(double bound) { return {Goal::Kind::kRatioAtMost, bound}; }
inline Goal ValueAtMost(double bound) { return {Goal::Kind::kValueAtMost, bound}; }

// One goal and how it was met. `ours` and `theirs` are nanoseconds a query unless the name says
// otherwise; a row without a peer, or whose peer is not there, has no `theirs`.
struct Row {
  std::string name;
  double ours = 0;
  std::string peer;  // "-": none
  double theirs = 0;
  Goal goal;
  std::string note = "";
  bool valid = true;        // false: the answers differ too much for the times to count
  double instructions = 0;  // of ours, a query; 0 where they are not counted

  // Theirs / ours; of RATIO_AT_MOST ours / theirs. 0 where there is no `theirs`.
  double ratio() const;
  bool ok() const;
};

// Collects rows and plain figures, prints each as it comes.
class Report {
 public:
  // A headline for what follows, in the table only.
  void Title(const std::string& title);
  // A figure that no goal is about.
  void Figure(const std::string& name, double value, const std::string& unit,
              const std::string& note = "");
  void Add(Row row);
  // Prints timings; a contender whose hits differ from the first one's is reported.
  void Timings(const std::string& name, const std::vector<Timing>& timings);

  // Prints the table of ratios, and writes the three files to the folder. Returns false if one
  // cannot be written.
  bool Finish(const std::string& folder, const std::string& machine) const;

 private:
  struct NamedFigure {
    std::string name;
    double value;
    std::string unit;
    std::string note;
  };

  std::vector<Row> rows_;
  std::vector<NamedFigure> figures_;
};

// "+0.0123 %": how many more hits `theirs` has than `ours`.
std::string HitDifference(uint64_t ours, uint64_t theirs);
// Whether the two agree within 0.1 %.
bool HitsAgree(uint64_t ours, uint64_t theirs);

// The bars of the rows' ratios on a logarithmic axis, each with a mark at its goal.
std::string RatioPlot(const std::vector<Row>& rows);

}  // namespace carom::bench
