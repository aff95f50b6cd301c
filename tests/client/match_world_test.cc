// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The game of `carom demo match`, played in the library: what must hold in every tick.

#include "client/cli/demo/match_world.h"

#include "carom/predicates.h"
#include "client/formats/scene_reader.h"
#include "tests/client/fixture.h"

namespace carom {
namespace {

// A match without a server.
class LocalMatch {
 public:
  LocalMatch(std::vector<Polygon> map, const cli::MatchOptions& options)
      : scene_(Scene::Create(std::move(map)).value()),
        world_(options, scene_->bounds(), kFirstDoor) {
    Evaluate(world_.RoomQuestion());
    world_.TakeRoom(answers_.circles);
    Evaluate(world_.WidthQuestion());
    world_.TakeWidths(answers_.segments);
  }

  void Tick() {
    const FrameGroup group = world_.Ask(tick_);
    if (group.edits) scene_ = scene_->Commit(group.edits->edits, scene_->version() + 1).value();
    Evaluate(group.group);
    world_.Take(tick_++, answers_);
  }

  // How many bots overlap a wall or a door that is shut, in more than touch.
  size_t Overlapping() const {
    const Shape disc[] = {*Shape::Create(Capsule{{}, world_.radius()})};
    std::vector<double> x, y;
    for (const cli::Bot& bot : world_.bots()) {
      if (bot.health == 0) continue;
      x.push_back(bot.position.x);
      y.push_back(bot.position.y);
    }
    const std::vector<uint32_t> shape(x.size());
    const std::vector<double> zero(x.size());
    SweepAnswers out;
    WorkMeter meter;
    SweepOptions options;
    options.inside_policy = InsidePolicy::kBlocking;
    SweepShapes(*scene_, {{.shapes = disc, .shape = shape, .x = x, .y = y}, {}, {}, zero, zero},
                options, out, meter);
    return out.hits.size();
  }

  // How many bots overlap another one in more than touch.
  size_t Crowded() const {
    size_t pairs = 0;
    for (const cli::Bot& a : world_.bots()) {
      for (const cli::Bot& b : world_.bots()) {
        if (&a >= &b || a.health == 0 || b.health == 0) continue;
        pairs += CompareDistance(a.position, Circle{b.position, 2 * world_.radius()}) < 0 ? 1 : 0;
      }
    }
    return pairs;
  }

  const cli::MatchWorld& world() const { return world_; }
  const Scene& scene() const { return *scene_; }

  static constexpr uint64_t kFirstDoor = 1000;

 private:
  void Evaluate(const Group& group) {
    WorkMeter meter;
    ASSERT_TRUE(CheckGroup(group).ok());
    ASSERT_TRUE(EvaluateGroup(*scene_, group, answers_, meter).ok());
  }

  Scene::Ptr scene_;
  cli::MatchWorld world_;
  GroupAnswers answers_;
  uint64_t tick_ = 0;
};

std::vector<Polygon> Arena() {
  const std::string path = Environment("CAROM_SOURCE_DIR") + "/client/examples/arena.json";
  return SceneFile::Read(path).value().polygons(0).value();
}

TEST(MatchWorldTest, NobodyStandsInAWallOrInAnother) {
  LocalMatch match(Arena(), {.bots = 24});
  ASSERT_GE(match.world().doors().size(), 4u);
  for (int tick = 0; tick < 200; ++tick) {
    match.Tick();
    ASSERT_EQ(match.Overlapping(), 0u) << "tick " << tick;
    ASSERT_EQ(match.Crowded(), 0u) << "tick " << tick;
  }
}

// The doors of the game are those of the scene, after every tick.
TEST(MatchWorldTest, DoorsAreInTheSceneWhileShut) {
  LocalMatch match(Arena(), {});
  for (int tick = 0; tick < 200; ++tick) {
    match.Tick();
    for (size_t i = 0; i < match.world().doors().size(); ++i) {
      const bool is_there = match.scene().Find(LocalMatch::kFirstDoor + i) != nullptr;
      ASSERT_NE(is_there, match.world().doors()[i].open) << "door " << i << ", tick " << tick;
    }
  }
  EXPECT_GT(match.world().counts().doors_opened, 0u);
}

// Three hits are a death, no bullet hits two, and all that is counted was drawn.
TEST(MatchWorldTest, CountsAreThoseOfTheTicks) {
  LocalMatch match(Arena(), {});
  for (int tick = 0; tick < 300; ++tick) match.Tick();
  size_t shots = 0, hits = 0;
  for (const cli::MatchTick& tick : match.world().ticks()) {
    shots += tick.shots.size();
    for (const cli::Shot& shot : tick.shots) hits += shot.hits_bot ? 1 : 0;
  }
  const cli::MatchCounts& counts = match.world().counts();
  EXPECT_EQ(shots, counts.shots);
  EXPECT_EQ(hits, counts.bot_hits);
  EXPECT_LE(counts.bot_hits + counts.wall_hits, counts.shots);
  EXPECT_GT(counts.deaths, 0u);
  EXPECT_LE(3 * counts.deaths, counts.bot_hits);
}

// A map that leaves no room, and one that is a line, are played all the same.
TEST(MatchWorldTest, MapsWithoutRoom) {
  PolygonSpec full;
  full.id = 1;
  full.rings = {{{{0, 0}, {40, 0}, {40, 40}, {0, 40}}}};
  PolygonSpec line;
  line.id = 1;
  line.solidity = Solidity::kBoundary;
  line.rings = {{{{0, 0}, {40, 0}}, true}};
  for (const PolygonSpec& spec : {full, line}) {
    LocalMatch match({Polygon::Create(spec).value()}, {.bots = 4});
    for (int tick = 0; tick < 20; ++tick) match.Tick();
    EXPECT_EQ(match.world().ticks().size(), 20u);
  }
}

}  // namespace
}  // namespace carom
