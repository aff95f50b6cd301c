// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Simulates the game of `carom demo match`: two teams of bots that see, walk, slide along walls and
// around each other, open doors, shoot and die.
//
// The game sends one group of queries per tick. It has the bounds of the map and the answers, but
// not the polygons of the map. The game is deterministic: matches with equal maps and options are
// equal.
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

// The options of a match.
struct MatchOptions {
  uint32_t bots = 16;  // at least 2; bots of even index are one team, bots of odd index the other
};

// A player: a disc of the radius `MatchWorld::radius`.
struct Bot {
  Vec2 position;
  Vec2 velocity;             // intended displacement per tick
  int health = 0;            // number of hits until the bot dies; 0: the bot is dead
  int target = -1;           // index of the nearest enemy that the bot saw last tick; -1: none
  uint64_t turns_at = 0;     // the tick in which the bot changes direction
  uint64_t fires_at = 0;     // the first tick in which the bot may fire
  uint64_t respawns_at = 0;  // if dead: the first tick in which the bot may respawn
};

// A door. While the door is shut, the scene of the match (a copy of the map) has a polygon for it.
struct Door {
  Box box;
  bool open = false;
  uint64_t shuts_at = 0;  // if open: the first tick in which the door shuts if no bot is near
};

// A bullet and where it went.
struct Shot {
  Vec2 from;
  Vec2 to;  // the point of the hit, or the end of the range
  bool hits_bot = false;
};

// The state after a tick, which the picture of the match shows.
struct MatchTick {
  std::vector<Vec2> positions;  // position of each bot
  std::vector<uint8_t> alive;   // whether each bot is alive
  std::vector<uint8_t> open;    // whether each door is open
  std::vector<Shot> shots;
};

// Counts of events, summed over all ticks.
struct MatchCounts {
  // numbers of lines of sight: all that were queried, and those that no polygon obstructs
  uint64_t sights = 0, seen = 0;
  uint64_t moves = 0, slid = 0;                     // moves: all, and obstructed ones
  uint64_t shots = 0, bot_hits = 0, wall_hits = 0;  // bullets: all, and those that hit
  uint64_t deaths = 0, doors_opened = 0, doors_shut = 0;
};

// The state of a match and the queries about it. A body is the disc of a bot that queries of the
// tick can hit; a slide is the query that moves the disc of a bot along walls. Not thread-safe.
class MatchWorld {
 public:
  // The doors get consecutive ids from `first_door_id`; no polygon of the map may have one of these
  // ids.
  MatchWorld(const MatchOptions& options, const Box& bounds, uint64_t first_door_id);

  // The following four functions must be called in this order before the first tick. `RoomQuestion`
  // returns queries for random places where a bot touches no polygon, and `TakeRoom` stores these
  // places. `WidthQuestion` returns queries for the distances from these places to the walls, and
  // `TakeWidths` puts doors in narrow passages.
  Group RoomQuestion();
  void TakeRoom(const OverlapAnswers& answer);
  Group WidthQuestion();
  void TakeWidths(const CastAnswers& answer);

  // Returns the edits and queries of a tick: edits of doors, and queries for moves, lines of sight
  // and bullets. The group has views of this world's columns, valid until the next call.
  FrameGroup Ask(uint64_t tick);
  // Updates the bots by `answers`, the answers to the queries that Ask(tick) returned.
  void Take(uint64_t tick, const GroupAnswers& answers);

  double radius() const { return radius_; }
  const std::vector<Bot>& bots() const { return bots_; }
  const std::vector<Door>& doors() const { return doors_; }
  const std::vector<MatchTick>& ticks() const { return ticks_; }
  const MatchCounts& counts() const { return counts_; }

 private:
  double Random();  // returns a number in [0, 1)
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
  const double unit_;  // a 400th of the map's larger side, the unit of sizes and speeds
  const double radius_;
  const uint64_t first_door_id_;
  load::Random random_;
  std::vector<Shape> disc_;   // one shape, which all bots share
  std::vector<Vec2> places_;  // places where a bot touches no polygon
  std::vector<Bot> bots_;
  std::vector<Door> doors_;
  std::vector<MatchTick> ticks_;
  MatchCounts counts_;
  // Columns of the queries of the last tick. Body i and slide i belong to the bot alive_[i]; bullet
  // i belongs to the bot shooters_[i] - 1.
  std::vector<uint32_t> alive_, shape_, owners_, shooters_;
  std::vector<double> x_, y_, dx_, dy_;
  std::vector<std::pair<int, int>> pairs_;  // the two bots of each line of sight
  std::vector<double> sight_ax_, sight_ay_, sight_bx_, sight_by_;
  std::vector<double> ax_, ay_, bx_, by_;
  std::vector<double> room_radius_;
};

}  // namespace carom::cli
