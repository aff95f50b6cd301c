// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/demo/match_world.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string>

#include "carom/polygon.h"
#include "carom/predicates.h"
#include "carom/sincos.h"

namespace carom::cli {
namespace {

constexpr uint64_t kMatchSeed = 0x9e3779b97f4a7c15;
constexpr double kTurn = 6.283185307179586;
constexpr size_t kTriedPlaces = 512;  // tested random places; bots spawn at the free ones
constexpr size_t kMaxDoors = 8;
constexpr int kHealth = 3;
// Times in ticks: the least time between two bullets of a bot; the time from death to respawn; the
// time for which a door stays open after the last bot was near; and the average time for which a
// bot without a target keeps its direction.
constexpr uint64_t kReload = 9, kRespawn = 40, kOpen = 25, kWalk = 60;
// Lengths in units of `unit_`, a 400th of the map's larger side: the radius and speed of a bot, the
// range of sight and bullets, the distance that a bot keeps from its target, and the distance at
// which it opens a door. `kDoorReach` is larger than `kRadius`, so that no door shuts on a bot.
constexpr double kRadius = 4, kSpeed = 1.5, kView = 130, kKeep = 45, kDoorReach = 13;
// Lengths of doors, in units of `unit_`: thickness, least and greatest width, least distance
// between two doors.
constexpr double kThickness = 3, kNarrow = 12, kWide = 34, kDoorsApart = 45;
// Angle in radians between the two extreme directions of bullets that a bot fires at one target.
constexpr double kSpread = 0.16;
// The greatest angle in radians by which the sight of a bot turns per tick.
constexpr double kSightTurn = 0.2;
// The latencies of the bots are quarters of a tick, from 0 to kLatencies - 1 quarters: 6 ticks.
// `kLatencyStep` has no common factor with `kLatencies`, so 25 bots in a row have 25 latencies.
constexpr size_t kLatencies = 25, kLatencyStep = 7;
// Number of ticks that the body set keeps: at least one more than the greatest latency.
constexpr uint32_t kKeepTicks = 16;

double Norm(Vec2 v) { return std::sqrt(v.x * v.x + v.y * v.y); }
Vec2 Minus(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
Vec2 Along(Vec2 p, Vec2 direction, double length) {
  return {p.x + direction.x * length, p.y + direction.y * length};
}
// Returns `v` scaled to length 1, or the x axis for a vector of length 0.
Vec2 Unit(Vec2 v) {
  const double length = Norm(v);
  return length > 0 ? Vec2{v.x / length, v.y / length} : Vec2{1, 0};
}
Vec2 Turned(Vec2 v, CosSin turn) {
  return {v.x * turn.c - v.y * turn.s, v.x * turn.s + v.y * turn.c};
}

double Dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }
double Cross(Vec2 a, Vec2 b) { return a.x * b.y - a.y * b.x; }

// Returns the angle of `v` in [0, kTurn), rounded down to a 4096th of a turn. It halves the range
// of the angle with `SinCos`, whose results are equal on every machine, unlike those of
// `std::atan2`.
double AngleOf(Vec2 v) {
  double angle = 0;
  for (int halving = 1; halving <= 12; ++halving) {
    const double part = std::ldexp(kTurn, -halving);
    const CosSin middle = SinCos(angle + part);
    if (Cross({middle.c, middle.s}, v) >= 0) angle += part;
  }
  return angle;
}

// Returns the unit vector `from`, turned towards the unit vector `to` by at most `kSightTurn`.
Vec2 TurnedTowards(Vec2 from, Vec2 to) {
  CosSin turn = SinCos(kSightTurn);
  if (Dot(from, to) >= turn.c) return to;
  if (Cross(from, to) < 0) turn.s = -turn.s;
  return Unit(Turned(from, turn));
}

// Sets the bit of body `i` in words of 64 bits.
void SetBit(std::vector<uint64_t>& words, size_t i) { words[i / 64] |= uint64_t{1} << (i % 64); }

// Returns the distance from `p` to the box; 0 in the box.
double DistanceTo(const Box& box, Vec2 p) {
  return Norm({std::max({box.min.x - p.x, 0.0, p.x - box.max.x}),
               std::max({box.min.y - p.y, 0.0, p.y - box.max.y})});
}

// Returns the polygon of a shut door. `Create` does not fail, because every finite box is valid.
Polygon DoorPolygon(uint64_t id, const Box& box) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings.push_back({{box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}}});
  return *Polygon::Create(std::move(spec));
}

void Clear(std::initializer_list<std::vector<double>*> columns) {
  for (std::vector<double>* column : columns) column->clear();
}

// Returns the unit of lengths: a 400th of the larger side of `bounds`.
double UnitOf(const Box& bounds) {
  return std::max(bounds.max.x - bounds.min.x, bounds.max.y - bounds.min.y) / 400;
}

}  // namespace

MatchWorld::MatchWorld(const MatchOptions& options, const Box& bounds, uint64_t first_door_id)
    : bounds_(bounds),
      unit_(UnitOf(bounds)),
      radius_(kRadius * unit_),
      first_door_id_(first_door_id),
      random_(kMatchSeed),
      disc_({*Shape::Create(Capsule{{}, radius_})}),
      bots_(options.bots) {
  for (size_t i = 0; i < bots_.size(); ++i) {
    bots_[i].latency = static_cast<double>(i * kLatencyStep % kLatencies) / 4;
  }
  // `Create` does not fail: the discs are few, of valid shape and far smaller than the greatest
  // body that a history accepts.
  history_ = *BodyHistory::Create(Players());
}

BodyDefinition MatchWorld::Players() const {
  BodyDefinition players;
  players.keep_ticks = kKeepTicks;
  players.shapes = disc_;
  players.shape.assign(bots_.size(), 0);
  for (uint32_t i = 0; i < bots_.size(); ++i) players.owner.push_back(i + 1);
  return players;
}

double MatchWorld::Random() { return random_.Between(0, 1); }

Vec2 MatchWorld::RandomDirection() {
  const CosSin turn = SinCos(kTurn * Random());
  return {turn.c, turn.s};
}

// --- Before the first tick

// Tests discs with 1.5 times the radius of a bot at `kTriedPlaces` random places against the map.
Group MatchWorld::RoomQuestion() {
  for (size_t i = 0; i < kTriedPlaces; ++i) {
    x_.push_back(bounds_.min.x + Random() * (bounds_.max.x - bounds_.min.x));
    y_.push_back(bounds_.min.y + Random() * (bounds_.max.y - bounds_.min.y));
    room_radius_.push_back(radius_ * 1.5);
  }
  Group group;
  group.circles = {x_, y_, room_radius_};
  return group;
}

// Stores in `places_` the places where the disc of `RoomQuestion` touches no polygon.
void MatchWorld::TakeRoom(const OverlapAnswers& answer) {
  for (size_t i = 0; i < answer.counts.size(); ++i) {
    if (answer.counts[i] == 0) places_.push_back({x_[i], y_[i]});
  }
  // If no place is free, the bots begin at a place where they touch or overlap a polygon; a slide
  // (the query that moves a bot along walls) can leave a polygon that the bot overlaps at the
  // start.
  if (places_.empty()) places_.push_back({x_[0], y_[0]});
}

// Casts four segments from each place, to the left, right, down and up. Their hits are the nearest
// walls.
Group MatchWorld::WidthQuestion() {
  const double reach = kWide * unit_;
  for (const Vec2 p : places_) {
    for (const Vec2 d : {Vec2{-reach, 0}, Vec2{reach, 0}, Vec2{0, -reach}, Vec2{0, reach}}) {
      ax_.push_back(p.x);
      ay_.push_back(p.y);
      bx_.push_back(p.x + d.x);
      by_.push_back(p.y + d.y);
    }
  }
  Group group;
  group.segments = {ax_, ay_, bx_, by_};
  return group;
}

// For each pair of opposite segments from a place that both hit a wall, puts a door between the two
// hit points, if their distance is in the range of door widths, no other door is near, and there
// are fewer than `kMaxDoors` doors.
void MatchWorld::TakeWidths(const CastAnswers& answer) {
  size_t row = 0;
  const double half = kThickness / 2 * unit_;
  for (size_t i = 0; i + 1 < answer.counts.size(); i += 2) {
    // Advances the row past both segments, whether or not a door is added.
    const bool walled = answer.counts[i] > 0 && answer.counts[i + 1] > 0;
    const size_t first = row;
    row += answer.counts[i] + answer.counts[i + 1];
    if (!walled || doors_.size() == kMaxDoors) continue;
    const Vec2 a = answer.hits[first].point, b = answer.hits[first + 1].point;
    const double width = Norm(Minus(b, a));
    const bool crowded = std::ranges::any_of(
        doors_, [&](const Door& door) { return DistanceTo(door.box, a) < kDoorsApart * unit_; });
    if (width < kNarrow * unit_ || width > kWide * unit_ || crowded) continue;
    // The first two of the four segments of a place are along x.
    const bool along_x = i % 4 == 0;
    const Vec2 side = along_x ? Vec2{0, half} : Vec2{half, 0};
    doors_.push_back({{Minus(a, side), {b.x + side.x, b.y + side.y}}});
  }
  // Removes places near doors, so that no bot spawns where a door shuts.
  std::erase_if(places_, [&](Vec2 p) {
    return places_.size() > 1 && std::ranges::any_of(doors_, [&](const Door& door) {
             return DistanceTo(door.box, p) < kDoorReach * unit_;
           });
  });
  if (places_.empty()) places_.push_back({x_[0], y_[0]});
}

// --- The queries of a tick

// Returns whether the disc of `bot` at `p` would overlap, not only touch, the disc of another
// living bot.
bool MatchWorld::IsTaken(Vec2 p, const Bot& bot) const {
  return std::ranges::any_of(bots_, [&](const Bot& other) {
    return &other != &bot && other.health > 0 &&
           CompareDistance(other.position, Circle{p, 2 * radius_}) < 0;
  });
}

// Returns a random place where `bot` would overlap no other bot, or null if every place is taken.
const Vec2* MatchWorld::FreePlace(const Bot& bot) {
  const auto first = static_cast<size_t>(Random() * static_cast<double>(places_.size()));
  for (size_t i = 0; i < places_.size(); ++i) {
    const Vec2& place = places_[(first + i) % places_.size()];
    if (!IsTaken(place, bot)) return &place;
  }
  return nullptr;
}

// Spawns the dead bots whose time to respawn has come; in the first tick, all bots. If no place is
// free, a bot stays dead until a later tick.
void MatchWorld::Spawn(uint64_t tick) {
  teleported_bits_.assign(bots_.size() / 64 + 1, 0);
  for (size_t i = 0; i < bots_.size(); ++i) {
    Bot& bot = bots_[i];
    if (bot.health > 0 || bot.respawns_at > tick) continue;
    const Vec2* const place = FreePlace(bot);
    if (place == nullptr) continue;
    const double latency = bot.latency;
    bot = Bot();
    bot.latency = latency;
    bot.position = *place;
    bot.health = kHealth;
    bot.fires_at = tick + kReload;
    bot.ahead = bot.facing = RandomDirection();
    bot.turns_at = tick + kWalk;
    SetBit(teleported_bits_, i);
  }
}

// Adds the poses of all bots before the moves of this tick to the history. A dead bot keeps its
// place, and its bit in `alive` is 0. A bot that spawned is teleported: at no moment is it between
// the place of its death and that of its spawn.
void MatchWorld::AddPoses(uint64_t tick) {
  pose_x_.clear();
  pose_y_.clear();
  alive_bits_.assign(teleported_bits_.size(), 0);
  for (size_t i = 0; i < bots_.size(); ++i) {
    pose_x_.push_back(bots_[i].position.x);
    pose_y_.push_back(bots_[i].position.y);
    if (bots_[i].health > 0) SetBit(alive_bits_, i);
  }
  poses_ = {.tick = tick,
            .x = pose_x_,
            .y = pose_y_,
            .alive = alive_bits_,
            .teleported = teleported_bits_};
  // A refused tick, with a place beyond `kMaxPastPosition`, is left out. The server refuses it,
  // too, which ends the match.
  history_.Add(poses_).IgnoreError();
}

// Returns the moment that the bot sees in tick `tick`, in ticks. At the start of the match, every
// bot sees the first tick until its latency has passed.
double MatchWorld::Moment(size_t bot, uint64_t tick) const {
  return std::max(0.0, static_cast<double>(tick) - bots_[bot].latency);
}

// Returns the place of `other` at the moment that `bot` sees: what a client draws.
Vec2 MatchWorld::PlaceSeen(size_t bot, size_t other, uint64_t tick) {
  if (!history_.At(Moment(bot, tick), BodyRotation::kNearest, past_)) return bots_[other].position;
  return {past_.x[other], past_.y[other]};
}

// Sets directions and velocities. A bot walks towards its target (the enemy that it aims at), or
// sideways if the target is nearer than `kKeep`. Without a target the bot walks ahead, in a random
// direction, which it changes after kWalk / 2 to 3 * kWalk / 2 ticks; a bot that has left a map
// without outer walls walks back to the middle. The bot's sight turns towards the target, or the
// direction of walking.
void MatchWorld::Steer(uint64_t tick) {
  for (size_t i = 0; i < bots_.size(); ++i) {
    Bot& bot = bots_[i];
    if (bot.health == 0) continue;
    bool is_near = false;
    if (bot.target >= 0) {
      const Vec2 to = Minus(PlaceSeen(i, static_cast<size_t>(bot.target), tick), bot.position);
      bot.ahead = Unit(to);
      is_near = Norm(to) < kKeep * unit_;
      bot.turns_at = tick + kWalk;
    } else if (DistanceTo(bounds_, bot.position) > radius_) {
      const Vec2 middle = {(bounds_.min.x + bounds_.max.x) / 2,
                           (bounds_.min.y + bounds_.max.y) / 2};
      bot.ahead = Unit(Minus(middle, bot.position));
      bot.turns_at = tick + kWalk / 2;
    } else if (bot.turns_at <= tick) {
      bot.ahead = RandomDirection();
      bot.turns_at = tick + kWalk / 2 + static_cast<uint64_t>(Random() * kWalk);
    }
    const Vec2 a = bot.ahead;
    const Vec2 aside = bot.fires_at % 2 == 0 ? Vec2{-a.y, a.x} : Vec2{a.y, -a.x};
    bot.velocity = Along({}, is_near ? aside : a, kSpeed * unit_);
    bot.facing = TurnedTowards(bot.facing, a);
  }
}

// Returns whether a living bot is within `distance` of the door.
bool MatchWorld::IsNear(const Door& door, double distance) const {
  return std::ranges::any_of(bots_, [&](const Bot& bot) {
    return bot.health > 0 && DistanceTo(door.box, bot.position) < distance;
  });
}

// Opens a door when a bot comes within `kDoorReach`, and shuts a door `kOpen` ticks after the last
// bot was within this distance. In the first tick, adds every door that no bot is near to.
void MatchWorld::AddDoorEdits(uint64_t tick, GroupEdits& edits) {
  for (size_t i = 0; i < doors_.size(); ++i) {
    Door& door = doors_[i];
    const uint64_t id = first_door_id_ + i;
    const bool is_near = IsNear(door, kDoorReach * unit_);
    if (tick == 0) {
      door.open = is_near;
      if (!is_near) edits.edits.push_back(AddPolygon{DoorPolygon(id, door.box)});
    } else if (!door.open && is_near) {
      door.open = true;
      ++counts_.doors_opened;
      edits.edits.push_back(RemovePolygon{id});
    } else if (door.open && !is_near && door.shuts_at <= tick) {
      door.open = false;
      ++counts_.doors_shut;
      edits.edits.push_back(AddPolygon{DoorPolygon(id, door.box)});
    }
    if (is_near) door.shuts_at = tick + kOpen;
  }
}

// Adds the living bots to the columns of slides (queries that move a shape along walls).
void MatchWorld::AddMoves() {
  Clear({&x_, &y_, &dx_, &dy_});
  alive_.clear();
  owners_.clear();
  for (uint32_t i = 0; i < bots_.size(); ++i) {
    const Bot& bot = bots_[i];
    if (bot.health == 0) continue;
    alive_.push_back(i);
    owners_.push_back(i + 1);
    x_.push_back(bot.position.x);
    y_.push_back(bot.position.y);
    dx_.push_back(bot.velocity.x);
    dy_.push_back(bot.velocity.y);
  }
  shape_.assign(alive_.size(), 0);
}

// Adds an observer for each living bot: a sector of the range `kView` about the direction in which
// the bot faces. The observer sees every enemy of whose disc any part is visible.
void MatchWorld::AddSights(uint64_t tick) {
  Clear({&sight_from_, &sight_to_, &sight_as_of_});
  for (const uint32_t i : alive_) {
    const double angle = AngleOf(bots_[i].facing);
    sight_from_.push_back(angle - kSightAngle / 2);
    sight_to_.push_back(angle + kSightAngle / 2);
    sight_as_of_.push_back(Moment(i, tick));
  }
  sight_range_.assign(alive_.size(), kView * unit_);
}

// Adds the areas that the living bots of `kWatched` see, for the picture.
void MatchWorld::AddAreas() {
  Clear({&area_x_, &area_y_, &area_range_, &area_from_, &area_to_});
  watched_.clear();
  for (size_t i = 0; i < alive_.size(); ++i) {
    if (std::ranges::count(kWatched, alive_[i]) == 0) continue;
    watched_.push_back(alive_[i]);
    area_x_.push_back(x_[i]);
    area_y_.push_back(y_[i]);
    area_range_.push_back(sight_range_[i]);
    area_from_.push_back(sight_from_[i]);
    area_to_.push_back(sight_to_[i]);
  }
}

// Adds a bullet (a segment cast) for each bot that may fire. The bot aims at the place where it
// sees its target, with a random error. Each bullet is asked as of the moment that the bot sees,
// which counts, and then as of the present, for the figures.
void MatchWorld::AddShots(uint64_t tick) {
  Clear({&ax_, &ay_, &bx_, &by_, &as_of_});
  shooters_.clear();
  for (const uint32_t i : alive_) {
    Bot& bot = bots_[i];
    if (bot.target < 0 || bot.fires_at > tick) continue;
    bot.fires_at = tick + kReload + static_cast<uint64_t>(Random() * kReload);
    const Vec2 place = PlaceSeen(i, static_cast<size_t>(bot.target), tick);
    const Vec2 aim = Unit(Minus(place, bot.position));
    const Vec2 direction = Turned(aim, SinCos(kSpread * (Random() - 0.5)));
    const Vec2 end = Along(bot.position, direction, kView * unit_);
    for (const double moment : {Moment(i, tick), static_cast<double>(tick)}) {
      shooters_.push_back(i + 1);
      ax_.push_back(bot.position.x);
      ay_.push_back(bot.position.y);
      bx_.push_back(end.x);
      by_.push_back(end.y);
      as_of_.push_back(moment);
    }
  }
}

// All queries are about the positions of the bots before the moves of this tick, or earlier ones.
FrameGroup MatchWorld::Ask(uint64_t tick) {
  Spawn(tick);
  AddPoses(tick);
  Steer(tick);
  FrameGroup out;
  GroupEdits edits;
  AddDoorEdits(tick, edits);
  if (!edits.edits.empty()) out.edits = std::move(edits);
  AddMoves();
  AddSights(tick);
  AddAreas();
  AddShots(tick);
  out.body_set = kBodySet;
  out.group.body_history = &history_;
  // A bot's own body does not block its slide, its move along walls. Without a moment, a slide
  // meets the bots of the newest tick.
  out.group.slides = {{.shapes = disc_, .shape = shape_, .x = x_, .y = y_}, dx_, dy_};
  out.group.slides.movers.scope = {Against::kBoth, {}, owners_};
  out.group.sees = {x_, y_, sight_range_, sight_from_, sight_to_};
  out.group.sees.scope = {Against::kScene, {}, owners_, sight_as_of_};
  out.group.areas = {area_x_, area_y_, area_range_, area_from_, area_to_};
  // Bots where they were, and the walls of this tick, stop a bullet, except the bot that fires it.
  out.group.segments = {ax_, ay_, bx_, by_, {Against::kBoth, {}, shooters_, as_of_}};
  out.group.cast_options.detail = CastDetail::kNormal;
  return out;
}

// --- The answers of a tick

// Moves the bots to the ends of their slides (moves along walls and around other bots). A slide
// ends neither in a wall nor at a place that another bot occupied before the tick. If another bot
// has moved in this tick to where a slide ends, the sliding bot keeps its old position, which is
// still free.
void MatchWorld::TakeMoves(uint64_t tick, const SlideAnswers& answer) {
  for (size_t i = 0; i < answer.rows.size(); ++i) {
    Bot& bot = bots_[alive_[i]];
    const Vec2 to = answer.rows[i].position;
    const double moved = IsTaken(to, bot) ? 0 : Norm(Minus(to, bot.position));
    if (moved > 0) bot.position = to;
    ++counts_.moves;
    // Counts the move as obstructed if the slide has more than one leg (straight part), or the bot
    // moved by less than half of its displacement per tick.
    const bool met = answer.rows[i].legs > 1 || moved < kSpeed * unit_ / 2;
    counts_.slid += met ? 1 : 0;
    // If the bot moved by less than half of its displacement per tick, it is stuck, in a corner or
    // at another bot, and takes another direction in the next tick.
    if (moved < kSpeed * unit_ / 2) bot.turns_at = std::min(bot.turns_at, tick + 1);
  }
}

// Sets the target of each bot to the nearest living enemy that it sees, at the moment that it sees.
void MatchWorld::TakeSights(uint64_t tick, const SeeAnswers& answer) {
  for (Bot& bot : bots_) bot.target = -1;
  for (size_t i = 0; i < answer.counts.size(); ++i) {
    const uint32_t viewer = alive_[i];
    double nearest = HUGE_VAL;
    // Bots with even indices are one team, bots with odd indices the other.
    for (size_t enemy = (viewer + 1) % 2; enemy < bots_.size(); enemy += 2) {
      if (bots_[enemy].health == 0) continue;
      ++counts_.pairs;
      if (!answer.Sees(i, enemy)) continue;
      ++counts_.seen;
      const double distance = Norm(Minus(PlaceSeen(viewer, enemy, tick), {x_[i], y_[i]}));
      if (distance >= nearest) continue;
      nearest = distance;
      bots_[viewer].target = static_cast<int>(enemy);
    }
  }
}

// Adds the areas to the tick before, because they belong to the positions at its end.
void MatchWorld::TakeAreas(const AreaAnswers& answer) {
  if (ticks_.empty()) return;
  MatchTick& before = ticks_.back();
  size_t row = 0;
  for (size_t i = 0; i < answer.counts.size(); ++i) {
    SightArea area{watched_[i], area_range_[i], {}};
    for (const size_t end = row + answer.counts[i]; row < end; ++row) {
      const AreaPiece& piece = answer.pieces[row];
      area.pieces.push_back({piece.start, piece.kind == AreaPieceKind::kArc});
    }
    // A bot that spawned in this tick is not alive in the tick before.
    if (before.alive[area.bot] != 0) before.areas.push_back(std::move(area));
  }
}

// All bullets of a tick were fired before any of them hit, so several bullets may hit a bot that
// the first one kills; and a bullet may hit a bot that has died since the moment of the bullet. A
// hit with `is_body` is a hit of a bot; its `polygon_id` is the bot's index.
void MatchWorld::TakeShots(uint64_t tick, const CastAnswers& answer, MatchTick& out) {
  size_t row = 0;
  const auto next_hit = [&](size_t item) -> const CastHit* {
    return answer.counts[item] == 0 ? nullptr : &answer.hits[row++];
  };
  for (size_t i = 0; i + 1 < answer.counts.size(); i += 2) {
    ++counts_.shots;
    out.shots.push_back({.from = {ax_[i], ay_[i]}, .to = {bx_[i], by_[i]}, .as_of = as_of_[i]});
    const CastHit* const hit = next_hit(i);
    const CastHit* const present = next_hit(i + 1);
    if (hit == nullptr) continue;
    Shot& shot = out.shots.back();
    shot.to = hit->point;
    ++(hit->is_body ? counts_.bot_hits : counts_.wall_hits);
    if (!hit->is_body) continue;
    const size_t bot = hit->polygon_id;
    shot.bot = static_cast<int>(bot);
    shot.bot_place = PlaceSeen(shooters_[i] - 1, bot, tick);
    shot.misses_now = present == nullptr || !present->is_body || present->polygon_id != bot;
    counts_.missed_at_present += shot.misses_now ? 1 : 0;
    Wound(bots_[bot], tick, shot.from);
  }
}

// A bot without a target turns to where the bullet came from.
void MatchWorld::Wound(Bot& bot, uint64_t tick, Vec2 from) {
  if (bot.health == 0) return;
  --bot.health;
  if (bot.target < 0) {
    bot.ahead = Unit(Minus(from, bot.position));
    bot.turns_at = tick + kWalk;
  }
  if (bot.health > 0) return;
  ++counts_.deaths;
  bot.respawns_at = tick + kRespawn;
}

// Sets the target of each bot, at which the bot fires in the next tick, moves the bots, and counts
// the hits of the bullets of this tick.
void MatchWorld::Take(uint64_t tick, const GroupAnswers& answers) {
  MatchTick out;
  TakeSights(tick, answers.sees);
  TakeAreas(answers.areas);
  TakeMoves(tick, answers.slides);
  TakeShots(tick, answers.segments, out);
  for (Bot& bot : bots_) {
    out.positions.push_back(bot.position);
    out.alive.push_back(bot.health > 0);
    // A dead bot neither has a target nor is one.
    if (bot.target >= 0 && bots_[static_cast<size_t>(bot.target)].health == 0) bot.target = -1;
    if (bot.health == 0) bot.target = -1;
  }
  for (const Door& door : doors_) out.open.push_back(door.open);
  ticks_.push_back(std::move(out));
}

}  // namespace carom::cli
