// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which of two polygons or bodies is nearer to a shape?
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/hit_collector.h"
#include "base/metered_sort.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "index/body_set.h"
#include "proximity/closest.h"
#include "shape/approach.h"

namespace carom::internal {

// A polygon of the scene near a mover (the query's shape), and the edges or rings that determine
// the distance of the polygon from the mover.
struct MeasuredPolygon {
  const IndexedPolygon* fixed;
  Closest closest;
  bool is_touching;  // whether polygon and mover share a point: the distance is 0
};

// A body near a mover (the query's shape), and the edges or rings that determine the distance of
// the body from the mover.
struct MeasuredBody {
  Body* body;
  Closest closest;
  bool is_touching;  // whether body and mover share a point: the distance is 0
  // For a round body (a disc or a capsule) that is apart from the mover: the least double that is
  // at least the exact distance. Round bodies are compared by `rounded_up`, other bodies by their
  // exact distances.
  double rounded_up;
};

// The distance from the mover (the shape of the query) by which the polygons and bodies found are
// compared: 0 for a shape that touches the mover, `rounded_up` for a round body, a disc or a
// capsule (`is_rounded`), else the exact distance of `approach`. The exact distance of `approach`
// is measured from the mover's core (the mover without its radius), so it is too large by the
// mover's radius, which does not matter between two such keys; `rounded_up` has the radius
// subtracted.
struct DistanceKey {
  bool is_touching;
  bool is_rounded;
  double rounded_up;
  const std::optional<Approach>* approach;
};

inline DistanceKey KeyOf(const MeasuredPolygon& polygon) {
  return {polygon.is_touching, false, 0, &polygon.closest.approach};
}
inline DistanceKey KeyOf(const MeasuredBody& body) {
  return {body.is_touching, body.body->is_round(), body.rounded_up, &body.closest.approach};
}

inline HitSource SourceOf(const MeasuredPolygon& polygon) {
  return {false, polygon.fixed->polygon().id()};
}
inline HitSource SourceOf(const MeasuredBody& body) { return {true, body.body->index()}; }

// Returns the sign of a - b. `mover_radius` is the radius of the shape of the query.
int CompareKeys(const DistanceKey& a, const DistanceKey& b, double mover_radius);

// Returns whether `a` comes before `b` in the order of the mode NEAREST_K: (distance, polygons
// before bodies, id).
template <class A, class B>
bool IsNearer(const A& a, const B& b, double mover_radius) {
  const int order = CompareKeys(KeyOf(a), KeyOf(b), mover_radius);
  return order != 0 ? order < 0 : SourceOf(a) < SourceOf(b);
}

// Keeps the `k` first of the polygons or bodies that are added, as a heap with the last one on top.
// `T` is `MeasuredPolygon` or `MeasuredBody`.
template <class T>
class NearestHeap {
 public:
  NearestHeap(std::vector<T>& kept, size_t k, double mover_radius, WorkMeter& meter)
      : kept_(kept), k_(k), mover_radius_(mover_radius), meter_(meter) {}

  bool is_full() const { return kept_.size() >= k_; }

  // Adds `found`, unless k others come before it. Returns whether it is kept.
  bool Add(const T& found) {
    const auto before = Before();
    if (is_full()) {
      if (!before(found, kept_.front())) return false;
      std::pop_heap(kept_.begin(), kept_.end(), before);
      kept_.back() = found;
    } else {
      kept_.push_back(found);
    }
    std::push_heap(kept_.begin(), kept_.end(), before);
    return true;
  }

  // Sorts what is kept, nearest first.
  void Sort() { SortHeap(kept_, meter_, Before()); }

 private:
  auto Before() const {
    return [this](const T& a, const T& b) {
      meter_.Spend(1);
      return IsNearer(a, b, mover_radius_);
    };
  }

  std::vector<T>& kept_;
  const size_t k_;
  const double mover_radius_;
  WorkMeter& meter_;
};

}  // namespace carom::internal
