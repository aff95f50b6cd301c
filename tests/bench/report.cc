// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/report.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace carom::bench {
namespace {

// Four significant digits, without an exponent.
std::string Number(double value) {
  if (value == 0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return absl::StrFormat("%.*f", digits >= 3 ? 0 : 3 - digits, value);
}

std::string GoalText(const Goal& goal) {
  return absl::StrCat(goal.kind == Goal::Kind::kRatioAtLeast ? ">=" : "<=",
                      absl::StrFormat("%g", goal.bound));
}

// Nothing where nothing was measured.
std::string OursText(const Row& row) {
  return row.ours == 0 && !row.valid ? "-" : Number(row.ours);
}

std::string RatioText(const Row& row) { return row.theirs > 0 ? Number(row.ratio()) : "-"; }

std::string InstructionsText(const Row& row) {
  return row.instructions > 0 ? Number(row.instructions) : "-";
}

void PrintTable(const std::vector<Row>& rows) {
  if (rows.empty()) return;
  std::printf("\n%-44s %10s %12s  %-14s %10s %8s %8s  %s\n", "goal", "ours", "instructions", "peer",
              "theirs", "ratio", "goal", "met");
  int met = 0;
  for (const Row& row : rows) {
    std::printf("%-44s %10s %12s  %-14s %10s %8s %8s  %s%s%s\n", row.name.c_str(),
                OursText(row).c_str(), InstructionsText(row).c_str(), row.peer.c_str(),
                row.theirs > 0 ? Number(row.theirs).c_str() : "-", RatioText(row).c_str(),
                GoalText(row.goal).c_str(), row.ok() ? "yes" : "NO", row.note.empty() ? "" : "  ",
                row.note.c_str());
    met += row.ok();
  }
  std::printf("%d of %d goals met\n", met, static_cast<int>(rows.size()));
}

std::string SummaryText(const std::vector<Row>& rows) {
  std::string text = "name\tours_ns\tpeer\tpeer_ns\tratio\tgoal\tok\tinstructions\n";
  for (const Row& row : rows) {
    absl::StrAppend(&text, row.name, "\t", OursText(row), "\t", row.peer, "\t",
                    row.theirs > 0 ? Number(row.theirs) : "-", "\t", RatioText(row), "\t",
                    GoalText(row.goal), "\t", row.ok() ? "yes" : "no", "\t", InstructionsText(row),
                    "\n");
  }
  return text;
}

}  // namespace

double Row::ratio() const {
  if (!(theirs > 0) || !(ours > 0)) return 0;
  return goal.kind == Goal::Kind::kRatioAtMost ? ours / theirs : theirs / ours;
}

bool Row::ok() const {
  if (!valid) return false;
  switch (goal.kind) {
    case Goal::Kind::kRatioAtLeast:
      return ratio() >= goal.bound;
    case Goal::Kind::kRatioAtMost:
      return ratio() > 0 && ratio() <= goal.bound;
    case Goal::Kind::kValueAtMost:
      return ours <= goal.bound;
  }
  return false;
}

void Report::Title(const std::string& title) {
  std::printf("--- %s\n", title.c_str());
  std::fflush(stdout);
}

void Report::Figure(const std::string& name, double value, const std::string& unit,
                    const std::string& note) {
  std::printf("%-50s %10s %s%s%s\n", name.c_str(), Number(value).c_str(), unit.c_str(),
              note.empty() ? "" : "  ", note.c_str());
  std::fflush(stdout);
  figures_.push_back({name, value, unit, note});
}

void Report::Add(Row row) { rows_.push_back(std::move(row)); }

void Report::Timings(const std::string& name, const std::vector<Timing>& timings) {
  for (const Timing& timing : timings) {
    std::string note = absl::StrFormat("%d hits, spread %.0f %%", timing.hits, 100 * timing.spread);
    if (timing.hits != timings.front().hits) {
      absl::StrAppend(&note, ", hits ", HitDifference(timings.front().hits, timing.hits));
    }
    if (timing.instructions > 0) {
      absl::StrAppendFormat(&note, ", %.0f instructions", timing.instructions);
    }
    Figure(absl::StrCat(name, " ", timing.name), timing.ns, "ns", note);
  }
}

bool Report::Finish(const std::string& folder, const std::string& machine) const {
  PrintTable(rows_);
  nlohmann::json json = {{"machine", machine}};
  for (const Row& row : rows_) {
    json["goals"].push_back({{"name", row.name},
                             {"ours", row.ours},
                             {"instructions", row.instructions},
                             {"peer", row.peer},
                             {"theirs", row.theirs},
                             {"ratio", row.ratio()},
                             {"goal", GoalText(row.goal)},
                             {"ok", row.ok()},
                             {"note", row.note}});
  }
  for (const NamedFigure& figure : figures_) {
    json["figures"].push_back({{"name", figure.name},
                               {"value", figure.value},
                               {"unit", figure.unit},
                               {"note", figure.note}});
  }
  const auto write = [&](const char* file, const std::string& text) {
    std::ofstream out(absl::StrCat(folder, "/", file));
    out << text;
    return static_cast<bool>(out.flush());
  };
  return write("summary.tsv", SummaryText(rows_)) && write("results.json", json.dump(1) + "\n") &&
         write("ratios.svg", RatioPlot(rows_));
}

std::string HitDifference(uint64_t ours, uint64_t theirs) {
  const double a = static_cast<double>(ours);
  return absl::StrFormat("%+.4f %%", 100 * (static_cast<double>(theirs) - a) / std::fmax(a, 1));
}

bool HitsAgree(uint64_t ours, uint64_t theirs) {
  const double a = static_cast<double>(ours);
  return std::abs(static_cast<double>(theirs) - a) <= 0.001 * a;
}

}  // namespace carom::bench
