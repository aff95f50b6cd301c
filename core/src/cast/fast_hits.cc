// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Measures hits of the fast path (fast_line.h). Computes what `Fraction::Refined`, `PointAt` and
// `UnitNormal` compute, operation by operation, for several hits in the lanes of a vector. The
// error bounds are derived where these scalar functions are defined.

#include <algorithm>

#include "cast/crossing_columns.h"
#include "cast/fast_line.h"
#include "cast/hit_measures.h"
#include "cast/reported_edge.h"
#include "shape/fraction.h"
#include "shape/measures.h"

// Highway compiles this file once for each instruction set; the part up to `#endif` only once.
#ifndef CAROM_CORE_SRC_FAST_HITS_CC_
#define CAROM_CORE_SRC_FAST_HITS_CC_
namespace carom::internal {
namespace {

constexpr size_t kBlock = kMaxLanes;  // hits that are measured at a time, in the lanes of vectors

enum class Want : uint8_t { kFraction, kNormal, kPointAndNormal };

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/cast/fast_hits.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "cast/crossing_vectors.h"
#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "shape/normal_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Sets one coordinate of the hit points at the parameters t of the lines, as `PointAt` computes it.
inline void SetPoints(Axis& axis, size_t i, V t) {
  const Pair step = TwoProduct(At(axis.d, i), t);
  const Pair sum = TwoSum(At(axis.origin, i), step.high);
  const V low = Add(sum.low, Add(step.low, Mul(At(axis.d_low, i), t)));
  Put(Add(Add(sum.high, low), All(0)), axis.point, i);
}

// Sets the unit normals of the edges from i on; each points to the side of its edge that `side`
// states: left (+1) or right (-1). Returns the lanes in which the normals are certainly correctly
// rounded.
inline Mask SetNormals(Crossings& of, size_t i, V side) {
  V x = All(0);
  V y = x;
  const Mask certain = UnitNormals({At(of.x.e, i), At(of.x.e_low, i)},
                                   {At(of.y.e, i), At(of.y.e_low, i)}, side, x, y);
  Put(x, of.x.normal, i);
  Put(y, of.y.normal, i);
  return certain;
}

// Computes the results that `want` names for all crossings of a line and an edge in `of`. `towards`
// is the sign that (normal . direction of the line) must have: -1 at an entry, 1 at an exit. The
// sign of (direction x edge) is certain, since it was certain when the crossing was found.
void Measure(Crossings& of, Want want, double towards) {
  of.certain = 0;
  for (size_t i = 0; i < kBlock; i += hn::Lanes(D())) {
    SetEdges(of.x, i);
    SetEdges(of.y, i);
    V t;
    Mask certain = Refined(of, i, t);
    Put(t, of.fraction, i);
    if (want == Want::kPointAndNormal) {
      SetPoints(of.x, i, t);
      SetPoints(of.y, i, t);
    }
    if (want != Want::kFraction) {
      const V left = Mul(At(of.x.d, i), At(of.y.e, i));
      const Mask to_left = hn::Gt(left, Mul(At(of.y.d, i), At(of.x.e, i)));
      const V side = hn::IfThenElse(to_left, All(-towards), All(towards));
      certain = And(certain, SetNormals(of, i, side));
    }
    of.certain |= BitsOf(certain) << i;
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(Measure);

// Measures a hit (computes its fractions, point, normals and edges) by `MeasureHit` of the general
// path, which also covers lines that begin inside a polygon.
void MeasureGeneral(const FastHit& of, CastDetail detail) {
  const Line& line = of.line->line;
  const auto& [polygon, passage] = *of.found;
  *of.hit = {};
  MeasureHit(line, polygon.get(), PassageOf(line, polygon.get(), passage), {false, detail},
             *of.hit);
}

Segment EdgeOf(const FastCandidate& found, uint32_t edge) {
  const auto ring = found.polygon->vertices();
  return {ring[edge], ring[edge + 1 == ring.size() ? 0 : edge + 1]};
}

// A passage is the interval of a hit's line inside the polygon. Sets `crossings` to the crossings
// of the lines of `hits` with the edges that `edge_in` selects from the passages: the entry or the
// exit edges. Edge 0 replaces an absent edge, and the last hit fills a block that is not full.
template <class EdgeIn>
void Gather(std::span<const FastHit> hits, const EdgeIn& edge_in, Crossings& crossings) {
  for (size_t i = 0; i < kBlock; ++i) {
    const auto& [line, found, hit] = hits[std::min(i, hits.size() - 1)];
    const auto [edge, at] = edge_in(found->passage);
    crossings.Set(i, line->line, EdgeOf(*found, edge == kNoEdge ? 0 : edge), at);
  }
}

// Writes the members of a hit, where a line enters a polygon, that need no computation. The fast
// path finds only crossings strictly between the ends of the edge, and strictly between the start
// and the end of the line.
void WriteEntry(const FastHit& of, CastDetail detail) {
  const auto& [polygon, passage] = *of.found;
  CastHit& hit = *of.hit;
  hit.polygon_id = polygon->id();
  hit.ends_inside = passage.exit == kNoEdge;
  if (detail < CastDetail::kEdge) return;
  hit.feature = Feature::kEdge;
  hit.edge = {0, passage.entry};
}

void Write(const FastHit& of, const Crossings& entries, size_t i, CastDetail detail) {
  CastHit& hit = *of.hit;
  WriteEntry(of, detail);
  hit.fraction = entries.fraction[i];
  if (detail < CastDetail::kNormal) return;
  hit.point = {entries.x.point[i], entries.y.point[i]};
  hit.normal = {entries.x.normal[i], entries.y.normal[i]};
}

void WriteExit(const FastHit& of, const Crossings& exits, size_t i) {
  CastHit& hit = *of.hit;
  if (hit.ends_inside) {
    hit.exit_fraction = of.line->line.t_max;
    return;
  }
  hit.exit_fraction = exits.fraction[i];
  hit.has_exit_edge = true;
  hit.exit_edge = {0, of.found->passage.exit};
  hit.exit_normal = {exits.x.normal[i], exits.y.normal[i]};
}

// Measures one hit (computes its fractions, point, normals and edges) by scalar functions, not in
// the lanes of a vector.
void MeasureAlone(const FastHit& of, CastDetail detail) {
  const FastLine& line = *of.line;
  const FastPassage& passage = of.found->passage;
  if (passage.entry == kNoEdge) return MeasureGeneral(of, detail);
  const auto fraction = [&](const Interval& at, const Segment& edge) {
    return Fraction::OfCrossingAt(at, edge).Rounded(line.line);
  };
  const auto normal = [&](const Segment& edge, int towards) {
    return UnitNormal(edge, line.line.Cross(edge) > 0 ? -towards : towards);
  };
  CastHit& hit = *of.hit;
  const Segment edge = EdgeOf(*of.found, passage.entry);
  hit.fraction = fraction(passage.begin, edge);
  if (detail >= CastDetail::kNormal) {
    hit.point = PointAt(line.line, hit.fraction);
    hit.normal = normal(edge, -1);
  }
  WriteEntry(of, detail);
  if (detail < CastDetail::kExit) return;
  if (passage.exit == kNoEdge) {
    hit.exit_fraction = line.line.t_max;
    return;
  }
  const Segment exit = EdgeOf(*of.found, passage.exit);
  hit.exit_fraction = fraction(passage.end, exit);
  hit.exit_normal = normal(exit, 1);
  hit.has_exit_edge = true;
  hit.exit_edge = {0, passage.exit};
}

// Measures up to `kBlock` hits (computes their fractions, points, normals and edges) in the lanes
// of vectors. A hit for which a vector result may be rounded wrongly is measured alone
// (`MeasureAlone`) instead.
void MeasureBlock(std::span<const FastHit> hits, CastDetail detail) {
  const auto entry = [](const FastPassage& passage) {
    return std::pair(passage.entry, passage.begin);
  };
  const auto exit = [](const FastPassage& passage) { return std::pair(passage.exit, passage.end); };
  Crossings entries;
  Gather(hits, entry, entries);
  const bool has_normal = detail >= CastDetail::kNormal;
  HWY_DYNAMIC_DISPATCH(Measure)(entries, has_normal ? Want::kPointAndNormal : Want::kFraction, -1);
  Crossings exits;
  if (detail == CastDetail::kExit) {
    Gather(hits, exit, exits);
    HWY_DYNAMIC_DISPATCH(Measure)(exits, Want::kNormal, 1);
  }
  for (size_t i = 0; i < hits.size(); ++i) {
    const FastPassage& passage = hits[i].found->passage;
    bool is_certain = passage.entry != kNoEdge && (entries.certain >> i & 1) != 0;
    if (detail == CastDetail::kExit && passage.exit != kNoEdge) {
      is_certain = is_certain && (exits.certain >> i & 1) != 0;
    }
    if (!is_certain) {
      MeasureAlone(hits[i], detail);
      continue;
    }
    Write(hits[i], entries, i, detail);
    if (detail == CastDetail::kExit) WriteExit(hits[i], exits, i);
  }
}

}  // namespace

Vec2 ReflectionOf(const FastHit& hit) {
  if (hit.hit->normal == Vec2{}) return {};
  return Reflected(hit.line->line, EdgeOf(*hit.found, hit.found->passage.entry));
}

// Measures hits: computes their fractions, points, normals and edges. A single hit is measured by
// scalar functions, since no other hit would share the lanes of a vector.
void MeasureFastHits(std::span<const FastHit> hits, CastDetail detail) {
  if (hits.size() == 1) return MeasureAlone(hits[0], detail);
  for (size_t i = 0; i < hits.size(); i += kBlock) {
    MeasureBlock(hits.subspan(i, std::min(kBlock, hits.size() - i)), detail);
  }
}

}  // namespace carom::internal
#endif  // HWY_ONCE
