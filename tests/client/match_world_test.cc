// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The game of `carom demo match`, played in the library: what must hold in every tick.

#include "client/cli/demo/match_world.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "carom/predicates.h"
#include "carom/visibility.h"
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

  // Whether no wall meets the line from bot `a` to bot `b`, both before the moves of the last tick.
  bool IsInSight(size_t a, size_t b) const {
    const PoseColumns& poses = world_.Poses().poses;
    SightAnswers out;
    WorkMeter meter;
    TestLinesOfSight(*scene_,
                     {poses.x.subspan(a, 1), poses.y.subspan(a, 1), poses.x.subspan(b, 1),
                      poses.y.subspan(b, 1)},
                     {}, out, meter);
    return out.visible[0] != 0;
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
    for (const cli::Shot& shot : tick.shots) hits += shot.bot >= 0 ? 1 : 0;
  }
  const cli::MatchCounts& counts = match.world().counts();
  EXPECT_EQ(shots, counts.shots);
  EXPECT_EQ(hits, counts.bot_hits);
  EXPECT_LE(counts.bot_hits + counts.wall_hits, counts.shots);
  EXPECT_GT(counts.deaths, 0u);
  EXPECT_LE(3 * counts.deaths, counts.bot_hits);
}

bool IsSet(std::span<const uint64_t> bits, size_t i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }

// A bot that is dead is not alive in the poses; one that spawns is teleported, and no other one.
TEST(MatchWorldTest, PosesTellDeathsAndSpawns) {
  LocalMatch match(Arena(), {.bots = 70});
  std::vector<uint8_t> was_alive(70);
  size_t spawns = 0, dead = 0;
  for (int tick = 0; tick < 150; ++tick) {
    match.Tick();
    const PoseColumns poses = match.world().Poses().poses;
    ASSERT_EQ(poses.tick, static_cast<uint64_t>(tick));
    for (size_t i = 0; i < 70; ++i) {
      const bool alive = IsSet(poses.alive, i), spawned = alive && was_alive[i] == 0;
      ASSERT_TRUE(alive || was_alive[i] == 0) << "bot " << i << ", tick " << tick;
      ASSERT_EQ(IsSet(poses.teleported, i), spawned) << "bot " << i << ", tick " << tick;
      spawns += spawned ? 1 : 0;
      dead += alive ? 0 : 1;
    }
    was_alive = match.world().ticks().back().alive;
  }
  EXPECT_GT(spawns, 70u);
  EXPECT_GT(dead, 0u);
}

// A bullet meets a bot where it was at the moment that its shooter saw: between the poses of two
// ticks, which are recorded here, at most six ticks ago. A bot that died by the later of the two
// has stayed at its place of the earlier one.
TEST(MatchWorldTest, BulletsMeetBotsWhereTheirShootersSawThem) {
  LocalMatch match(Arena(), {.bots = 24});
  std::vector<std::vector<Vec2>> poses;
  std::vector<std::vector<uint64_t>> alive;
  size_t missed = 0, past = 0;
  for (uint64_t tick = 0; tick < 300; ++tick) {
    match.Tick();
    const PoseColumns now = match.world().Poses().poses;
    alive.emplace_back(now.alive.begin(), now.alive.end());
    poses.emplace_back();
    for (size_t i = 0; i < now.x.size(); ++i) poses.back().push_back({now.x[i], now.y[i]});
    for (const cli::Shot& shot : match.world().ticks().back().shots) {
      ASSERT_GE(shot.as_of, tick < 6 ? 0 : static_cast<double>(tick) - 6);
      ASSERT_LE(shot.as_of, static_cast<double>(tick));
      if (shot.bot < 0) continue;
      past += shot.as_of < static_cast<double>(tick) ? 1 : 0;
      missed += shot.misses_now ? 1 : 0;
      const auto before = static_cast<uint64_t>(shot.as_of);
      const uint64_t after = std::min(before + 1, tick);
      const auto bot = static_cast<size_t>(shot.bot);
      ASSERT_TRUE(IsSet(alive[before], bot));
      const double part = IsSet(alive[after], bot) ? shot.as_of - static_cast<double>(before) : 0;
      const Vec2 a = poses[before][bot], b = poses[after][bot];
      EXPECT_NEAR(shot.bot_place.x, a.x + part * (b.x - a.x), 1e-9);
      EXPECT_NEAR(shot.bot_place.y, a.y + part * (b.y - a.y), 1e-9);
      const Vec2 d = {shot.to.x - shot.bot_place.x, shot.to.y - shot.bot_place.y};
      EXPECT_NEAR(std::hypot(d.x, d.y), match.world().radius(), 1e-9);
    }
  }
  EXPECT_GT(past, 0u);
  EXPECT_GT(missed, 0u);
  EXPECT_EQ(missed, match.world().counts().missed_at_present);
}

// A target of a bot without latency is visible in part: often its centre is, and sometimes a wall
// hides the centre.
TEST(MatchWorldTest, BotsSeeEnemiesInPart) {
  LocalMatch match(Arena(), {.bots = 60});
  size_t visible = 0, hidden = 0;
  for (int tick = 0; tick < 200; ++tick) {
    match.Tick();
    for (size_t i = 0; i < 60; ++i) {
      const cli::Bot& bot = match.world().bots()[i];
      if (bot.latency > 0 || bot.target < 0) continue;
      ASSERT_EQ((i + static_cast<size_t>(bot.target)) % 2, 1u);
      ++(match.IsInSight(i, static_cast<size_t>(bot.target)) ? visible : hidden);
    }
  }
  EXPECT_GT(hidden, 0u);
  EXPECT_GT(visible, hidden);
}

// Each tick but the last has the areas of the first bot of each team, unless it is dead or about to
// spawn: around the place of the bot, and within its range.
TEST(MatchWorldTest, AreasBelongToThePlacesOfTheirTick) {
  LocalMatch match(Arena(), {});
  for (int tick = 0; tick < 200; ++tick) match.Tick();
  const std::vector<cli::MatchTick>& ticks = match.world().ticks();
  EXPECT_TRUE(ticks.back().areas.empty());
  size_t arcs = 0;
  for (size_t tick = 0; tick + 1 < ticks.size(); ++tick) {
    size_t alive = 0;
    for (const uint32_t bot : cli::MatchWorld::kWatched) alive += ticks[tick].alive[bot];
    ASSERT_EQ(ticks[tick].areas.size(), alive) << "tick " << tick;
    for (const cli::SightArea& area : ticks[tick].areas) {
      const Vec2 eye = ticks[tick].positions[area.bot];
      size_t at_eye = 0;
      for (const cli::SightPiece& piece : area.pieces) {
        arcs += piece.is_arc ? 1 : 0;
        at_eye += piece.start == eye ? 1 : 0;
        EXPECT_LE(std::hypot(piece.start.x - eye.x, piece.start.y - eye.y), area.range + 1e-9);
      }
      EXPECT_EQ(at_eye, 1u) << "tick " << tick;
    }
  }
  EXPECT_GT(arcs, 0u);
}

// Bots of a map without outer walls come back.
TEST(MatchWorldTest, BotsStayNearTheMap) {
  PolygonSpec rock;
  rock.id = 1;
  rock.rings = {{{{0, 0}, {400, 0}, {0, 4}}}};
  PolygonSpec other = rock;
  other.id = 2;
  other.rings = {{{{0, 300}, {400, 304}, {0, 304}}}};
  LocalMatch match({Polygon::Create(rock).value(), Polygon::Create(other).value()}, {.bots = 8});
  for (int tick = 0; tick < 400; ++tick) match.Tick();
  for (const cli::Bot& bot : match.world().bots()) {
    EXPECT_GT(bot.position.x, -100);
    EXPECT_LT(bot.position.x, 500);
    EXPECT_GT(bot.position.y, -100);
    EXPECT_LT(bot.position.y, 404);
  }
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
