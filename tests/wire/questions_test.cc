// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Every kind of question: what its columns and options decode to, that it encodes to the same
// message, and every way in which its form is refused.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two items at two poses; MOVERS in a text stands for it.
constexpr char kMovers[] = R"(
  movers {
    shapes { polygon { id: 3 rings { x: [0, 4, 0] y: [0, 0, 4] } fill_rule: FILL_RULE_NON_ZERO
                       solidity: SOLIDITY_SOLID } }
    shapes { capsule { ax: 1 ay: 2 bx: 3 by: 4 radius: 5 } }
    shape: [1, 0] x: [11, 12] y: [13, 14] c: [1, 0] s: [0, 1]
  })";

// All options differ from their defaults, and all columns from each other.
constexpr char kTwoSegments[] = R"(segments {
  ax: [1.1, 2] ay: [3, 4] bx: [5, 6] by: [7, 8] mode: CAST_MODE_ALL_PASSAGES
  inside_policy: INSIDE_POLICY_EXIT max_hits: 9 mask: 10 target: CAST_TARGET_BOUNDS reflect: true
  detail: CAST_DETAIL_NORMAL
})";
constexpr char kRays[] = R"(rays {
  x: [1, 2] y: [3, 4] dx: [5, 6] dy: [7, 8] t_min: [0.5, 0.25] t_max: [inf, 9]
  mode: CAST_MODE_ANY inside_policy: INSIDE_POLICY_IGNORE max_hits: 10 mask: 11
  target: CAST_TARGET_BOUNDS reflect: true detail: CAST_DETAIL_EDGE
})";
constexpr char kArcs[] = R"(arcs {
  x: [1, 2] y: [3, 4] vx: [5, 6] vy: [7, 8] ax: [9, 10] ay: [11, 12] duration: [13, 14]
  mode: CAST_MODE_ALL inside_policy: INSIDE_POLICY_EXIT max_hits: 15 mask: 16
})";
constexpr char kSights[] =
    "sights { ax: [1, 2] ay: [3, 4] bx: [5, 6] by: [7, 8] mask: 9 soft_mask: 6 soft_count: 16 }";
constexpr char kSoftRaysAndTheNearest[] = R"(rays {
  x: [1, 2] y: [3, 4] dx: [5, 6] dy: [7, 8] mode: CAST_MODE_CLOSEST
  inside_policy: INSIDE_POLICY_IGNORE max_hits: 10 target: CAST_TARGET_POLYGONS
  detail: CAST_DETAIL_EDGE soft_mask: 5 soft_count: 3 soft_length: true
} distances { MOVERS mode: DISTANCE_MODE_NEAREST_K mask: 3 k: 1024 })";
constexpr char kFans[] = R"(fans {
  x: [1, 2] y: [3, 4] angle: [5, 6] step: [7, 8] range: [9, 10] beams: [11, 12]
  inside_policy: INSIDE_POLICY_IGNORE mask: 13 soft_mask: 7 soft_count: 1
})";
constexpr char kAreas[] = R"(areas {
  x: [1, 2] y: [3, 4] range: [5, 6] from: [7, 8] to: [9, 10]
  inside_policy: INSIDE_POLICY_IGNORE max_rows: 11 mask: 12 eye: [13, 4294967295]
})";
constexpr char kCapsules[] = R"(capsules {
  ax: [1, 2] ay: [3, 4] bx: [5, 6] by: [7, 8] radius: [9, 10] detail: OVERLAP_DETAIL_EDGES mask: 11
})";
constexpr char kBoxes[] = R"(boxes {
  min_x: [1, 2] min_y: [3, 4] max_x: [5, 6] max_y: [7, 8] detail: OVERLAP_DETAIL_EDGES mask: 9
})";
constexpr char kDistances[] =
    "distances { MOVERS max_distance: [inf, 2] mode: DISTANCE_MODE_WITHIN mask: 3 }";
constexpr char kContacts[] = "contacts { MOVERS mass: [1, 2] polygon_mass: [inf, 4] mask: 5 }";
constexpr char kDepenetrations[] = "depenetrations { MOVERS max_steps: 1024 mask: 2 }";
constexpr char kSweeps[] = R"(sweeps {
  MOVERS to_x: [1, 2] to_y: [3, 4] mode: CAST_MODE_ALL inside_policy: INSIDE_POLICY_EXIT
  max_hits: 5 mask: 6
})";
constexpr char kRotatingSweeps[] = R"(rotating_sweeps {
  MOVERS to_x: [1, 2] to_y: [3, 4] to_c: [5, 6] to_s: [7, 8] tolerance: [9, 10]
  start_policy: START_POLICY_IGNORE mask: 11
})";

std::string WithMovers(const std::string& text) {
  return absl::StrReplaceAll(text, {{"MOVERS", kMovers}});
}

// A group that is decoded, and what it is decoded from.
class Question {
 public:
  explicit Question(const std::string& text) : message_(FromText<v1::Group>(WithMovers(text))) {
    const absl::Status status = DecodeGroup(message_, decoded_);
    EXPECT_TRUE(status.ok()) << status << "\n" << text;
    v1::Group encoded;
    EncodeGroup(decoded_.group, encoded);
    EXPECT_EQ(encoded.DebugString(), message_.DebugString());
    EXPECT_EQ(encoded.SerializeAsString(), message_.SerializeAsString());
  }

  const Group* operator->() const { return &decoded_.group; }
  const DecodedGroup& decoded() const { return decoded_; }

 private:
  v1::Group message_;
  DecodedGroup decoded_;
};

void ExpectMovers(const ShapeColumns& movers, const std::vector<Shape>& shapes) {
  EXPECT_EQ(movers.shapes.data(), shapes.data());
  ASSERT_EQ(movers.shapes.size(), 2u);
  ASSERT_NE(movers.shapes[0].polygon(), nullptr);
  EXPECT_EQ(movers.shapes[0].polygon()->fill_rule(), FillRule::kNonZero);
  EXPECT_EQ(movers.shapes[0].vertex_count(), 3u);
  const Capsule* capsule = movers.shapes[1].capsule();
  ASSERT_NE(capsule, nullptr);
  EXPECT_EQ(capsule->axis.a, (Vec2{1, 2}));
  EXPECT_EQ(capsule->axis.b, (Vec2{3, 4}));
  EXPECT_EQ(capsule->radius, 5);
  EXPECT_THAT(movers.shape, ElementsAre(1, 0));
  EXPECT_THAT(movers.x, ElementsAre(11, 12));
  EXPECT_THAT(movers.y, ElementsAre(13, 14));
  EXPECT_THAT(movers.c, ElementsAre(1, 0));
  EXPECT_THAT(movers.s, ElementsAre(0, 1));
  EXPECT_THAT(movers.angle, SizeIs(0));
}

// --- What travels

TEST(Questions, SegmentsTravel) {
  const Question question(kTwoSegments);
  EXPECT_EQ(question->cast_options.mode, CastMode::kAllPassages);
  EXPECT_EQ(question->cast_options.target, CastTarget::kBounds);
  EXPECT_TRUE(question->cast_options.reflect);
  EXPECT_EQ(question->cast_options.detail, CastDetail::kNormal);
  EXPECT_EQ(question->query_count(), 2u);
}

// Numbers that are floats take half the bytes.
TEST(Questions, SegmentsTravelAsFloats) {
  const Question question(
      "segments { mode: CAST_MODE_CLOSEST inside_policy: INSIDE_POLICY_REPORT_START max_hits: 64 "
      "target: CAST_TARGET_POLYGONS detail: CAST_DETAIL_FRACTION "
      "floats { ax: [0.1, 2] ay: [3, 4] bx: [-0.0, 6] by: [7, 3e38] } }");
  const SegmentColumns& segments = question->segments;
  EXPECT_THAT(segments.ax, ElementsAre(double{0.1f}, 2));
  EXPECT_THAT(segments.ay, ElementsAre(3, 4));
  EXPECT_THAT(segments.bx, ElementsAre(0, 6));
  EXPECT_THAT(segments.by, ElementsAre(7, double{3e38f}));
  EXPECT_EQ(question->cast_options.detail, CastDetail::kFraction);
}

// One number that no float is, and all go as they are.
TEST(Questions, NumbersThatAreNoFloatsStayDoubles) {
  for (const double odd : {0.1, 1e39, kInfinity, std::nan("")}) {
    const std::vector<double> numbers{1, odd}, zeros{0, 0};
    Group group;
    group.segments = {zeros, zeros, zeros, numbers};
    v1::Group message;
    EncodeGroup(group, message);
    EXPECT_FALSE(message.segments().has_floats());
    ASSERT_EQ(message.segments().by_size(), 2);
    EXPECT_EQ(std::isnan(message.segments().by(1)), std::isnan(odd));
  }
}

TEST(Questions, RaysTravel) {
  const Question question(kRays);
  EXPECT_THAT(question->rays.x, ElementsAre(1, 2));
  EXPECT_THAT(question->rays.y, ElementsAre(3, 4));
  EXPECT_THAT(question->rays.dx, ElementsAre(5, 6));
  EXPECT_THAT(question->rays.dy, ElementsAre(7, 8));
  EXPECT_THAT(question->rays.t_min, ElementsAre(0.5, 0.25));
  EXPECT_THAT(question->rays.t_max, ElementsAre(kInfinity, 9));
  const CastOptions& options = question->ray_options;
  EXPECT_EQ(options.mode, CastMode::kAny);
  EXPECT_EQ(options.inside_policy, InsidePolicy::kIgnore);
  EXPECT_EQ(options.max_hits, 10u);
  EXPECT_EQ(options.mask, 11u);
  EXPECT_EQ(options.target, CastTarget::kBounds);
  EXPECT_TRUE(options.reflect);
}

TEST(Questions, ArcsTravel) {
  const Question question(kArcs);
  EXPECT_THAT(question->arcs.x, ElementsAre(1, 2));
  EXPECT_THAT(question->arcs.y, ElementsAre(3, 4));
  EXPECT_THAT(question->arcs.vx, ElementsAre(5, 6));
  EXPECT_THAT(question->arcs.vy, ElementsAre(7, 8));
  EXPECT_THAT(question->arcs.ax, ElementsAre(9, 10));
  EXPECT_THAT(question->arcs.ay, ElementsAre(11, 12));
  EXPECT_THAT(question->arcs.duration, ElementsAre(13, 14));
  EXPECT_EQ(question->arc_options.mode, CastMode::kAll);
  EXPECT_EQ(question->arc_options.inside_policy, InsidePolicy::kExit);
  EXPECT_EQ(question->arc_options.max_hits, 15u);
  EXPECT_EQ(question->arc_options.mask, 16u);
}

TEST(Questions, SightsTravel) {
  const Question question(kSights);
  EXPECT_THAT(question->sights.ax, ElementsAre(1, 2));
  EXPECT_THAT(question->sights.ay, ElementsAre(3, 4));
  EXPECT_THAT(question->sights.bx, ElementsAre(5, 6));
  EXPECT_THAT(question->sights.by, ElementsAre(7, 8));
  EXPECT_EQ(question->sight_options.mask, 9u);
  EXPECT_EQ(question->sight_options.soft_mask, 6u);
  EXPECT_EQ(question->sight_options.soft_count, 16u);
}

TEST(Questions, SoftWallsAndTheNearestTravel) {
  const Question question(kSoftRaysAndTheNearest);
  EXPECT_EQ(question->ray_options.soft_mask, 5u);
  EXPECT_EQ(question->ray_options.soft_count, 3u);
  EXPECT_TRUE(question->ray_options.soft_length);
  EXPECT_EQ(question->distance_options.mode, DistanceMode::kNearestK);
  EXPECT_EQ(question->distance_options.k, 1024u);
}

TEST(Questions, FansTravel) {
  const Question question(kFans);
  EXPECT_THAT(question->fans.x, ElementsAre(1, 2));
  EXPECT_THAT(question->fans.y, ElementsAre(3, 4));
  EXPECT_THAT(question->fans.angle, ElementsAre(5, 6));
  EXPECT_THAT(question->fans.step, ElementsAre(7, 8));
  EXPECT_THAT(question->fans.range, ElementsAre(9, 10));
  EXPECT_THAT(question->fans.beams, ElementsAre(11, 12));
  EXPECT_EQ(question->fan_options.inside_policy, InsidePolicy::kIgnore);
  EXPECT_EQ(question->fan_options.mask, 13u);
  EXPECT_EQ(question->fan_options.soft_mask, 7u);
  EXPECT_EQ(question->fan_options.soft_count, 1u);
  EXPECT_EQ(question->query_count(), 23u);
}

TEST(Questions, AreasTravel) {
  const Question question(kAreas);
  EXPECT_THAT(question->areas.x, ElementsAre(1, 2));
  EXPECT_THAT(question->areas.y, ElementsAre(3, 4));
  EXPECT_THAT(question->areas.range, ElementsAre(5, 6));
  EXPECT_THAT(question->areas.from, ElementsAre(7, 8));
  EXPECT_THAT(question->areas.to, ElementsAre(9, 10));
  EXPECT_THAT(question->areas.eye, ElementsAre(13, 4294967295));
  EXPECT_EQ(question->area_options, (AreaOptions{InsidePolicy::kIgnore, 11, 12}));
}

TEST(Questions, CapsulesTravel) {
  const Question question(kCapsules);
  EXPECT_THAT(question->capsules.ax, ElementsAre(1, 2));
  EXPECT_THAT(question->capsules.ay, ElementsAre(3, 4));
  EXPECT_THAT(question->capsules.bx, ElementsAre(5, 6));
  EXPECT_THAT(question->capsules.by, ElementsAre(7, 8));
  EXPECT_THAT(question->capsules.radius, ElementsAre(9, 10));
  EXPECT_EQ(question->capsule_options.detail, OverlapDetail::kEdges);
  EXPECT_EQ(question->capsule_options.mask, 11u);
}

TEST(Questions, BoxesTravel) {
  const Question question(kBoxes);
  EXPECT_THAT(question->boxes.min_x, ElementsAre(1, 2));
  EXPECT_THAT(question->boxes.min_y, ElementsAre(3, 4));
  EXPECT_THAT(question->boxes.max_x, ElementsAre(5, 6));
  EXPECT_THAT(question->boxes.max_y, ElementsAre(7, 8));
  EXPECT_EQ(question->box_options.detail, OverlapDetail::kEdges);
  EXPECT_EQ(question->box_options.mask, 9u);
}

TEST(Questions, DistancesTravel) {
  const Question question(kDistances);
  ExpectMovers(question->distances.movers, question.decoded().shapes);
  EXPECT_THAT(question->distances.max_distance, ElementsAre(kInfinity, 2));
  EXPECT_EQ(question->distance_options.mode, DistanceMode::kWithin);
  EXPECT_EQ(question->distance_options.mask, 3u);
}

TEST(Questions, ContactsTravel) {
  const Question question(kContacts);
  ExpectMovers(question->contacts.movers, question.decoded().shapes);
  EXPECT_THAT(question->contacts.mass, ElementsAre(1, 2));
  EXPECT_THAT(question->contacts.polygon_mass, ElementsAre(kInfinity, 4));
  EXPECT_EQ(question->contact_options.mask, 5u);
}

TEST(Questions, DepenetrationsTravel) {
  const Question question(kDepenetrations);
  ExpectMovers(question->depenetrations, question.decoded().shapes);
  EXPECT_EQ(question->depenetration_options.max_steps, 1024u);
  EXPECT_EQ(question->depenetration_options.mask, 2u);
}

TEST(Questions, SweepsTravel) {
  const Question question(kSweeps);
  ExpectMovers(question->sweeps.movers, question.decoded().shapes);
  EXPECT_THAT(question->sweeps.to_x, ElementsAre(1, 2));
  EXPECT_THAT(question->sweeps.to_y, ElementsAre(3, 4));
  EXPECT_EQ(question->sweep_options.mode, CastMode::kAll);
  EXPECT_EQ(question->sweep_options.inside_policy, InsidePolicy::kExit);
  EXPECT_EQ(question->sweep_options.max_hits, 5u);
  EXPECT_EQ(question->sweep_options.mask, 6u);
}

TEST(Questions, RotatingSweepsTravel) {
  const Question question(kRotatingSweeps);
  ExpectMovers(question->rotating_sweeps.movers, question.decoded().shapes);
  EXPECT_THAT(question->rotating_sweeps.to_x, ElementsAre(1, 2));
  EXPECT_THAT(question->rotating_sweeps.to_y, ElementsAre(3, 4));
  EXPECT_THAT(question->rotating_sweeps.to_c, ElementsAre(5, 6));
  EXPECT_THAT(question->rotating_sweeps.to_s, ElementsAre(7, 8));
  EXPECT_THAT(question->rotating_sweeps.tolerance, ElementsAre(9, 10));
  EXPECT_EQ(question->rotating_sweep_options.start_policy, StartPolicy::kIgnore);
  EXPECT_EQ(question->rotating_sweep_options.mask, 11u);
}

TEST(Questions, AnglesTravel) {
  const Question question(
      "rotating_sweeps { movers { shapes { capsule { radius: 1 } } x: 1 y: 2 angle: 3 } to_x: 4 "
      "to_y: 5 to_angle: 6 tolerance: 7 start_policy: START_POLICY_REPORT_START }");
  EXPECT_THAT(question->rotating_sweeps.movers.angle, ElementsAre(3));
  EXPECT_THAT(question->rotating_sweeps.to_angle, ElementsAre(6));
  EXPECT_THAT(question->rotating_sweeps.movers.shape, SizeIs(0));
}

TEST(Questions, AllKindsTravelTogether) {
  const Question question(absl::StrCat(kTwoSegments, kRays, kCapsules, kBoxes, kDistances,
                                       kContacts, kDepenetrations, kSweeps, kRotatingSweeps, kArcs,
                                       kSights, kFans));
  EXPECT_EQ(question->query_count(), 45u);
}

// --- What is absent

TEST(Questions, AbsentOptionsAndColumnsHaveTheirDefaults) {
  const std::string movers = "movers { shapes { capsule {} } x: 1 y: 2 }";
  const auto message = FromText<v1::Group>(absl::StrCat(
      "rays { x: 1 y: 2 dx: 3 dy: 4 } arcs { x: 1 y: 2 vx: 3 vy: 4 ax: 5 ay: 6 duration: 7 } "
      "sights { ax: 1 ay: 2 bx: 3 by: 4 } fans { x: 1 y: 2 angle: 3 step: 4 range: 5 beams: 6 } "
      "areas { x: 1 y: 2 range: 3 } "
      "capsules { ax: 1 ay: 2 bx: 3 by: 4 radius: 5 } "
      "boxes { min_x: 1 min_y: 2 max_x: 3 max_y: 4 } distances { ",
      movers, "} contacts {", movers, "} depenetrations {", movers, "} sweeps {", movers,
      "to_x: 1 to_y: 2 } rotating_sweeps {", movers, "to_x: 1 to_y: 2 tolerance: 3 }"));
  DecodedGroup decoded;
  const absl::Status status = DecodeGroup(message, decoded);
  ASSERT_TRUE(status.ok()) << status;
  const Group& group = decoded.group;
  EXPECT_EQ(group.ray_options.mode, CastMode::kClosest);
  EXPECT_EQ(group.ray_options.inside_policy, InsidePolicy::kReportStart);
  EXPECT_EQ(group.ray_options.target, CastTarget::kPolygons);
  EXPECT_FALSE(group.ray_options.reflect);
  EXPECT_THAT(group.rays.t_min, SizeIs(0));
  EXPECT_THAT(group.rays.t_max, SizeIs(0));
  for (const uint32_t max_hits :
       {group.ray_options.max_hits, group.sweep_options.max_hits, group.arc_options.max_hits}) {
    EXPECT_EQ(max_hits, 64u);
  }
  for (const uint64_t mask :
       {group.ray_options.mask, group.capsule_options.mask, group.box_options.mask,
        group.distance_options.mask, group.contact_options.mask, group.depenetration_options.mask,
        group.sweep_options.mask, group.rotating_sweep_options.mask, group.arc_options.mask,
        group.sight_options.mask, group.fan_options.mask}) {
    EXPECT_EQ(mask, kEveryCategory);
  }
  EXPECT_EQ(group.distance_options.mode, DistanceMode::kNearest);
  EXPECT_EQ(group.distance_options.k, 1u);
  EXPECT_EQ(group.ray_options.soft_mask, 0u);
  EXPECT_EQ(group.ray_options.soft_count, 0u);
  EXPECT_FALSE(group.ray_options.soft_length);
  EXPECT_THAT(group.distances.max_distance, SizeIs(0));
  EXPECT_THAT(group.contacts.mass, SizeIs(0));
  EXPECT_EQ(group.depenetration_options.max_steps, 64u);
  EXPECT_EQ(group.sweep_options.mode, CastMode::kClosest);
  EXPECT_EQ(group.rotating_sweep_options.start_policy, StartPolicy::kReportStart);
  EXPECT_EQ(group.arc_options.inside_policy, InsidePolicy::kReportStart);
  EXPECT_EQ(group.fan_options.inside_policy, InsidePolicy::kReportStart);
  EXPECT_EQ(group.area_options, AreaOptions());
  EXPECT_THAT(group.areas.from, SizeIs(0));
}

TEST(Questions, NumbersAndCapsulesOfItemsAreNotTheGroups) {
  const auto message = FromText<v1::Group>(
      "rays { x: nan y: inf dx: 0 dy: 0 t_min: -1 t_max: nan } fans { x: 0 y: 0 angle: nan step: "
      "inf range: -1 beams: 4294967295 } contacts { movers { shapes { capsule {} } shape: 7 "
      "x: nan y: 0 c: 2 s: 0 } mass: -1 polygon_mass: nan }");
  DecodedGroup decoded;
  EXPECT_TRUE(DecodeGroup(message, decoded).ok());
}

TEST(Questions, EncodingLeavesAbsentWhatHasNoItems) {
  const Question full(absl::StrCat(kRays, kDistances, kDepenetrations, kFans));
  v1::Group message;
  message.set_scene("scenes/a");
  EncodeGroup(full.decoded().group, message);
  EncodeGroup(Group{}, message);
  EXPECT_EQ(message.ShortDebugString(), "scene: \"scenes/a\"");
}

// A group that is decoded after others, refused ones among them, is as if it were the first.
TEST(Questions, ReuseKeepsMemoryAndNothingElse) {
  const auto full = FromText<v1::Group>(WithMovers(
      absl::StrCat(kRays, kDistances, kContacts, kDepenetrations, kSweeps, kRotatingSweeps)));
  const auto refused = FromText<v1::Group>("contacts { movers { shapes {} } }");
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(full, decoded).ok());
  const size_t capacity = decoded.shape_capacity();
  EXPECT_GE(capacity, 10u);
  EXPECT_FALSE(DecodeGroup(refused, decoded).ok());
  ASSERT_TRUE(DecodeGroup({}, decoded).ok());
  EXPECT_EQ(decoded.shape_capacity(), capacity);
  EXPECT_EQ(decoded.group.query_count(), 0u);
  EXPECT_EQ(decoded.group.ray_options.mode, CastMode::kClosest);
  EXPECT_EQ(decoded.group.distance_options.mode, DistanceMode::kNearest);
  EXPECT_THAT(decoded.shapes, SizeIs(0));
  EXPECT_THAT(decoded.group.contacts.movers.shapes, SizeIs(0));
}

// --- Refusals

struct BadForm {
  std::string text;
  const char* field;
  const char* range;
  StatusCode code = StatusCode::kInvalidArgument;
};

void ExpectRefused(const std::vector<BadForm>& cases) {
  for (const BadForm& refused : cases) {
    SCOPED_TRACE(refused.text);
    const auto message = FromText<v1::Group>(refused.text);
    DecodedGroup decoded;
    EXPECT_TRUE(Refuses(DecodeGroup(message, decoded), refused.code, refused.field, refused.range));
  }
}

// Each required column that is one short, and each optional one that is there and one short, is
// named.
TEST(Questions, EveryColumnIsOfTheLengthOfTheFirst) {
  struct Columns {
    const char* text;
    const char* batch;
    std::vector<const char*> columns;
  };
  for (const Columns& c : {
           Columns{kTwoSegments, "segments", {"ay", "bx", "by"}},
           Columns{kRays, "rays", {"y", "dx", "dy", "t_min", "t_max"}},
           Columns{kArcs, "arcs", {"y", "vx", "vy", "ax", "ay", "duration"}},
           Columns{kSights, "sights", {"ay", "bx", "by"}},
           Columns{kFans, "fans", {"y", "angle", "step", "range", "beams"}},
           Columns{kAreas, "areas", {"y", "range", "from", "to"}},
           Columns{kCapsules, "capsules", {"ay", "bx", "by", "radius"}},
           Columns{kBoxes, "boxes", {"min_y", "max_x", "max_y"}},
           Columns{kDistances, "distances", {"max_distance"}},
           Columns{kContacts, "contacts", {"mass", "polygon_mass"}},
           Columns{kSweeps, "sweeps", {"to_x", "to_y"}},
           Columns{
               kRotatingSweeps, "rotating_sweeps", {"to_x", "to_y", "to_c", "to_s", "tolerance"}},
       }) {
    for (const char* column : c.columns) {
      auto message = FromText<v1::Group>(WithMovers(c.text));
      const auto* field = message.GetDescriptor()->FindFieldByName(c.batch);
      google::protobuf::Message& batch = *message.GetReflection()->MutableMessage(&message, field);
      batch.GetReflection()->RemoveLast(&batch, batch.GetDescriptor()->FindFieldByName(column));
      DecodedGroup decoded;
      EXPECT_TRUE(Refuses(DecodeGroup(message, decoded), StatusCode::kInvalidArgument,
                          absl::StrCat(c.batch, ".", column), "2"));
    }
  }
}

TEST(Questions, EveryColumnOfMoversIsOfTheLengthOfTheFirst) {
  for (const char* text : {kDistances, kContacts, kDepenetrations, kSweeps, kRotatingSweeps}) {
    for (const char* column : {"y", "shape", "c", "s"}) {
      auto message = FromText<v1::Group>(WithMovers(text));
      std::vector<const google::protobuf::FieldDescriptor*> fields;
      message.GetReflection()->ListFields(message, &fields);
      google::protobuf::Message& batch =
          *message.GetReflection()->MutableMessage(&message, fields[0]);
      google::protobuf::Message& movers = *batch.GetReflection()->MutableMessage(
          &batch, batch.GetDescriptor()->FindFieldByName("movers"));
      movers.GetReflection()->RemoveLast(&movers, movers.GetDescriptor()->FindFieldByName(column));
      DecodedGroup decoded;
      EXPECT_TRUE(Refuses(DecodeGroup(message, decoded), StatusCode::kInvalidArgument,
                          absl::StrCat(fields[0]->name(), ".movers.", column), "2"));
    }
  }
}

TEST(Questions, RefusalsOfOptions) {
  ExpectRefused({
      {"segments { target: 3 }", "segments.target", "[0, 2]"},
      {"segments { detail: 5 }", "segments.detail", "[0, 4]"},
      {"segments { detail: 1 reflect: true }", "segments.detail", "NORMAL"},
      {"segments { ax: 1 ay: 1 bx: 1 by: 1 floats { ax: 1 ay: 1 bx: 1 by: 1 } }", "segments.floats",
       "must not be given together with the columns of doubles"},
      {"segments { floats { ax: 1 ay: [1, 2] bx: 1 by: 1 } }", "segments.ay", "1"},
      {"rays { mode: 5 }", "rays.mode", "[0, 4]"},
      {"rays { detail: 1 reflect: true }", "rays.detail", "NORMAL"},
      {"rays { inside_policy: 6 }", "rays.inside_policy", "[0, 5]"},
      {"rays { target: -1 }", "rays.target", "[0, 2]"},
      {"rays { max_hits: 65537 }", "rays.max_hits", "[1, 65536]"},
      {"capsules { detail: 3 }", "capsules.detail", "[0, 2]"},
      {"boxes { detail: 3 }", "boxes.detail", "[0, 2]"},
      {"distances { mode: 5 }", "distances.mode", "[0, 4]"},
      {"depenetrations { max_steps: 1025 }", "depenetrations.max_steps", "[1, 1024]"},
      {"sweeps { mode: 5 }", "sweeps.mode", "[0, 4]"},
      {"sweeps { mode: CAST_MODE_ALL_PASSAGES }", "sweeps.mode", "ALL_PASSAGES"},
      {"sweeps { inside_policy: 6 }", "sweeps.inside_policy", "[0, 5]"},
      {"sweeps { max_hits: 65537 }", "sweeps.max_hits", "[1, 65536]"},
      {"rotating_sweeps { start_policy: 3 }", "rotating_sweeps.start_policy", "[0, 2]"},
      {"arcs { mode: 5 }", "arcs.mode", "[0, 4]"},
      {"arcs { mode: CAST_MODE_ALL_PASSAGES }", "arcs.mode", "ALL_PASSAGES"},
      {"arcs { inside_policy: -1 }", "arcs.inside_policy", "[0, 5]"},
      {"arcs { max_hits: 65537 }", "arcs.max_hits", "[1, 65536]"},
      {"fans { inside_policy: 6 }", "fans.inside_policy", "[0, 5]"},
      {"areas { inside_policy: 6 }", "areas.inside_policy", "[0, 5]"},
      {"areas { inside_policy: INSIDE_POLICY_EXIT }", "areas.inside_policy", "IGNORE"},
      {"areas { max_rows: 65537 }", "areas.max_rows", "[1, 65536]"},
  });
}

TEST(Questions, RefusalsOfColumnsThatExcludeOrNeedEachOther) {
  const std::string movers = "movers { shapes { capsule {} } x: 1 y: 2 } ";
  const std::string to = "to_x: 1 to_y: 2 tolerance: 3 ";
  ExpectRefused({
      {"distances { movers { shapes { capsule {} } x: 1 y: 1 c: 1 } }", "distances.movers.s", "1"},
      {"distances { movers { shapes { capsule {} } x: 1 y: 1 c: 1 s: 0 angle: 0 } }",
       "distances.movers.angle", "absent where c and s are given"},
      {"distances { movers { shapes { capsule {} } shape: [0, 0] x: [1, 2] y: [1, 2] angle: 1 } }",
       "distances.movers.angle", "2"},
      {"distances { movers { shapes { capsule {} } x: [1, 2] y: [1, 2] } }",
       "distances.movers.shapes", "2"},
      {"distances { max_distance: 1 }", "distances.max_distance", "0"},
      {"contacts { " + movers + "mass: 1 }", "contacts.polygon_mass", "1"},
      {"contacts { " + movers + "polygon_mass: 1 }", "contacts.mass", "1"},
      {"sweeps { " + movers + "to_x: 1 }", "sweeps.to_y", "1"},
      {"areas { x: 1 y: 1 range: 1 from: 1 }", "areas.to", "1"},
      {"rotating_sweeps { " + movers + to + "to_c: 1 }", "rotating_sweeps.to_s", "1"},
      {"rotating_sweeps { " + movers + to + "to_c: 1 to_s: 0 to_angle: 0 }",
       "rotating_sweeps.to_angle", "absent where to_c and to_s are given"},
      {"rotating_sweeps { " + movers + to + "to_angle: [0, 0] }", "rotating_sweeps.to_angle", "1"},
      {"rotating_sweeps { " + movers + "to_x: 1 to_y: 2 }", "rotating_sweeps.tolerance", "1"},
  });
}

TEST(Questions, RefusalsOfShapes) {
  std::string many = "rings { ";
  for (size_t i = 0; i <= kMaxMovingVertices; ++i) absl::StrAppend(&many, "x: ", i, " y: 0 ");
  many += "}";
  for (const char* batch :
       {"distances", "contacts", "depenetrations", "sweeps", "rotating_sweeps"}) {
    const auto with = [&](const std::string& shape) {
      return absl::StrCat(batch, " { movers { shapes { capsule {} } shapes { ", shape, " } } }");
    };
    const std::string place = absl::StrCat(batch, ".movers.shapes[1]");
    const std::string capsule = place + ".capsule";
    const std::string polygon = place + ".polygon";
    ExpectRefused({
        {with(""), place.c_str(), "one of polygon and capsule"},
        {with("capsule { ax: nan }"), (capsule + ".ax").c_str(), "2^53"},
        {with("capsule { ay: inf }"), (capsule + ".ay").c_str(), "2^53"},
        {with("capsule { bx: 9007199254740994 }"), (capsule + ".bx").c_str(), "2^53"},
        {with("capsule { by: -inf }"), (capsule + ".by").c_str(), "2^53"},
        {with("capsule { radius: -1 }"), (capsule + ".radius").c_str(), "[0, 2^53]"},
        {with("polygon {}"), (polygon + ".rings").c_str(), "at least one ring"},
        {with("polygon { fill_rule: 9 rings { x: 1 y: 1 } }"), (polygon + ".fill_rule").c_str(),
         "[0, 2]"},
        {with("polygon { rings { x: [0, nan] y: [0, 0] } }"), (polygon + ".rings[0].x[1]").c_str(),
         "2^53"},
        {with("polygon { " + many + " }"), place.c_str(),
         "at most 4096 vertices (vertices a moving shape)", StatusCode::kResourceExhausted},
    });
  }
}

TEST(Questions, NamesAllThatIsWrongWithTheForm) {
  const auto message = FromText<v1::Group>(
      "rays { mode: 9 target: 9 } boxes { detail: 9 } distances { mode: 9 movers { shapes {} } } "
      "sweeps { movers { shapes { capsule { radius: -1 } } } }");
  DecodedGroup decoded;
  EXPECT_THAT(Fields(DecodeGroup(message, decoded)),
              ElementsAre("rays.mode", "rays.target", "boxes.detail", "distances.mode",
                          "distances.movers.shapes[0]", "sweeps.movers.shapes[0].capsule.radius"));
}

// Lengths of a capsule's numbers are read as all numbers are.
TEST(Questions, CapsulesAreNormalized) {
  const Question question(
      "sweeps { movers { shapes { capsule { ax: 1 radius: 9007199254740992 } } x: 1 y: 2 } "
      "to_x: 1 to_y: 2 mode: CAST_MODE_CLOSEST inside_policy: INSIDE_POLICY_REPORT_START "
      "max_hits: 64 }");
  EXPECT_EQ(question->sweeps.movers.shapes[0].capsule()->radius, kMaxCoordinate);
  v1::Shape tiny;
  tiny.mutable_capsule()->set_ax(-0x1p-150);
  const absl::StatusOr<Shape> shape = DecodeShape(tiny);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->capsule()->axis.a.x, 0);
  EXPECT_FALSE(std::signbit(shape->capsule()->axis.a.x));
}

}  // namespace
}  // namespace carom::wire
