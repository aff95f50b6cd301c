// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// carom_digest [--target NAME] [CASES]: one hash for each kind of batch, and one of all, over every
// field of the answers to CASES made-up groups. The bits of an answer depend on nothing but the
// question, so two builds that print other lines are two libraries. `.ci/digest` compares
// compilers, levels of optimisation and instruction sets. A target is one of those that
// `carom_digest --targets` lists: the paths of the vector code that this machine can take.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
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

int Main(int cases) {
  GroupAnswers none;
  std::vector<Row> rows(WordsOf(none).size());
  for (int i = 0; i < cases; ++i) {
    Choices choices(0x5eed0000 + static_cast<uint64_t>(i));
    const auto made = MakeGroupCase(choices, kItems, BadNumbers::kSome);
    GroupAnswers answers;
    WorkMeter meter;
    if (const absl::Status status = CheckGroup(made->group); !status.ok()) {
      std::fprintf(stderr, "case %d: %s\n", i, std::string(status.message()).c_str());
      return 1;
    }
    if (!EvaluateGroup(*made->scene, made->group, answers, meter).ok()) return 1;
    size_t row = 0;
    ForEachKind([&](const auto& kind) { rows[row++].items += ItemCount(answers.*kind.answers); });
    row = 0;
    for (const Words& words : WordsOf(answers)) {
      rows[row].batch = words.batch;
      for (const uint64_t word : words.values) rows[row].hash.Add(word);
      ++row;
    }
  }
  Hash total;
  uint64_t items = 0;
  for (const Row& row : rows) {
    std::printf("%-16s %016" PRIx64 " %8" PRIu64 " items\n", row.batch, row.hash.value(),
                row.items);
    total.Add(row.hash.value());
    items += row.items;
  }
  std::printf("%-16s %016" PRIx64 " %8" PRIu64 " items\n", "all", total.value(), items);
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
