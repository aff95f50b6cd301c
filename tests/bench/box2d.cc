// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/bench/peer.h"
#include "tests/bench/rust_peers.h"

namespace carom::bench {
namespace {

std::vector<RustPlacement> FloatPlacements(const Placements& at) {
  std::vector<RustPlacement> floats;
  for (size_t i = 0; i < at.size(); ++i) {
    floats.push_back({at.mover[i], static_cast<float>(at.x[i]), static_cast<float>(at.y[i]),
                      static_cast<float>(at.c[i]), static_cast<float>(at.s[i])});
  }
  return floats;
}

// Box2D's shape casts stop before they touch by this, less a quarter of it at most: two rounded
// shapes where their radii overlap by it, polygons where they are so far apart.
constexpr double kSlop = 0.005;

// The points of a sweep's shape, x and y in turn, and its radius, made larger, respectively
// smaller, by the slop, so that hits are those of the shape.
struct SweptShape {
  explicit SweptShape(const Sweeps& sweeps)
      : radius(static_cast<float>(sweeps.radius == 0 ? 0 : sweeps.radius + kSlop)) {
    double inner = HUGE_VAL;  // radius of the circle inside a regular polygon
    const Outline& outline = sweeps.outline;
    for (size_t i = 0; i < outline.size() && sweeps.radius == 0; ++i) {
      const Vec2 a = outline[i];
      const Vec2 b = outline[(i + 1) % outline.size()];
      inner = std::min(inner, std::hypot(a.x + b.x, a.y + b.y) / 2);
    }
    const double scale = 1 - kSlop / inner;
    for (const Vec2 p : outline) {
      xy.push_back(static_cast<float>(p.x * scale));
      xy.push_back(static_cast<float>(p.y * scale));
    }
  }

  std::vector<float> xy;
  float radius;
};

std::vector<RustSweep> FloatSweeps(const Sweeps& sweeps) {
  std::vector<RustSweep> floats;
  const Placements& at = sweeps.from;
  for (size_t i = 0; i < sweeps.size(); ++i) {
    floats.push_back({static_cast<float>(at.x[i]), static_cast<float>(at.y[i]),
                      static_cast<float>(at.c[i]), static_cast<float>(at.s[i]),
                      static_cast<float>(sweeps.to_x[i] - at.x[i]),
                      static_cast<float>(sweeps.to_y[i] - at.y[i])});
  }
  return floats;
}

class Box2D : public ScenePeer {
 public:
  Box2D(const World& world, const std::vector<Outline>& movers) {
    const FloatPolygons pieces(world.pieces);
    const FloatPolygons moving(movers);
    const RustPolygons pieces_view = pieces.view();
    const RustPolygons moving_view = moving.view();
    world_ = carom_box2d_new(&pieces_view, &moving_view);
  }
  ~Box2D() override { carom_box2d_free(world_); }
  Box2D(const Box2D&) = delete;
  Box2D& operator=(const Box2D&) = delete;

  std::string name() const override { return "box2d"; }

  Question Casts(const Segments& segments) override {
    return [this, floats = FloatSegments(segments)](size_t begin, size_t end) {
      return carom_box2d_cast(world_, floats.data() + begin, end - begin);
    };
  }

  Question MatchTicks(const Segments& bullets, const Ticks& ticks) override {
    std::vector<RustPlacement> discs;
    for (size_t i = 0; i < ticks.at.size(); ++i) {
      discs.push_back(
          {0, static_cast<float>(ticks.at.x[i]), static_cast<float>(ticks.at.y[i]), 1, 0});
    }
    return [this, floats = FloatSegments(bullets), discs, &ticks](size_t begin, size_t end) {
      uint64_t hits = 0;
      for (size_t at = begin; at < end; at += ticks.bullets) {
        carom_box2d_move_discs(world_, discs.data() + at / ticks.bullets * ticks.discs, ticks.discs,
                               static_cast<float>(ticks.radius));
        hits += carom_box2d_cast(world_, floats.data() + at, std::min(ticks.bullets, end - at));
      }
      return hits;
    };
  }

  Question Contacts(const Movers& movers) override {
    return [this, floats = FloatPlacements(movers.placements)](size_t begin, size_t end) {
      return carom_box2d_overlap(world_, floats.data() + begin, end - begin);
    };
  }
  Question ContactsByShape(const Movers& movers) override {
    return [this, floats = FloatPlacements(movers.placements)](size_t begin, size_t end) {
      return carom_box2d_overlap_shape(world_, floats.data() + begin, end - begin);
    };
  }

  Question Swept(const Sweeps& sweeps) override {
    return
        [this, floats = FloatSweeps(sweeps), shape = SweptShape(sweeps)](size_t begin, size_t end) {
          return carom_box2d_sweep(world_, floats.data() + begin, end - begin, shape.xy.data(),
                                   shape.xy.size() / 2, shape.radius);
        };
  }
  Question SweptAsMover(const Sweeps& sweeps) override {
    return
        [this, floats = FloatSweeps(sweeps), shape = SweptShape(sweeps)](size_t begin, size_t end) {
          return carom_box2d_sweep_mover(world_, floats.data() + begin, end - begin,
                                         shape.xy.data(), shape.radius);
        };
  }

  Question Walked(const Walks& walks, std::vector<Vec2>& trace) override {
    return FloatWalks(world_, carom_box2d_walk, walks, trace);
  }

  Question Touched(const Placements& at, double reach) override {
    std::vector<RustPlacement> floats;
    for (size_t i = 0; i < at.size(); ++i) {
      floats.push_back({0, static_cast<float>(at.x[i]), static_cast<float>(at.y[i]),
                        static_cast<float>(at.c[i]), static_cast<float>(at.s[i])});
    }
    return [this, floats, reach](size_t begin, size_t end) {
      return carom_box2d_touch(world_, floats.data() + begin, end - begin,
                               static_cast<float>(reach));
    };
  }

 private:
  void* world_;
};

}  // namespace

std::unique_ptr<ScenePeer> MakeBox2D(const World& world, const std::vector<Outline>& movers) {
  return std::make_unique<Box2D>(world, movers);
}

}  // namespace carom::bench
