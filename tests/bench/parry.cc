// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/peer.h"
#include "tests/bench/rust_peers.h"

namespace carom::bench {
namespace {

class Parry : public ScenePeer {
 public:
  explicit Parry(const World& world) {
    const FloatPolygons pieces(world.pieces);
    const RustPolygons view = pieces.view();
    scene_ = carom_parry_new(&view);
  }
  ~Parry() override { carom_parry_free(scene_); }
  Parry(const Parry&) = delete;
  Parry& operator=(const Parry&) = delete;

  std::string name() const override { return "parry"; }

  Question Casts(const Segments& segments) override {
    return [this, floats = FloatSegments(segments)](size_t begin, size_t end) {
      return carom_parry_cast(scene_, floats.data() + begin, end - begin);
    };
  }

 private:
  void* scene_;
};

// Rapier rests on Parry.
class Rapier : public ScenePeer {
 public:
  explicit Rapier(const World& world) {
    const FloatPolygons pieces(world.pieces);
    const RustPolygons view = pieces.view();
    world_ = carom_rapier_new(&view);
  }
  ~Rapier() override { carom_rapier_free(world_); }
  Rapier(const Rapier&) = delete;
  Rapier& operator=(const Rapier&) = delete;

  std::string name() const override { return "rapier"; }

  Question Casts(const Segments& /*segments*/) override { return {}; }
  Question Walked(const Walks& walks, std::vector<Vec2>& trace) override {
    return FloatWalks(world_, carom_rapier_walk, walks, trace);
  }

 private:
  void* world_;
};

}  // namespace

std::unique_ptr<ScenePeer> MakeParry(const World& world) { return std::make_unique<Parry>(world); }
std::unique_ptr<ScenePeer> MakeRapier(const World& world) {
  return std::make_unique<Rapier>(world);
}

}  // namespace carom::bench
