// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// carom_digest [--target NAME] [CASES]: one hash for each kind of batch, of the scene and of
// bodies, one of all that is asked of scenes, and one of all, over every field of the answers to
// CASES made-up groups. The bits of an answer depend on nothing but the question, so two builds
// that print other lines are two libraries. `.ci/digest` compares compilers, levels of optimisation
// and instruction sets. A target is one of those that `carom_digest --targets` lists: the paths of
// the vector code that this machine can take.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/highway.h"
// clang-format on
#include "tests/support/answer_words.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"

namespace carom::testing {
namespace {

constexpr int kCases = 1500;
constexpr uint32_t kItems = 16;

// FNV-1a (Fowler, Noll, Vo) over the bytes of 64-bit words, least first.
class Hash {
 public:
  void Add(uint64_t word) {
    for (int i = 0; i < 8; ++i, word >>= 8) value_ = (value_ ^ (word & 255)) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

struct Row {
  const char* batch = "";
  Hash hash;
  uint64_t items = 0;
};

// One row a kind: what is asked of the scene, or what considers bodies.
class Table {
 public:
  explicit Table(std::string prefix) : prefix_(std::move(prefix)) {
    GroupAnswers none;
    rows_.resize(WordsOf(none).size());
  }

  // Evaluates the group of a case. Returns why that cannot be, or an empty string.
  std::string Add(const GroupCase& made) {
    GroupAnswers answers;
    WorkMeter meter;
    if (const absl::Status status = CheckGroup(made.group); !status.ok()) {
      return std::string(status.message());
    }
    const absl::Status status = EvaluateGroup(*made.scene, made.group, answers, meter);
    if (!status.ok()) return std::string(status.message());
    size_t row = 0;
    ForEachKind([&](const auto& kind) { rows_[row++].items += ItemCount(answers.*kind.answers); });
    row = 0;
    for (const Words& words : WordsOf(answers)) {
      rows_[row].batch = words.batch;
      for (const uint64_t word : words.values) rows_[row].hash.Add(word);
      ++row;
    }
    return "";
  }

  // Prints the kinds, and adds them to those of all.
  void Print(Hash& total, uint64_t& items) const {
    for (const Row& row : rows_) {
      std::printf("%-22s %016" PRIx64 " %8" PRIu64 " items\n", (prefix_ + row.batch).c_str(),
                  row.hash.value(), row.items);
      total.Add(row.hash.value());
      items += row.items;
    }
  }

 private:
  std::string prefix_;
  std::vector<Row> rows_;
};

// Bodies are chosen apart, so that the cases without them are what they were before there were any.
int Main(int cases) {
  Table scenes("");
  Table bodies("bodies.");
  for (int i = 0; i < cases; ++i) {
    const auto seed = static_cast<uint64_t>(i);
    Choices choices(0x5eed0000 + seed);
    const auto made = MakeGroupCase(choices, kItems, BadNumbers::kSome);
    std::string refusal = scenes.Add(*made);
    if (refusal.empty()) {
      Choices more(0xb0d10000 + seed);
      AddBodies(more, *made);
      refusal = bodies.Add(*made);
    }
    if (!refusal.empty()) {
      std::fprintf(stderr, "case %d: %s\n", i, refusal.c_str());
      return 1;
    }
  }
  Hash total;
  uint64_t items = 0;
  scenes.Print(total, items);
  std::printf("%-22s %016" PRIx64 " %8" PRIu64 " items\n", "scenes", total.value(), items);
  bodies.Print(total, items);
  std::printf("%-22s %016" PRIx64 " %8" PRIu64 " items\n", "all", total.value(), items);
  return 0;
}

}  // namespace
}  // namespace carom::testing

namespace {

// The paths of the vector code in this build, of those that this machine can take.
std::vector<int64_t> Targets() {
  std::vector<int64_t> targets;
#ifndef HWY_COMPILE_ONLY_STATIC
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    targets.push_back(left & -left);
  }
#endif
  return targets;
}

// Takes that path from now on. Returns whether there is one.
bool TakePath([[maybe_unused]] const std::string& name) {
#ifndef HWY_COMPILE_ONLY_STATIC
  for (const int64_t target : Targets()) {
    if (name != hwy::TargetName(target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return true;
  }
#endif
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "--targets") {
    for (const int64_t target : Targets()) std::puts(hwy::TargetName(target));
    return 0;
  }
  if (arguments.size() >= 2 && arguments[0] == "--target") {
    if (!TakePath(arguments[1])) {
      std::fprintf(stderr, "no such target: %s\n", arguments[1].c_str());
      return 2;
    }
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  return carom::testing::Main(arguments.empty() ? carom::testing::kCases
                                                : std::atoi(arguments[0].c_str()));
}
