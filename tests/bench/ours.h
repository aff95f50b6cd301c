// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Carom as it is asked: by its public functions, in batches or one by one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/tracker.h"
#include "tests/bench/peer.h"

namespace carom::bench {

// Queries a call, unless set otherwise.
inline constexpr size_t kBatch = 1024;

std::vector<Polygon> MakePolygons(const std::vector<Outline>& outlines);
// A polygon; a capsule where the outline is two points.
Shape ShapeOf(const Sweeps& sweeps);
Scene::Ptr MakeScene(std::vector<Polygon> polygons, const Workers& workers = {});
// `count` threads, the calling one among them.
Workers Threads(size_t count);

class Carom : public ScenePeer, public OutlinePeer {
 public:
  explicit Carom(Scene::Ptr scene, size_t batch = kBatch)
      : scene_(std::move(scene)), batch_(batch) {}
  explicit Carom(const std::vector<Outline>& outlines) : Carom(MakeScene(MakePolygons(outlines))) {}

  const Scene::Ptr& scene() const { return scene_; }

  std::string name() const override { return batch_ == 1 ? "carom one by one" : "carom"; }
  Question Casts(const Segments& segments) override;
  Question MatchTicks(const Segments& bullets, const Ticks& ticks) override;
  Question Contacts(const Movers& movers) override;
  Question Nearest(const Points& points, double radius) override;
  Question Holds(const Points& points) override;
  Question Touches(const Movers& movers) override;
  Question Swept(const Sweeps& sweeps) override;
  Question Walked(const Walks& walks, std::vector<Vec2>& trace) override;
  // 200 players anywhere that is free, at 10 units a second and 60 ticks, each straight on for half
  // a second.
  Walks RandomWalks(const World& world, size_t ticks) const;
  double BuildNanoseconds() override;
  // The placements as moves of one tracker of the first outline: how many touch. Adds up the tiers.
  Question Tracked(const Movers& movers, Coherence coherence, MoveTiers* tiers = nullptr);

 private:
  Scene::Ptr scene_;
  size_t batch_;
};

}  // namespace carom::bench
