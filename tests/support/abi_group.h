// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups, polygons and shapes as the structs of carom.h, so that a test can ask the same question
// in C++ and in C. Start with `AbiGroup`.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "carom/carom.h"
#include "carom/group.h"

namespace carom::testing {

template <auto kDestroy>
struct AbiDelete {
  template <class T>
  void operator()(T* handle) const {
    kDestroy(handle);
  }
};
using AbiPolygonSet = std::unique_ptr<carom_polygon_set, AbiDelete<carom_polygon_set_destroy>>;
using AbiShapes = std::unique_ptr<carom_shapes, AbiDelete<carom_shapes_destroy>>;
using AbiScene = std::unique_ptr<carom_scene, AbiDelete<carom_scene_destroy>>;
using AbiBodies = std::unique_ptr<carom_bodies, AbiDelete<carom_bodies_destroy>>;
using AbiBodyHistory = std::unique_ptr<carom_body_history, AbiDelete<carom_body_history_destroy>>;
using AbiTrackers = std::unique_ptr<carom_trackers, AbiDelete<carom_trackers_destroy>>;
using AbiAnswers = std::unique_ptr<carom_answers, AbiDelete<carom_answers_destroy>>;

inline carom_f64_column AbiColumn(std::span<const double> s) { return {s.data(), s.size(), 1}; }
inline carom_u64_column AbiColumn(std::span<const uint64_t> s) { return {s.data(), s.size(), 1}; }
inline carom_u32_column AbiColumn(std::span<const uint32_t> s) { return {s.data(), s.size(), 1}; }
inline carom_u8_column AbiColumn(std::span<const uint8_t> s) { return {s.data(), s.size(), 1}; }

// A struct of carom.h with its size set.
template <class T>
T AbiStruct() {
  T result{};
  result.struct_size = sizeof(T);
  return result;
}

// The polygons as a set; null, with `status`, if the library refuses them.
AbiPolygonSet MakeAbiPolygons(std::span<const Polygon> polygons, carom_status* status = nullptr);
// A scene with the polygons and the version of `scene`.
AbiScene MakeAbiScene(const Scene& scene);
AbiAnswers MakeAbiAnswers();

// The batches of a group. The columns are those of the group; shapes are copied. If `stride` is
// above 1, each column of doubles is copied with that stride.
class AbiGroup {
 public:
  explicit AbiGroup(const Group& group, size_t stride = 1);

  std::span<const carom_batch> batches() const { return batches_; }
  // The trackers of the moves, which have handles from 0; null if there are none.
  carom_trackers* trackers() const { return trackers_.get(); }
  // Null if the group has none, or if they cannot be placed.
  carom_bodies* bodies() const { return bodies_.get(); }

 private:
  carom_f64_column Column(std::span<const double> values);
  template <class S>
  carom_placed Placed(const PlacedColumns<S>& columns);
  void DefineTrackers(const MoveColumns& moves);

  template <class Q, class C>
  void SetEnds(Q& question, const C& columns);
  template <class Question, class Options>
  static void SetSoft(Question& q, const Options& o);
  void Set(carom_segments& q, const SegmentColumns& c, const CastOptions& o);
  void Set(carom_rays& q, const RayColumns& c, const CastOptions& o);
  void Set(carom_points& q, const PointColumns& c, uint64_t mask);
  void Set(carom_circles& q, const CircleColumns& c, const OverlapOptions& o);
  void Set(carom_capsule_overlaps& q, const CapsuleColumns& c, const OverlapOptions& o);
  void Set(carom_boxes& q, const BoxColumns& c, const OverlapOptions& o);
  void Set(carom_polygon_overlaps& q, const PolygonColumns& c, const OverlapOptions& o);
  void Set(carom_distances& q, const DistanceColumns& c, const DistanceOptions& o);
  void Set(carom_contacts& q, const ContactColumns& c, const ContactOptions& o);
  void Set(carom_body_contacts& q, const BodyContactColumns& c, const ContactOptions& o);
  void Set(carom_depenetrations& q, const ShapeColumns& c, const DepenetrateOptions& o);
  void Set(carom_sweeps& q, const SweepColumns& c, const SweepOptions& o);
  void Set(carom_rotating_sweeps& q, const RotatingSweepColumns& c, const RotatingSweepOptions& o);
  void Set(carom_arcs& q, const ArcColumns& c, const ArcOptions& o);
  void Set(carom_sights& q, const SegmentColumns& c, const SightOptions& o);
  void Set(carom_fans& q, const FanColumns& c, const FanOptions& o);
  void Set(carom_moves& q, const MoveColumns& c, const MoveOptions& o);
  void Set(carom_slides& q, const SlideColumns& c, const SlideOptions& o);
  void Set(carom_bounces& q, const SegmentColumns& c, const BounceOptions& o);
  void Set(carom_ray_bounces& q, const RayBounceColumns& c, uint64_t mask);
  void Set(carom_areas& q, const AreaColumns& c, const AreaOptions& o);
  void Set(carom_sees& q, const AreaColumns& c, const SeeOptions& o);

  const size_t stride_;
  std::vector<carom_batch> batches_;
  std::deque<std::shared_ptr<void>> questions_;
  std::deque<AbiShapes> shapes_;
  std::deque<std::vector<uint32_t>> indices_;
  std::deque<std::vector<double>> strided_;
  AbiTrackers trackers_;
  AbiBodies bodies_;
};

}  // namespace carom::testing
