// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// GEOS prepared geometry, by its C API. The geometries of the queries are made beforehand, so that
// only the answer is timed.

#include <geos_c.h>

#include "tests/bench/peer.h"
#include "tests/bench/runner.h"

namespace carom::bench {
namespace {

class Geos : public OutlinePeer {
 public:
  explicit Geos(const Outline& outline)
      : context_(GEOS_init_r()), polygon_(MakePolygon(outline)), prepared_(Prepared()) {}
  ~Geos() override {
    Clear();
    GEOSPreparedGeom_destroy_r(context_, prepared_);
    GEOSGeom_destroy_r(context_, polygon_);
    GEOS_finish_r(context_);
  }
  Geos(const Geos&) = delete;
  Geos& operator=(const Geos&) = delete;

  Question Holds(const Points& points) override {
    Clear();
    for (size_t i = 0; i < points.size(); ++i) {
      queries_.push_back(GEOSGeom_createPointFromXY_r(context_, points.x[i], points.y[i]));
    }
    return Intersects();
  }

  Question Touches(const Movers& movers) override {
    Clear();
    const Placements& at = movers.placements;
    for (size_t i = 0; i < at.size(); ++i) {
      Outline placed;
      for (const Vec2 p : movers.outlines[at.mover[i]]) {
        placed.push_back(Placed({{at.x[i], at.y[i]}, at.c[i], at.s[i]}, p));
      }
      queries_.push_back(MakePolygon(placed));
    }
    return Intersects();
  }

  double BuildNanoseconds() override {
    const double start = ThreadNanoseconds();
    const GEOSPreparedGeometry* prepared = Prepared();
    const double end = ThreadNanoseconds();
    GEOSPreparedGeom_destroy_r(context_, prepared);
    return end - start;
  }

 private:
  GEOSGeometry* MakePolygon(const Outline& outline) {
    Outline closed = outline;
    closed.push_back(outline.front());
    GEOSCoordSequence* coordinates = GEOSCoordSeq_copyFromBuffer_r(
        context_, &closed[0].x, static_cast<unsigned>(closed.size()), 0, 0);
    GEOSGeometry* ring = GEOSGeom_createLinearRing_r(context_, coordinates);
    return GEOSGeom_createPolygon_r(context_, ring, nullptr, 0);
  }

  // Ready: its index is made at the first question.
  const GEOSPreparedGeometry* Prepared() {
    const GEOSPreparedGeometry* prepared = GEOSPrepare_r(context_, polygon_);
    GEOSGeometry* point = GEOSGeom_createPointFromXY_r(context_, 0, 0);
    GEOSPreparedIntersects_r(context_, prepared, point);
    GEOSGeom_destroy_r(context_, point);
    return prepared;
  }

  Question Intersects() {
    return [this](size_t begin, size_t end) {
      uint64_t hits = 0;
      for (size_t i = begin; i < end; ++i) {
        hits += GEOSPreparedIntersects_r(context_, prepared_, queries_[i]) == 1;
      }
      return hits;
    };
  }

  void Clear() {
    for (GEOSGeometry* query : queries_) GEOSGeom_destroy_r(context_, query);
    queries_.clear();
  }

  GEOSContextHandle_t context_;
  GEOSGeometry* polygon_;
  const GEOSPreparedGeometry* prepared_;
  std::vector<GEOSGeometry*> queries_;
};

}  // namespace

std::unique_ptr<OutlinePeer> MakeGeos(const Outline& outline) {
  return std::make_unique<Geos>(outline);
}

}  // namespace carom::bench
