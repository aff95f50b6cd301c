// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The game of `carom demo match`: two teams of bots that see, walk, slide along walls and around
// each other, open doors, shoot and die. It asks one group a tick and knows nothing of the map but
// what it is answered.
//
// Deterministic: the same map and options give the same match.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "carom/frame.h"
#include "carom/geometry.h"
#include "carom/group.h"
#include "carom/shape.h"
#include "client/load/random.h"

namespace carom::cli {

struct MatchOptions {
  uint32_t bots = 16;  // at least 2; those of even index are one team, the others the other
};

// A disc of the radius `MatchWorld::radius`.
struct Bot {
  Vec2 position;
  Vec2 velocity;          // what it wants to move in a tick
  int health = 0;         // hits that it takes; 0: it is not there
  int target = -1;        // the bot that it saw in the last tick, nearest of all; -1: none
  uint64_t turns_at = 0;  // the tick in which it walks another way
  uint64_t fires_at = 0;  // the tick from which it may fire
  uint64_t comes_at = 0;  // without health: the tick in which it comes back
};

// A polygon of the fork while it is shut.
struct Door {
  Box box;
  bool open = false;
  uint64_t shuts_at = 0;  // while it is open: the tick in which it shuts, if nobody is near
};

// One bullet, as it was answered.
struct Shot {
  Vec2 from;
  Vec2 to;  // where it hit, or the end of its range
  bool hits_bot = false;
};

// What a tick came to, for the picture.
struct MatchTick {
  std::vector<Vec2> positions;  // of each bot
  std::vector<uint8_t> alive;   // of each bot
  std::vector<uint8_t> open;    // of each door
  std::vector<Shot> shots;
};

// Sums over all ticks.
struct MatchCounts {
  uint64_t sights = 0, seen = 0;                    // lines of sight that were asked, were free
  uint64_t moves = 0, slid = 0;                     // moves, and those that met something
  uint64_t shots = 0, bot_hits = 0, wall_hits = 0;  // bullets, and what they hit
  uint64_t deaths = 0, doors_opened = 0, doors_shut = 0;
};

// Not thread-safe.
class MatchWorld {
 public:
  // Doors get the ids from `first_door_id` on, which no polygon of the map has.
  MatchWorld(const MatchOptions& options, const Box& bounds, uint64_t first_door_id);

  // Before the first tick: asks where there is room, and takes the answer; then asks, from there,
  // how wide it is, and takes that answer: where it is narrow, a door stands.
  Group RoomQuestion();
  void TakeRoom(const OverlapAnswers& answer);
  Group WidthQuestion();
  void TakeWidths(const CastAnswers& answer);

  // The question of a tick: the edits of doors, moves, sights and bullets. Views of this world,
  // until the next call.
  FrameGroup Ask(uint64_t tick);
  // Takes its answer: whoever is hit loses health, whoever moved is there.
  void Take(uint64_t tick, const GroupAnswers& answers);

  double radius() const { return radius_; }
  const std::vector<Bot>& bots() const { return bots_; }
  const std::vector<Door>& doors() const { return doors_; }
  const std::vector<MatchTick>& ticks() const { return ticks_; }
  const MatchCounts& counts() const { return counts_; }

 private:
  double Random();  // in [0, 1)
  Vec2 RandomDirection();
  bool IsNear(const Door& door, double distance) const;
  bool IsTaken(Vec2 p, const Bot& bot) const;
  const Vec2* FreePlace(const Bot& bot);
  void Spawn(uint64_t tick);
  void Steer(uint64_t tick);
  void AddDoorEdits(uint64_t tick, GroupEdits& edits);
  void AddMoves();
  void AddSights();
  void AddShots(uint64_t tick);
  void TakeMoves(uint64_t tick, const SlideAnswers& answer);
  void TakeSights(const SightAnswers& answer);
  void Wound(Bot& bot, uint64_t tick);
  void TakeShots(uint64_t tick, const CastAnswers& answer, MatchTick& out);

  const Box bounds_;
  const double unit_;  // a 400th of the map's larger side: sizes and speeds fit any map
  const double radius_;
  const uint64_t first_door_id_;
  load::Random random_;
  std::vector<Shape> disc_;  // one
  std::vector<Vec2> places_;
  std::vector<Bot> bots_;
  std::vector<Door> doors_;
  std::vector<MatchTick> ticks_;
  MatchCounts counts_;
  // Columns of the last question. Body i, and move i, are of the bot alive_[i].
  std::vector<uint32_t> alive_, shape_, owners_, shooters_;
  std::vector<double> x_, y_, dx_, dy_;
  std::vector<std::pair<int, int>> pairs_;  // of sights
  std::vector<double> sight_ax_, sight_ay_, sight_bx_, sight_by_;
  std::vector<double> ax_, ay_, bx_, by_;
  std::vector<double> room_radius_;
};

}  // namespace carom::cli
