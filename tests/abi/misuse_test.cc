// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a caller of carom.h does wrong is an error with a code and a field path, and changes
// nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "carom/carom.h"
#include "tests/support/abi_group.h"

namespace carom::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kX[] = {0, 4, 4, 0}, kY[] = {0, 0, 4, 4};
constexpr double kFrom[] = {-1, 9}, kTo[] = {5, 9};

class MisuseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto square = Square();
    carom_polygon_set* set = nullptr;
    ASSERT_EQ(carom_polygon_set_create(&square, nullptr, &set, nullptr), CAROM_OK);
    set_.reset(set);
    carom_scene* scene = nullptr;
    ASSERT_EQ(carom_scene_create(set, 1, nullptr, &scene, nullptr), CAROM_OK);
    scene_.reset(scene);
    world_.scene = scene;
    segments_.ax = segments_.ay = AbiColumn(kFrom);
    segments_.bx = segments_.by = AbiColumn(kTo);
  }

  static carom_polygons Square() {
    auto square = AbiStruct<carom_polygons>();
    square.x = AbiColumn(kX);
    square.y = AbiColumn(kY);
    return square;
  }

  // Returns the field and the code of an error; "" for success.
  std::string Cast() {
    status_ = AbiStruct<carom_status>();
    const uint32_t code = carom_cast_segments(&world_, &segments_, answers_.get(), &status_);
    EXPECT_EQ(code, status_.code);
    return code == CAROM_OK ? "" : std::string(status_.field) + " " + carom_code_name(code);
  }
  std::string Make(const carom_polygons& polygons, const carom_limits* limits = nullptr) {
    carom_polygon_set* made = nullptr;
    status_ = AbiStruct<carom_status>();
    const uint32_t code = carom_polygon_set_create(&polygons, limits, &made, &status_);
    EXPECT_EQ(made != nullptr, code == CAROM_OK);
    carom_polygon_set_destroy(made);
    return code == CAROM_OK ? "" : std::string(status_.field) + " " + carom_code_name(code);
  }

  AbiPolygonSet set_;
  AbiScene scene_;
  AbiAnswers answers_ = MakeAbiAnswers();
  carom_world world_ = AbiStruct<carom_world>();
  carom_segments segments_ = AbiStruct<carom_segments>();
  carom_status status_ = AbiStruct<carom_status>();
};

TEST_F(MisuseTest, ColumnsThatCannotBeRead) {
  EXPECT_EQ(Cast(), "");
  segments_.by.length = 1;
  EXPECT_EQ(Cast(), "segments.by INVALID_ARGUMENT");
  EXPECT_THAT(status_.message, HasSubstr("segments.ax"));
  segments_.by = {nullptr, 2, 1};
  EXPECT_EQ(Cast(), "segments.by INVALID_ARGUMENT");
  segments_.by = {reinterpret_cast<const double*>(reinterpret_cast<const char*>(kTo) + 1), 1, 1};
  EXPECT_EQ(Cast(), "segments.by INVALID_ARGUMENT");
  segments_.by = {kTo, 2, std::numeric_limits<size_t>::max() / 2};
  EXPECT_EQ(Cast(), "segments.by INVALID_ARGUMENT");
  segments_.by = {kTo, std::numeric_limits<size_t>::max(), 1};
  EXPECT_EQ(Cast(), "segments.by INVALID_ARGUMENT");
  segments_.by = AbiColumn(kTo);
  segments_.mode = 5;
  EXPECT_EQ(Cast(), "segments.mode INVALID_ARGUMENT");
  EXPECT_THAT(status_.message, HasSubstr("[0, 4]"));
  segments_.mode = 0;
  segments_.reserved = 1;
  EXPECT_EQ(Cast(), "segments.reserved INVALID_ARGUMENT");
  segments_.reserved = 0;
  segments_.max_hits = 65537;
  EXPECT_EQ(Cast(), "segments.max_hits INVALID_ARGUMENT");
  segments_.max_hits = 0;
  segments_.scope.masks = {nullptr, 2, 1};
  EXPECT_EQ(Cast(), "segments.scope.masks INVALID_ARGUMENT");
}

// An error leaves no answers of the call before.
TEST_F(MisuseTest, AnErrorEmptiesTheAnswers) {
  EXPECT_EQ(Cast(), "");
  segments_.by.length = 1;
  EXPECT_NE(Cast(), "");
  auto view = AbiStruct<carom_cast_answers>();
  EXPECT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_SEGMENTS, &view, nullptr), CAROM_OK);
  EXPECT_EQ(view.counts.length, 0u);
  EXPECT_EQ(carom_answers_version(answers_.get()), 0u);
}

TEST_F(MisuseTest, ANumberThatIsNotAcceptedIsAnErrorOfItsItem) {
  const double bad[] = {std::nan(""), 9};
  segments_.ax = AbiColumn(bad);
  EXPECT_EQ(Cast(), "");
  auto view = AbiStruct<carom_cast_answers>();
  ASSERT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_SEGMENTS, &view, nullptr), CAROM_OK);
  ASSERT_EQ(view.error_index.length, 1u);
  EXPECT_EQ(view.error_index.data[0], 0u);
  EXPECT_STREQ(carom_item_column_name(view.error_column.data[0]), "ax");
  EXPECT_NE(carom_item_fault_description(view.error_fault.data[0]), nullptr);
  EXPECT_EQ(carom_item_column_name(9999), nullptr);
  EXPECT_EQ(carom_item_fault_description(9999), nullptr);
}

TEST_F(MisuseTest, Handles) {
  const auto cast = [&](const carom_world* world, const carom_segments* asked,
                        carom_answers* answers) {
    status_ = AbiStruct<carom_status>();
    carom_cast_segments(world, asked, answers, &status_);
    return std::string(status_.field);
  };
  EXPECT_EQ(cast(nullptr, &segments_, answers_.get()), "world");
  EXPECT_EQ(cast(&world_, nullptr, answers_.get()), "segments");
  EXPECT_EQ(cast(&world_, &segments_, nullptr), "answers");
  // Handles of other types.
  EXPECT_EQ(cast(&world_, &segments_, reinterpret_cast<carom_answers*>(scene_.get())), "answers");
  world_.scene = reinterpret_cast<carom_scene*>(answers_.get());
  EXPECT_EQ(cast(&world_, &segments_, answers_.get()), "world.scene");
  world_.scene = nullptr;
  EXPECT_EQ(cast(&world_, &segments_, answers_.get()), "world.scene");
  world_.scene = scene_.get();
  world_.bodies = reinterpret_cast<carom_bodies*>(scene_.get());
  EXPECT_EQ(cast(&world_, &segments_, answers_.get()), "world.bodies");
  EXPECT_EQ(carom_scene_polygon_count(nullptr), 0u);
  carom_scene_destroy(nullptr);
  carom_answers_destroy(nullptr);
}

#ifndef NDEBUG
TEST_F(MisuseTest, ADebugBuildFindsDestroyedHandles) {
  carom_scene* const gone = scene_.release();
  carom_scene_destroy(gone);
  carom_scene_destroy(gone);
  EXPECT_EQ(Cast(), "world.scene INVALID_ARGUMENT");
  EXPECT_THAT(status_.message, HasSubstr("destroyed"));
}
#endif

TEST_F(MisuseTest, Batches) {
  const auto evaluate = [&](std::vector<carom_batch> batches) {
    status_ = AbiStruct<carom_status>();
    carom_evaluate(&world_, batches.data(), batches.size(), answers_.get(), &status_);
    return std::string(status_.field);
  };
  EXPECT_EQ(evaluate({}), "");
  EXPECT_EQ(evaluate({{CAROM_KIND_SEGMENTS, 0, &segments_}, {CAROM_KIND_SEGMENTS, 0, &segments_}}),
            "batches[1].kind");
  EXPECT_EQ(evaluate({{0, 0, &segments_}}), "batches[0].kind");
  EXPECT_EQ(evaluate({{CAROM_KIND_SEES + 1, 0, &segments_}}), "batches[0].kind");
  EXPECT_EQ(evaluate({{CAROM_KIND_POINTS, 0, nullptr}}), "points");
  // A question of another kind has another size.
  EXPECT_NE(evaluate({{CAROM_KIND_SLIDES, 0, &segments_}}), "");
  EXPECT_EQ(carom_evaluate(&world_, nullptr, 3, answers_.get(), nullptr), CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(Cast(), "");
  EXPECT_EQ(carom_evaluate(&world_, nullptr, 21, answers_.get(), nullptr), CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(carom_answers_version(answers_.get()), 0u);
}

TEST_F(MisuseTest, StructsOfOtherVersions) {
  // An earlier header, without the columns: no items.
  segments_.struct_size = offsetof(carom_segments, ax);
  EXPECT_EQ(Cast(), "");
  // A later header, whose further members are 0.
  struct Later {
    carom_segments segments;
    uint64_t more;
  } later{};
  later.segments = segments_;
  later.segments.struct_size = sizeof(Later);
  EXPECT_EQ(carom_cast_segments(&world_, &later.segments, answers_.get(), &status_), CAROM_OK);
  later.more = 1;
  EXPECT_EQ(carom_cast_segments(&world_, &later.segments, answers_.get(), &status_),
            CAROM_INVALID_ARGUMENT);
  EXPECT_STREQ(status_.field, "segments");
  for (const uint32_t size : {0u, 4u, 1u << 30}) {
    segments_.struct_size = size;
    EXPECT_EQ(Cast(), "segments.struct_size INVALID_ARGUMENT") << size;
  }
  // A status of an earlier header is written as far as it goes.
  carom_status small;
  std::memset(&small, 7, sizeof(small));
  small.struct_size = offsetof(carom_status, field);
  EXPECT_EQ(carom_cast_segments(nullptr, nullptr, answers_.get(), &small), CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(small.code, static_cast<uint32_t>(CAROM_INVALID_ARGUMENT));
  EXPECT_EQ(small.field[0], 7);
  // So are answers.
  segments_ = AbiStruct<carom_segments>();
  auto view = AbiStruct<carom_cast_answers>();
  view.struct_size = offsetof(carom_cast_answers, polygon_id);
  view.polygon_id.length = 77;
  EXPECT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_SEGMENTS, &view, nullptr), CAROM_OK);
  EXPECT_EQ(view.polygon_id.length, 77u);
  EXPECT_EQ(view.struct_size, offsetof(carom_cast_answers, polygon_id));
  EXPECT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_SEES + 1, &view, nullptr),
            CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_SEGMENTS, nullptr, nullptr),
            CAROM_INVALID_ARGUMENT);
}

// A size that ends within a pointer would make half of the pointer.
TEST_F(MisuseTest, SizesThatCutAPointer) {
  for (uint32_t size = 8; size < sizeof(carom_world); ++size) {
    world_.struct_size = size;
    const std::string error = Cast();
    EXPECT_EQ(error, size % 8 != 0 ? "world.struct_size INVALID_ARGUMENT"
                     : size == 8   ? "world.scene INVALID_ARGUMENT"
                                   : "")
        << size;
  }
}

TEST_F(MisuseTest, CopiesOfColumnsThatCannotBeRead) {
  double out[4] = {};
  EXPECT_EQ(carom_f64_copy({kX, 2, 2}, out, 4), CAROM_OK);
  EXPECT_EQ(carom_f64_copy({kX, 2, size_t{1} << 61}, out, 4), CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(carom_f64_copy({kX, 3, std::numeric_limits<size_t>::max()}, out, 4),
            CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(carom_f64_copy({nullptr, 2, 1}, out, 4), CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(carom_f64_copy({kX, 2, 1}, nullptr, 4), CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(carom_f64_copy({}, nullptr, 0), CAROM_OK);
}

// Item i of overlaps of polygons is shape i; a capsule is an error of its item.
TEST_F(MisuseTest, CapsulesAmongPolygons) {
  auto capsules = AbiStruct<carom_capsules>();
  const double zero[] = {0}, one[] = {1};
  capsules.ax = capsules.ay = capsules.bx = capsules.by = AbiColumn(zero);
  capsules.radius = AbiColumn(one);
  carom_shapes* shapes = nullptr;
  ASSERT_EQ(carom_shapes_create(set_.get(), &capsules, &shapes, nullptr), CAROM_OK);
  const double at[] = {1, 1};
  auto asked = AbiStruct<carom_polygon_overlaps>();
  asked.movers.shapes = shapes;
  asked.movers.x = asked.movers.y = AbiColumn(at);
  status_ = AbiStruct<carom_status>();
  EXPECT_EQ(carom_overlap_polygons(&world_, &asked, answers_.get(), &status_), CAROM_OK)
      << status_.field << " " << status_.message;
  auto view = AbiStruct<carom_overlap_answers>();
  ASSERT_EQ(carom_answers_read(answers_.get(), CAROM_KIND_POLYGONS, &view, nullptr), CAROM_OK);
  ASSERT_EQ(view.counts.length, 2u);
  EXPECT_EQ(view.counts.data[0], 1u);
  ASSERT_EQ(view.error_index.length, 1u);
  EXPECT_EQ(view.error_index.data[0], 1u);
  carom_shapes_destroy(shapes);
}

TEST_F(MisuseTest, Polygons) {
  EXPECT_EQ(Make(AbiStruct<carom_polygons>()), "");
  auto polygons = Square();
  polygons.y.length = 3;
  EXPECT_EQ(Make(polygons), "polygons.y INVALID_ARGUMENT");
  polygons = Square();
  const double nan[] = {0, 4, std::nan(""), 0};
  polygons.y = AbiColumn(nan);
  EXPECT_EQ(Make(polygons), "polygons[0].rings[0].y[2] INVALID_ARGUMENT");
  polygons = Square();
  const uint32_t sizes[] = {3, 4294967295u};
  polygons.ring_size = AbiColumn(sizes);
  EXPECT_EQ(Make(polygons), "polygons.x INVALID_ARGUMENT");
  const uint32_t counts[] = {4294967295u, 4294967295u};
  polygons.ring_size = {};
  polygons.ring_count = AbiColumn(counts);
  EXPECT_EQ(Make(polygons), "polygons.ring_size INVALID_ARGUMENT");
  polygons = Square();
  const uint8_t rule[] = {9};
  polygons.fill_rule = AbiColumn(rule);
  EXPECT_EQ(Make(polygons), "polygons.fill_rule[0] INVALID_ARGUMENT");
  polygons = Square();
  const uint32_t bytes[] = {5};
  polygons.user_data_size = AbiColumn(bytes);
  EXPECT_EQ(Make(polygons), "polygons.user_data INVALID_ARGUMENT");
  auto limits = AbiStruct<carom_limits>();
  limits.max_polygon_vertices = 3;
  EXPECT_THAT(Make(Square(), &limits), HasSubstr("RESOURCE_EXHAUSTED"));
  limits = AbiStruct<carom_limits>();
  limits.max_vertices = 3;
  EXPECT_THAT(Make(Square(), &limits), HasSubstr("RESOURCE_EXHAUSTED"));
}

TEST_F(MisuseTest, EditsAndBundles) {
  auto edits = AbiStruct<carom_edits>();
  edits.added = set_.get();
  carom_scene* next = nullptr;
  EXPECT_EQ(carom_scene_commit(scene_.get(), &edits, nullptr, &next, &status_),
            CAROM_ALREADY_EXISTS);
  EXPECT_STREQ(status_.field, "edits[0].add.id");
  edits.added = nullptr;
  const uint64_t removed[] = {5};
  edits.removed = AbiColumn(removed);
  EXPECT_EQ(carom_scene_commit(scene_.get(), &edits, nullptr, &next, &status_), CAROM_NOT_FOUND);
  EXPECT_EQ(next, nullptr);
  EXPECT_EQ(carom_scene_from_bundle("no bundle", 9, nullptr, &next, &status_),
            CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(carom_scene_open_bundle("/nonexistent/file", nullptr, &next, &status_),
            CAROM_NOT_FOUND);
  EXPECT_EQ(carom_scene_save_bundle(scene_.get(), "/nonexistent/file", &status_),
            CAROM_FAILED_PRECONDITION)
      << status_.message;
  EXPECT_STREQ(status_.field, "path");
  carom_buffer* bytes = nullptr;
  ASSERT_EQ(carom_buffer_create(&bytes, nullptr), CAROM_OK);
  EXPECT_EQ(carom_scene_to_bundle(scene_.get(), bytes, nullptr), CAROM_OK);
  EXPECT_EQ(carom_scene_from_bundle(carom_buffer_data(bytes), carom_buffer_size(bytes) - 1, nullptr,
                                    &next, &status_),
            CAROM_DATA_LOSS);
  ASSERT_EQ(carom_scene_from_bundle(carom_buffer_data(bytes), carom_buffer_size(bytes), nullptr,
                                    &next, &status_),
            CAROM_OK);
  EXPECT_EQ(carom_scene_version(next), 1u);
  auto ring = AbiStruct<carom_ring>();
  ASSERT_EQ(carom_scene_ring(next, 0, 0, &ring, nullptr), CAROM_OK);
  ASSERT_EQ(ring.x.length, 4u);
  EXPECT_EQ(ring.x.data[1 * ring.x.stride], 4);
  EXPECT_EQ(carom_scene_ring(next, 0, 1, &ring, nullptr), CAROM_INVALID_ARGUMENT);
  EXPECT_EQ(carom_scene_ring(next, 1, 0, &ring, nullptr), CAROM_INVALID_ARGUMENT);
  size_t index = 9;
  EXPECT_EQ(carom_scene_find(next, 0, &index, nullptr), CAROM_OK);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(carom_scene_find(next, 1, &index, nullptr), CAROM_NOT_FOUND);
  carom_scene_destroy(next);
  carom_buffer_destroy(bytes);
}

TEST_F(MisuseTest, LimitsOfAnswers) {
  auto limits = AbiStruct<carom_answer_limits>();
  limits.max_rows = 1;
  carom_answers* answers = nullptr;
  ASSERT_EQ(carom_answers_create(&limits, &answers, nullptr), CAROM_OK);
  const double from[] = {-1, -1, -1}, to[] = {5, 5, 5};
  segments_.ax = segments_.ay = AbiColumn(from);
  segments_.bx = segments_.by = AbiColumn(to);
  EXPECT_EQ(carom_cast_segments(&world_, &segments_, answers, &status_), CAROM_RESOURCE_EXHAUSTED);
  carom_answers_destroy(answers);
}

// Each thread has answers of its own; the scene is shared. Answers that are shared give an error,
// or the call succeeds: never a crash.
TEST_F(MisuseTest, Threads) {
  std::atomic<int> refused{0}, answered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const AbiAnswers own = MakeAbiAnswers();
      for (int i = 0; i < 2000; ++i) {
        EXPECT_EQ(carom_cast_segments(&world_, &segments_, own.get(), nullptr), CAROM_OK);
        const uint32_t code = carom_cast_segments(&world_, &segments_, answers_.get(), nullptr);
        EXPECT_TRUE(code == CAROM_OK || code == CAROM_FAILED_PRECONDITION) << code;
        ++(code == CAROM_OK ? answered : refused);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(answered, 0);
}

}  // namespace
}  // namespace carom::testing
