// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A picture through carom.h is the one that it is in C++, and answers to other questions are
// refused.

#include "carom/svg.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "carom/carom.h"
#include "tests/support/abi_group.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"

namespace carom::testing::abi_svg_test {
namespace {

using AbiBuffer = std::unique_ptr<carom_buffer, AbiDelete<carom_buffer_destroy>>;

class AbiSvgTest : public ::testing::Test {
 protected:
  AbiSvgTest() {
    carom_buffer* buffer = nullptr;
    EXPECT_EQ(carom_buffer_create(&buffer, nullptr), CAROM_OK);
    buffer_.reset(buffer);
    world_.scene = abi_scene_.get();
    points_.points = {x_, x_};
    more_points_.points = {y_, y_};
  }

  // Writes a picture and returns its bytes; the field path and the code of an error.
  std::string Write(const carom_picture* picture) {
    auto status = AbiStruct<carom_status>();
    const uint32_t code = carom_write_svg(&world_, picture, buffer_.get(), &status);
    EXPECT_EQ(code, status.code);
    if (code != CAROM_OK) return std::string(status.field) + " " + carom_code_name(code);
    return {carom_buffer_data(buffer_.get()), carom_buffer_size(buffer_.get())};
  }
  static carom_picture PictureOf(const AbiGroup& asked, const carom_answers* answers) {
    auto picture = AbiStruct<carom_picture>();
    picture.width = 500;
    picture.batches = asked.batches().data();
    picture.batch_count = asked.batches().size();
    picture.answers = answers;
    return picture;
  }
  void Ask(const AbiGroup& asked) {
    EXPECT_EQ(carom_evaluate(&world_, asked.batches().data(), asked.batches().size(),
                             answers_.get(), nullptr),
              CAROM_OK);
  }

  const Scene::Ptr scene_ =
      Scene::Create({Polygon::Create({7, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}}).value()}).value();
  const AbiScene abi_scene_ = MakeAbiScene(*scene_);
  const AbiAnswers answers_ = MakeAbiAnswers();
  AbiBuffer buffer_;
  carom_world world_ = AbiStruct<carom_world>();
  const std::vector<double> x_ = {-2, 1}, y_ = {3, 2, 9};
  Group points_, more_points_;
};

TEST_F(AbiSvgTest, OfTheSceneAloneIsThatOfCpp) {
  EXPECT_EQ(Write(nullptr), DrawSvg(*scene_, nullptr, nullptr));
  auto picture = AbiStruct<carom_picture>();
  picture.width = 300;
  EXPECT_EQ(Write(&picture), DrawSvg(*scene_, nullptr, nullptr, {.width = 300}));
}

TEST_F(AbiSvgTest, OfAnswersIsThatOfCpp) {
  Group group;
  group.points = points_.points;
  group.circles = {x_, x_, x_};
  GroupAnswers expected;
  WorkMeter meter;
  ASSERT_TRUE(EvaluateGroup(*scene_, group, expected, meter).ok());
  const AbiGroup asked(group);
  Ask(asked);
  const carom_picture picture = PictureOf(asked, answers_.get());
  EXPECT_EQ(Write(&picture), DrawSvg(*scene_, &group, &expected, {.width = 500}));
}

TEST_F(AbiSvgTest, OfQuestionsOfAllKindsIsThatOfCpp) {
  for (uint64_t i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    Choices choices(i);
    const auto made = MakeGroupCase(choices, 6, BadNumbers::kSome);
    if (i % 2 != 0) AddBodies(choices, *made);
    const AbiScene scene = MakeAbiScene(*made->scene);
    const AbiGroup asked(made->group, 1 + i % 3);
    world_.scene = scene.get();
    world_.bodies = asked.bodies();
    const carom_picture picture = PictureOf(asked, nullptr);
    EXPECT_EQ(Write(&picture), DrawSvg(*made->scene, &made->group, nullptr, {.width = 500}));
  }
}

TEST_F(AbiSvgTest, RefusesAnswersToOtherQuestions) {
  const AbiGroup points(points_), more_points(more_points_);
  Ask(more_points);
  carom_picture picture = PictureOf(points, answers_.get());  // two points, not three
  EXPECT_NE(Write(&picture).find("answers INVALID_ARGUMENT"), std::string::npos);
  picture = PictureOf(more_points, answers_.get());
  EXPECT_TRUE(Write(&picture).starts_with("<svg"));
  Group circles;
  circles.circles = {x_, x_, x_};
  const AbiGroup other_kind(circles);
  picture = PictureOf(other_kind, answers_.get());
  EXPECT_NE(Write(&picture).find("answers INVALID_ARGUMENT"), std::string::npos);
  const AbiAnswers none = MakeAbiAnswers();
  picture = PictureOf(points, none.get());
  EXPECT_NE(Write(&picture).find("answers INVALID_ARGUMENT"), std::string::npos);
}

TEST_F(AbiSvgTest, RefusesWhatIsNoPicture) {
  auto picture = AbiStruct<carom_picture>();
  for (const uint32_t width : {1, 63, 16385}) {
    picture.width = width;
    EXPECT_EQ(Write(&picture), "picture.width INVALID_ARGUMENT");
  }
  picture.width = 0;
  picture.batch_count = 1;
  EXPECT_EQ(Write(&picture), "batches INVALID_ARGUMENT");
  carom_batch batches[] = {{CAROM_KIND_POINTS, 0, nullptr}, {99, 0, nullptr}};
  picture.batches = batches;
  EXPECT_NE(Write(&picture).find("INVALID_ARGUMENT"), std::string::npos);
  auto points = AbiStruct<carom_points>();
  batches[0].question = &points;
  EXPECT_TRUE(Write(&picture).starts_with("<svg"));
  picture.batch_count = 2;
  EXPECT_NE(Write(&picture).find("batches[1].kind INVALID_ARGUMENT"), std::string::npos);
  batches[1] = batches[0];
  EXPECT_NE(Write(&picture).find("batches[1].kind INVALID_ARGUMENT"), std::string::npos);
  picture.batch_count = size_t{1} << 40;
  EXPECT_EQ(Write(&picture), "batch_count INVALID_ARGUMENT");
  // After an error, the buffer has the picture before it.
  EXPECT_TRUE(std::string(carom_buffer_data(buffer_.get()), 4) == "<svg");
  world_.scene = nullptr;
  EXPECT_EQ(Write(nullptr), "world.scene INVALID_ARGUMENT");
}

}  // namespace
}  // namespace carom::testing::abi_svg_test
