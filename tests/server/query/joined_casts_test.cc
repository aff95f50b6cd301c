// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Groups that are cast together answer what each does by itself.
#include "server/query/joined_casts.h"

#include <cmath>

#include "carom/group.h"
#include "tests/server/fixture.h"
#include "tests/support/random.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom::server {
namespace {

using carom::testing::SplitMix64;

// Rows of squares, so that a segment meets several.
std::vector<std::string> Squares() {
  std::vector<std::string> squares;
  for (int i = 0; i < 64; ++i) squares.push_back(Square(i + 1, i % 8 * 3, i / 8 * 3));
  return squares;
}

double Coordinate(SplitMix64& random, bool as_float) {
  if (random.Unit() < 0.01) return NAN;
  const double value = random.Unit() * 26 - 3;
  return as_float ? static_cast<float>(value) : value;
}

void AddSegments(SplitMix64& random, int count, v1::SegmentCasts& casts) {
  const bool floats = random.Unit() < 0.3;
  for (int i = 0; i < count; ++i) {
    double values[4];
    for (double& value : values) value = Coordinate(random, floats);
    if (floats) {
      v1::FloatSegments& to = *casts.mutable_floats();
      to.add_ax(static_cast<float>(values[0]));
      to.add_ay(static_cast<float>(values[1]));
      to.add_bx(static_cast<float>(values[2]));
      to.add_by(static_cast<float>(values[3]));
    } else {
      casts.add_ax(values[0]);
      casts.add_ay(values[1]);
      casts.add_bx(values[2]);
      casts.add_by(values[3]);
    }
  }
}

// Mostly like the group before it.
v1::Group NextGroup(SplitMix64& random, uint64_t version, const v1::Group& last) {
  const auto below = [&](int n) { return static_cast<int>(random.Unit() * n); };
  v1::Group group = last;
  group.mutable_segments()->clear_ax();
  group.mutable_segments()->clear_ay();
  group.mutable_segments()->clear_bx();
  group.mutable_segments()->clear_by();
  group.mutable_segments()->clear_floats();
  group.clear_points();
  v1::SegmentCasts& casts = *group.mutable_segments();
  if (random.Unit() < 0.2) {
    casts.set_mode(static_cast<v1::CastMode>(below(5)));
    casts.set_inside_policy(static_cast<v1::InsidePolicy>(below(4)));
    casts.set_target(static_cast<v1::CastTarget>(below(3)));
    casts.set_detail(static_cast<v1::CastDetail>(below(6)));  // 5 is unknown
    casts.set_reflect(random.Unit() < 0.3);
    casts.set_max_hits(below(4));
    if (random.Unit() < 0.3) casts.set_mask(2);
  }
  if (random.Unit() < 0.1) group.set_scene(below(8) == 0 ? "scenes/none" : "scenes/a");
  if (random.Unit() < 0.05) group.set_scene("scenes/b");
  if (random.Unit() < 0.1) group.set_min_version(below(6) == 0 ? version + 1000 : version);
  AddSegments(random, below(20) == 0 ? 40 : below(4), casts);
  if (random.Unit() < 0.02) casts.add_ax(0);
  if (random.Unit() < 0.05) {
    group.mutable_points()->add_x(0);
    group.mutable_points()->add_y(0);
  }
  return group;
}

TEST(JoinedCastsTest, GroupsAnswerWhatTheyDoAlone) {
  TestServer server;
  server.Create("b", {Square(7, 5, 5, 4)});
  const uint64_t version = server.Create("a", Squares());
  SplitMix64 random(5);
  int joined = 0;
  for (int i = 0; i < 150; ++i) {
    v1::Frame frame;
    v1::Group last;
    last.set_scene("scenes/a");
    for (int g = 0; g < 40; ++g) *frame.add_groups() = last = NextGroup(random, version, last);
    v1::FrameAnswer together;
    ASSERT_TRUE(server.Evaluate(frame, together).ok());
    ASSERT_EQ(together.groups_size(), frame.groups_size());
    for (int g = 0; g < frame.groups_size(); ++g) {
      v1::Frame one;
      *one.add_groups() = frame.groups(g);
      v1::FrameAnswer alone;
      ASSERT_TRUE(server.Evaluate(one, alone).ok());
      ASSERT_EQ(together.groups(g).SerializeAsString(), alone.groups(0).SerializeAsString())
          << "group " << g << " of\n"
          << frame.DebugString();
      if (!alone.groups(0).has_status()) ++joined;
    }
  }
  EXPECT_GT(joined, 1000);
}

// The parts of a batch, without a server: each is what its segments answer by themselves.
TEST(JoinedCastsTest, PartsAreWhatTheirSegmentsAnswer) {
  std::vector<Polygon> squares;
  for (const std::string& text : Squares()) {
    squares.push_back(*wire::DecodePolygon(FromText<v1::Polygon>(text), {}));
  }
  const Scene::Ptr scene = *Scene::Create(squares);
  SplitMix64 random(6);
  JoinedCasts joined;
  for (int i = 0; i < 200; ++i) {
    v1::Group last;
    last.set_scene("scenes/a");
    v1::SegmentCasts& casts = *last.mutable_segments();
    casts.set_mode(static_cast<v1::CastMode>(i % 5));
    casts.set_detail(static_cast<v1::CastDetail>(1 + i % 4));
    casts.set_reflect(i % 4 != 0 && i % 3 == 0);
    casts.set_max_hits(1 + i % 3);
    std::vector<v1::Group> groups(12, last);
    joined.Clear();
    for (v1::Group& group : groups) {
      AddSegments(random, 1 + static_cast<int>(random.Unit() * 3), *group.mutable_segments());
      wire::DecodedGroup decoded;
      ASSERT_TRUE(wire::DecodeGroup(group, decoded).ok());
      ASSERT_TRUE(joined.Add(decoded.group));
    }
    ASSERT_EQ(joined.size(), groups.size());
    GroupAnswers all, alone;
    WorkMeter meter;
    ASSERT_TRUE(EvaluateGroup(*scene, joined.all(), all, meter).ok());
    for (const v1::Group& group : groups) {
      const Group& part = joined.Next();
      v1::GroupAnswer ours, theirs;
      wire::EncodeGroupAnswers(part, joined.Answers(all), ours);
      wire::DecodedGroup decoded;
      ASSERT_TRUE(wire::DecodeGroup(group, decoded).ok());
      ASSERT_TRUE(EvaluateGroup(*scene, decoded.group, alone, meter).ok());
      wire::EncodeGroupAnswers(decoded.group, alone, theirs);
      ASSERT_EQ(ours.SerializeAsString(), theirs.SerializeAsString());
    }
  }
}

TEST(JoinedCastsTest, OtherOptionsAndTooManySegmentsDoNotJoin) {
  const std::vector<double> column(JoinedCasts::kMaxSegments / 2, 1.0);
  Group group;
  group.segments = {column, column, column, column};
  JoinedCasts joined;
  EXPECT_TRUE(joined.Add(group));
  group.cast_options.mask = 2;
  EXPECT_FALSE(joined.Add(group));
  group.cast_options = {};
  EXPECT_TRUE(joined.Add(group));
  EXPECT_FALSE(joined.Add(group));
  EXPECT_EQ(joined.size(), 2);
  EXPECT_EQ(joined.all().segments.size(), JoinedCasts::kMaxSegments);
}

// What the groups before one have used of a limit is the same as well.
TEST(JoinedCastsTest, LimitsAreMetByTheSameGroups) {
  ServerOptions options;
  options.max_answer_rows_per_frame = 100;
  TestServer server(options);
  server.Create("a", Squares());
  v1::Frame frame;
  for (int g = 0; g < 30; ++g) {
    // Across 8 squares; the last ones across 1. The first ones fit together, the others do not.
    *frame.add_groups() = FromText<v1::Group>(absl::StrCat(
        "scene: 'scenes/a' segments { mode: CAST_MODE_ALL detail: CAST_DETAIL_",
        g < 8 ? "FRACTION" : "EDGE", " ax: -2 ay: 0 by: 0 bx: ", g < 20 ? 24 : 1, "}"));
  }
  const v1::FrameAnswer answer = server.Ask(frame.ShortDebugString());
  for (int g = 0; g < 30; ++g) {
    const bool fits = g < 12 || (g >= 20 && g < 24);
    EXPECT_EQ(answer.groups(g).status().code(), fits ? grpc::OK : grpc::RESOURCE_EXHAUSTED) << g;
    if (fits) {
      EXPECT_EQ(answer.groups(g).segments().polygon_id_size(), g < 20 ? 8 : 1);
    }
  }
}

}  // namespace
}  // namespace carom::server
