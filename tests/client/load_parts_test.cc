// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What `carom load` is made of: its histogram, schedule, map, frames, and its reading of answers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/v1/query_service.pb.h"
#include "client/load/answer_head.h"
#include "client/load/checker.h"
#include "client/load/frames.h"
#include "client/load/histogram.h"
#include "client/load/map.h"
#include "client/load/options.h"
#include "client/load/questions.h"
#include "client/load/random.h"
#include "client/load/schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "wire/encode.h"

namespace carom::load {
namespace {

using ::testing::HasSubstr;

// --- Histogram

// Values of all magnitudes.
std::vector<uint64_t> Values(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<uint64_t> values;
  for (size_t i = 0; i < count; ++i) values.push_back(random.Next() >> random.Below(64));
  return values;
}

TEST(Histogram, AQuantileIsThatOfTheSortedSamplesOrLittleMore) {
  for (const size_t count : {1, 2, 10, 999, 20000}) {
    std::vector<uint64_t> values = Values(count, count);
    Histogram histogram;
    for (const uint64_t value : values) histogram.Add(value);
    std::ranges::sort(values);
    for (const double share : {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(count)));
      const uint64_t exact = values[std::max<size_t>(rank, 1) - 1];
      const uint64_t quantile = histogram.Quantile(share);
      EXPECT_GE(quantile, exact) << count << " values, " << share;
      EXPECT_LE(static_cast<double>(quantile),
                static_cast<double>(exact) * (1 + Histogram::kRelativeError));
    }
    EXPECT_EQ(histogram.count(), count);
    EXPECT_EQ(histogram.max(), values.back());
    EXPECT_EQ(histogram.Quantile(1), values.back());
  }
}

TEST(Histogram, EveryBoundaryIsInABucketThatIsNarrowEnough) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const int64_t by : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << bit) + static_cast<uint64_t>(by);
      Histogram histogram;
      histogram.Add(value);
      histogram.Add(std::numeric_limits<uint64_t>::max());
      EXPECT_GE(histogram.Quantile(0.5), value);
      EXPECT_LE(static_cast<double>(histogram.Quantile(0.5) - value),
                static_cast<double>(value) * Histogram::kRelativeError);
      EXPECT_EQ(histogram.Quantile(1), std::numeric_limits<uint64_t>::max());
    }
  }
}

TEST(Histogram, AMergeIsAsIfAllWereAddedToOne) {
  Histogram all, first, second;
  for (const uint64_t value : Values(3000, 1)) {
    all.Add(value);
    first.Add(value);
  }
  for (const uint64_t value : Values(500, 2)) {
    all.Add(value);
    second.Add(value);
  }
  first.Merge(second);
  first.Merge(Histogram());
  EXPECT_EQ(first.count(), all.count());
  EXPECT_EQ(first.max(), all.max());
  EXPECT_NEAR(first.mean(), all.mean(), 1e-9 * all.mean());
  for (double share = 0; share <= 1; share += 0.01) {
    EXPECT_EQ(first.Quantile(share), all.Quantile(share)) << share;
  }
}

TEST(Histogram, WithoutValuesEverythingIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.mean(), 0);
}

// --- Schedule

TEST(Schedule, DoesNotDrift) {
  constexpr int64_t kStart = 123456789;
  const Schedule schedule(kStart, 60, 1);
  for (const int64_t hours : {1, 24, 24 * 365}) {
    const int64_t seconds = hours * 3600;
    const int64_t time = schedule.TimeOf(0, static_cast<uint64_t>(seconds) * 60);
    EXPECT_NEAR(static_cast<double>(time - kStart - seconds * 1000000000), 0, 16) << hours;
  }
}

TEST(Schedule, StreamsAreSpreadEvenly) {
  constexpr uint32_t kStreams = 7;
  const Schedule schedule(0, 50, kStreams);
  int64_t before = schedule.TimeOf(0, 0);
  EXPECT_EQ(before, 0);
  for (uint32_t i = 1; i < 100; ++i) {
    const int64_t time = schedule.TimeOf(i % kStreams, i / kStreams);
    EXPECT_NEAR(static_cast<double>(time - before), 2e7 / kStreams, 2);
    before = time;
  }
}

TEST(Schedule, SleepsUntilTheTime) {
  const int64_t until = NowNs() + 2000000;
  SleepUntil(until);
  EXPECT_GE(NowNs(), until);
}

// --- Options

LoadOptions AskingFor(uint32_t bullets, uint32_t trackers) {
  LoadOptions options;
  options.polygons = 500;
  options.bullets = bullets;
  options.trackers = trackers;
  return options;
}

TEST(Options, WhatDoesNotFitTogetherIsNamed) {
  EXPECT_TRUE(CheckOptions({}).ok());
  LoadOptions options;
  options.connections = 11;
  EXPECT_THAT(CheckOptions(options).message(), HasSubstr("--connections 11 is above --streams 10"));
  options = {};
  options.threads = 11;
  EXPECT_THAT(CheckOptions(options).message(), HasSubstr("--threads 11 is above --streams 10"));
  options = AskingFor(65536, 1);
  EXPECT_THAT(CheckOptions(options).message(), HasSubstr("more than 65536 queries a frame"));
  options = AskingFor(0, 0);
  options.closed = 1;
  EXPECT_THAT(CheckOptions(options).message(), HasSubstr("--closed needs --bullets or --trackers"));
}

// --- Map

TEST(MakeMap, PolygonsAreInCellsOfTheirOwn) {
  const std::vector<Polygon> polygons = MakeMap(1000, 3);
  ASSERT_EQ(polygons.size(), 1000u);
  constexpr double kHalf = 32 * kCell / 2;
  for (size_t i = 0; i < polygons.size(); ++i) {
    const Polygon& polygon = polygons[i];
    EXPECT_EQ(polygon.id(), i);
    EXPECT_GE(polygon.vertex_count(), 4u);
    EXPECT_LE(polygon.vertex_count(), 8u);
    const double left = static_cast<double>(i % 32) * kCell - kHalf;
    const double bottom = static_cast<double>(i / 32) * kCell - kHalf;
    EXPECT_GT(polygon.bounds().min.x, left);
    EXPECT_LT(polygon.bounds().max.x, left + kCell);
    EXPECT_GT(polygon.bounds().min.y, bottom);
    EXPECT_LT(polygon.bounds().max.y, bottom + kCell);
  }
}

// --- Questions and frames

// A made map with what is asked there.
struct Field {
  explicit Field(const LoadOptions& options)
      : map(*LoadMap(options)),
        scene(*Scene::Create(map.polygons, 5)),
        questions(*Questions::Create(options, map, *scene)) {}

  Map map;
  Scene::Ptr scene;
  Questions questions;
};

std::string Bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

grpc::ByteBuffer Buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

// The columns of a stream's moves.
struct Moves {
  Moves(const Questions& questions, uint32_t stream, uint64_t tick) {
    std::vector<float> float_x(questions.trackers()), float_y(questions.trackers());
    questions.Poses(stream, tick, float_x, float_y);
    x.assign(float_x.begin(), float_x.end());
    y.assign(float_y.begin(), float_y.end());
  }
  std::vector<double> x, y;
};

TEST(Frames, AreTheBytesOfTheMessage) {
  for (const auto& [bullets, trackers] : {std::pair{16u, 0u}, {0u, 5u}, {3u, 300u}, {0u, 0u}}) {
    const Field field(AskingFor(bullets, trackers));
    const Frames frames(field.questions, "scenes/some");
    for (const uint64_t tick : {0ul, 1ul, 126ul, 127ul, 5000000000ul}) {
      const uint32_t stream = 7;
      v1::StreamRequest expected;
      expected.mutable_frame()->set_seq(tick + 1);
      if (bullets + trackers > 0) {
        Group group;
        if (bullets > 0) {
          group.segments = field.questions.Window(field.questions.WindowOf(stream, tick));
          group.cast_options.detail = CastDetail::kFraction;
        }
        const Moves moves(field.questions, stream, tick);
        group.moves.x = moves.x;
        group.moves.y = moves.y;
        v1::Group& message = *expected.mutable_frame()->add_groups();
        wire::EncodeGroup(group, message);
        message.set_scene_handle(1);
        EXPECT_EQ(message.segments().has_floats(), bullets > 0);
        EXPECT_EQ(message.moves().has_floats(), trackers > 0);
      }
      EXPECT_TRUE(Bytes(frames.Frame(stream, tick)) == expected.SerializeAsString())
          << bullets << " bullets, " << trackers << " trackers, tick " << tick;
    }
  }
}

TEST(Questions, BulletsDifferAndAreAsLongAsTold) {
  LoadOptions options = AskingFor(1000, 0);
  options.length = 3;
  const Field field(options);
  EXPECT_EQ(field.questions.window_count(), 66u);
  std::vector<double> xs;
  for (uint32_t window = 0; window < field.questions.window_count(); ++window) {
    const SegmentColumns columns = field.questions.Window(window);
    ASSERT_EQ(columns.size(), 1000u);
    xs.insert(xs.end(), columns.bx.begin(), columns.bx.end());
    for (size_t i = 0; i < columns.size(); ++i) {
      const double length =
          std::hypot(columns.bx[i] - columns.ax[i], columns.by[i] - columns.ay[i]);
      EXPECT_NEAR(length, 3, 1e-4);
    }
  }
  std::ranges::sort(xs);
  const auto repeated = std::ranges::unique(xs);
  EXPECT_LT(repeated.size(), 4000u);  // equal floats, now and then
}

TEST(Questions, TrackersMoveSmoothlyAndComeBack) {
  LoadOptions options = AskingFor(16, 8);
  options.rate_hz = 10;
  options.speed = 1;
  const Field field(options);
  const double step = 0.1;
  // A quarter of the spacing to either side, so four quarters a period.
  const auto period = static_cast<uint64_t>(std::round(field.map.spacing / step));
  for (uint64_t tick = 0; tick < 2 * period; ++tick) {
    const Moves now(field.questions, 3, tick), next(field.questions, 3, tick + 1);
    for (size_t i = 0; i < now.x.size(); ++i) {
      EXPECT_LE(std::hypot(next.x[i] - now.x[i], next.y[i] - now.y[i]), step * 1.001);
      const Moves first(field.questions, 3, 0);
      EXPECT_LE(std::hypot(now.x[i] - first.x[i], now.y[i] - first.y[i]),
                field.map.spacing / 4 * 1.001);
    }
  }
}

// --- Answers

TEST(AnswerHead, IsThatOfTheMessage) {
  v1::StreamResponse response;
  response.mutable_limits()->set_max_frames_in_flight(4);
  v1::FrameAnswer& answer = *response.mutable_answer();
  answer.set_seq(300);
  answer.add_groups()->mutable_segments()->add_counts(7);
  answer.mutable_groups(0)->mutable_segments()->add_polygon_id(1);
  answer.add_groups()->mutable_status()->set_code(5);
  answer.mutable_groups(1)->mutable_status()->set_message("no scene");
  v1::FrameStats& stats = *answer.mutable_stats();
  stats.set_elapsed_ns(9);
  stats.set_evaluate_ns(1000);
  stats.set_quiet_moves(1);
  stats.set_near_moves(2);
  stats.set_refreshed_moves(3);
  stats.set_cold_moves(4);
  stats.set_shadow_differences(5);
  grpc::ByteBuffer buffer = Buffer(response.SerializeAsString());
  const std::optional<AnswerHead> head = ReadAnswerHead(buffer);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->seq, 300u);
  EXPECT_EQ(head->frame_code, 0);
  EXPECT_EQ(head->group_code, 5);
  EXPECT_EQ(head->groups, 2u);
  EXPECT_FALSE(head->skipped);
  EXPECT_EQ(head->evaluate_ns, 1000u);
  EXPECT_EQ(head->moves.quiet, 1u);
  EXPECT_EQ(head->moves.near, 2u);
  EXPECT_EQ(head->moves.refresh, 3u);
  EXPECT_EQ(head->moves.cold, 4u);
  EXPECT_EQ(head->shadow_differences, 5u);
}

TEST(AnswerHead, OfFramesThatAreNotAnswered) {
  v1::StreamResponse response;
  response.mutable_answer()->mutable_status()->set_code(8);
  grpc::ByteBuffer refused = Buffer(response.SerializeAsString());
  EXPECT_EQ(ReadAnswerHead(refused)->frame_code, 8);
  response.mutable_answer()->clear_status();
  response.mutable_answer()->set_skipped(true);
  grpc::ByteBuffer skipped = Buffer(response.SerializeAsString());
  EXPECT_TRUE(ReadAnswerHead(skipped)->skipped);
  grpc::ByteBuffer cut = Buffer("\x0a\x7f\x08");
  EXPECT_FALSE(ReadAnswerHead(cut).has_value());
}

// A server's answer to a frame, and the same with one polygon in place of another.
TEST(Checker, FindsADifference) {
  const Field field(AskingFor(200, 0));
  Group group;
  group.segments = field.questions.Window(field.questions.WindowOf(2, 9));
  group.cast_options = field.questions.cast_options();
  GroupAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(EvaluateGroup(*field.scene, group, answers, meter).ok());
  v1::StreamResponse response;
  v1::GroupAnswer& message = *response.mutable_answer()->add_groups();
  wire::EncodeGroupAnswers(group, answers, message);
  ASSERT_GT(message.segments().polygon_id_size(), 0);

  SceneVersions versions(field.scene);
  Checker checker(field.questions, versions);
  checker.Add(2, 9, Buffer(response.SerializeAsString()));
  message.mutable_segments()->set_polygon_id(0, message.segments().polygon_id(0) + 1);
  checker.Add(2, 9, Buffer(response.SerializeAsString()));
  message.set_version(4);
  checker.Add(2, 9, Buffer(response.SerializeAsString()));
  versions.Close();
  const CheckFigures figures = checker.Finish();
  EXPECT_EQ(figures.checked, 2u);
  EXPECT_EQ(figures.differences, 1u);
  EXPECT_EQ(figures.unchecked, 1u);
  EXPECT_EQ(figures.first_difference, "stream 2, frame 10");
}

}  // namespace
}  // namespace carom::load
