// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A group asked through carom.h has the answers that it has in C++: made-up groups of all kinds, of
// the scene and of bodies, whole and kind by kind, from contiguous columns and from columns with a
// stride.

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "abi/answer_views.h"
#include "abi/handles.h"
#include "absl/strings/ascii.h"
#include "carom/carom.h"
#include "carom/group_kinds.h"
#include "tests/support/abi_group.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"

namespace carom::testing {
namespace {

constexpr int kCases = 150;
constexpr uint32_t kItems = 12;

// Returns what carom.h answers to batches; 0 after an error.
uint64_t Ask(const carom_world& world, std::span<const carom_batch> batches,
             carom_answers* answers) {
  auto status = AbiStruct<carom_status>();
  const uint32_t code = carom_evaluate(&world, batches.data(), batches.size(), answers, &status);
  EXPECT_EQ(code, CAROM_OK) << status.field << ": " << status.message;
  return code == CAROM_OK ? carom_answers_digest(answers) : 0;
}

// Replaces masks of 0, which carom.h reads as all categories. Returns whether it did not meet a
// tracker with such a mask.
bool FillMasks(Group& group) {
  ForEachKind([&](const auto& kind) {
    auto& options = group.*kind.options;
    const auto fill = [](uint64_t& mask) { mask = mask != 0 ? mask : kEveryCategory; };
    if constexpr (requires { options.mask; }) {
      fill(options.mask);
    } else if constexpr (std::is_same_v<decltype(options), uint64_t&>) {
      fill(options);
    }
  });
  return std::all_of(group.moves.trackers.begin(), group.moves.trackers.end(),
                     [](const Tracker& t) { return !t.is_defined() || t.options().mask != 0; });
}

// Compares all kinds at once, and each kind alone. Returns the number of batches.
size_t Compare(GroupCase& made, size_t stride) {
  GroupAnswers expected;
  WorkMeter meter;
  if (!FillMasks(made.group) || !CheckGroup(made.group).ok() ||
      !EvaluateGroup(*made.scene, made.group, expected, meter).ok()) {
    return 0;
  }
  const AbiScene scene = MakeAbiScene(*made.scene);
  const AbiGroup group(made.group, stride);
  const AbiAnswers answers = MakeAbiAnswers();
  auto world = AbiStruct<carom_world>();
  world.scene = scene.get();
  world.bodies = group.bodies();
  world.trackers = group.trackers();
  GroupKindSet asked;
  for (const carom_batch& batch : group.batches()) asked.set(batch.kind - 1);
  EXPECT_EQ(Ask(world, group.batches(), answers.get()), abi::DigestOf(expected, asked));
  EXPECT_EQ(carom_answers_version(answers.get()), made.scene->version());
  for (const carom_batch& batch : group.batches()) {
    GroupKindSet alone;
    alone.set(batch.kind - 1);
    EXPECT_EQ(Ask(world, {&batch, 1}, answers.get()), abi::DigestOf(expected, alone))
        << abi::NameOfKind(batch.kind);
  }
  return group.batches().size();
}

TEST(SameAnswersTest, OfScenes) {
  size_t batches = 0;
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(i);
    Choices choices(static_cast<uint64_t>(i));
    batches += Compare(*MakeGroupCase(choices, kItems, BadNumbers::kSome), 1 + i % 3);
  }
  EXPECT_GT(batches, 10u * kCases);
}

TEST(SameAnswersTest, OfBodies) {
  size_t batches = 0;
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(i);
    Choices choices(static_cast<uint64_t>(i));
    const auto made = MakeGroupCase(choices, kItems, BadNumbers::kSome);
    AddBodies(choices, *made);
    batches += Compare(*made, 1 + i % 3);
  }
  EXPECT_GT(batches, 5u * kCases);
}

// carom.h numbers the kinds in the order of the core's list.
TEST(SameAnswersTest, KindsHaveTheNamesOfTheCore) {
#define CAROM_COMPARE_NAMES(number, name, Question, Answers, function) \
  EXPECT_EQ(absl::AsciiStrToLower(#name), abi::NameOfKind(number));
  CAROM_KINDS(CAROM_COMPARE_NAMES)
#undef CAROM_COMPARE_NAMES
}

// A column of a struct of answers has the rows of the answers in C++.
TEST(SameAnswersTest, ColumnsAreMembersOfRows) {
  Choices choices(7);
  const auto made = MakeGroupCase(choices, 64, BadNumbers::kSome);
  const AbiScene scene = MakeAbiScene(*made->scene);
  Group group;
  group.segments = made->group.segments;
  GroupAnswers expected;
  WorkMeter meter;
  ASSERT_TRUE(EvaluateGroup(*made->scene, group, expected, meter).ok());
  const AbiGroup asked(group);
  const AbiAnswers answers = MakeAbiAnswers();
  auto world = AbiStruct<carom_world>();
  world.scene = scene.get();
  Ask(world, asked.batches(), answers.get());
  auto view = AbiStruct<carom_cast_answers>();
  ASSERT_EQ(carom_answers_read(answers.get(), CAROM_KIND_SEGMENTS, &view, nullptr), CAROM_OK);
  const std::vector<CastHit>& hits = expected.segments.hits;
  ASSERT_GT(hits.size(), 5u);
  ASSERT_EQ(view.fraction.length, hits.size());
  ASSERT_EQ(view.edge.length, hits.size());
  std::vector<double> normals(hits.size());
  ASSERT_EQ(carom_f64_copy(view.normal_y, normals.data(), normals.size()), CAROM_OK);
  EXPECT_EQ(carom_f64_copy(view.normal_y, normals.data(), normals.size() - 1),
            CAROM_INVALID_ARGUMENT);
  for (size_t i = 0; i < hits.size(); ++i) {
    EXPECT_EQ(view.polygon_id.data[i * view.polygon_id.stride], hits[i].polygon_id);
    EXPECT_EQ(view.fraction.data[i * view.fraction.stride], hits[i].fraction);
    EXPECT_EQ(view.point_x.data[i * view.point_x.stride], hits[i].point.x);
    EXPECT_EQ(view.edge.data[i * view.edge.stride], hits[i].edge.edge);
    EXPECT_EQ(view.feature.data[i * view.feature.stride], static_cast<uint8_t>(hits[i].feature));
    EXPECT_EQ(normals[i], hits[i].normal.y);
  }
}

}  // namespace
}  // namespace carom::testing
