// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers that are written as bytes are what protobuf makes of their messages.
#include "wire/answer_bytes.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "wire/encode.h"

namespace carom::wire {
namespace {

using Random = std::mt19937_64;

// Numbers of every length on the wire, and doubles of every kind.
uint64_t Number(Random& random) { return random() >> (random() % 64); }
double Double(Random& random) {
  switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return -0.0;
    case 2:
      return NAN;
    default:
      return std::uniform_real_distribution<double>(-1e9, 1e9)(random);
  }
}

CastHit RandomHit(Random& random, bool may_be_body) {
  const auto vector = [&] { return Vec2{Double(random), Double(random)}; };
  const auto edge = [&] {
    return EdgeRef{static_cast<uint32_t>(Number(random)), static_cast<uint32_t>(Number(random))};
  };
  CastHit hit;
  hit.polygon_id = Number(random);
  hit.edge = edge();
  hit.exit_edge = edge();
  hit.feature = static_cast<Feature>(random() % 4);
  hit.starts_inside = random() % 2 == 0;
  hit.ends_inside = random() % 2 == 0;
  hit.has_exit_edge = random() % 2 == 0;
  hit.is_body = may_be_body && random() % 4 == 0;
  hit.fraction = Double(random);
  hit.exit_fraction = Double(random);
  hit.point = vector();
  hit.normal = vector();
  hit.exit_normal = vector();
  return hit;
}

// Some segments with some hits each, which need not be those of any scene.
CastAnswers RandomAnswers(Random& random, const CastOptions& options) {
  CastAnswers answers;
  const bool may_be_bodies = random() % 4 == 0;
  const size_t segments = 1 + random() % 20;
  for (size_t i = 0; i < segments; ++i) {
    answers.counts.push_back(random() % 50 == 0 ? 200 : random() % 3);
    if (options.mode == CastMode::kAny) continue;
    for (uint32_t hit = 0; hit < answers.counts.back(); ++hit) {
      answers.hits.push_back(RandomHit(random, may_be_bodies));
      if (options.reflect) answers.reflections.push_back({Double(random), Double(random)});
    }
  }
  return answers;
}

std::string SerializeBytes(AnswerBytes& bytes, const v1::StreamResponse& response) {
  std::string out(bytes.ByteSize(response), '\0');
  uint8_t* const begin = reinterpret_cast<uint8_t*>(out.data());
  EXPECT_EQ(bytes.Serialize(response, begin) - begin, static_cast<ptrdiff_t>(out.size()));
  return out;
}

// All that a response has beside its groups.
v1::StreamResponse RandomResponse(Random& random) {
  v1::StreamResponse response;
  v1::FrameAnswer& answer = *response.mutable_answer();
  if (random() % 2 == 0) answer.set_seq(Number(random));
  if (random() % 2 == 0) answer.mutable_stats()->set_elapsed_ns(Number(random));
  if (random() % 8 == 0) answer.mutable_status()->set_message("a frame of nobody");
  if (random() % 8 == 0) answer.set_skipped(true);
  if (random() % 8 == 0) response.mutable_limits()->set_max_frame_bytes(Number(random));
  return response;
}

TEST(AnswerBytes, AreThoseOfMessages) {
  Random random(1);
  AnswerBytes bytes;
  size_t groups_as_bytes = 0;
  for (int i = 0; i < 3000; ++i) {
    bytes.Clear();
    v1::StreamResponse expected = RandomResponse(random), response = expected;
    for (uint64_t group = 0, groups = 1 + random() % 6; group < groups; ++group) {
      CastOptions options;
      options.detail = static_cast<CastDetail>(random() % 4);
      options.reflect = random() % 4 == 0;
      if (random() % 8 == 0) options.mode = CastMode::kAny;
      GroupAnswers answers;
      answers.version = random() % 8 == 0 ? 0 : Number(random);
      answers.segments = RandomAnswers(random, options);
      Group asked;
      asked.cast_options = options;
      const std::vector<double> column(answers.segments.counts.size());
      asked.segments = {column, column, column, column};
      EncodeGroupAnswers(asked, answers, *expected.mutable_answer()->add_groups());
      v1::GroupAnswer& message = *response.mutable_answer()->add_groups();
      if (random() % 4 == 0) {
        message.set_edited_version(Number(random));
        expected.mutable_answer()->mutable_groups()->rbegin()->set_edited_version(
            message.edited_version());
      }
      const CastAnswers& casts = answers.segments;
      if (random() % 4 != 0 && bytes.Reserve(1, casts.counts.size(), casts.hits.size())) {
        bytes.Add(group, answers.version, {casts.counts, casts.hits, casts.reflections}, options);
        ++groups_as_bytes;
      } else {
        message = *expected.mutable_answer()->mutable_groups()->rbegin();
      }
    }
    ASSERT_EQ(SerializeBytes(bytes, response), expected.SerializeAsString()) << i;
  }
  EXPECT_GT(groups_as_bytes, 6000u);
}

TEST(AnswerBytes, MayComeInAnyOrder) {
  const CastOptions options;
  const std::vector<uint32_t> none = {0}, two = {0, 0};
  AnswerBytes bytes;
  v1::StreamResponse response;
  for (int i = 0; i < 3; ++i) response.mutable_answer()->add_groups();
  ASSERT_TRUE(bytes.Reserve(2, 3, 0));
  bytes.Add(2, 7, {two, {}, {}}, options);
  bytes.Add(0, 5, {none, {}, {}}, options);
  v1::StreamResponse read;
  ASSERT_TRUE(read.ParseFromString(SerializeBytes(bytes, response)));
  ASSERT_EQ(read.answer().groups_size(), 3);
  EXPECT_EQ(read.answer().groups(0).version(), 5);
  EXPECT_EQ(read.answer().groups(0).segments().counts_size(), 1);
  EXPECT_EQ(read.answer().groups(1).ByteSizeLong(), 0);
  EXPECT_EQ(read.answer().groups(2).version(), 7);
  EXPECT_EQ(read.answer().groups(2).segments().counts_size(), 2);
}

// A group with edits that have an `edit_id` and no edits, beside segments, was answered by bytes
// that no parser reads: `ByteSize` counted `edited_version`, which `Serialize` did not write, so
// the message was shorter than its length and ended in memory that nothing had written.
TEST(AnswerBytes, HaveTheEditedVersionOfTheirGroup) {
  const std::vector<uint32_t> counts = {0};
  for (const uint64_t edited : {uint64_t{1}, uint64_t{300}, UINT64_MAX}) {
    AnswerBytes bytes;
    ASSERT_TRUE(bytes.Reserve(1, 1, 0));
    bytes.Add(0, 7, {counts, {}, {}}, {});
    v1::StreamResponse response;
    response.mutable_answer()->add_groups()->set_edited_version(edited);
    v1::StreamResponse expected = response;
    expected.mutable_answer()->mutable_groups(0)->set_version(7);
    expected.mutable_answer()->mutable_groups(0)->mutable_segments()->add_counts(0);
    EXPECT_EQ(SerializeBytes(bytes, response), expected.SerializeAsString()) << edited;
  }
}

// Nothing is larger than the room that is made for it: hits whose every number is the largest.
TEST(AnswerBytes, HaveRoomForTheLargestHits) {
  CastHit hit;
  hit.polygon_id = UINT64_MAX;
  hit.edge = hit.exit_edge = {UINT32_MAX, UINT32_MAX};
  hit.feature = Feature::kEdge;
  hit.has_exit_edge = hit.is_body = true;
  const CastOptions options{.reflect = true};
  for (const size_t count : {1, 2, 100, 1000}) {
    const std::vector<uint32_t> counts(count, UINT32_MAX);
    const std::vector<CastHit> hits(count, hit);
    const std::vector<Vec2> reflections(count);
    AnswerBytes bytes;
    ASSERT_TRUE(bytes.Reserve(1, count, count));
    bytes.Add(0, UINT64_MAX, {counts, hits, reflections}, options);
    v1::StreamResponse response;
    response.mutable_answer()->add_groups();
    v1::StreamResponse read;
    ASSERT_TRUE(read.ParseFromString(SerializeBytes(bytes, response)));
    EXPECT_EQ(read.answer().groups(0).segments().is_body_size(), static_cast<int>(count));
    EXPECT_LE(bytes.size(), 16 + 115 + 118 * count);
  }
}

// What is kept for reuse has a bound.
TEST(AnswerBytes, HaveABound) {
  AnswerBytes bytes;
  EXPECT_FALSE(bytes.Reserve(1, AnswerBytes::kMaxBytes, 0));
  EXPECT_FALSE(bytes.Reserve(1, 1, 2000));
  EXPECT_FALSE(bytes.Reserve(1, SIZE_MAX, SIZE_MAX));
  EXPECT_FALSE(bytes.Reserve(2000, 2000, 0));
  EXPECT_EQ(bytes.capacity(), 0u);
  const std::vector<uint32_t> counts(100, 1);
  const std::vector<CastHit> hits(100);
  size_t groups = 0;
  for (; bytes.Reserve(1, counts.size(), hits.size()); ++groups) {
    bytes.Add(groups, 1, {counts, hits, {}}, {});
  }
  EXPECT_GE(groups, 4u);
  EXPECT_LE(bytes.capacity(), AnswerBytes::kMaxBytes);
}

}  // namespace
}  // namespace carom::wire
