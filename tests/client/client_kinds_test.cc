// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Every kind of question through `Evaluate` and through a `Stream`, with answers that are known
// beforehand. The scene is polygon 1, the square with corners (-1, -1) and (1, 1): edges 0
// (bottom), 1 (right), 2 (top) and 3 (left).
#include <functional>
#include <limits>

#include "tests/client/fixture.h"

namespace carom {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr char kArena[] = "scenes/arena";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class ClientKindsTest : public ClientTest {
 protected:
  void SetUp() override {
    StartServer();
    const std::vector<Polygon> polygons = {Square(1, -1, -1, 2)};
    ASSERT_TRUE(client_->CreateScene(kArena, polygons).ok());
    disc_.push_back(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value());
  }

  // Asks `group` by Evaluate and by Stream, and calls `check` with each answer.
  void Ask(const Group& group, const std::function<void(const GroupAnswers&)>& check) {
    Frame frame;
    frame.groups.emplace_back().scene = std::string(kArena);
    frame.groups[0].group = group;
    const std::unique_ptr<Stream> stream = client_->OpenStream({});
    ASSERT_TRUE(stream->Send(frame).ok());
    for (const absl::StatusOr<FrameAnswer>& answer :
         {client_->Evaluate(frame), stream->Receive()}) {
      ASSERT_TRUE(answer.ok()) << answer.status();
      ASSERT_THAT(answer->groups, SizeIs(1));
      ASSERT_TRUE(answer->groups[0].status.ok()) << answer->groups[0].status;
      check(answer->groups[0].answers);
    }
    EXPECT_TRUE(stream->Finish().ok());
  }

  // The disc of radius 1 at (x_[0], 0).
  ShapeColumns DiscAt(double x) {
    x_[0] = x;
    return {disc_, {}, x_, zero_, {}, {}, {}};
  }

  std::vector<Shape> disc_;
  std::vector<double> x_{0};
  const std::vector<double> zero_{0}, one_{1}, two_{2}, three_{3}, four_{4}, five_{5}, ten_{10};
  const std::vector<double> minus_two_{-2}, minus_three_{-3}, infinite_{kInfinity};
};

TEST_F(ClientKindsTest, Rays) {
  Group group;
  group.rays = {minus_three_, zero_, two_, zero_, {}, infinite_};
  group.ray_options.reflect = true;
  Ask(group, [](const GroupAnswers& answers) {
    ASSERT_THAT(answers.rays.hits, SizeIs(1));
    const CastHit& hit = answers.rays.hits[0];
    EXPECT_EQ(hit.polygon_id, 1u);
    EXPECT_EQ(hit.fraction, 1);
    EXPECT_EQ(hit.exit_fraction, 2);
    EXPECT_EQ(hit.edge, (EdgeRef{0, 3}));
    EXPECT_EQ(hit.normal, (Vec2{-1, 0}));
    EXPECT_THAT(answers.rays.reflections, ElementsAre(Vec2{-2, 0}));
  });
}

// A good item and a bad one beside it, of every kind: the first is answered, the second named.
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename Answers>
void ExpectSecondRefused(const Answers& answers, ItemColumn column, ItemFault fault) {
  EXPECT_THAT(answers.errors, ElementsAre(ItemError{1, column, fault}));
}

// The first item has one row.
template <typename Answers>
void ExpectOneRow(const Answers& answers, ItemColumn column, ItemFault fault) {
  EXPECT_THAT(answers.counts, ElementsAre(1, 0));
  ExpectSecondRefused(answers, column, fault);
}

TEST_F(ClientKindsTest, ABadLineOrRegionIsNamedBesideAGoodOne) {
  const std::vector<double> zeros{0, 0}, ones{1, 1}, twos{2, 2}, left{-3, -3}, right{3, 3};
  const std::vector<double> fives{5, 5}, down{-2, -2}, with_nan{0, kNaN}, negative{1, -1};
  const std::vector<double> direction{1, 0}, min{1, 3}, duration{10, -1}, above{5, kNaN};
  const std::vector<uint32_t> beams{2, 0};
  Group group;
  group.segments = {left, with_nan, right, zeros};
  group.points = {with_nan, zeros};
  group.circles = {zeros, zeros, negative};
  group.rays = {left, zeros, direction, zeros, {}, {}};
  group.capsules = {left, zeros, right, with_nan, ones};
  group.boxes = {min, zeros, twos, twos};
  group.arcs = {zeros, fives, zeros, zeros, zeros, down, duration};
  group.sights = {left, fives, right, above};
  group.fans = {left, zeros, zeros, twos, fives, beams};
  Ask(group, [](const GroupAnswers& answers) {
    ExpectOneRow(answers.segments, ItemColumn::kAy, ItemFault::kNotAccepted);
    EXPECT_THAT(answers.segments.hits, SizeIs(1));
    EXPECT_THAT(answers.points.locations, SizeIs(1));
    ExpectOneRow(answers.points, ItemColumn::kX, ItemFault::kNotAccepted);
    ExpectOneRow(answers.circles, ItemColumn::kRadius, ItemFault::kNegativeRadius);
    EXPECT_THAT(answers.circles.polygon_ids, ElementsAre(1));
    ExpectOneRow(answers.rays, ItemColumn::kDx, ItemFault::kZeroDirection);
    EXPECT_THAT(answers.rays.hits, SizeIs(1));
    ExpectOneRow(answers.capsules, ItemColumn::kBy, ItemFault::kNotAccepted);
    EXPECT_THAT(answers.capsules.polygon_ids, ElementsAre(1));
    ExpectOneRow(answers.boxes, ItemColumn::kMinX, ItemFault::kEmptyBox);
    EXPECT_THAT(answers.boxes.polygon_ids, ElementsAre(1));
    ExpectOneRow(answers.arcs, ItemColumn::kDuration, ItemFault::kNegativeLength);
    EXPECT_THAT(answers.arcs.hits, SizeIs(1));
    EXPECT_THAT(answers.sights.visible, ElementsAre(1, 0));
    ExpectSecondRefused(answers.sights, ItemColumn::kBy, ItemFault::kNotAccepted);
    EXPECT_THAT(answers.fans.counts, ElementsAre(2, 0));
    EXPECT_THAT(answers.fans.hits, ElementsAre(1, 0));
    ExpectSecondRefused(answers.fans, ItemColumn::kBeams, ItemFault::kTooManyBeams);
  });
}

TEST_F(ClientKindsTest, ABadMoverIsNamedBesideAGoodOne) {
  const std::vector<double> near{1.5, 1.5}, zeros{0, 0}, with_nan{1.5, kNaN}, left{-4, -4};
  const std::vector<double> length{1, -1}, mass{1, 0}, infinite{kInfinity, kInfinity};
  const std::vector<double> to{4, kInfinity}, right{4, 4}, tolerance{0.0625, 0};
  const std::vector<uint32_t> which{0, 0}, unknown{0, 1};
  const std::vector<Polygon> polygon = {Square(0, -1, -1, 2)};
  const ShapeColumns movers{disc_, which, near, zeros, {}, {}, {}};
  const ShapeColumns from_left{disc_, which, left, zeros, {}, {}, {}};
  Group group;
  group.polygons = {polygon, unknown, near, zeros, {}, {}, {}};
  group.distances = {movers, length};
  group.contacts = {movers, mass, infinite};
  group.depenetrations = {disc_, which, with_nan, zeros, {}, {}, {}};
  group.sweeps = {from_left, to, zeros};
  group.rotating_sweeps = {from_left, right, zeros, {}, {}, {}, tolerance};
  Ask(group, [](const GroupAnswers& answers) {
    ExpectOneRow(answers.polygons, ItemColumn::kShape, ItemFault::kUnknownShape);
    EXPECT_THAT(answers.polygons.polygon_ids, ElementsAre(1));
    ExpectOneRow(answers.distances, ItemColumn::kMaxDistance, ItemFault::kNegativeLength);
    EXPECT_THAT(answers.distances.rows, SizeIs(1));
    ExpectOneRow(answers.contacts, ItemColumn::kMass, ItemFault::kNotAMass);
    EXPECT_THAT(answers.contacts.contacts, SizeIs(1));
    EXPECT_THAT(answers.contacts.splits, SizeIs(1));
    EXPECT_THAT(answers.depenetrations.finished, ElementsAre(1, 0));
    EXPECT_THAT(answers.depenetrations.positions, SizeIs(2));
    ExpectSecondRefused(answers.depenetrations, ItemColumn::kX, ItemFault::kNotAccepted);
    ExpectOneRow(answers.sweeps, ItemColumn::kToX, ItemFault::kNotAccepted);
    EXPECT_THAT(answers.sweeps.hits, SizeIs(1));
    ExpectOneRow(answers.rotating_sweeps, ItemColumn::kTolerance, ItemFault::kToleranceTooSmall);
    EXPECT_THAT(answers.rotating_sweeps.hits, SizeIs(1));
  });
}

TEST_F(ClientKindsTest, CapsulesAndBoxes) {
  Group group;
  group.capsules = {three_, zero_, three_, five_, two_};
  group.boxes = {zero_, zero_, two_, two_};
  group.box_options.detail = OverlapDetail::kEdges;
  Ask(group, [](const GroupAnswers& answers) {
    EXPECT_THAT(answers.capsules.polygon_ids, ElementsAre(1));
    EXPECT_THAT(answers.capsules.touching, ElementsAre(1));
    EXPECT_THAT(answers.boxes.polygon_ids, ElementsAre(1));
    EXPECT_THAT(answers.boxes.edges, ElementsAre(EdgeRef{0, 1}, EdgeRef{0, 2}));
  });
}

TEST_F(ClientKindsTest, Distances) {
  Group group;
  group.distances = {DiscAt(4), infinite_};
  Ask(group, [](const GroupAnswers& answers) {
    EXPECT_THAT(answers.distances.polygon_ids, ElementsAre(1));
    ASSERT_THAT(answers.distances.rows, SizeIs(1));
    const DistanceRow& row = answers.distances.rows[0];
    EXPECT_EQ(row.distance, 2);
    EXPECT_EQ(row.point, (Vec2{1, 0}));
    EXPECT_EQ(row.mover_point, (Vec2{3, 0}));
    EXPECT_TRUE(row.has_edge);
    EXPECT_EQ(row.edge, (EdgeRef{0, 1}));
  });
}

TEST_F(ClientKindsTest, Contacts) {
  Group group;
  group.contacts = {DiscAt(1.5), one_, infinite_};
  Ask(group, [](const GroupAnswers& answers) {
    EXPECT_THAT(answers.contacts.polygon_ids, ElementsAre(1));
    ASSERT_THAT(answers.contacts.contacts, SizeIs(1));
    const Contact& contact = answers.contacts.contacts[0];
    EXPECT_EQ(contact.kind, ContactKind::kConvex);
    EXPECT_EQ(contact.normal, (Vec2{1, 0}));
    EXPECT_EQ(contact.depth, 0.5);
    EXPECT_GE(contact.point_count, 1u);
    ASSERT_THAT(answers.contacts.splits, SizeIs(1));
    EXPECT_EQ(answers.contacts.splits[0].fixed, (Vec2{0, 0}));
    EXPECT_EQ(answers.contacts.splits[0].mover, (Vec2{0.5, 0}));
  });
}

TEST_F(ClientKindsTest, Depenetrations) {
  Group group;
  group.depenetrations = DiscAt(1.5);
  Ask(group, [](const GroupAnswers& answers) {
    EXPECT_THAT(answers.depenetrations.finished, ElementsAre(1));
    ASSERT_THAT(answers.depenetrations.positions, SizeIs(1));
    EXPECT_GT(answers.depenetrations.positions[0].x, 2);
    EXPECT_THAT(answers.depenetrations.positions[0].x, DoubleNear(2, 1e-6));
    ASSERT_THAT(answers.depenetrations.steps, SizeIs(1));
    EXPECT_GE(answers.depenetrations.steps[0], 1u);
  });
}

TEST_F(ClientKindsTest, Sweeps) {
  Group group;
  group.sweeps = {DiscAt(-4), four_, zero_};
  group.sweep_options.mode = CastMode::kAll;
  Ask(group, [](const GroupAnswers& answers) {
    ASSERT_THAT(answers.sweeps.hits, SizeIs(1));
    const SweepHit& hit = answers.sweeps.hits[0];
    EXPECT_EQ(hit.polygon_id, 1u);
    EXPECT_EQ(hit.fraction, 0.25);
    EXPECT_FALSE(hit.starts_inside);
    EXPECT_TRUE(hit.has_edge);
    EXPECT_EQ(hit.edge, (EdgeRef{0, 3}));
    EXPECT_EQ(hit.normal, (Vec2{-1, 0}));
  });
}

TEST_F(ClientKindsTest, RotatingSweeps) {
  const std::vector<double> tolerance{0.0625};
  Group group;
  group.rotating_sweeps = {DiscAt(-4), four_, zero_, {}, {}, one_, tolerance};
  Ask(group, [](const GroupAnswers& answers) {
    EXPECT_THAT(answers.rotating_sweeps.counts, ElementsAre(1));
    ASSERT_THAT(answers.rotating_sweeps.hits, SizeIs(1));
    const RotatingSweepHit& hit = answers.rotating_sweeps.hits[0];
    EXPECT_EQ(hit.polygon_id, 1u);
    EXPECT_LE(hit.low, 0.25);
    EXPECT_LE(hit.low, hit.high);
    EXPECT_THAT(hit.high, DoubleNear(0.25, 0.0625 / 8));
  });
}

TEST_F(ClientKindsTest, Arcs) {
  Group group;
  group.arcs = {zero_, five_, zero_, zero_, zero_, minus_two_, ten_};
  Ask(group, [](const GroupAnswers& answers) {
    ASSERT_THAT(answers.arcs.hits, SizeIs(1));
    const ArcHit& hit = answers.arcs.hits[0];
    EXPECT_EQ(hit.time, 2);
    EXPECT_EQ(hit.point, (Vec2{0, 1}));
    EXPECT_EQ(hit.normal, (Vec2{0, 1}));
    EXPECT_EQ(hit.edge, (EdgeRef{0, 2}));
  });
}

TEST_F(ClientKindsTest, SightsAndFans) {
  const std::vector<double> ax{-3, -3}, ay{5, 0}, bx{3, 3};
  const std::vector<uint32_t> beams{2};
  Group group;
  group.sights = {ax, ay, bx, ay};
  group.fans = {minus_three_, zero_, zero_, two_, ten_, beams};
  group.areas = {minus_three_, ten_, two_};
  Ask(group, [](const GroupAnswers& answers) {
    EXPECT_THAT(answers.sights.visible, ElementsAre(1, 0));
    EXPECT_THAT(answers.fans.counts, ElementsAre(2));
    EXPECT_THAT(answers.fans.hits, ElementsAre(1, 0));
    EXPECT_THAT(answers.fans.distances, ElementsAre(2, 10));
    EXPECT_THAT(answers.fans.polygon_ids, ElementsAre(1, 0));
    EXPECT_THAT(answers.areas.pieces,
                ElementsAre(AreaPiece{0, {}, AreaPieceKind::kArc, false, {-5, 10}}));
  });
}

TEST_F(ClientKindsTest, ABadGroupNamesItsField) {
  Frame frame;
  frame.groups.emplace_back().scene = std::string(kArena);
  frame.groups[0].group.contacts = {DiscAt(0), one_, {}};
  const auto answer = client_->Evaluate(frame);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(Refuses(answer->groups[0].status, absl::StatusCode::kInvalidArgument,
                      "contacts.polygon_mass"));
}

}  // namespace
}  // namespace carom
