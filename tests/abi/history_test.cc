// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Bodies with poses by tick through carom.h: a question as of some moments has the answers that it
// has in C++, and what a caller does wrong is an error with a field path.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "abi/answer_views.h"
#include "abi/handles.h"
#include "carom/body_history.h"
#include "carom/carom.h"
#include "carom/group_kinds.h"
#include "tests/support/abi_group.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"

namespace carom::testing::abi_history_test {
namespace {

constexpr size_t kBodies = 6;
constexpr int kCases = 100;
constexpr uint64_t kTicks[] = {10, 11, 13};

// The same history in C++ and through carom.h: capsules, with moments between ticks 10 and 11.
struct Histories {
  BodyHistory history;
  AbiBodyHistory abi;
};

std::vector<double> Random(Choices& choices, const GroupCase& made) {
  std::vector<double> column;
  for (size_t i = 0; i < kBodies; ++i) column.push_back(made.numbers.Coordinate(choices));
  return column;
}

AbiShapes ShapesOf(std::span<const double> ax, std::span<const double> radius) {
  auto capsules = AbiStruct<carom_capsules>();
  const std::vector<double> zero(ax.size());
  capsules.ax = AbiColumn(ax);
  capsules.ay = capsules.bx = capsules.by = AbiColumn(zero);
  capsules.radius = AbiColumn(radius);
  carom_shapes* shapes = nullptr;
  EXPECT_EQ(carom_shapes_create(nullptr, &capsules, &shapes, nullptr), CAROM_OK);
  return AbiShapes(shapes);
}

void AddTick(const PoseColumns& poses, Histories& out) {
  auto asked = AbiStruct<carom_body_poses>();
  asked.tick = poses.tick;
  asked.x = AbiColumn(poses.x);
  asked.y = AbiColumn(poses.y);
  asked.angle = AbiColumn(poses.angle);
  asked.alive = AbiColumn(poses.alive);
  asked.teleported = AbiColumn(poses.teleported);
  const bool added = out.history.Add(poses).ok();
  EXPECT_EQ(carom_body_history_add(out.abi.get(), &asked, nullptr) == CAROM_OK, added);
}

Histories MakeHistories(Choices& choices, const GroupCase& made, bool turned) {
  const std::vector<double> ax = {0, 1, 2, 0, 3, 1}, radius = {1, 0, 2, 0.5, 0, 1};
  BodyDefinition definition;
  for (size_t i = 0; i < kBodies; ++i) {
    definition.shapes.push_back(Shape::Create(Capsule{{{ax[i], 0}, {0, 0}}, radius[i]}).value());
  }
  definition.shape = {5, 4, 3, 2, 1, 0};
  definition.category = {1, 2, 4, 1, 2, 4};
  definition.owner = {1, 1, 2, 2, 3, 0};
  const AbiShapes shapes = ShapesOf(ax, radius);
  auto asked = AbiStruct<carom_body_definition>();
  asked.shapes = shapes.get();
  asked.shape = AbiColumn(definition.shape);
  asked.category = AbiColumn(definition.category);
  asked.owner = AbiColumn(definition.owner);
  carom_body_history* abi = nullptr;
  EXPECT_EQ(carom_body_history_create(&asked, &abi, nullptr), CAROM_OK);
  Histories out = {BodyHistory::Create(definition).value(), AbiBodyHistory(abi)};
  for (const uint64_t tick : kTicks) {
    const std::vector<double> x = Random(choices, made), y = Random(choices, made);
    std::vector<double> angle(turned ? kBodies : 0);
    for (double& a : angle) a = choices.Unit() * 6;
    const uint64_t alive[] = {choices.Below(64)}, teleported[] = {choices.Below(64)};
    AddTick({tick, x, y, {}, {}, angle, alive, teleported}, out);
  }
  return out;
}

uint64_t Ask(const carom_world& world, std::span<const carom_batch> batches,
             carom_answers* answers) {
  auto status = AbiStruct<carom_status>();
  const uint32_t code = carom_evaluate(&world, batches.data(), batches.size(), answers, &status);
  EXPECT_EQ(code, CAROM_OK) << status.field << ": " << status.message;
  return code == CAROM_OK ? carom_answers_digest(answers) : 0;
}

// Gives the items of every kind moments, of which some are not kept, and replaces masks of 0, which
// carom.h reads as all categories.
void AddMoments(Choices& choices, GroupCase& made) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kMoments[] = {10, 10.25, 10.5, 10.75, 11, 13, 9, 11.5, 12, 12.5, 14, kNone};
  ForEachKind([&](const auto& kind) {
    auto& columns = made.group.*kind.columns;
    auto& options = made.group.*kind.options;
    const auto fill = [](uint64_t& mask) { mask = mask != 0 ? mask : kEveryCategory; };
    if constexpr (requires { options.mask; }) {
      fill(options.mask);
    } else if constexpr (std::is_same_v<decltype(options), uint64_t&>) {
      fill(options);
    }
    if constexpr (kAsksBodies<decltype(kind)> && HasScope<std::remove_cvref_t<decltype(columns)>>) {
      if (choices.OneIn(4)) return;  // the newest tick
      const auto moment = [&](size_t) {
        return kMoments[choices.Below(choices.OneIn(3) ? std::size(kMoments) : 6)];
      };
      ScopeOf(columns).as_of = made.Column(columns.size(), moment);
    }
  });
}

TEST(AbiHistoryTest, AnswersAreThoseOfTheCore) {
  size_t compared = 0;
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(i);
    Choices choices(static_cast<uint64_t>(i) + 500);
    const auto made = MakeGroupCase(choices, 12, BadNumbers::kSome);
    AddBodies(choices, *made);
    const Histories histories = MakeHistories(choices, *made, i % 2 == 1);
    AddMoments(choices, *made);
    Group& group = made->group;
    group.bodies = {};
    group.body_contacts.mass = {};
    group.body_history = &histories.history;
    group.body_rotation = i % 4 == 1 ? BodyRotation::kLinear : BodyRotation::kNearest;
    GroupAnswers expected;
    WorkMeter meter;
    if (!CheckGroup(group).ok() || !EvaluateGroup(*made->scene, group, expected, meter).ok()) {
      continue;
    }
    const AbiScene scene = MakeAbiScene(*made->scene);
    const AbiGroup asked(group);
    const AbiAnswers answers = MakeAbiAnswers();
    auto world = AbiStruct<carom_world>();
    world.scene = scene.get();
    world.body_history = histories.abi.get();
    world.body_rotation = i % 4 == 1 ? CAROM_BODY_ROTATION_LINEAR : 0;
    GroupKindSet all;
    for (const carom_batch& batch : asked.batches()) all.set(batch.kind - 1);
    EXPECT_EQ(Ask(world, asked.batches(), answers.get()), abi::DigestOf(expected, all));
    for (const carom_batch& batch : asked.batches()) {
      GroupKindSet alone;
      alone.set(batch.kind - 1);
      EXPECT_EQ(Ask(world, {&batch, 1}, answers.get()), abi::DigestOf(expected, alone))
          << abi::NameOfKind(batch.kind);
      ++compared;
    }
  }
  EXPECT_GT(compared, 5u * kCases);
}

// One disc at (tick, 0), at ticks 1 and 2.
class AbiHistoryErrorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    scene_ = MakeAbiScene(*Scene::Create({}).value());
    shapes_ = ShapesOf(zero_, one_);
    definition_.shapes = shapes_.get();
    ASSERT_EQ(Make(), "");
    for (const uint64_t tick : {1, 2}) {
      const double x[] = {static_cast<double>(tick)};
      ASSERT_EQ(Add(tick, x), "");
    }
    world_.scene = scene_.get();
    world_.body_history = history_.get();
    points_.x = points_.y = AbiColumn(zero_);
    points_.scope.against = CAROM_AGAINST_BOTH;
    points_.as_of = AbiColumn(one_);
  }

  // These return the field path and the code of an error; "" for success.
  std::string Make() {
    carom_body_history* made = nullptr;
    auto status = AbiStruct<carom_status>();
    const uint32_t code = carom_body_history_create(&definition_, &made, &status);
    if (code == CAROM_OK) history_.reset(made);
    return code == CAROM_OK ? "" : std::string(status.field) + " " + carom_code_name(code);
  }
  std::string Add(uint64_t tick, std::span<const double> x, std::span<const double> c = {}) {
    auto poses = AbiStruct<carom_body_poses>();
    poses.tick = tick;
    poses.x = AbiColumn(x);
    poses.y = AbiColumn(zero_);
    poses.c = AbiColumn(c);
    if (!c.empty()) poses.s = AbiColumn(zero_);
    auto status = AbiStruct<carom_status>();
    const uint32_t code = carom_body_history_add(history_.get(), &poses, &status);
    return code == CAROM_OK ? "" : std::string(status.field) + " " + carom_code_name(code);
  }
  std::string Locate() {
    auto status = AbiStruct<carom_status>();
    const uint32_t code = carom_locate_points(&world_, &points_, answers_.get(), &status);
    return code == CAROM_OK ? "" : std::string(status.field) + " " + carom_code_name(code);
  }

  const double zero_[1] = {0}, one_[1] = {1}, nan_[1] = {std::numeric_limits<double>::quiet_NaN()};
  AbiScene scene_;
  AbiShapes shapes_;
  AbiBodyHistory history_;
  AbiAnswers answers_ = MakeAbiAnswers();
  carom_body_definition definition_ = AbiStruct<carom_body_definition>();
  carom_world world_ = AbiStruct<carom_world>();
  carom_points points_ = AbiStruct<carom_points>();
};

TEST_F(AbiHistoryErrorsTest, OfTicks) {
  EXPECT_EQ(carom_body_history_size(history_.get()), 1u);
  EXPECT_EQ(carom_body_history_tick_count(history_.get()), 2u);
  EXPECT_EQ(carom_body_history_oldest_tick(history_.get()), 1u);
  EXPECT_EQ(carom_body_history_newest_tick(history_.get()), 2u);
  EXPECT_EQ(Add(1, one_), "");  // as before
  EXPECT_EQ(Add(0, one_), "");  // below all that are kept: changes nothing
  EXPECT_EQ(carom_body_history_tick_count(history_.get()), 2u);
  EXPECT_EQ(Add(1, zero_), "poses.tick INVALID_ARGUMENT");
  EXPECT_EQ(Add(3, nan_), "poses.x[0] INVALID_ARGUMENT");
  EXPECT_EQ(Add(3, {}), "poses.x INVALID_ARGUMENT");
  EXPECT_EQ(Add(uint64_t{1} << 54, one_), "poses.tick INVALID_ARGUMENT");
  EXPECT_NE(Add(3, one_, one_), "");  // the other ticks have no rotations
  EXPECT_EQ(carom_body_history_newest_tick(history_.get()), 2u);
  EXPECT_EQ(carom_body_history_size(nullptr), 0u);
  EXPECT_EQ(carom_body_history_tick_count(nullptr), 0u);
  EXPECT_EQ(carom_body_history_add(nullptr, nullptr, nullptr), CAROM_INVALID_ARGUMENT);
  carom_body_history_destroy(nullptr);
}

TEST_F(AbiHistoryErrorsTest, OfDefinitions) {
  definition_.keep_ticks = 257;
  EXPECT_EQ(Make(), "body_history.keep_ticks INVALID_ARGUMENT");
  definition_.keep_ticks = 1;
  const uint32_t shape[] = {0, 1};
  definition_.shape = AbiColumn(shape);
  EXPECT_EQ(Make(), "body_history.shape[1] INVALID_ARGUMENT");
  definition_.shape = {nullptr, 1, 1};
  EXPECT_EQ(Make(), "body_history.shape INVALID_ARGUMENT");
  definition_.shape = {};
  definition_.shapes = reinterpret_cast<const carom_shapes*>(scene_.get());
  EXPECT_EQ(Make(), "body_history.shapes INVALID_ARGUMENT");
  definition_.shapes = nullptr;
  EXPECT_EQ(Make(), "");
  EXPECT_EQ(carom_body_history_size(history_.get()), 0u);
}

TEST_F(AbiHistoryErrorsTest, OfWorlds) {
  shapes_.reset();  // the history keeps them
  EXPECT_EQ(Locate(), "");
  auto view = AbiStruct<carom_locate_answers>();
  ASSERT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_POINTS, &view, nullptr), CAROM_OK);
  ASSERT_EQ(view.counts.length, 1u);
  EXPECT_EQ(view.counts.data[0], 1u);
  points_.as_of = AbiColumn(zero_);  // not kept: an error of the item
  EXPECT_EQ(Locate(), "");
  ASSERT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_POINTS, &view, nullptr), CAROM_OK);
  ASSERT_EQ(view.error_index.length, 1u);
  EXPECT_STREQ(carom_item_column_name(view.error_column.data[0]), "as_of");
  world_.body_rotation = 3;
  EXPECT_EQ(Locate(), "world.body_rotation INVALID_ARGUMENT");
  world_.body_rotation = CAROM_BODY_ROTATION_LINEAR;
  EXPECT_EQ(Locate(), "");
  world_.reserved_2 = 1;
  EXPECT_EQ(Locate(), "world.reserved_2 INVALID_ARGUMENT");
  world_.reserved_2 = 0;
  world_.body_history = reinterpret_cast<carom_body_history*>(scene_.get());
  EXPECT_EQ(Locate(), "world.body_history INVALID_ARGUMENT");
  world_.body_history = nullptr;
  EXPECT_EQ(Locate(), "points.as_of INVALID_ARGUMENT");
}

TEST_F(AbiHistoryErrorsTest, BodiesBesideAHistoryAndLinearRotationsWithCosines) {
  auto columns = AbiStruct<carom_body_columns>();
  carom_bodies* made = nullptr;
  ASSERT_EQ(carom_bodies_create(&columns, &made, nullptr), CAROM_OK);
  const AbiBodies bodies(made);
  world_.bodies = bodies.get();
  EXPECT_EQ(Locate(), "world.bodies INVALID_ARGUMENT");
  world_.bodies = nullptr;
  ASSERT_EQ(Make(), "");
  world_.body_history = history_.get();
  ASSERT_EQ(Add(1, one_, one_), "");
  EXPECT_EQ(Locate(), "");
  world_.body_rotation = CAROM_BODY_ROTATION_LINEAR;
  EXPECT_EQ(Locate(), "world.body_rotation INVALID_ARGUMENT");
}

// A picture has the bodies of the newest tick.
TEST_F(AbiHistoryErrorsTest, APictureHasTheBodiesOfTheNewestTick) {
  const auto draw = [&] {
    const carom_batch batch = {CAROM_KIND_POINTS, 0, &points_};
    auto picture = AbiStruct<carom_picture>();
    picture.batches = &batch;
    picture.batch_count = 1;
    carom_buffer* buffer = nullptr;
    EXPECT_EQ(carom_buffer_create(&buffer, nullptr), CAROM_OK);
    EXPECT_EQ(carom_write_svg(&world_, &picture, buffer, nullptr), CAROM_OK);
    const std::string made(carom_buffer_data(buffer), carom_buffer_size(buffer));
    carom_buffer_destroy(buffer);
    return made;
  };
  const std::string of_history = draw();
  const double x[] = {2};
  auto columns = AbiStruct<carom_body_columns>();
  columns.placed = {shapes_.get(), {}, AbiColumn(x), AbiColumn(zero_), {}, {}, {}};
  carom_bodies* made = nullptr;
  ASSERT_EQ(carom_bodies_create(&columns, &made, nullptr), CAROM_OK);
  const AbiBodies bodies(made);
  world_.body_history = nullptr;
  points_.as_of = {};
  const std::string of_nothing = draw();
  world_.bodies = bodies.get();
  EXPECT_EQ(of_history, draw());
  EXPECT_NE(of_history, of_nothing);
}

// A program that was compiled with a header without histories asks as before.
TEST_F(AbiHistoryErrorsTest, AShorterWorldHasNoHistory) {
  world_.struct_size = offsetof(carom_world, body_history);
  points_.struct_size = offsetof(carom_points, as_of);
  EXPECT_EQ(Locate(), "");
  auto view = AbiStruct<carom_locate_answers>();
  ASSERT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_POINTS, &view, nullptr), CAROM_OK);
  ASSERT_EQ(view.counts.length, 1u);
  EXPECT_EQ(view.counts.data[0], 0u);
}

}  // namespace
}  // namespace carom::testing::abi_history_test
