// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Chipmunk 7: static shapes of the space's static body.

#include <chipmunk/chipmunk.h>

#include "tests/bench/peer.h"

namespace carom::bench {
namespace {

using ShapePtr = std::unique_ptr<cpShape, decltype(&cpShapeFree)>;

ShapePtr MakeShape(const Outline& outline, cpBody* body) {
  std::vector<cpVect> vertices;
  for (const Vec2 p : outline) vertices.push_back(cpv(p.x, p.y));
  return {cpPolyShapeNewRaw(body, static_cast<int>(vertices.size()), vertices.data(), 0),
          &cpShapeFree};
}

class Chipmunk : public ScenePeer {
 public:
  Chipmunk(const World& world, ChipmunkIndex index)
      : space_(cpSpaceNew(), &cpSpaceFree), index_(index) {
    if (index == ChipmunkIndex::kHash) {
      // Cells as those of the grid worlds, and ten times as many as shapes, as its manual advises.
      cpSpaceUseSpatialHash(space_.get(), kCell, static_cast<int>(10 * world.pieces.size()));
    }
    for (const Outline& piece : world.pieces) {
      shapes_.push_back(MakeShape(piece, cpSpaceGetStaticBody(space_.get())));
      cpSpaceAddShape(space_.get(), shapes_.back().get());
    }
  }
  ~Chipmunk() override {
    for (const ShapePtr& shape : shapes_) cpSpaceRemoveShape(space_.get(), shape.get());
  }
  Chipmunk(const Chipmunk&) = delete;
  Chipmunk& operator=(const Chipmunk&) = delete;

  std::string name() const override {
    return index_ == ChipmunkIndex::kTree ? "chipmunk tree" : "chipmunk hash";
  }

  Question Casts(const Segments& segments) override {
    return [this, &segments](size_t begin, size_t end) {
      uint64_t hits = 0;
      cpSegmentQueryInfo info;
      for (size_t i = begin; i < end; ++i) {
        const cpVect a = cpv(segments.ax[i], segments.ay[i]);
        const cpVect b = cpv(segments.bx[i], segments.by[i]);
        hits +=
            cpSpaceSegmentQueryFirst(space_.get(), a, b, 0, CP_SHAPE_FILTER_ALL, &info) != nullptr;
      }
      return hits;
    };
  }

  Question Contacts(const Movers& movers) override {
    // Shapes without a body, which are placed without the detour by one.
    moving_.clear();
    for (const Outline& outline : movers.outlines) moving_.push_back(MakeShape(outline, nullptr));
    return [this, &at = movers.placements](size_t begin, size_t end) {
      uint64_t contacts = 0;
      const auto count = [](cpShape*, cpContactPointSet* points, void* sum) {
        *static_cast<uint64_t*>(sum) += points->count > 0;
      };
      for (size_t i = begin; i < end; ++i) {
        cpShape* shape = moving_[at.mover[i]].get();
        cpShapeUpdate(shape, cpTransformNew(at.c[i], at.s[i], -at.s[i], at.c[i], at.x[i], at.y[i]));
        cpSpaceShapeQuery(space_.get(), shape, count, &contacts);
      }
      return contacts;
    };
  }

  Question Nearest(const Points& points, double radius) override {
    return [this, &points, radius](size_t begin, size_t end) {
      uint64_t hits = 0;
      cpPointQueryInfo info;
      for (size_t i = begin; i < end; ++i) {
        const cpVect p = cpv(points.x[i], points.y[i]);
        hits += cpSpacePointQueryNearest(space_.get(), p, radius, CP_SHAPE_FILTER_ALL, &info) !=
                nullptr;
      }
      return hits;
    };
  }

 private:
  std::unique_ptr<cpSpace, decltype(&cpSpaceFree)> space_;
  ChipmunkIndex index_;
  std::vector<ShapePtr> shapes_;
  std::vector<ShapePtr> moving_;
};

}  // namespace

std::unique_ptr<ScenePeer> MakeChipmunk(const World& world, ChipmunkIndex index) {
  return std::make_unique<Chipmunk>(world, index);
}

}  // namespace carom::bench
