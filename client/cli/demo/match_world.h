// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Simulates the game of `carom demo match`: two teams of bots that see, walk, slide along walls and
// around each other, open doors, shoot and die.
//
// Each bot plays as over a network: it sees the other bots as they were some ticks ago, and its
// bullets meet the bots at the moment that it saw (docs/lag-compensation.md). The game sends one
// group of queries per tick. It has the bounds of the map and the answers, but not the polygons of
// the map. The game is deterministic: matches with equal maps and options are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/area.h"
#include "carom/body_history.h"
#include "carom/body_sets.h"
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
  Vec2 ahead = {1, 0};       // unit vector: the direction of walking, or that to the target
  Vec2 facing = {1, 0};      // unit vector: the middle of the sight, which turns towards `ahead`
  Vec2 velocity;             // intended displacement per tick
  double latency = 0;        // number of ticks by which the bot sees the others late
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
  Vec2 to;                  // the point of the hit, or the end of the range
  double as_of = 0;         // the moment, in ticks, that the shooter saw
  int bot = -1;             // index of the bot that the bullet hit; -1: none
  Vec2 bot_place = {};      // if the bullet hit a bot: the bot's position at the moment `as_of`
  bool misses_now = false;  // whether the bullet hit a bot, but would not hit it at the present
};

// The start of a piece of the boundary of an area of sight. The piece ends at the start of the
// next.
struct SightPiece {
  Vec2 start;
  bool is_arc = false;  // whether the piece is an arc about the eye, or a straight line
};

// The area that a bot sees.
struct SightArea {
  uint32_t bot = 0;
  double range = 0;                // radius of the arcs
  std::vector<SightPiece> pieces;  // counter-clockwise
};

// The state after a tick, which the picture of the match shows.
struct MatchTick {
  std::vector<Vec2> positions;  // position of each bot
  std::vector<uint8_t> alive;   // whether each bot is alive
  std::vector<uint8_t> open;    // whether each door is open
  std::vector<Shot> shots;
  // The areas of the bots of `MatchWorld::kWatched` that are alive, from these positions. Empty for
  // the last tick.
  std::vector<SightArea> areas;
};

// Counts of events, summed over all ticks.
struct MatchCounts {
  // pairs of a living bot and a living enemy: all, and those in which the bot sees the enemy
  uint64_t pairs = 0, seen = 0;
  uint64_t moves = 0, slid = 0;                     // moves: all, and obstructed ones
  uint64_t shots = 0, bot_hits = 0, wall_hits = 0;  // bullets: all, and those that hit
  uint64_t missed_at_present = 0;  // hits of bots that would miss the bot at the present
  uint64_t deaths = 0, doors_opened = 0, doors_shut = 0;
};

// The state of a match and the queries about it. A body is the disc of a bot, which queries can
// hit; a slide is the query that moves the disc of a bot along walls. Not thread-safe.
class MatchWorld {
 public:
  // Handle of the body set (bodies with poses by tick) that the queries of `Ask` name.
  static constexpr uint32_t kBodySet = 1;
  // Angle of the sector that a bot sees, in radians. Less than half a turn.
  static constexpr double kSightAngle = 2.4;
  // Bots whose areas of sight `MatchTick::areas` has: the first of each team.
  static constexpr uint32_t kWatched[] = {0, 1};

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

  // Returns the bodies of the set `kBodySet`: body i is the disc of bot i, with the owner i + 1.
  BodyDefinition Players() const;
  // Returns the edits and queries of a tick: edits of doors, and queries for moves, sights and
  // bullets. The group names the set `kBodySet` and, for callers without a server, the history of
  // this world, which are equal. The group has views of this world's columns, valid until the next
  // call.
  FrameGroup Ask(uint64_t tick);
  // Returns the poses of the set `kBodySet` at the tick of the last `Ask`, which the server needs
  // before it answers the queries. The columns are valid until the next `Ask`.
  BodyPoses Poses() const { return {kBodySet, poses_}; }
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
  double Moment(size_t bot, uint64_t tick) const;
  Vec2 PlaceSeen(size_t bot, size_t other, uint64_t tick);
  void AddPoses(uint64_t tick);
  void Steer(uint64_t tick);
  void AddDoorEdits(uint64_t tick, GroupEdits& edits);
  void AddMoves();
  void AddSights(uint64_t tick);
  void AddAreas();
  void AddShots(uint64_t tick);
  void TakeMoves(uint64_t tick, const SlideAnswers& answer);
  void TakeSights(uint64_t tick, const SeeAnswers& answer);
  void TakeAreas(const AreaAnswers& answer);
  void Wound(Bot& bot, uint64_t tick, Vec2 from);
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
  BodyHistory history_;  // the poses of all bots in the last ticks
  PastBodies past_;      // scratch of `PlaceSeen`
  // The poses of the last tick, in columns with an entry or a bit for each bot.
  PoseColumns poses_;
  std::vector<double> pose_x_, pose_y_;
  std::vector<uint64_t> alive_bits_, teleported_bits_;
  // Columns of the queries of the last tick. Slide i and observer i belong to the bot alive_[i].
  // Segments 2 i and 2 i + 1 are one bullet, at the moment that its shooter saw and at the present;
  // they belong to the bot shooters_[2 i] - 1. Area i belongs to the bot watched_[i].
  std::vector<uint32_t> alive_, shape_, owners_, shooters_, watched_;
  std::vector<double> x_, y_, dx_, dy_;
  std::vector<double> sight_range_, sight_from_, sight_to_, sight_as_of_;
  std::vector<double> area_x_, area_y_, area_range_, area_from_, area_to_;
  std::vector<double> ax_, ay_, bx_, by_, as_of_;
  std::vector<double> room_radius_;
};

}  // namespace carom::cli
