// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Laws of bodies with a history:
//   1. a group as of one moment is answered as a group with the bodies of that moment;
//   2. so is each item as of its own moment, whatever the others are as of;
//   3. an item as of a moment that is not kept is an error of the item, and no other answer
//   changes;
//   4. poses between two ticks are those of docs/conventions.md, "Body sets".

#include "carom/body_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "carom/group.h"
#include "carom/group_kinds.h"
#include "carom/sincos.h"
#include "carom/status.h"
#include "tests/support/answer_words.h"
#include "tests/support/body_case.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"
#include "tests/support/group_part.h"
#include "tests/support/repeats.h"

namespace carom::testing::body_history_test {
namespace {

constexpr uint64_t kFirstTick = 40;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A group asked of a history: the bodies of a case, which move from tick to tick.
class HistoryCase {
 public:
  explicit HistoryCase(uint64_t seed) : choices_(seed) {
    made_ = MakeGroupCase(choices_, 12, BadNumbers::kSome);
    AddBodies(choices_, *made_);
    const BodyColumns& bodies = made_->group.bodies;
    BodyDefinition definition;
    definition.shapes.assign(bodies.placed.shapes.begin(), bodies.placed.shapes.end());
    definition.shape.assign(bodies.placed.shape.begin(), bodies.placed.shape.end());
    definition.category.assign(bodies.category.begin(), bodies.category.end());
    definition.owner.assign(bodies.owner.begin(), bodies.owner.end());
    definition.keep_ticks = 1 + choices_.Below(6);
    if (definition.shape.empty()) definition.shapes.clear();
    absl::StatusOr<BodyHistory> history = BodyHistory::Create(std::move(definition));
    // Cases with coordinates near 2^53 are not for histories.
    is_usable_ = history.ok();
    if (!is_usable_) return;
    history_ = *std::move(history);
    for (uint32_t left = 1 + choices_.Below(8); left > 0 && is_usable_; --left) AddTick();
    group_ = made_->group;
    group_.bodies = {};
    group_.body_history = &history_;
    if (choices_.OneIn(2) && history_.Allows(BodyRotation::kLinear)) {
      group_.body_rotation = BodyRotation::kLinear;
    }
  }

  bool is_usable() const { return is_usable_; }
  const BodyHistory& history() const { return history_; }
  const Group& group() const { return group_; }
  const GroupCase& made() const { return *made_; }
  Choices& choices() { return choices_; }

  // A moment: a tick, one between two ticks, or sometimes one that is not kept.
  double AnyMoment() {
    const double oldest = static_cast<double>(history_.oldest_tick());
    const double newest = static_cast<double>(history_.newest_tick());
    if (choices_.OneIn(12)) {
      const double others[] = {kNaN, -1, oldest - 0.5, newest + 0.5, HUGE_VAL, 1e300};
      return others[choices_.Below(6)];
    }
    double moment = oldest + choices_.Below(static_cast<uint32_t>(newest - oldest) + 1);
    if (choices_.OneIn(2)) return moment;
    moment += choices_.OneIn(3) ? 0.5 : choices_.Unit();
    return std::min(moment, newest);
  }

 private:
  void AddTick() {
    const size_t count = history_.size();
    std::vector<double> x, y, c, s, angle;
    std::vector<uint64_t> alive(count == 0 ? 0 : 1, ~uint64_t{0}), teleported(alive.size());
    for (size_t i = 0; i < count; ++i) {
      const Vec2 p = made_->Point(choices_);
      x.push_back(p.x);
      y.push_back(p.y);
      const bool turns = choices_.OneIn(2);
      c.push_back(turns ? 0.6 : 1);
      s.push_back(turns ? 0.8 : 0);
      angle.push_back(static_cast<double>(choices_.Below(13)) - 6);
      if (choices_.OneIn(8)) alive[0] &= ~(uint64_t{1} << i);
      if (choices_.OneIn(8)) teleported[0] |= uint64_t{1} << i;
    }
    if (history_.tick_count() == 0) form_ = choices_.Below(3);
    if (form_ != 1) c.clear(), s.clear();
    if (form_ != 2) angle.clear();
    tick_ += choices_.OneIn(6) ? 2 : 1;
    const PoseColumns poses{tick_, x, y, c, s, angle, alive, teleported};
    is_usable_ = history_.Add(poses).ok() && history_.Add(poses).ok();
  }

  Choices choices_;
  std::unique_ptr<GroupCase> made_;
  BodyHistory history_;
  Group group_;
  uint64_t tick_ = kFirstTick;
  uint32_t form_ = 0;
  bool is_usable_ = false;
};

GroupAnswers Evaluated(const Scene& scene, const Group& group) {
  GroupAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(CheckGroup(group).ok()) << CheckGroup(group);
  EXPECT_TRUE(EvaluateGroup(scene, group, answers, meter).ok());
  return answers;
}

// Gives each kind that may consider bodies the moments of its items.
void SetMoments(std::span<const double> moments, Group& group) {
  ForEachKind([&](const auto& kind) {
    auto& columns = group.*kind.columns;
    if constexpr (kAsksBodies<decltype(kind)> &&
                  HasScope<std::remove_reference_t<decltype(columns)>>) {
      if (!moments.empty()) ScopeOf(columns).as_of = moments.first(columns.size());
      if (moments.empty()) ScopeOf(columns).as_of = {};
    }
  });
}

void ExpectEqual(GroupAnswers& answers, GroupAnswers& expected, const std::string& where) {
  const std::vector<Words> words = WordsOf(answers);
  const std::vector<Words> others = WordsOf(expected);
  for (size_t k = 0; k < words.size(); ++k) {
    EXPECT_EQ(words[k], others[k]) << words[k].batch << ", " << where;
  }
}

// The group with the bodies of one moment in place of its history.
Group WithBodiesOf(const Group& group, double as_of, PastBodies& past) {
  Group with = group;
  EXPECT_TRUE(group.body_history->At(as_of, group.body_rotation, past));
  with.body_history = nullptr;
  with.bodies = past.columns();
  SetMoments({}, with);
  return with;
}

TEST(BodyHistoryTest, Law1AGroupAsOfAMomentHasTheBodiesOfThatMoment) {
  int answered = 0;
  for (int seed = 1; seed <= Repeats(400, 20000); ++seed) {
    HistoryCase asked(static_cast<uint64_t>(seed));
    if (!asked.is_usable()) continue;
    const double moment = asked.AnyMoment();
    if (!asked.history().Has(moment)) continue;
    ++answered;
    Group group = asked.group();
    group.body_contacts.body = {};
    const std::vector<double> moments(64, moment);
    SetMoments(moments, group);
    GroupAnswers answers = Evaluated(*asked.made().scene, group);
    PastBodies past;
    GroupAnswers expected = Evaluated(*asked.made().scene, WithBodiesOf(group, moment, past));
    ExpectEqual(answers, expected, "seed " + std::to_string(seed) + "\n" + asked.made().ToCode());
    if (HasFailure()) return;
  }
  EXPECT_GT(answered, Repeats(400, 20000) / 4);
}

TEST(BodyHistoryTest, WithoutMomentsAGroupHasTheBodiesOfTheNewestTick) {
  for (int seed = 1; seed <= Repeats(200, 5000); ++seed) {
    HistoryCase asked(static_cast<uint64_t>(seed));
    if (!asked.is_usable()) continue;
    const double newest = static_cast<double>(asked.history().newest_tick());
    PastBodies past;
    GroupAnswers expected =
        Evaluated(*asked.made().scene, WithBodiesOf(asked.group(), newest, past));
    GroupAnswers answers = Evaluated(*asked.made().scene, asked.group());
    ExpectEqual(answers, expected, "seed " + std::to_string(seed) + "\n" + asked.made().ToCode());
    if (HasFailure()) return;
  }
}

// Checks that each kind with moments has an error of its only item, and nothing else.
void ExpectNotKept(const Group& group, const GroupAnswers& answers) {
  ForEachKind([&](const auto& kind) {
    const auto& columns = group.*kind.columns;
    if constexpr (kAsksBodies<decltype(kind)> && HasScope<std::remove_cvref_t<decltype(columns)>>) {
      if (columns.size() == 0) return;
      const ItemError error{0, ItemColumn::kAsOf, ItemFault::kNotKept};
      EXPECT_EQ((answers.*kind.answers).errors, std::vector<ItemError>{error}) << kind.name;
    }
  });
}

TEST(BodyHistoryTest, Law2EachItemIsAsOfItsOwnMoment) {
  for (int seed = 1; seed <= Repeats(300, 20000); ++seed) {
    HistoryCase asked(static_cast<uint64_t>(seed));
    if (!asked.is_usable()) continue;
    Group group = asked.group();
    group.body_contacts.body = {};
    std::vector<double> moments;
    for (int i = 0; i < 64; ++i) moments.push_back(asked.AnyMoment());
    SetMoments(moments, group);
    GroupAnswers answers = Evaluated(*asked.made().scene, group);
    const std::vector<uint32_t> sizes = SizesOf(group);
    GroupAnswers expected;
    for (uint32_t i = 0; i < *std::max_element(sizes.begin(), sizes.end()); ++i) {
      const Group item = PartOf(PartOf(group, i, GroupPart::kSecond), 1, GroupPart::kFirst);
      PastBodies past;
      const bool is_kept = asked.history().Has(moments[i]);
      GroupAnswers answer =
          Evaluated(*asked.made().scene, is_kept ? WithBodiesOf(item, moments[i], past) : item);
      if (!is_kept) ExpectNotKept(item, answer);
      std::vector<uint32_t> offsets;
      for (const uint32_t size : sizes) offsets.push_back(std::min(i, size));
      if (i == 0) {
        expected = std::move(answer);
      } else {
        Append(expected, answer, offsets);
      }
    }
    if (!sizes.empty() && *std::max_element(sizes.begin(), sizes.end()) > 0) {
      ExpectEqual(answers, expected, "seed " + std::to_string(seed) + "\n" + asked.made().ToCode());
    }
    if (HasFailure()) return;
  }
}

// Two discs that move from tick 10 to tick 12.
BodyHistory TwoDiscs(std::vector<double> angles = {}) {
  BodyDefinition definition;
  definition.shapes.assign(2, Shape::Create(Capsule{{{0, 0}, {1, 0}}, 1}).value());
  definition.keep_ticks = 2;
  BodyHistory history = BodyHistory::Create(definition).value();
  for (uint64_t tick = 10; tick <= 12; ++tick) {
    const double x[] = {0.1 * static_cast<double>(tick), 5}, y[] = {3, 0.7};
    std::vector<double> turned;
    if (!angles.empty()) turned = {angles[tick - 10], 0};
    EXPECT_TRUE(history.Add({.tick = tick, .x = x, .y = y, .angle = turned}).ok());
  }
  return history;
}

TEST(BodyHistoryTest, Law4PositionsAreInterpolatedWithEachOperationRoundedOnce) {
  const BodyHistory history = TwoDiscs();
  PastBodies past;
  ASSERT_TRUE(history.At(11.3, BodyRotation::kNearest, past));
  const double f = 11.3 - 11;
  EXPECT_EQ(past.x, (std::vector<double>{1.1 + f * (1.2000000000000002 - 1.1), 5}));
  EXPECT_EQ(past.y, (std::vector<double>{3, 0.7}));
  EXPECT_TRUE(past.c.empty());
  EXPECT_FALSE(history.Has(10));
  EXPECT_FALSE(history.Has(std::nextafter(11, 0)));
  EXPECT_FALSE(history.Has(std::nextafter(12, 13)));
  EXPECT_TRUE(history.Has(12));
}

TEST(BodyHistoryTest, Law4RotationsAreThoseOfTheNearestTickOrTurnTheShorterWay) {
  const BodyHistory history = TwoDiscs({0, 3, -3});
  PastBodies past;
  ASSERT_TRUE(history.At(std::nextafter(11.5, 0), BodyRotation::kNearest, past));
  EXPECT_EQ(past.c[0], SinCos(3).c);
  ASSERT_TRUE(history.At(11.5, BodyRotation::kNearest, past));
  EXPECT_EQ(past.s[0], SinCos(-3).s);
  ASSERT_TRUE(history.At(11.5, BodyRotation::kLinear, past));
  EXPECT_NEAR(past.c[0], -1, 1e-15);  // halfway from 3 to -3, through pi
  EXPECT_NEAR(past.s[0], 0, 1e-15);
  ASSERT_TRUE(history.At(11, BodyRotation::kLinear, past));
  EXPECT_EQ(past.s[0], SinCos(3).s);
}

TEST(BodyHistoryTest, Law4ExactlyOppositeAnglesTurnCounterClockwise) {
  const double turn = 6.283185307179586;
  for (const double to : {turn / 2, -turn / 2}) {
    const BodyHistory history = TwoDiscs({0, 0, to});
    PastBodies past;
    ASSERT_TRUE(history.At(11.5, BodyRotation::kLinear, past));
    EXPECT_NEAR(past.s[0], 1, 1e-15) << to;
  }
}

TEST(BodyHistoryTest, BodiesDoNotMoveAcrossADeathOrATeleport) {
  BodyDefinition definition;
  definition.shapes.assign(3, Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value());
  BodyHistory history = BodyHistory::Create(definition).value();
  const double zero[] = {0, 0, 0}, x[] = {8, 8, 8};
  const uint64_t all_but_0[] = {6}, only_1[] = {2};
  ASSERT_TRUE(history.Add({.tick = 0, .x = zero, .y = zero}).ok());
  ASSERT_TRUE(
      history.Add({.tick = 1, .x = x, .y = zero, .alive = all_but_0, .teleported = only_1}).ok());
  ASSERT_TRUE(history.Add({.tick = 2, .x = zero, .y = zero}).ok());
  PastBodies past;
  ASSERT_TRUE(history.At(0.75, BodyRotation::kNearest, past));
  EXPECT_EQ(past.x, (std::vector<double>{0, 0, 6}));
  EXPECT_EQ(past.category, (std::vector<uint64_t>{1, 1, 1}));
  ASSERT_TRUE(history.At(1.5, BodyRotation::kNearest, past));
  EXPECT_EQ(past.x, (std::vector<double>{8, 4, 4}));
  EXPECT_EQ(past.category, (std::vector<uint64_t>{0, 1, 1}));
}

TEST(BodyHistoryTest, ATickSentAgainChangesNothing) {
  BodyHistory history = TwoDiscs();
  const double x[] = {0.1 * 12, 5}, y[] = {3, 0.7}, other[] = {1, 5};
  const auto add = [&](uint64_t tick, std::span<const double> at) {
    return history.Add({.tick = tick, .x = at, .y = y});
  };
  EXPECT_TRUE(add(12, x).ok());
  EXPECT_EQ(history.tick_count(), 2u);
  EXPECT_EQ(add(12, other).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(add(10, other).ok());  // dropped: changes nothing
  EXPECT_EQ(history.oldest_tick(), 11u);
  EXPECT_TRUE(add(14, x).ok());
  EXPECT_EQ(add(13, x).code(), absl::StatusCode::kInvalidArgument);  // left out
  // A history that begins with any tick, as one that is filled again, treats earlier ones alike.
  BodyDefinition definition;
  definition.shapes.assign(2, Shape::Create(Capsule{{{0, 0}, {1, 0}}, 1}).value());
  BodyHistory later = BodyHistory::Create(definition).value();
  EXPECT_TRUE(later.Add({.tick = 11, .x = x, .y = y}).ok());
  EXPECT_TRUE(later.Add({.tick = 10, .x = other, .y = y}).ok());
  EXPECT_EQ(later.tick_count(), 1u);
  EXPECT_EQ(later.oldest_tick(), 11u);
  EXPECT_FALSE(history.Has(12.5));
  EXPECT_TRUE(history.Has(12));
  EXPECT_TRUE(history.Has(14));
  EXPECT_FALSE(history.HasTick(13));
}

TEST(BodyHistoryTest, RefusesWhatIsMalformed) {
  BodyHistory history = TwoDiscs();
  const double two[] = {1, 2}, one[] = {1}, far[] = {1, 0x1.8p52}, nan[] = {kNaN, 0};
  const uint64_t words[] = {1, 1};
  const auto field_of = [&](const PoseColumns& poses) {
    const absl::Status status = history.Add(poses);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::vector<Violation> violations = Violations(status);
    return violations.empty() ? std::string() : violations[0].field;
  };
  EXPECT_EQ(field_of({.tick = 20, .x = one, .y = two}), "x");
  EXPECT_EQ(field_of({.tick = 20, .x = two, .y = far}), "y[1]");
  EXPECT_EQ(field_of({.tick = 20, .x = nan, .y = two}), "x[0]");
  EXPECT_EQ(field_of({.tick = 20, .x = two, .y = two, .c = two}), "s");
  EXPECT_EQ(field_of({.tick = 20, .x = two, .y = two, .c = two, .s = two}), "c[0]");
  EXPECT_EQ(field_of({.tick = 20, .x = two, .y = two, .angle = two}), "angle");
  EXPECT_EQ(field_of({.tick = 20, .x = two, .y = two, .alive = words}), "alive");
  EXPECT_EQ(field_of({.tick = kMaxTick + 1, .x = two, .y = two}), "tick");
  EXPECT_EQ(history.newest_tick(), 12u);
  BodyDefinition definition;
  definition.shapes.push_back(Shape::Create(Capsule{{{0x1p52, 0}, {0, 0}}, 1}).value());
  EXPECT_EQ(BodyHistory::Create(definition).status().code(), absl::StatusCode::kInvalidArgument);
  definition.shapes.assign(kMaxBodies + 1, Shape::Create(Capsule{}).value());
  EXPECT_EQ(BodyHistory::Create(definition).status().code(), absl::StatusCode::kResourceExhausted);
  definition.shapes.resize(1, Shape::Create(Capsule{}).value());
  definition.keep_ticks = 257;
  EXPECT_EQ(BodyHistory::Create(definition).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(BodyHistoryTest, AGroupIsCheckedForWhatBelongsTogether) {
  const BodyHistory history = TwoDiscs();
  const double x[] = {1}, as_of[] = {11, 12};
  const auto field_of = [&](const Group& group) {
    const std::vector<Violation> violations = Violations(CheckGroup(group));
    return violations.empty() ? std::string() : violations[0].field;
  };
  Group group;
  group.points.x = group.points.y = x;
  group.points.scope.as_of = std::span(as_of).first(1);
  EXPECT_EQ(field_of(group), "points.as_of");
  group.body_history = &history;
  EXPECT_EQ(field_of(group), "");
  group.points.scope.as_of = as_of;
  EXPECT_EQ(field_of(group), "points.as_of");
  group.points.scope.as_of = {};
  const Shape shapes[] = {Shape::Create(Capsule{}).value()};
  group.bodies.placed.shapes = shapes;
  group.bodies.placed.x = group.bodies.placed.y = x;
  EXPECT_EQ(field_of(group), "bodies");
}

TEST(BodyHistoryTest, WithoutTicksItemsThatConsiderBodiesAreOutOfRange) {
  BodyDefinition definition;
  definition.shapes.push_back(Shape::Create(Capsule{}).value());
  const BodyHistory history = BodyHistory::Create(definition).value();
  const double x[] = {0};
  Group group;
  group.body_history = &history;
  group.points.x = group.points.y = x;
  const Scene::Ptr scene = Scene::Create({}).value();
  EXPECT_TRUE(Evaluated(*scene, group).points.errors.empty());
  group.points.scope.against = Against::kBoth;
  const ItemError error{0, ItemColumn::kAsOf, ItemFault::kNotKept};
  EXPECT_EQ(Evaluated(*scene, group).points.errors, std::vector<ItemError>{error});
}

// Story: a tick with the angle -0 that was sent again with 0 was refused as one with other poses.
TEST(BodyHistoryTest, ZeroesOfRotationsHaveNoSign) {
  for (const bool has_angle : {true, false}) {
    BodyDefinition definition;
    definition.shapes.assign(1, Shape::Create(Capsule{{{0, 0}, {1, 0}}, 1}).value());
    BodyHistory history = BodyHistory::Create(definition).value();
    const double zero[] = {0}, minus[] = {-0.0}, one[] = {1};
    for (const std::span<const double> angle : {std::span(minus), std::span(zero)}) {
      PoseColumns poses{.tick = 7, .x = zero, .y = angle};
      if (has_angle) {
        poses.angle = angle;
      } else {
        poses.c = one;
        poses.s = angle;
      }
      EXPECT_EQ(history.Add(poses), absl::OkStatus()) << has_angle;
    }
    PastBodies past;
    ASSERT_TRUE(history.At(7, BodyRotation::kNearest, past));
    EXPECT_FALSE(std::signbit(past.s[0])) << has_angle;
  }
}

// An angle between two ticks that is beyond the accepted ones is one turn less.
TEST(BodyHistoryTest, Law4LinearAnglesStayInTheAcceptedRange) {
  const double turn = 6.283185307179586, most = 0x1p20;
  for (const double sign : {1.0, -1.0}) {
    // The shorter way from `from` to `to` leads beyond 2^20.
    const double from = sign * (most - 1), to = sign * (most - 1 - turn + 3);
    const BodyHistory history = TwoDiscs({0, from, to});
    PastBodies past;
    ASSERT_TRUE(history.At(11.75, BodyRotation::kLinear, past));
    double d = to - from;
    d -= turn * std::floor(d / turn + 0.5);
    const double angle = from + 0.75 * d;
    ASSERT_GT(std::abs(angle), most);
    EXPECT_EQ(past.c[0], SinCos(angle - sign * turn).c);
    EXPECT_EQ(past.s[0], SinCos(angle - sign * turn).s);
  }
}

// The history keeps the user data of shapes.
TEST(BodyHistoryTest, UserDataIsCounted) {
  const auto bytes_of = [](std::string user_data) {
    PolygonSpec spec;
    spec.rings.push_back({{{0, 0}, {1, 0}, {0, 1}}});
    spec.user_data = std::move(user_data);
    BodyDefinition definition;
    definition.shapes.emplace_back(Polygon::Create(std::move(spec)).value());
    return BodyHistory::Create(std::move(definition)).value().defined_bytes();
  };
  EXPECT_GE(bytes_of(std::string(4000, 'x')), bytes_of("") + 4000);
}

TEST(BodyHistoryTest, APoseTakesAtMostFortyBytes) {
  EXPECT_LE(BodyHistory::TickBytes(200, 32), 200u * 32 * 40);
  EXPECT_LE(BodyHistory::TickBytes(kMaxBodies, kMaxKeepTicks), kMaxBodies * kMaxKeepTicks * 40);
}

// Story: a group of one item in error read 4,096 bodies at no cost in units.
TEST(BodyHistoryTest, TheBodiesOfAGroupCostUnitsWhateverIsAsked) {
  BodyDefinition definition;
  definition.shapes = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  definition.shape.assign(4096, 0);
  BodyHistory history = BodyHistory::Create(definition).value();
  const std::vector<double> zeros(4096);
  ASSERT_TRUE(history.Add({.tick = 1, .x = zeros, .y = zeros}).ok());
  const double x[] = {0}, y[] = {0}, as_of[] = {std::numeric_limits<double>::quiet_NaN()};
  Group group;
  group.body_history = &history;
  group.points = {x, y};
  group.points.scope = {Against::kBodies, {}, {}, as_of};
  GroupAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(EvaluateGroup(*Scene::Create({}).value(), group, answers, meter).ok());
  EXPECT_EQ(answers.points.errors.size(), 1u);
  EXPECT_GE(meter.used(), 4096u);
}

TEST(BodyHistoryTest, ManyTicksOfManyBodiesAreAnsweredAsOfEachMoment) {
  // More boxes than the windows of one tick may have: several ticks share a window.
  BodyDefinition definition;
  definition.shapes.push_back(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0.25}).value());
  definition.shape.assign(1500, 0);
  definition.keep_ticks = 256;
  BodyHistory history = BodyHistory::Create(definition).value();
  std::vector<double> x(1500), y(1500);
  for (uint64_t tick = 0; tick < 256; ++tick) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<double>(i % 40 * 4) + static_cast<double>(tick) / 64;
      y[i] = static_cast<double>(i / 40 * 4);
    }
    ASSERT_TRUE(history.Add({.tick = tick, .x = x, .y = y}).ok());
  }
  std::vector<double> px, py, as_of;
  for (int i = 0; i < 255; ++i) {
    as_of.push_back(i + 0.25 * (i % 4));
    px.push_back(80 + as_of.back() / 64 + (i % 3 == 0 ? 0.3 : 0.25));
    py.push_back(40);
  }
  Group group;
  group.body_history = &history;
  group.points.x = px;
  group.points.y = py;
  group.points.scope = {Against::kBodies, {}, {}, as_of};
  const GroupAnswers answers = Evaluated(*Scene::Create({}).value(), group);
  for (size_t i = 0; i < as_of.size(); ++i) {
    EXPECT_EQ(answers.points.counts[i], i % 3 == 0 ? 0u : 1u) << i;
  }
}

double Number(Choices& choices, double size) { return size * (2 * choices.Unit() - 1); }

// Capsules that walk for 24 ticks. Some die and teleport, and one moves far in each tick.
BodyHistory Walkers(Choices& choices, bool turn, bool has_gap) {
  const size_t bodies = 1 + choices.Below(60);
  BodyDefinition definition;
  definition.shapes.push_back(Shape::Create(Capsule{{{0, 0}, {1, 0}}, 0.5}).value());
  definition.shape.assign(bodies, 0);
  definition.keep_ticks = 24;
  BodyHistory history = BodyHistory::Create(definition).value();
  std::vector<double> x(bodies), y(bodies), angle(bodies);
  for (uint64_t tick = 0; tick < 24; ++tick) {
    std::vector<uint64_t> alive = {~uint64_t{0}}, teleported = {0};
    for (size_t i = 0; i < bodies; ++i) {
      const bool jumps = tick == 0 || choices.OneIn(40);
      teleported[0] |= uint64_t{jumps} << i;
      alive[0] &= ~(uint64_t{choices.OneIn(30)} << i);
      const double step = i == 0 ? 5 : 0.25;
      x[i] = jumps ? Number(choices, 50) : x[i] + Number(choices, step);
      y[i] = jumps ? Number(choices, 50) : y[i] + Number(choices, step);
      angle[i] += Number(choices, 0.5);
    }
    if (tick == 11 && has_gap) continue;
    PoseColumns poses{.tick = tick, .x = x, .y = y, .alive = alive, .teleported = teleported};
    if (turn) poses.angle = angle;
    EXPECT_TRUE(history.Add(poses).ok());
  }
  return history;
}

// So many shots that windows have trees.
TEST(BodyHistoryTest, ManyShotsAreAnsweredAsOfTheirMoments) {
  Choices choices(17);
  const Scene::Ptr scene = Scene::Create({}).value();
  size_t hits = 0;
  for (int round = 0; round < Repeats(20, 400); ++round) {
    const BodyHistory history = Walkers(choices, round % 2 == 0, round % 3 == 0);
    std::vector<double> ax, ay, bx, by, as_of;
    for (size_t i = 0; i < 400; ++i) {
      ax.push_back(Number(choices, 60));
      ay.push_back(Number(choices, 60));
      const double length = choices.OneIn(2) ? 4 : 60;
      bx.push_back(ax[i] + Number(choices, length));
      by.push_back(ay[i] + Number(choices, length));
      as_of.push_back(round % 4 == 1 ? 20.5 : 25 * choices.Unit() - 1);
    }
    Group group;
    group.body_history = &history;
    group.segments = {ax, ay, bx, by};
    group.segments.scope = {round % 5 == 0 ? Against::kBodies : Against::kBoth, {}, {}, as_of};
    GroupAnswers answers = Evaluated(*scene, group);
    hits += answers.segments.hits.size();
    GroupAnswers expected;
    for (uint32_t i = 0; i < as_of.size(); ++i) {
      const Group item = PartOf(PartOf(group, i, GroupPart::kSecond), 1, GroupPart::kFirst);
      PastBodies past;
      const bool is_kept = history.Has(as_of[i]);
      GroupAnswers answer = Evaluated(*scene, is_kept ? WithBodiesOf(item, as_of[i], past) : item);
      const std::vector<uint32_t> offsets = SizesOf(PartOf(group, i, GroupPart::kFirst));
      if (i == 0) {
        expected = std::move(answer);
      } else {
        Append(expected, answer, offsets);
      }
    }
    ExpectEqual(answers, expected, "round " + std::to_string(round));
    if (HasFailure()) return;
  }
  EXPECT_GT(hits, 200u);
}

}  // namespace
}  // namespace carom::testing::body_history_test
