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

}  // namespace

std::unique_ptr<ScenePeer> MakeParry(const World& world) { return std::make_unique<Parry>(world); }

}  // namespace carom::bench
