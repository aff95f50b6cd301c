// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

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
