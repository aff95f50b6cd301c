// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which columns (repeated fields) of an answer message carry the rows of answers, such as the hits
// of casts? Each list of columns serves encoding and decoding. Private to this folder.
//
// Some columns occur in several kinds of answers; each is a template over `M`, the type of the
// message.
#pragma once

#include <tuple>

#include "carom/group.h"
#include "carom/v1/query_service.pb.h"
#include "wire/columns.h"

namespace carom::wire {

// Functions that return a member of a row, a struct of the geometry core with one result, such as a
// hit. `kItself` returns the row itself, for rows that are single values.
inline constexpr auto kItself = [](auto& row) -> auto& { return row; };
inline constexpr auto kId = [](auto& row) -> auto& { return row.polygon_id; };
inline constexpr auto kRing = [](auto& row) -> auto& { return row.edge.ring; };
inline constexpr auto kEdge = [](auto& row) -> auto& { return row.edge.edge; };
inline constexpr auto kX = [](auto& row) -> auto& { return row.x; };
inline constexpr auto kY = [](auto& row) -> auto& { return row.y; };

template <class M>
inline constexpr std::tuple kPolygonId{
    RowColumn("polygon_id", kId, &M::polygon_id, &M::mutable_polygon_id)};

// The columns of the polygon edge that a row of answers names. If `has_edge` of a row is false, the
// row names no edge.
inline constexpr auto kHasEdge = [](auto& row) -> auto& { return row.has_edge; };
template <class M>
inline constexpr std::tuple kOptionalEdge{
    RowColumn("has_edge", kHasEdge, &M::has_edge, &M::mutable_has_edge),
    RowColumn("ring", kRing, &M::ring, &M::mutable_ring, kHasEdge),
    RowColumn("edge", kEdge, &M::edge, &M::mutable_edge, kHasEdge)};

template <class M>
inline constexpr std::tuple kPoint{RowColumn(
                                       "point_x", [](auto& row) -> auto& { return row.point.x; },
                                       &M::point_x, &M::mutable_point_x),
                                   RowColumn(
                                       "point_y", [](auto& row) -> auto& { return row.point.y; },
                                       &M::point_y, &M::mutable_point_y)};

template <class M>
inline constexpr std::tuple kNormal{RowColumn(
                                        "normal_x", [](auto& row) -> auto& { return row.normal.x; },
                                        &M::normal_x, &M::mutable_normal_x),
                                    RowColumn(
                                        "normal_y", [](auto& row) -> auto& { return row.normal.y; },
                                        &M::normal_y, &M::mutable_normal_y)};

template <class M>
inline constexpr std::tuple kStartsInside{RowColumn(
    "starts_inside", [](auto& row) -> auto& { return row.starts_inside; }, &M::starts_inside,
    &M::mutable_starts_inside)};

template <class M>
inline constexpr std::tuple kFraction{RowColumn(
    "fraction", [](auto& row) -> auto& { return row.fraction; }, &M::fraction,
    &M::mutable_fraction)};

// Each of the next four lists, `kCastFraction` to `kCastExit`, has the columns of CastAnswers that
// one level of CastDetail (FRACTION, NORMAL, EDGE, EXIT) adds to the levels before it.

inline constexpr auto kCastFraction = [] {
  using M = v1::CastAnswers;
  const std::tuple ends{RowColumn(
      "ends_inside", [](auto& hit) -> auto& { return hit.ends_inside; }, &M::ends_inside,
      &M::mutable_ends_inside)};
  return std::tuple_cat(kPolygonId<M>, kFraction<M>, kStartsInside<M>, ends);
}();

inline constexpr auto kCastNormal =
    std::tuple_cat(kPoint<v1::CastAnswers>, kNormal<v1::CastAnswers>);

// The columns of the polygon edge that a cast hits. A hit whose feature is kNone has no edge.
inline constexpr auto kHasFeature = [](const CastHit& hit) {
  return hit.feature != Feature::kNone;
};
inline constexpr auto kCastEdge = [] {
  using M = v1::CastAnswers;
  return std::tuple{RowColumn("ring", kRing, &M::ring, &M::mutable_ring, kHasFeature),
                    RowColumn("edge", kEdge, &M::edge, &M::mutable_edge, kHasFeature),
                    RowColumn(
                        "feature", [](auto& hit) -> auto& { return hit.feature; }, &M::feature,
                        &M::mutable_feature)};
}();

inline constexpr auto kHasExitEdge = [](auto& hit) -> auto& { return hit.has_exit_edge; };
inline constexpr auto kCastExit = [] {
  using M = v1::CastAnswers;
  return std::tuple{
      RowColumn(
          "exit_fraction", [](auto& hit) -> auto& { return hit.exit_fraction; }, &M::exit_fraction,
          &M::mutable_exit_fraction),
      RowColumn("has_exit_edge", kHasExitEdge, &M::has_exit_edge, &M::mutable_has_exit_edge),
      RowColumn(
          "exit_ring", [](auto& hit) -> auto& { return hit.exit_edge.ring; }, &M::exit_ring,
          &M::mutable_exit_ring, kHasExitEdge),
      RowColumn(
          "exit_edge", [](auto& hit) -> auto& { return hit.exit_edge.edge; }, &M::exit_edge,
          &M::mutable_exit_edge, kHasExitEdge),
      RowColumn(
          "exit_normal_x", [](auto& hit) -> auto& { return hit.exit_normal.x; }, &M::exit_normal_x,
          &M::mutable_exit_normal_x),
      RowColumn(
          "exit_normal_y", [](auto& hit) -> auto& { return hit.exit_normal.y; }, &M::exit_normal_y,
          &M::mutable_exit_normal_y)};
}();

inline constexpr std::tuple kReflection{
    RowColumn("reflection_x", kX, &v1::CastAnswers::reflection_x,
              &v1::CastAnswers::mutable_reflection_x),
    RowColumn("reflection_y", kY, &v1::CastAnswers::reflection_y,
              &v1::CastAnswers::mutable_reflection_y)};

inline constexpr auto kSweepHit = [] {
  using M = v1::SweepAnswers;
  const std::tuple ties{RowColumn(
      "ties", [](auto& hit) -> auto& { return hit.ties; }, &M::ties, &M::mutable_ties)};
  return std::tuple_cat(kPolygonId<M>, kFraction<M>, kStartsInside<M>, kOptionalEdge<M>, kPoint<M>,
                        kNormal<M>, ties);
}();

inline constexpr std::tuple kSafe{
    RowColumn("safe_x", kX, &v1::SweepAnswers::safe_x, &v1::SweepAnswers::mutable_safe_x),
    RowColumn("safe_y", kY, &v1::SweepAnswers::safe_y, &v1::SweepAnswers::mutable_safe_y)};

inline constexpr auto kArcHit = [] {
  using M = v1::ArcAnswers;
  const std::tuple time{RowColumn(
      "time", [](auto& hit) -> auto& { return hit.time; }, &M::time, &M::mutable_time)};
  return std::tuple_cat(kPolygonId<M>, time, kStartsInside<M>, kOptionalEdge<M>, kPoint<M>,
                        kNormal<M>);
}();

inline constexpr auto kRotatingSweepHit = [] {
  using M = v1::RotatingSweepAnswers;
  return std::tuple_cat(
      kPolygonId<M>,
      std::tuple{
          RowColumn(
              "low", [](auto& hit) -> auto& { return hit.low; }, &M::low, &M::mutable_low),
          RowColumn(
              "high", [](auto& hit) -> auto& { return hit.high; }, &M::high, &M::mutable_high)});
}();

inline constexpr auto kDistanceRow = [] {
  using M = v1::DistanceAnswers;
  return std::tuple_cat(
      std::tuple{RowColumn(
          "distance", [](auto& row) -> auto& { return row.distance; }, &M::distance,
          &M::mutable_distance)},
      kPoint<M>,
      std::tuple{RowColumn(
                     "mover_point_x", [](auto& row) -> auto& { return row.mover_point.x; },
                     &M::mover_point_x, &M::mutable_mover_point_x),
                 RowColumn(
                     "mover_point_y", [](auto& row) -> auto& { return row.mover_point.y; },
                     &M::mover_point_y, &M::mutable_mover_point_y)},
      kOptionalEdge<M>);
}();

inline constexpr auto kContact = [] {
  using M = v1::ContactAnswers;
  return std::tuple_cat(
      std::tuple{RowColumn(
          "kind", [](auto& row) -> auto& { return row.kind; }, &M::kind, &M::mutable_kind)},
      kNormal<M>,
      std::tuple{
          RowColumn(
              "depth", [](auto& row) -> auto& { return row.depth; }, &M::depth, &M::mutable_depth),
          RowColumn(
              "point_counts", [](auto& row) -> auto& { return row.point_count; }, &M::point_counts,
              &M::mutable_point_counts)});
}();

inline constexpr auto kContactPoint = [] {
  using M = v1::ContactAnswers;
  return std::tuple_cat(
      kPoint<M>,
      std::tuple{RowColumn(
                     "point_depth", [](auto& row) -> auto& { return row.depth; }, &M::point_depth,
                     &M::mutable_point_depth),
                 RowColumn(
                     "polygon_feature", [](auto& row) -> auto& { return row.polygon_feature; },
                     &M::polygon_feature, &M::mutable_polygon_feature),
                 RowColumn(
                     "mover_feature", [](auto& row) -> auto& { return row.mover_feature; },
                     &M::mover_feature, &M::mutable_mover_feature)});
}();

inline constexpr auto kSplit = [] {
  using M = v1::ContactAnswers;
  return std::tuple{RowColumn(
                        "fixed_x", [](auto& row) -> auto& { return row.fixed.x; }, &M::fixed_x,
                        &M::mutable_fixed_x),
                    RowColumn(
                        "fixed_y", [](auto& row) -> auto& { return row.fixed.y; }, &M::fixed_y,
                        &M::mutable_fixed_y),
                    RowColumn(
                        "mover_x", [](auto& row) -> auto& { return row.mover.x; }, &M::mover_x,
                        &M::mutable_mover_x),
                    RowColumn(
                        "mover_y", [](auto& row) -> auto& { return row.mover.y; }, &M::mover_y,
                        &M::mutable_mover_y)};
}();

inline constexpr std::tuple kPosition{
    RowColumn("x", kX, &v1::DepenetrateAnswers::x, &v1::DepenetrateAnswers::mutable_x),
    RowColumn("y", kY, &v1::DepenetrateAnswers::y, &v1::DepenetrateAnswers::mutable_y)};

template <class M>
inline constexpr std::tuple kOverlapEdge{
    RowColumn(
        "ring", [](auto& edge) -> auto& { return edge.ring; }, &M::ring, &M::mutable_ring),
    RowColumn(
        "edge", [](auto& edge) -> auto& { return edge.edge; }, &M::edge, &M::mutable_edge)};

inline constexpr auto kFirstTouch = [] {
  using M = v1::MoveAnswers;
  return std::tuple{
      RowColumn(
          "touches", [](auto& touch) -> auto& { return touch.touches; }, &M::touches,
          &M::mutable_touches),
      RowColumn("first_polygon_id", kId, &M::first_polygon_id, &M::mutable_first_polygon_id),
      RowColumn(
          "low", [](auto& touch) -> auto& { return touch.low; }, &M::low, &M::mutable_low),
      RowColumn(
          "high", [](auto& touch) -> auto& { return touch.high; }, &M::high, &M::mutable_high)};
}();

// The columns of the edge and the normal of the first touch of a tracker (a moving shape) that is
// swept along a path. Older servers omit these columns.
inline constexpr auto kFirstTouchEdge = [] {
  using M = v1::MoveAnswers;
  return std::tuple{
      RowColumn("first_has_edge", kHasEdge, &M::first_has_edge, &M::mutable_first_has_edge),
      RowColumn("first_ring", kRing, &M::first_ring, &M::mutable_first_ring, kHasEdge),
      RowColumn("first_edge", kEdge, &M::first_edge, &M::mutable_first_edge, kHasEdge),
      RowColumn(
          "first_normal_x", [](auto& touch) -> auto& { return touch.normal.x; }, &M::first_normal_x,
          &M::mutable_first_normal_x),
      RowColumn(
          "first_normal_y", [](auto& touch) -> auto& { return touch.normal.y; }, &M::first_normal_y,
          &M::mutable_first_normal_y)};
}();

// Each of the next lists is a single column whose rows are single values: the geometry core (core/)
// has them as a vector of numbers or enums.
template <class M>
inline constexpr auto kIds =
    std::tuple{RowColumn("polygon_id", kItself, &M::polygon_id, &M::mutable_polygon_id)};
inline constexpr std::tuple kLocation{RowColumn("location", kItself, &v1::LocateAnswers::location,
                                                &v1::LocateAnswers::mutable_location)};
inline constexpr std::tuple kTouching{RowColumn("touching", kItself, &v1::OverlapAnswers::touching,
                                                &v1::OverlapAnswers::mutable_touching)};
template <class M>
inline constexpr std::tuple kEdgeCounts{
    RowColumn("edge_counts", kItself, &M::edge_counts, &M::mutable_edge_counts)};
inline constexpr std::tuple kFinished{RowColumn("finished", kItself,
                                                &v1::DepenetrateAnswers::finished,
                                                &v1::DepenetrateAnswers::mutable_finished)};
inline constexpr std::tuple kSteps{RowColumn("steps", kItself, &v1::DepenetrateAnswers::steps,
                                             &v1::DepenetrateAnswers::mutable_steps)};
inline constexpr std::tuple kVisible{
    RowColumn("visible", kItself, &v1::SightAnswers::visible, &v1::SightAnswers::mutable_visible)};
inline constexpr std::tuple kBeamHit{
    RowColumn("hit", kItself, &v1::FanAnswers::hit, &v1::FanAnswers::mutable_hit)};
inline constexpr std::tuple kBeamDistance{
    RowColumn("distance", kItself, &v1::FanAnswers::distance, &v1::FanAnswers::mutable_distance)};

}  // namespace carom::wire
