// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who answers: Carom and its peers behind one interface per kind of thing that is asked about.
//
// Each has its own file. What a peer is best given (floats, its own geometries) is made when a
// question is put, outside of what is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/scenes.h"

namespace carom::bench {

// Asks the queries [begin, end) and returns how many hits there are. Empty if the peer does not
// answer that question. What it was made from must outlive it.
using Question = std::function<uint64_t(size_t begin, size_t end)>;

// Moving polygons.
struct Movers {
  std::vector<Outline> outlines;
  Placements placements;
};

// A tick: so many bullets past so many discs, which have moved since the tick before: tick t has
// its bullets from t * bullets on, and its discs at the points from t * discs on.
struct Ticks {
  size_t bullets;
  size_t discs;
  double radius;
  Points at;
};

// Capsules that walk, all at once, tick after tick: player p begins at start p, and push
// t * players + p is its push of tick t.
struct Walks {
  Segment axis;
  double radius = 0;
  Points start;
  std::vector<Vec2> pushes;

  size_t players() const { return start.size(); }
};

// A scene of many polygons.
class ScenePeer {
 public:
  virtual ~ScenePeer() = default;

  virtual std::string name() const = 0;
  // The nearest hit of each segment, with its normal.
  virtual Question Casts(const Segments& segments) = 0;
  // The nearest hit of each bullet, a polygon or a disc, with its normal. `begin` and `end` are at
  // the begin of a tick.
  virtual Question MatchTicks(const Segments&, const Ticks&) { return {}; }
  // Every polygon that each placed mover touches, with the contact.
  virtual Question Contacts(const Movers&) { return {}; }
  // The same in a second way, where there is one.
  virtual Question ContactsByShape(const Movers&) { return {}; }
  // The first hit of each shape on its way, with its normal.
  virtual Question Swept(const Sweeps&) { return {}; }
  // As much by a second way, for capsules.
  virtual Question SweptAsMover(const Sweeps&) { return {}; }
  // Players pushed about, from their starts on where `begin` is 0; `begin` and `end` are at the
  // begin of a tick. Where each comes to goes to `trace`, push by push.
  virtual Question Walked(const Walks&, std::vector<Vec2>& /*trace*/) { return {}; }
  // The placements of all movers together, as one, that touch some polygon.
  virtual Question Touched(const Placements&, double /*reach*/) { return {}; }
  // The nearest polygon of each point, if there is one within `radius`.
  virtual Question Nearest(const Points&, double /*radius*/) { return {}; }
};

// Null where the Rust library was not built.
std::unique_ptr<ScenePeer> MakeBox2D(const World& world, const std::vector<Outline>& movers = {});
std::unique_ptr<ScenePeer> MakeParry(const World& world);
std::unique_ptr<ScenePeer> MakeRapier(const World& world);
// Chipmunk with the index that is given: its tree, or its spatial hash. Which is faster depends on
// the scene.
enum class ChipmunkIndex { kTree, kHash };
std::unique_ptr<ScenePeer> MakeChipmunk(const World& world, ChipmunkIndex index);

// One polygon of many vertices.
class OutlinePeer {
 public:
  virtual ~OutlinePeer() = default;

  // The points that the polygon holds.
  virtual Question Holds(const Points& points) = 0;
  // The placed movers that the polygon touches.
  virtual Question Touches(const Movers& movers) = 0;
  // Makes the index anew, with all that is done at a first question, and returns its CPU time.
  virtual double BuildNanoseconds() = 0;
};

std::unique_ptr<OutlinePeer> MakeGeos(const Outline& outline);

}  // namespace carom::bench
