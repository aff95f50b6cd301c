// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz target of carom.h: sequences of calls with handles that live, are null, are of other
// types or, in debug builds, are destroyed, and with structs and columns of which some are wrong.
// Each call returns a code that carom.h names, and an error names what is wrong.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "carom/carom.h"
#include "tests/fuzz/target.h"
#include "tests/support/abi_group.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"

namespace carom::testing {
namespace {

void Require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "BROKEN LAW: %s\n", law);
  std::abort();
}

// Handles of one type: those that live, and, in debug builds, those that were destroyed.
template <class T>
class Pool {
 public:
  Pool(Choices& choices, void (*destroy)(T*)) : choices_(choices), destroy_(destroy) {}
  ~Pool() {
    for (T* handle : living_) destroy_(handle);
  }

  void Add(T* handle) {
    if (handle != nullptr) living_.push_back(handle);
    if (living_.size() > 8) Destroy();
  }
  void Destroy() {
    if (living_.empty()) return;
    const size_t at = choices_.Below(static_cast<uint32_t>(living_.size()));
    destroy_(living_[at]);
#ifndef NDEBUG
    destroyed_.push_back(living_[at]);
#endif
    living_.erase(living_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  // A handle for a call: most of the time one that lives.
  T* Pick() {
    if (living_.empty() || choices_.OneIn(12)) return nullptr;
    if (!destroyed_.empty() && choices_.OneIn(12)) {
      return destroyed_[choices_.Below(static_cast<uint32_t>(destroyed_.size()))];
    }
    return living_[choices_.Below(static_cast<uint32_t>(living_.size()))];
  }

 private:
  Choices& choices_;
  void (*const destroy_)(T*);
  std::vector<T*> living_, destroyed_;
};

class Caller {
 public:
  explicit Caller(Choices& choices) : choices_(choices) {
    for (double& number : numbers_) number = Number();
    for (size_t i = 0; i < std::size(words_); ++i) words_[i] = choices.Below(12);
    for (size_t i = 0; i < std::size(indices_); ++i) indices_[i] = choices.Below(6);
    for (size_t i = 0; i < std::size(bytes_); ++i) {
      bytes_[i] = static_cast<uint8_t>(choices.Below(4));
    }
  }

  void Step() {
    switch (choices_.Below(13)) {
      case 0:
        return MakePolygons();
      case 1:
        return MakeShapes();
      case 2:
      case 3:
        return MakeScene();
      case 4:
        return MakeBodies();
      case 5:
        return MakeTrackers();
      case 6:
        return MakeAnswers();
      case 7:
        return ReadScene();
      case 8:
        return DestroyOne();
      case 9:
        return MakeHistory();
      default:
        return Ask();
    }
  }

 private:
  // Checks the code of a call, whose errors are in `status_`.
  bool Check(uint32_t code) {
    Require(code == status_.code, "the status has the code that is returned");
    Require(std::strcmp(carom_code_name(code), "UNKNOWN") != 0, "the code has a name");
    Require(code != CAROM_INTERNAL, "nothing is an internal error");
    Require(code == CAROM_OK || status_.message[0] != '\0', "an error has a message");
    return code == CAROM_OK;
  }
  carom_status* Status() {
    status_ = AbiStruct<carom_status>();
    return &status_;
  }

  double Number() {
    switch (choices_.Below(8)) {
      case 0:
        return std::numeric_limits<double>::quiet_NaN();
      case 1:
        return std::ldexp(1.0, static_cast<int>(choices_.Below(1100)) - 550);
      case 2:
        return choices_.Unit();
      default:
        return static_cast<double>(choices_.Below(9)) - 4;
    }
  }

  // A column of `values`: mostly of `length` entries, or one that cannot be read.
  template <class Column, class T, size_t kSize>
  Column Of(const T (&values)[kSize], size_t length) {
    const size_t stride = choices_.Below(3);
    const size_t most = kSize / (stride > 1 ? stride : 1);
    switch (choices_.Below(24)) {
      case 0:
        return {};
      case 1:
        return {nullptr, length, stride};
      case 2:
        return {reinterpret_cast<const T*>(reinterpret_cast<const char*>(values) + 1),
                sizeof(T) == 1 ? 1u : length, 1};
      case 3:
        return {values, 2 + length, std::numeric_limits<size_t>::max() / 2};
      case 4:
        return {values, std::numeric_limits<size_t>::max() - choices_.Below(9), stride};
      case 5:
        return {values, choices_.Below(9), stride};
      default:
        return {values, length < most ? length : most, stride};
    }
  }
  carom_f64_column Numbers(size_t length) { return Of<carom_f64_column>(numbers_, length); }
  template <class Column>
  Column OneIn(uint32_t n, Column column) {
    return choices_.OneIn(n) ? column : Column{};
  }

  void MakePolygons() {
    auto polygons = AbiStruct<carom_polygons>();
    const size_t count = choices_.Below(4);
    uint32_t sizes[4] = {};
    size_t vertices = 0;
    for (size_t i = 0; i < count; ++i) vertices += sizes[i] = choices_.Below(5);
    polygons.id = OneIn(2, Of<carom_u64_column>(words_, count));
    polygons.ring_size = {sizes, count, 1};
    polygons.x = Numbers(vertices);
    polygons.y = Numbers(vertices);
    polygons.ring_count = OneIn(4, Of<carom_u32_column>(indices_, count));
    polygons.open = OneIn(4, Of<carom_u8_column>(bytes_, count));
    polygons.solidity = OneIn(3, Of<carom_u8_column>(bytes_, count));
    polygons.fill_rule = OneIn(3, Of<carom_u8_column>(bytes_, count));
    polygons.category = OneIn(3, Of<carom_u64_column>(words_, count));
    polygons.user_data_size = OneIn(6, Of<carom_u32_column>(indices_, count));
    polygons.user_data = OneIn(6, Of<carom_u8_column>(bytes_, choices_.Below(9)));
    auto limits = AbiStruct<carom_limits>();
    limits.max_vertices = choices_.Below(20);
    carom_polygon_set* made = nullptr;
    Check(carom_polygon_set_create(choices_.OneIn(20) ? nullptr : &polygons,
                                   choices_.OneIn(3) ? &limits : nullptr, &made, Status()));
    sets_.Add(made);
  }

  void MakeShapes() {
    auto capsules = AbiStruct<carom_capsules>();
    const size_t count = choices_.Below(4);
    capsules.ax = Numbers(count);
    capsules.ay = Numbers(count);
    capsules.bx = Numbers(count);
    capsules.by = Numbers(count);
    capsules.radius = Numbers(count);
    carom_shapes* made = nullptr;
    Check(carom_shapes_create(sets_.Pick(), choices_.OneIn(3) ? nullptr : &capsules, &made,
                              Status()));
    shapes_.Add(made);
  }

  void MakeScene() {
    carom_scene* made = nullptr;
    carom_scene* const from = scenes_.Pick();
    auto edits = AbiStruct<carom_edits>();
    switch (choices_.Below(6)) {
      case 0:
        Check(carom_scene_copy(from, &made, Status()));
        break;
      case 1:
        Check(carom_scene_with_version(from, choices_.Below(9), &made, Status()));
        break;
      case 2:
        edits.added = sets_.Pick();
        edits.replaced = choices_.OneIn(2) ? sets_.Pick() : nullptr;
        edits.removed = OneIn(2, Of<carom_u64_column>(words_, choices_.Below(4)));
        Check(carom_scene_commit(from, &edits, nullptr, &made, Status()));
        break;
      case 3: {
        carom_buffer* buffer = nullptr;
        Check(carom_buffer_create(&buffer, Status()));
        if (Check(carom_scene_to_bundle(from, buffer, Status()))) {
          const size_t size = carom_buffer_size(buffer) - (choices_.OneIn(3) ? 1 : 0);
          Check(carom_scene_from_bundle(carom_buffer_data(buffer), size, nullptr, &made, Status()));
        }
        carom_buffer_destroy(buffer);
        break;
      }
      default:
        Check(carom_scene_create(sets_.Pick(), 1, nullptr, &made, Status()));
    }
    scenes_.Add(made);
  }

  carom_placed Placed(size_t count) {
    carom_placed placed{};
    placed.shapes = shapes_.Pick();
    placed.shape = Of<carom_u32_column>(indices_, count);
    placed.x = Numbers(count);
    placed.y = Numbers(count);
    placed.angle = OneIn(3, Numbers(count));
    placed.c = OneIn(6, Numbers(count));
    placed.s = OneIn(6, Numbers(count));
    return placed;
  }

  void MakeBodies() {
    auto columns = AbiStruct<carom_body_columns>();
    const size_t count = choices_.Below(4);
    columns.placed = Placed(count);
    columns.owner = OneIn(3, Of<carom_u32_column>(indices_, count));
    if (choices_.OneIn(2)) {
      Check(carom_bodies_place(bodies_.Pick(), &columns, Status()));
      return;
    }
    carom_bodies* made = nullptr;
    Check(carom_bodies_create(&columns, &made, Status()));
    bodies_.Add(made);
  }

  void MakeHistory() {
    const size_t count = choices_.Below(4);
    if (choices_.OneIn(3)) {
      auto definition = AbiStruct<carom_body_definition>();
      definition.keep_ticks = choices_.OneIn(4) ? choices_.Below(300) : 2;
      definition.shapes = shapes_.Pick();
      definition.shape = Of<carom_u32_column>(indices_, count);
      definition.category = OneIn(4, Of<carom_u64_column>(words_, count));
      definition.owner = OneIn(4, Of<carom_u32_column>(indices_, count));
      carom_body_history* made = nullptr;
      Check(carom_body_history_create(&definition, &made, Status()));
      histories_.Add(made);
    }
    auto poses = AbiStruct<carom_body_poses>();
    carom_body_history* const history = histories_.Pick();
    const size_t bodies = carom_body_history_size(history);
    poses.tick =
        choices_.OneIn(3) ? choices_.Below(9) : carom_body_history_newest_tick(history) + 1;
    poses.x = Numbers(bodies);
    poses.y = Numbers(bodies);
    poses.angle = OneIn(6, Numbers(bodies));
    poses.alive = OneIn(6, Of<carom_u64_column>(words_, 1));
    poses.teleported = OneIn(6, Of<carom_u64_column>(words_, 1));
    Check(carom_body_history_add(history, &poses, Status()));
    const size_t ticks = carom_body_history_tick_count(history);
    Require(ticks == 0 || carom_body_history_oldest_tick(history) + ticks - 1 <=
                              carom_body_history_newest_tick(history),
            "ticks ascend");
  }

  void MakeTrackers() {
    auto definitions = AbiStruct<carom_tracker_definitions>();
    definitions.shapes = shapes_.Pick();
    definitions.shape = OneIn(2, Of<carom_u32_column>(indices_, choices_.Below(4)));
    definitions.tracker = OneIn(3, Of<carom_u32_column>(indices_, choices_.Below(4)));
    definitions.within = choices_.OneIn(4) ? Number() : 0;
    if (choices_.OneIn(2)) {
      carom_trackers* made = nullptr;
      Check(carom_trackers_create(choices_.Below(100), choices_.OneIn(3) ? 3000 : 0, &made,
                                  Status()));
      trackers_.Add(made);
    }
    const auto removed = OneIn(3, Of<carom_u32_column>(indices_, choices_.Below(3)));
    Check(carom_trackers_define(trackers_.Pick(), removed,
                                choices_.OneIn(6) ? nullptr : &definitions, Status()));
    if (choices_.OneIn(5)) Check(carom_trackers_forget(trackers_.Pick(), Status()));
  }

  void MakeAnswers() {
    auto limits = AbiStruct<carom_answer_limits>();
    limits.max_rows = choices_.OneIn(3) ? choices_.Below(30) : 0;
    limits.max_work_units = choices_.OneIn(3) ? choices_.Below(3000) : 0;
    carom_answers* made = nullptr;
    Check(carom_answers_create(&limits, &made, Status()));
    answers_.Add(made);
  }

  void ReadScene() {
    const carom_scene* const scene = scenes_.Pick();
    auto polygon = AbiStruct<carom_polygon>();
    const size_t index = choices_.Below(4);
    if (!Check(carom_scene_polygon(scene, index, &polygon, Status()))) return;
    for (size_t i = 0; i <= polygon.ring_count; ++i) {
      auto ring = AbiStruct<carom_ring>();
      const bool found = Check(carom_scene_ring(scene, index, i, &ring, Status()));
      Require(found == (i < polygon.ring_count), "a polygon has its rings");
    }
    size_t place = 0;
    Require(Check(carom_scene_find(scene, polygon.id, &place, Status())) && place == index,
            "a polygon is found by its id");
  }

  void DestroyOne() {
    switch (choices_.Below(7)) {
      case 0:
        return sets_.Destroy();
      case 1:
        return shapes_.Destroy();
      case 2:
        return scenes_.Destroy();
      case 3:
        return bodies_.Destroy();
      case 4:
        return trackers_.Destroy();
      case 5:
        return histories_.Destroy();
      default:
        return answers_.Destroy();
    }
  }

  // Asks a made-up group, of which some batches are wrong.
  void Ask() {
    const auto made = MakeGroupCase(choices_, 3, BadNumbers::kSome);
    if (choices_.OneIn(3)) {
      const auto moment = [&](size_t) { return 0.25 * choices_.Below(40); };
      SegmentColumns& segments = made->group.segments;
      segments.scope.as_of = made->Column(segments.size(), moment);
    }
    const AbiGroup group(made->group, 1 + choices_.Below(2));
    std::vector<carom_batch> batches;
    for (carom_batch batch : group.batches()) {
      if (choices_.OneIn(3)) continue;
      if (choices_.OneIn(15)) Spoil(const_cast<void*>(batch.question));
      if (choices_.OneIn(60)) batch.question = nullptr;
      // Not another kind with a larger struct, which would be read beyond its end.
      if (choices_.OneIn(60)) batch.kind = choices_.OneIn(2) ? 0 : 21 + choices_.Below(9);
      batches.push_back(batch);
      if (choices_.OneIn(60)) batches.push_back(batch);
    }
    auto world = AbiStruct<carom_world>();
    world.scene = scenes_.Pick();
    world.bodies = choices_.OneIn(2) ? bodies_.Pick() : nullptr;
    world.trackers = choices_.OneIn(2) ? trackers_.Pick() : group.trackers();
    world.body_history = choices_.OneIn(3) ? histories_.Pick() : nullptr;
    world.body_rotation = choices_.OneIn(4) ? choices_.Below(4) : 0;
    carom_answers* const answers = answers_.Pick();
    const bool answered =
        Check(carom_evaluate(&world, batches.data(), batches.size(), answers, Status()));
    carom_answers_digest(answers);
    for (uint32_t kind = 0; kind < 22; ++kind) Read(answers, kind, answered);
  }

  void Read(const carom_answers* answers, uint32_t kind, bool answered) {
    alignas(8) char view[2048] = {};
    uint32_t size = 1024;
    std::memcpy(view, &size, sizeof(size));
    const bool read = Check(carom_answers_read(answers, kind, view, Status()));
    Require(read || !answered || kind < 1 || kind > 20, "the answers of each kind can be read");
  }

  // Changes one of the first numbers of a struct: its size, to a lesser one, or an option.
  void Spoil(void* question) {
    uint32_t first[4];
    std::memcpy(first, question, sizeof(first));
    const uint32_t at = choices_.Below(4);
    first[at] = at == 0 ? choices_.Below(static_cast<uint32_t>(first[0] + 1))
                        : static_cast<uint32_t>(choices_.Bytes(choices_.OneIn(2) ? 4 : 1));
    std::memcpy(question, first, sizeof(first));
  }

  Choices& choices_;
  carom_status status_ = AbiStruct<carom_status>();
  double numbers_[32];
  uint64_t words_[16];
  uint32_t indices_[16];
  uint8_t bytes_[16];
  Pool<carom_polygon_set> sets_{choices_, carom_polygon_set_destroy};
  Pool<carom_shapes> shapes_{choices_, carom_shapes_destroy};
  Pool<carom_scene> scenes_{choices_, carom_scene_destroy};
  Pool<carom_bodies> bodies_{choices_, carom_bodies_destroy};
  Pool<carom_body_history> histories_{choices_, carom_body_history_destroy};
  Pool<carom_trackers> trackers_{choices_, carom_trackers_destroy};
  Pool<carom_answers> answers_{choices_, carom_answers_destroy};
};

}  // namespace
}  // namespace carom::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  carom::testing::Choices choices(data, size);
  carom::testing::Caller caller(choices);
  for (int steps = 8 + static_cast<int>(choices.Below(32)); steps > 0; --steps) caller.Step();
  return 0;
}

std::vector<uint8_t> MakeInput(uint64_t seed) {
  carom::testing::Choices choices(seed);
  std::vector<uint8_t> bytes(8000);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(choices.Below(256));
  return bytes;
}
