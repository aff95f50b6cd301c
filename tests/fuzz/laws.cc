// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz target of the core: bytes choose a scene and questions; the laws hold.

#include "tests/fuzz/laws.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/target.h"

namespace carom::testing {

void Break(const GroupCase& made, const char* law, std::initializer_list<double> numbers) {
  std::fprintf(stderr, "BROKEN LAW: %s\nnumbers:", law);
  for (const double number : numbers) std::fprintf(stderr, " %a", number);
  std::fprintf(stderr, "\n%s", made.ToCode().c_str());
  std::abort();
}

GroupAnswers Evaluate(const GroupCase& made, const Group& group) {
  GroupAnswers answers;
  WorkMeter meter;
  Require(CheckGroup(group).ok(), made, "a made-up group is well formed");
  Require(EvaluateGroup(*made.scene, group, answers, meter).ok(), made,
          "a meter without a limit stops nothing");
  return answers;
}

std::vector<std::vector<uint64_t>> IdsOf(const std::vector<uint32_t>& counts,
                                         const std::vector<uint64_t>& ids) {
  std::vector<std::vector<uint64_t>> result;
  auto next = ids.begin();
  for (const uint32_t count : counts) {
    const size_t left = static_cast<size_t>(ids.end() - next);
    const auto end = next + static_cast<std::ptrdiff_t>(std::min<size_t>(count, left));
    result.emplace_back(next, end);
    std::sort(result.back().begin(), result.back().end());
    next = end;
  }
  return result;
}

}  // namespace carom::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace carom::testing;  // NOLINT: C linkage
  Choices choices(data, size);
  const uint32_t which = choices.Below(6);
  if (which == 0) {
    const auto made = MakeGroupCase(choices, 4, BadNumbers::kSome);
    carom::GroupAnswers answers = Evaluate(*made, made->group);
    CheckForm(*made, answers);
    CheckIndependence(choices, *made, answers);
    return 0;
  }
  if (which == 4) {
    Choices bodies(choices.Bytes(4));  // or the group would take all bytes before they come up
    const auto made = MakeGroupCase(choices, 4, BadNumbers::kSome);
    CheckBodyLaws(bodies, *made);
    return 0;
  }
  const auto made = MakeScene(choices);
  if (which == 1) CheckSegmentLaws(choices, *made);
  if (which == 2) CheckPointLaws(choices, *made);
  if (which == 3) CheckMoverLaws(choices, *made);
  if (which == 5) CheckLintLaws(choices, *made);
  return 0;
}

// Bytes that are random, or small for the most part, which chooses the first of each kind.
std::vector<uint8_t> MakeInput(uint64_t seed) {
  carom::testing::Choices choices(seed);
  std::vector<uint8_t> bytes(choices.Below(600));
  const bool small = choices.OneIn(2);
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(choices.Below(small && !choices.OneIn(8) ? 8 : 256));
  }
  return bytes;
}
