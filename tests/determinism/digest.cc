// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// carom_digest [CASES]: one hash for each kind of batch, and one of all, over every field of the
// answers to CASES made-up groups. The bits of an answer depend on nothing but the question, so two
// builds that print other lines are two libraries. `.ci/digest` compares compilers, levels of
// optimisation and instruction sets.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

uint64_t ItemsOf(auto& batch) {
  if constexpr (requires { batch.counts; }) return batch.counts.size();
  if constexpr (requires { batch.visible; }) return batch.visible.size();
  if constexpr (requires { batch.steps; }) return batch.steps.size();
  return 0;
}

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
    ForEachBatch(answers, [&](const char*, auto& batch) { rows[row++].items += ItemsOf(batch); });
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

int main(int argc, char** argv) {
  return carom::testing::Main(argc > 1 ? std::atoi(argv[1]) : carom::testing::kCases);
}
