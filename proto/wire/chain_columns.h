// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which columns (repeated fields) of a message carry answers that are chains of legs, such as
// slides and bounces, or of pieces, such as areas? A leg is one straight part of the motion.
// Private to this folder.
#pragma once

#include <tuple>

#include "wire/answer_columns.h"
#include "wire/columns.h"

namespace carom::wire {

// The columns of a slide: its end position, the part of its displacement that is left, and the
// number of its legs. `kSlideLeg` and `kSlideHit` are the columns of the legs. A leg is one
// straight part of the motion; a leg without a hit has a default-constructed hit.
inline constexpr auto kSlideRow = [] {
  using M = v1::SlideAnswers;
  return std::tuple{
      RowColumn(
          "x", [](auto& row) -> auto& { return row.position.x; }, &M::x, &M::mutable_x),
      RowColumn(
          "y", [](auto& row) -> auto& { return row.position.y; }, &M::y, &M::mutable_y),
      RowColumn(
          "left_x", [](auto& row) -> auto& { return row.left.x; }, &M::left_x, &M::mutable_left_x),
      RowColumn(
          "left_y", [](auto& row) -> auto& { return row.left.y; }, &M::left_y, &M::mutable_left_y),
      RowColumn(
          "counts", [](auto& row) -> auto& { return row.legs; }, &M::counts, &M::mutable_counts)};
}();

inline constexpr auto kHasHit = [](auto& leg) -> auto& { return leg.has_hit; };
inline constexpr auto kSlideLeg = [] {
  using M = v1::SlideAnswers;
  return std::tuple{
      RowColumn(
          "from_x", [](auto& leg) -> auto& { return leg.from.x; }, &M::from_x, &M::mutable_from_x),
      RowColumn(
          "from_y", [](auto& leg) -> auto& { return leg.from.y; }, &M::from_y, &M::mutable_from_y),
      RowColumn(
          "dx", [](auto& leg) -> auto& { return leg.d.x; }, &M::dx, &M::mutable_dx),
      RowColumn(
          "dy", [](auto& leg) -> auto& { return leg.d.y; }, &M::dy, &M::mutable_dy),
      RowColumn("has_hit", kHasHit, &M::has_hit, &M::mutable_has_hit)};
}();

// Returns `columns`, a list of columns of hits, as columns of legs (straight parts of a motion):
// each column reads and writes the member `hit` of a leg.
template <class... Columns>
constexpr auto OfHit(const std::tuple<Columns...>& columns) {
  const auto of_hit = [](const auto& column) {
    const auto member = [inner = column.member](auto& leg) -> auto& { return inner(leg.hit); };
    const auto present = [inner = column.present](const auto& leg) { return inner(leg.hit); };
    return RowColumn(column.name, member, column.read, column.write, present);
  };
  return std::apply([&](const auto&... column) { return std::tuple{of_hit(column)...}; }, columns);
}

inline constexpr auto kSlideHit = [] {
  using M = v1::SlideAnswers;
  return OfHit(std::tuple_cat(kPolygonId<M>, kFraction<M>, kStartsInside<M>, kOptionalEdge<M>,
                              kPoint<M>, kNormal<M>));
}();

inline constexpr auto kBounceLeg = [] {
  using M = v1::BounceAnswers;
  return std::tuple{RowColumn(
                        "ax", [](auto& leg) -> auto& { return leg.a.x; }, &M::ax, &M::mutable_ax),
                    RowColumn(
                        "ay", [](auto& leg) -> auto& { return leg.a.y; }, &M::ay, &M::mutable_ay),
                    RowColumn(
                        "bx", [](auto& leg) -> auto& { return leg.b.x; }, &M::bx, &M::mutable_bx),
                    RowColumn(
                        "by", [](auto& leg) -> auto& { return leg.b.y; }, &M::by, &M::mutable_by),
                    RowColumn("has_hit", kHasHit, &M::has_hit, &M::mutable_has_hit)};
}();

inline constexpr auto kRayBounceLeg = [] {
  using M = v1::RayBounceAnswers;
  return std::tuple{
      RowColumn(
          "x", [](auto& leg) -> auto& { return leg.origin.x; }, &M::x, &M::mutable_x),
      RowColumn(
          "y", [](auto& leg) -> auto& { return leg.origin.y; }, &M::y, &M::mutable_y),
      RowColumn(
          "dx", [](auto& leg) -> auto& { return leg.direction.x; }, &M::dx, &M::mutable_dx),
      RowColumn(
          "dy", [](auto& leg) -> auto& { return leg.direction.y; }, &M::dy, &M::mutable_dy),
      RowColumn(
          "t_max", [](auto& leg) -> auto& { return leg.t_max; }, &M::t_max, &M::mutable_t_max),
      RowColumn("has_hit", kHasHit, &M::has_hit, &M::mutable_has_hit)};
}();

// The columns of the hit that ends a leg (one straight part) of a bouncing path. `M` is
// BounceAnswers or RayBounceAnswers.
template <class M>
inline constexpr auto kBounceHit = [] {
  const std::tuple ends{RowColumn(
      "ends_inside", [](auto& hit) -> auto& { return hit.ends_inside; }, &M::ends_inside,
      &M::mutable_ends_inside)};
  const std::tuple edge{RowColumn("ring", kRing, &M::ring, &M::mutable_ring, kHasFeature),
                        RowColumn("edge", kEdge, &M::edge, &M::mutable_edge, kHasFeature),
                        RowColumn(
                            "feature", [](auto& hit) -> auto& { return hit.feature; }, &M::feature,
                            &M::mutable_feature)};
  return OfHit(std::tuple_cat(kPolygonId<M>, kFraction<M>, kStartsInside<M>, ends, edge, kPoint<M>,
                              kNormal<M>));
}();

// The columns of a piece of the boundary of an area. Only pieces on an edge name a polygon.
inline constexpr auto kIsEdge = [](const AreaPiece& piece) {
  return piece.kind == AreaPieceKind::kEdge;
};
inline constexpr auto kAreaPiece = [] {
  using M = v1::AreaAnswers;
  return std::tuple{
      RowColumn(
          "kind", [](auto& piece) -> auto& { return piece.kind; }, &M::kind, &M::mutable_kind),
      RowColumn("polygon_id", kId, &M::polygon_id, &M::mutable_polygon_id, kIsEdge),
      RowColumn("ring", kRing, &M::ring, &M::mutable_ring, kIsEdge),
      RowColumn("edge", kEdge, &M::edge, &M::mutable_edge, kIsEdge),
      RowColumn(
          "start_x", [](auto& piece) -> auto& { return piece.start.x; }, &M::start_x,
          &M::mutable_start_x),
      RowColumn(
          "start_y", [](auto& piece) -> auto& { return piece.start.y; }, &M::start_y,
          &M::mutable_start_y)};
}();

// The columns of an area, with an entry for each item.
inline constexpr std::tuple kAreaSize{
    RowColumn("area", kItself, &v1::AreaAnswers::area, &v1::AreaAnswers::mutable_area)};
inline constexpr std::tuple kEyeInside{RowColumn("starts_inside", kItself,
                                                 &v1::AreaAnswers::starts_inside,
                                                 &v1::AreaAnswers::mutable_starts_inside)};
inline constexpr std::tuple kObserverInside{RowColumn("starts_inside", kItself,
                                                      &v1::SeeAnswers::starts_inside,
                                                      &v1::SeeAnswers::mutable_starts_inside)};

}  // namespace carom::wire
