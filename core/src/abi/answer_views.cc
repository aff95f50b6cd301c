// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "abi/answer_views.h"

#include <bit>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "abi/call.h"
#include "abi/column_reader.h"
#include "abi/handles.h"

namespace carom::abi {
namespace {

// --- Functions that return members of rows

constexpr auto kItself = [](const auto& row) -> const auto& { return row; };
constexpr auto kX = [](const Vec2& row) -> const auto& { return row.x; };
constexpr auto kY = [](const Vec2& row) -> const auto& { return row.y; };
constexpr auto kId = [](const auto& row) -> const auto& { return row.polygon_id; };
constexpr auto kIsBody = [](const auto& row) -> const auto& { return row.is_body; };
constexpr auto kFraction = [](const auto& row) -> const auto& { return row.fraction; };
constexpr auto kStartsInside = [](const auto& row) -> const auto& { return row.starts_inside; };
constexpr auto kRing = [](const auto& row) -> const auto& { return row.edge.ring; };
constexpr auto kEdge = [](const auto& row) -> const auto& { return row.edge.edge; };
constexpr auto kHasEdge = [](const auto& row) -> const auto& { return row.has_edge; };
constexpr auto kFeature = [](const auto& row) -> const auto& { return row.feature; };
constexpr auto kPointX = [](const auto& row) -> const auto& { return row.point.x; };
constexpr auto kPointY = [](const auto& row) -> const auto& { return row.point.y; };
constexpr auto kNormalX = [](const auto& row) -> const auto& { return row.normal.x; };
constexpr auto kNormalY = [](const auto& row) -> const auto& { return row.normal.y; };

// The member `get` of the member `hit` of a leg.
template <class Get>
constexpr auto OfHit(Get get) {
  return [get](const auto& leg) -> const auto& { return get(leg.hit); };
}

constexpr auto kAlways = [](const auto&) { return true; };
constexpr auto kHasHit = [](const auto& leg) { return leg.has_hit; };

// --- `VisitColumns` has one overload for each struct of answers. It calls
// visit(member of the struct of carom.h, rows, get[, has]) for each column: entry i is
// get(rows[i]), and has a meaning if has(rows[i]).

template <class View, class Answers, class V>
void VisitErrors(const Answers& a, V& visit) {
  visit(
      &View::error_index, a.errors, [](const ItemError& e) -> const auto& { return e.index; });
  visit(
      &View::error_column, a.errors, [](const ItemError& e) -> const auto& { return e.column; });
  visit(
      &View::error_fault, a.errors, [](const ItemError& e) -> const auto& { return e.fault; });
}

// The columns of a hit, or of another row, that are of one edge.
template <class View, class Rows, class Has, class V>
void VisitEdge(const Rows& rows, Has has, V& visit) {
  visit(&View::ring, rows, kRing, has);
  visit(&View::edge, rows, kEdge, has);
}

template <class View, class Rows, class V>
void VisitPointAndNormal(const Rows& rows, V& visit) {
  visit(&View::point_x, rows, kPointX);
  visit(&View::point_y, rows, kPointY);
  visit(&View::normal_x, rows, kNormalX);
  visit(&View::normal_y, rows, kNormalY);
}

template <class V>
void VisitColumns(const CastAnswers& a, std::type_identity<carom_cast_answers>, V& visit) {
  using View = carom_cast_answers;
  const auto has_feature = [](const CastHit& hit) { return hit.feature != Feature::kNone; };
  const auto has_exit_edge = [](const CastHit& hit) { return hit.has_exit_edge; };
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.hits, kId);
  visit(&View::is_body, a.hits, kIsBody);
  visit(&View::fraction, a.hits, kFraction);
  visit(&View::starts_inside, a.hits, kStartsInside);
  visit(
      &View::ends_inside, a.hits, [](const CastHit& h) -> const auto& { return h.ends_inside; });
  VisitPointAndNormal<View>(a.hits, visit);
  visit(&View::feature, a.hits, kFeature);
  VisitEdge<View>(a.hits, has_feature, visit);
  visit(
      &View::exit_fraction, a.hits,
      [](const CastHit& h) -> const auto& { return h.exit_fraction; });
  visit(
      &View::has_exit_edge, a.hits,
      [](const CastHit& h) -> const auto& { return h.has_exit_edge; });
  visit(
      &View::exit_ring, a.hits, [](const CastHit& h) -> const auto& { return h.exit_edge.ring; },
      has_exit_edge);
  visit(
      &View::exit_edge, a.hits, [](const CastHit& h) -> const auto& { return h.exit_edge.edge; },
      has_exit_edge);
  visit(
      &View::exit_normal_x, a.hits,
      [](const CastHit& h) -> const auto& { return h.exit_normal.x; });
  visit(
      &View::exit_normal_y, a.hits,
      [](const CastHit& h) -> const auto& { return h.exit_normal.y; });
  visit(&View::reflection_x, a.reflections, kX);
  visit(&View::reflection_y, a.reflections, kY);
  visit(&View::truncated, a.truncated, kItself);
  VisitErrors<View>(a, visit);
  visit.Appended(&View::passed, a.passed, kItself);
  visit.Appended(&View::soft_length, a.soft_lengths, kItself);
}

template <class V>
void VisitColumns(const LocateAnswers& a, std::type_identity<carom_locate_answers>, V& visit) {
  using View = carom_locate_answers;
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.polygon_ids, kItself);
  visit(&View::is_body, a.is_body, kItself);
  visit(&View::location, a.locations, kItself);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const OverlapAnswers& a, std::type_identity<carom_overlap_answers>, V& visit) {
  using View = carom_overlap_answers;
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.polygon_ids, kItself);
  visit(&View::is_body, a.is_body, kItself);
  visit(&View::touching, a.touching, kItself);
  visit(&View::edge_counts, a.edge_counts, kItself);
  visit(
      &View::ring, a.edges, [](const EdgeRef& e) -> const auto& { return e.ring; });
  visit(
      &View::edge, a.edges, [](const EdgeRef& e) -> const auto& { return e.edge; });
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const DistanceAnswers& a, std::type_identity<carom_distance_answers>, V& visit) {
  using View = carom_distance_answers;
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.polygon_ids, kItself);
  visit(&View::is_body, a.is_body, kItself);
  visit(
      &View::distance, a.rows, [](const DistanceRow& r) -> const auto& { return r.distance; });
  visit(&View::point_x, a.rows, kPointX);
  visit(&View::point_y, a.rows, kPointY);
  visit(
      &View::mover_point_x, a.rows,
      [](const DistanceRow& r) -> const auto& { return r.mover_point.x; });
  visit(
      &View::mover_point_y, a.rows,
      [](const DistanceRow& r) -> const auto& { return r.mover_point.y; });
  visit(&View::has_edge, a.rows, kHasEdge);
  VisitEdge<View>(a.rows, kHasEdge, visit);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const ContactAnswers& a, std::type_identity<carom_contact_answers>, V& visit) {
  using View = carom_contact_answers;
  using Point = const ContactPoint&;
  const auto first = [](auto get) {
    return [get](const Contact& c) -> const auto& { return get(c.points[0]); };
  };
  const auto second = [](auto get) {
    return [get](const Contact& c) -> const auto& { return get(c.points[1]); };
  };
  const auto has_first = [](const Contact& c) { return c.point_count >= 1; };
  const auto has_second = [](const Contact& c) { return c.point_count >= 2; };
  const auto depth = [](Point p) -> const auto& { return p.depth; };
  const auto polygon_feature = [](Point p) -> const auto& { return p.polygon_feature; };
  const auto mover_feature = [](Point p) -> const auto& { return p.mover_feature; };
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.polygon_ids, kItself);
  visit(&View::is_body, a.is_body, kItself);
  visit(
      &View::kind, a.contacts, [](const Contact& c) -> const auto& { return c.kind; });
  visit(&View::normal_x, a.contacts, kNormalX);
  visit(&View::normal_y, a.contacts, kNormalY);
  visit(
      &View::depth, a.contacts, [](const Contact& c) -> const auto& { return c.depth; });
  visit(
      &View::point_counts, a.contacts,
      [](const Contact& c) -> const auto& { return c.point_count; });
  visit(&View::point_x, a.contacts, first(kPointX), has_first);
  visit(&View::point_y, a.contacts, first(kPointY), has_first);
  visit(&View::point_depth, a.contacts, first(depth), has_first);
  visit(&View::polygon_feature, a.contacts, first(polygon_feature), has_first);
  visit(&View::mover_feature, a.contacts, first(mover_feature), has_first);
  visit(&View::second_point_x, a.contacts, second(kPointX), has_second);
  visit(&View::second_point_y, a.contacts, second(kPointY), has_second);
  visit(&View::second_point_depth, a.contacts, second(depth), has_second);
  visit(&View::second_polygon_feature, a.contacts, second(polygon_feature), has_second);
  visit(&View::second_mover_feature, a.contacts, second(mover_feature), has_second);
  visit(
      &View::fixed_split_x, a.splits, [](const auto& s) -> const auto& { return s.fixed.x; });
  visit(
      &View::fixed_split_y, a.splits, [](const auto& s) -> const auto& { return s.fixed.y; });
  visit(
      &View::mover_split_x, a.splits, [](const auto& s) -> const auto& { return s.mover.x; });
  visit(
      &View::mover_split_y, a.splits, [](const auto& s) -> const auto& { return s.mover.y; });
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const DepenetrateAnswers& a, std::type_identity<carom_depenetrate_answers>,
                  V& visit) {
  using View = carom_depenetrate_answers;
  visit(&View::x, a.positions, kX);
  visit(&View::y, a.positions, kY);
  visit(&View::finished, a.finished, kItself);
  visit(&View::steps, a.steps, kItself);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const SweepAnswers& a, std::type_identity<carom_sweep_answers>, V& visit) {
  using View = carom_sweep_answers;
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.hits, kId);
  visit(&View::is_body, a.hits, kIsBody);
  visit(&View::fraction, a.hits, kFraction);
  visit(&View::starts_inside, a.hits, kStartsInside);
  visit(
      &View::ties, a.hits, [](const SweepHit& h) -> const auto& { return h.ties; });
  visit(&View::has_edge, a.hits, kHasEdge);
  VisitEdge<View>(a.hits, kHasEdge, visit);
  VisitPointAndNormal<View>(a.hits, visit);
  visit(&View::truncated, a.truncated, kItself);
  visit(&View::safe_x, a.safe, kX);
  visit(&View::safe_y, a.safe, kY);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const RotatingSweepAnswers& a, std::type_identity<carom_rotating_sweep_answers>,
                  V& visit) {
  using View = carom_rotating_sweep_answers;
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.hits, kId);
  visit(
      &View::low, a.hits, [](const RotatingSweepHit& h) -> const auto& { return h.low; });
  visit(
      &View::high, a.hits, [](const RotatingSweepHit& h) -> const auto& { return h.high; });
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const ArcAnswers& a, std::type_identity<carom_arc_answers>, V& visit) {
  using View = carom_arc_answers;
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.hits, kId);
  visit(&View::is_body, a.hits, kIsBody);
  visit(
      &View::time, a.hits, [](const ArcHit& h) -> const auto& { return h.time; });
  visit(&View::starts_inside, a.hits, kStartsInside);
  visit(&View::has_edge, a.hits, kHasEdge);
  VisitEdge<View>(a.hits, kHasEdge, visit);
  VisitPointAndNormal<View>(a.hits, visit);
  visit(&View::truncated, a.truncated, kItself);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const SightAnswers& a, std::type_identity<carom_sight_answers>, V& visit) {
  using View = carom_sight_answers;
  visit(&View::visible, a.visible, kItself);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const FanAnswers& a, std::type_identity<carom_fan_answers>, V& visit) {
  using View = carom_fan_answers;
  visit(&View::counts, a.counts, kItself);
  visit(&View::hits, a.hits, kItself);
  visit(&View::distances, a.distances, kItself);
  visit(&View::polygon_id, a.polygon_ids, kItself);  // 0 for a beam without a hit
  visit(&View::is_body, a.is_body, kItself);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const MoveAnswers& a, std::type_identity<carom_move_answers>, V& visit) {
  using View = carom_move_answers;
  using Touch = const FirstTouch&;
  const auto touches = [](Touch t) { return t.touches; };
  visit(&View::clear, a.clear, kItself);
  visit(&View::counts, a.counts, kItself);
  visit(&View::polygon_id, a.polygon_ids, kItself);
  visit(&View::edge_counts, a.edge_counts, kItself);
  visit(
      &View::ring, a.edges, [](const EdgeRef& e) -> const auto& { return e.ring; });
  visit(
      &View::edge, a.edges, [](const EdgeRef& e) -> const auto& { return e.edge; });
  visit(
      &View::touches, a.first_touches, [](Touch t) -> const auto& { return t.touches; });
  visit(&View::touch_id, a.first_touches, kId, touches);
  visit(
      &View::touch_low, a.first_touches, [](Touch t) -> const auto& { return t.low; }, touches);
  visit(
      &View::touch_high, a.first_touches, [](Touch t) -> const auto& { return t.high; }, touches);
  visit(&View::touch_has_edge, a.first_touches, kHasEdge);
  visit(&View::touch_ring, a.first_touches, kRing, kHasEdge);
  visit(&View::touch_edge, a.first_touches, kEdge, kHasEdge);
  visit(&View::touch_normal_x, a.first_touches, kNormalX);
  visit(&View::touch_normal_y, a.first_touches, kNormalY);
  visit.Advice(&View::quiet_radius, a.quiet_radii, kItself);
  VisitErrors<View>(a, visit);
}

// The columns of the hit of a leg, which has a meaning if `has_hit` is 1.
template <class View, class Rows, class V>
void VisitLegHit(const Rows& legs, V& visit) {
  visit(
      &View::has_hit, legs, [](const auto& leg) -> const auto& { return leg.has_hit; });
  visit(&View::polygon_id, legs, OfHit(kId), kHasHit);
  visit(&View::fraction, legs, OfHit(kFraction), kHasHit);
  visit(&View::starts_inside, legs, OfHit(kStartsInside), kHasHit);
  visit(&View::point_x, legs, OfHit(kPointX), kHasHit);
  visit(&View::point_y, legs, OfHit(kPointY), kHasHit);
  visit(&View::normal_x, legs, OfHit(kNormalX), kHasHit);
  visit(&View::normal_y, legs, OfHit(kNormalY), kHasHit);
}

template <class V>
void VisitColumns(const SlideAnswers& a, std::type_identity<carom_slide_answers>, V& visit) {
  using View = carom_slide_answers;
  using Row = const SlideRow&;
  using Leg = const SlideLeg&;
  visit(
      &View::x, a.rows, [](Row r) -> const auto& { return r.position.x; });
  visit(
      &View::y, a.rows, [](Row r) -> const auto& { return r.position.y; });
  visit(
      &View::left_x, a.rows, [](Row r) -> const auto& { return r.left.x; });
  visit(
      &View::left_y, a.rows, [](Row r) -> const auto& { return r.left.y; });
  visit(
      &View::legs, a.rows, [](Row r) -> const auto& { return r.legs; });
  visit(
      &View::leg_x, a.legs, [](Leg l) -> const auto& { return l.from.x; });
  visit(
      &View::leg_y, a.legs, [](Leg l) -> const auto& { return l.from.y; });
  visit(
      &View::leg_dx, a.legs, [](Leg l) -> const auto& { return l.d.x; });
  visit(
      &View::leg_dy, a.legs, [](Leg l) -> const auto& { return l.d.y; });
  VisitLegHit<View>(a.legs, visit);
  visit(&View::is_body, a.legs, OfHit(kIsBody), kHasHit);
  visit(&View::has_edge, a.legs, OfHit(kHasEdge), kHasHit);
  const auto has_edge = [](Leg l) { return l.has_hit && l.hit.has_edge; };
  visit(&View::ring, a.legs, OfHit(kRing), has_edge);
  visit(&View::edge, a.legs, OfHit(kEdge), has_edge);
  VisitErrors<View>(a, visit);
}

// What the answers to bounces of segments and of rays have in common.
template <class View, class Answers, class V>
void VisitBounces(const Answers& a, V& visit) {
  VisitLegHit<View>(a.legs, visit);
  visit(&View::feature, a.legs, OfHit(kFeature), kHasHit);
  const auto has_feature = [](const auto& leg) {
    return leg.has_hit && leg.hit.feature != Feature::kNone;
  };
  visit(&View::ring, a.legs, OfHit(kRing), has_feature);
  visit(&View::edge, a.legs, OfHit(kEdge), has_feature);
  visit(&View::stuck, a.stuck, kItself);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const BounceAnswers& a, std::type_identity<carom_bounce_answers>, V& visit) {
  using View = carom_bounce_answers;
  visit(&View::counts, a.counts, kItself);
  visit(
      &View::ax, a.legs, [](const BounceLeg& l) -> const auto& { return l.a.x; });
  visit(
      &View::ay, a.legs, [](const BounceLeg& l) -> const auto& { return l.a.y; });
  visit(
      &View::bx, a.legs, [](const BounceLeg& l) -> const auto& { return l.b.x; });
  visit(
      &View::by, a.legs, [](const BounceLeg& l) -> const auto& { return l.b.y; });
  VisitBounces<View>(a, visit);
}

template <class V>
void VisitColumns(const RayBounceAnswers& a, std::type_identity<carom_ray_bounce_answers>,
                  V& visit) {
  using View = carom_ray_bounce_answers;
  using Leg = const RayBounceLeg&;
  visit(&View::counts, a.counts, kItself);
  visit(
      &View::x, a.legs, [](Leg l) -> const auto& { return l.origin.x; });
  visit(
      &View::y, a.legs, [](Leg l) -> const auto& { return l.origin.y; });
  visit(
      &View::dx, a.legs, [](Leg l) -> const auto& { return l.direction.x; });
  visit(
      &View::dy, a.legs, [](Leg l) -> const auto& { return l.direction.y; });
  visit(
      &View::t_max, a.legs, [](Leg l) -> const auto& { return l.t_max; });
  VisitBounces<View>(a, visit);
}

template <class V>
void VisitColumns(const AreaAnswers& a, std::type_identity<carom_area_answers>, V& visit) {
  using View = carom_area_answers;
  using Piece = const AreaPiece&;
  visit(&View::counts, a.counts, kItself);
  visit(
      &View::kind, a.pieces, [](Piece p) -> const auto& { return p.kind; });
  visit(&View::polygon_id, a.pieces, kId);
  visit(&View::is_body, a.pieces, kIsBody);
  VisitEdge<View>(a.pieces, kAlways, visit);
  visit(
      &View::start_x, a.pieces, [](Piece p) -> const auto& { return p.start.x; });
  visit(
      &View::start_y, a.pieces, [](Piece p) -> const auto& { return p.start.y; });
  visit(&View::areas, a.areas, kItself);
  visit(&View::starts_inside, a.starts_inside, kItself);
  visit(&View::truncated, a.truncated, kItself);
  VisitErrors<View>(a, visit);
}

template <class V>
void VisitColumns(const SeeAnswers& a, std::type_identity<carom_see_answers>, V& visit) {
  using View = carom_see_answers;
  visit(&View::counts, a.counts, kItself);
  visit(&View::seen, a.seen, kItself);
  visit(&View::starts_inside, a.starts_inside, kItself);
  VisitErrors<View>(a, visit);
}

// --- Visitors

// Sets the columns of a struct of carom.h.
template <class View>
class Viewer {
 public:
  explicit Viewer(View& view) : view_(view) {}

  template <class Column, class Row, class Get, class Has = decltype(kAlways)>
  void operator()(Column View::*member, const std::vector<Row>& rows, Get get, Has = kAlways) {
    using Element = ElementOf<Column>;
    using Member = std::remove_cvref_t<decltype(get(std::declval<const Row&>()))>;
    static_assert(sizeof(Member) == sizeof(Element) && sizeof(Row) % sizeof(Element) == 0 &&
                  std::is_same_v<Element, double> == std::is_same_v<Member, double>);
    if (rows.empty()) return;
    constexpr size_t kRowSize = sizeof(Row);
    view_.*member = {reinterpret_cast<const Element*>(&get(rows[0])), rows.size(),
                     kRowSize / sizeof(Element)};
  }
  template <class Column, class Row, class Get>
  void Advice(Column View::*member, const std::vector<Row>& rows, Get get) {
    (*this)(member, rows, get);
  }
  template <class Column, class Row, class Get>
  void Appended(Column View::*member, const std::vector<Row>& rows, Get get) {
    (*this)(member, rows, get);
  }

 private:
  View& view_;
};

// Hashes the entries that have a meaning: FNV-1a (Fowler, Noll, Vo) over 64-bit words, least byte
// first. A column is hashed as its length and then its entries.
class Hasher {
 public:
  void Add(uint64_t word) {
    for (int i = 0; i < 8; ++i, word >>= 8) value_ = (value_ ^ (word & 255)) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

  template <class Member, class Row, class Get, class Has = decltype(kAlways)>
  void operator()(Member, const std::vector<Row>& rows, Get get, Has has = kAlways) {
    Add(rows.size());
    for (const Row& row : rows) {
      if (!has(row)) continue;
      const auto& entry = get(row);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(entry)>, double>) {
        Add(std::bit_cast<uint64_t>(entry));
      } else {
        Add(static_cast<uint64_t>(entry));
      }
    }
  }
  // Advice may differ between equal answers.
  template <class Member, class Row, class Get>
  void Advice(Member, const std::vector<Row>&, Get) {}
  // A column that an earlier library does not have. Without entries it is not hashed, so that equal
  // answers have equal digests in all versions of the library.
  template <class Member, class Row, class Get>
  void Appended(Member member, const std::vector<Row>& rows, Get get) {
    if (!rows.empty()) (*this)(member, rows, get);
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

void SetTiers(const MoveAnswers& answers, carom_move_answers& view) {
  view.quiet_moves = answers.tiers.quiet;
  view.near_moves = answers.tiers.near;
  view.refreshed_moves = answers.tiers.refresh;
  view.cold_moves = answers.tiers.cold;
}
template <class Answers, class View>
void SetTiers(const Answers&, View&) {}

template <class View, class Answers>
absl::Status ViewAs(const Answers& answers, void* out) {
  auto* const view = static_cast<View*>(out);
  const auto fill = [&](View& filled) {
    Viewer<View> viewer(filled);
    VisitColumns(answers, std::type_identity<View>(), viewer);
    SetTiers(answers, filled);
  };
  if (view != nullptr && reinterpret_cast<uintptr_t>(out) % alignof(View) == 0 &&
      view->struct_size == sizeof(View)) [[likely]] {
    *view = {};
    view->struct_size = sizeof(View);
    fill(*view);
    return absl::OkStatus();
  }
  View whole{};
  fill(whole);
  return WriteStruct(whole, view, "out");
}

// The answers of a kind by its number in CAROM_KINDS, which numbers the kinds in the order of
// CAROM_GROUP_KINDS.
template <size_t kNumber>
const auto& AnswersOf(const GroupAnswers& answers) {
  return answers.*std::get<kNumber - 1>(kGroupKinds).answers;
}

}  // namespace

absl::Status ViewAnswers(const GroupAnswers& answers, uint32_t kind, void* out) {
  switch (kind) {
#define CAROM_VIEW_KIND(number, name, Question, View, function) \
  case number:                                                  \
    return ViewAs<View>(AnswersOf<number>(answers), out);
    CAROM_KINDS(CAROM_VIEW_KIND)
#undef CAROM_VIEW_KIND
    default:
      return InvalidField("kind", "must be a carom_kind");
  }
}

uint64_t DigestOf(const GroupAnswers& answers, const GroupKindSet& asked) {
  Hasher hasher;
#define CAROM_HASH_KIND(number, name, Question, View, function)                   \
  if (asked.test((number)-1)) {                                                   \
    hasher.Add(number);                                                           \
    VisitColumns(AnswersOf<number>(answers), std::type_identity<View>(), hasher); \
  }
  CAROM_KINDS(CAROM_HASH_KIND)
#undef CAROM_HASH_KIND
  return hasher.value();
}

const char* NameOfKind(uint32_t number) {
  static constexpr const char* kNames[] = {
#define CAROM_KIND_NAME(name, options, evaluate) #name,
      CAROM_GROUP_KINDS(CAROM_KIND_NAME)
#undef CAROM_KIND_NAME
  };
  return number >= 1 && number <= kGroupKindCount ? kNames[number - 1] : "";
}

}  // namespace carom::abi
