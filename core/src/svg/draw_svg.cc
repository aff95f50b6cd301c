// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `DrawSvg`: what each kind of question looks like.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/group_kinds.h"
#include "carom/sincos.h"
#include "carom/svg.h"
#include "svg/drawing.h"
#include "svg/picture.h"

namespace carom {
namespace {

using internal::Drawing;
using internal::Ink;
using internal::Trajectory;

constexpr double kMargin = 16;  // in pixels, on each side

// Returns the point at fraction `t` from a to b.
Vec2 Between(Vec2 a, Vec2 b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

// --- Reading answers

// Reads the rows that belong to each item of a batch, item after item. Without answers, and where
// the rows do not fit the counts, no item has rows.
template <class Row>
class ItemReader {
 public:
  template <class Answers>
  ItemReader(const Answers* answers, std::vector<Row> Answers::*rows)
      : is_known_(answers != nullptr) {
    if (answers == nullptr) return;
    errors_ = answers->errors;
    rows_ = answers->*rows;
    if constexpr (requires { answers->counts; }) {
      counts_ = answers->counts;
      uint64_t sum = 0;
      for (const uint32_t count : counts_) sum += count;
      if (sum != rows_.size()) rows_ = {};
    }
  }

  // Goes to the first item, then to the next one. Returns whether the item is not in error.
  bool Next() {
    const size_t item = next_++;
    count_ = item < counts_.size() ? counts_[item] : 0;
    const size_t size = counts_.empty() ? 1 : count_;  // without counts, each item has one row
    current_ = rows_.first(std::min(size, rows_.size()));
    rows_ = rows_.subspan(current_.size());
    while (!errors_.empty() && errors_[0].index < item) errors_ = errors_.subspan(1);
    return errors_.empty() || errors_[0].index != item;
  }

  // Whether there are answers.
  bool is_known() const { return is_known_; }
  // The count of the item, which may be above 0 though there are no rows.
  uint32_t count() const { return count_; }
  std::span<const Row> rows() const { return current_; }

  // Returns the ink of a shape that does not move.
  Ink ShapeInk(bool touches) const {
    return !is_known_ ? Ink::kAsked : touches ? Ink::kTouching : Ink::kApart;
  }
  // Returns the ink of a line without a known hit.
  Ink LineInk() const { return !is_known_ ? Ink::kAsked : count_ == 0 ? Ink::kMiss : Ink::kShot; }

 private:
  const bool is_known_;
  std::span<const ItemError> errors_;
  std::span<const uint32_t> counts_;
  std::span<const Row> rows_;
  size_t next_ = 0;
  uint32_t count_ = 0;
  std::span<const Row> current_;
};

// Returns whether there are as many answers as questions.
template <class Columns, class Answers>
bool Fit(const Columns& asked, const Answers& answers) {
  return ItemCount(answers) == asked.size();
}
bool Fit(const MoveColumns& moves, const MoveAnswers& answers) { return Fits(moves, answers); }
bool Fit(const ShapeColumns& movers, const DepenetrateAnswers& answers) {
  return answers.positions.size() == movers.size() && answers.finished.size() == movers.size();
}

// --- Placing shapes

// Returns the rotation of item `i`; nothing if it is not accepted.
std::optional<CosSin> RotationOf(std::span<const double> c, std::span<const double> s,
                                 std::span<const double> angle, size_t i) {
  if (!c.empty()) {
    if (!IsRotation(c[i], s[i])) return std::nullopt;
    return CosSin{c[i], s[i]};
  }
  if (angle.empty()) return CosSin{};
  if (!(std::abs(angle[i]) <= kMaxAngle)) return std::nullopt;
  return SinCos(angle[i]);
}

template <class S>
std::optional<Pose> PoseOf(const PlacedColumns<S>& placed, size_t i) {
  const std::optional<CosSin> turn = RotationOf(placed.c, placed.s, placed.angle, i);
  if (!turn) return std::nullopt;
  return Pose{{placed.x[i], placed.y[i]}, turn->c, turn->s};
}

// Draws the shape of item `i` at a pose, if it can be placed there.
template <class S>
void AddPlaced(Ink ink, const PlacedColumns<S>& placed, size_t i, const std::optional<Pose>& pose,
               Drawing& out) {
  const size_t index = placed.shape.empty() ? i : placed.shape[i];
  if (!pose || !IsAccepted(pose->position) || index >= placed.shapes.size()) return;
  std::optional<S> shape;
  if (PlaceInto(placed.shapes[index], *pose, shape)) out.AddShape(ink, *std::move(shape));
}

CosSin Unit(double c, double s) {
  const double length = std::sqrt(c * c + s * s);
  return {c / length, s / length};
}

// Returns the rotation at fraction `t` of the shorter way from `a` to `b`. Halves the way again and
// again, since the functions of libm have other bits on other machines.
CosSin TurnBetween(CosSin a, CosSin b, double t) {
  a = Unit(a.c, a.s);
  b = Unit(b.c, b.s);
  for (int step = 0; step < 24 && t < 1; ++step) {
    const CosSin sum{a.c + b.c, a.s + b.s};
    const CosSin middle = sum.c == 0 && sum.s == 0 ? CosSin{-a.s, a.c} : Unit(sum.c, sum.s);
    (t < 0.5 ? b : a) = middle;
    t = t < 0.5 ? 2 * t : 2 * t - 1;
  }
  return t < 1 ? a : b;
}

// --- `Add` has one overload for each kind of question: it draws the items of a batch

void Add(const SegmentColumns& asked, const CastAnswers* answers, Drawing& out) {
  ItemReader items(answers, &CastAnswers::hits);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    const Vec2 a{asked.ax[i], asked.ay[i]}, b{asked.bx[i], asked.by[i]};
    const std::span<const CastHit> hits = items.rows();
    if (hits.empty()) {
      out.AddLine(items.LineInk(), a, b);
      continue;
    }
    // Places follow from the fractions, because a hit has no point under the detail FRACTION.
    const Vec2 first = Between(a, b, hits[0].fraction);
    out.AddLine(Ink::kShot, a, first);
    out.AddLine(Ink::kBeyond, first, b);
    for (const CastHit& hit : hits) out.AddHit(Between(a, b, hit.fraction), hit.normal);
  }
}

void Add(const RayColumns& asked, const CastAnswers* answers, Drawing& out) {
  ItemReader items(answers, &CastAnswers::hits);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    const Trajectory ray{{asked.x[i], asked.y[i]}, {asked.dx[i], asked.dy[i]}};
    const double begin = asked.t_min.empty() ? 0 : asked.t_min[i];
    const double end = asked.t_max.empty() ? HUGE_VAL : asked.t_max[i];
    const std::span<const CastHit> hits = items.rows();
    if (hits.empty()) {
      out.AddEndless(items.LineInk(), ray, begin, end);
      continue;
    }
    out.AddTrajectory(Ink::kShot, ray, begin, hits[0].fraction);
    out.AddEndless(Ink::kBeyond, ray, hits[0].fraction, end);
    for (const CastHit& hit : hits) out.AddHit(ray.At(hit.fraction), hit.normal);
  }
}

void Add(const ArcColumns& asked, const ArcAnswers* answers, Drawing& out) {
  ItemReader items(answers, &ArcAnswers::hits);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    const Trajectory arc{
        {asked.x[i], asked.y[i]}, {asked.vx[i], asked.vy[i]}, {asked.ax[i], asked.ay[i]}};
    const std::span<const ArcHit> hits = items.rows();
    if (hits.empty()) {
      out.AddEndless(items.LineInk(), arc, 0, asked.duration[i]);
      continue;
    }
    out.AddTrajectory(Ink::kShot, arc, 0, hits[0].time);
    if (hits.size() > 1) {
      out.AddTrajectory(Ink::kBeyond, arc, hits[0].time, hits.back().time);
    }
    for (const ArcHit& hit : hits) out.AddHit(hit.point, hit.normal);
  }
}

void Add(const SegmentColumns& asked, const SightAnswers* answers, Drawing& out) {
  ItemReader items(answers, &SightAnswers::visible);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    const Ink ink = items.rows().empty()   ? Ink::kAsked
                    : items.rows()[0] != 0 ? Ink::kSeen
                                           : Ink::kUnseen;
    out.AddLine(ink, {asked.ax[i], asked.ay[i]}, {asked.bx[i], asked.by[i]});
  }
}

// Draws a fan; `distances` and `hits` have an entry for each beam, or none. Beams are as faint
// without answers, since they are many.
void AddFan(const FanColumns& asked, size_t i, std::span<const double> distances,
            std::span<const uint8_t> hits, Drawing& out) {
  const uint32_t beams = asked.beams[i];
  const Vec2 from{asked.x[i], asked.y[i]};
  if (beams == 0 || beams > kMaxBeams || !IsAccepted(asked.range[i])) return;
  const bool is_known = distances.size() == beams && hits.size() == beams;
  for (uint32_t k = 0; k < beams; ++k) {
    const double angle = asked.angle[i] + k * asked.step[i];
    if (!(std::abs(angle) <= kMaxAngle)) continue;
    const CosSin direction = SinCos(angle);
    const Trajectory beam{from, {direction.c, direction.s}};
    if (is_known && hits[k] != 0) {
      out.AddTrajectory(Ink::kBeam, beam, 0, distances[k]);
      out.AddHit(beam.At(distances[k]), {});
    } else {
      out.AddEndless(Ink::kBeam, beam, 0, asked.range[i]);
    }
  }
}

void Add(const FanColumns& asked, const FanAnswers* answers, Drawing& out) {
  ItemReader distances(answers, &FanAnswers::distances);
  ItemReader hits(answers, &FanAnswers::hits);
  for (size_t i = 0; i < asked.size(); ++i) {
    hits.Next();
    if (distances.Next()) AddFan(asked, i, distances.rows(), hits.rows(), out);
  }
}

void Add(const AreaColumns& asked, const AreaAnswers* answers, Drawing& out) {
  ItemReader items(answers, &AreaAnswers::pieces);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next() || !IsAccepted(asked.range[i])) continue;
    internal::DrawArea({asked.x[i], asked.y[i]}, asked.range[i], items.rows(), out);
  }
}

void Add(const AreaColumns& asked, const SeeAnswers*, Drawing& out) {
  internal::DrawEyes(asked, out);
}

void Add(const SegmentColumns& asked, const BounceAnswers* answers, Drawing& out) {
  ItemReader items(answers, &BounceAnswers::legs);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    if (items.rows().empty()) {
      out.AddLine(Ink::kAsked, {asked.ax[i], asked.ay[i]}, {asked.bx[i], asked.by[i]});
    }
    for (const BounceLeg& leg : items.rows()) {
      const Vec2 end = leg.has_hit ? Between(leg.a, leg.b, leg.hit.fraction) : leg.b;
      out.AddLine(Ink::kShot, leg.a, end);
      if (leg.has_hit) out.AddHit(end, leg.hit.normal);
    }
  }
}

void Add(const RayBounceColumns& asked, const RayBounceAnswers* answers, Drawing& out) {
  ItemReader items(answers, &RayBounceAnswers::legs);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    if (items.rows().empty()) {
      const Trajectory ray{{asked.x[i], asked.y[i]}, {asked.dx[i], asked.dy[i]}};
      out.AddEndless(Ink::kAsked, ray, 0, asked.t_max.empty() ? HUGE_VAL : asked.t_max[i]);
    }
    for (const RayBounceLeg& leg : items.rows()) {
      const Trajectory ray{leg.origin, leg.direction};
      if (!leg.has_hit) {
        out.AddEndless(Ink::kShot, ray, 0, leg.t_max);
        continue;
      }
      out.AddTrajectory(Ink::kShot, ray, 0, leg.hit.fraction);
      out.AddHit(ray.At(leg.hit.fraction), leg.hit.normal);
    }
  }
}

void Add(const PointColumns& asked, const LocateAnswers* answers, Drawing& out) {
  ItemReader items(answers, &LocateAnswers::locations);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    Ink ink = !items.is_known() ? Ink::kDot : Ink::kOutside;
    for (const Location location : items.rows()) {
      if (location == Location::kInside) ink = Ink::kInside;
      if (location == Location::kBoundary && ink != Ink::kInside) ink = Ink::kBoundary;
    }
    out.AddDot(ink, {asked.x[i], asked.y[i]});
  }
}

// Draws a capsule, unless it has a number that is not accepted.
void AddCapsule(Ink ink, const Capsule& capsule, Drawing& out) {
  const absl::StatusOr<Shape> shape = Shape::Create(capsule);
  if (shape.ok()) out.AddShape(ink, *shape);
}

void Add(const CircleColumns& asked, const OverlapAnswers* answers, Drawing& out) {
  ItemReader items(answers, &OverlapAnswers::polygon_ids);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    const Vec2 centre{asked.x[i], asked.y[i]};
    AddCapsule(items.ShapeInk(items.count() > 0), {{centre, centre}, asked.radius[i]}, out);
  }
}

void Add(const CapsuleColumns& asked, const OverlapAnswers* answers, Drawing& out) {
  ItemReader items(answers, &OverlapAnswers::polygon_ids);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    const Segment axis{{asked.ax[i], asked.ay[i]}, {asked.bx[i], asked.by[i]}};
    AddCapsule(items.ShapeInk(items.count() > 0), {axis, asked.radius[i]}, out);
  }
}

void Add(const BoxColumns& asked, const OverlapAnswers* answers, Drawing& out) {
  ItemReader items(answers, &OverlapAnswers::polygon_ids);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    const Vec2 min{asked.min_x[i], asked.min_y[i]}, max{asked.max_x[i], asked.max_y[i]};
    if (!IsAccepted(min) || !IsAccepted(max)) continue;
    std::optional<Polygon> box;
    RingInto(std::array<Vec2, 4>{min, {max.x, min.y}, max, {min.x, max.y}}, box);
    out.AddShape(items.ShapeInk(items.count() > 0), *std::move(box));
  }
}

void Add(const PolygonColumns& asked, const OverlapAnswers* answers, Drawing& out) {
  ItemReader items(answers, &OverlapAnswers::polygon_ids);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    AddPlaced(items.ShapeInk(items.count() > 0), asked, i, PoseOf(asked, i), out);
  }
}

void Add(const DistanceColumns& asked, const DistanceAnswers* answers, Drawing& out) {
  ItemReader items(answers, &DistanceAnswers::rows);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    bool touches = false;
    for (const DistanceRow& row : items.rows()) {
      touches = touches || row.distance == 0;
      if (row.distance > 0) out.AddLine(Ink::kGap, row.mover_point, row.point);
    }
    AddPlaced(items.ShapeInk(touches), asked.movers, i, PoseOf(asked.movers, i), out);
  }
}

void AddContacts(std::span<const Contact> contacts, Drawing& out) {
  for (const Contact& contact : contacts) {
    const size_t count = std::min<size_t>(contact.point_count, contact.points.size());
    for (size_t k = 0; k < count; ++k) out.AddHit(contact.points[k].point, contact.normal);
  }
}

void Add(const ContactColumns& asked, const ContactAnswers* answers, Drawing& out) {
  ItemReader items(answers, &ContactAnswers::contacts);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    AddPlaced(items.ShapeInk(items.count() > 0), asked.movers, i, PoseOf(asked.movers, i), out);
    AddContacts(items.rows(), out);
  }
}

// Draws the contacts alone: all bodies of the group are drawn anyway.
void Add(const BodyContactColumns& asked, const ContactAnswers* answers, Drawing& out) {
  ItemReader items(answers, &ContactAnswers::contacts);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (items.Next()) AddContacts(items.rows(), out);
  }
}

void Add(const ShapeColumns& asked, const DepenetrateAnswers* answers, Drawing& out) {
  ItemReader items(answers, &DepenetrateAnswers::positions);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!items.Next()) continue;
    const std::optional<Pose> pose = PoseOf(asked, i);
    AddPlaced(items.is_known() ? Ink::kStart : Ink::kAsked, asked, i, pose, out);
    if (!items.is_known() || !pose) continue;
    const Pose end{answers->positions[i], pose->c, pose->s};
    AddPlaced(answers->finished[i] != 0 ? Ink::kEnd : Ink::kTouching, asked, i, end, out);
    out.AddLine(Ink::kPath, pose->position, end.position);
  }
}

// A shape of a batch, and the pose at which it starts.
struct MovingItem {
  const ShapeColumns& movers;
  size_t index;
  Pose start;

  void AddAt(Ink ink, const Pose& pose, Drawing& out) const {
    AddPlaced(ink, movers, index, pose, out);
  }
};

// Draws a shape that moves straight to `end` and, if `hit` is not null, meets something at this
// fraction. `ink` is that of the shape at `end` without a hit.
void AddMotion(const MovingItem& item, const Pose& end, const double* hit, Ink ink, Drawing& out) {
  const Pose& start = item.start;
  item.AddAt(Ink::kStart, start, out);
  if (hit == nullptr) {
    item.AddAt(ink, end, out);
    out.AddLine(Ink::kPath, start.position, end.position);
    return;
  }
  const Vec2 position = Between(start.position, end.position, *hit);
  const CosSin turn = TurnBetween({start.c, start.s}, {end.c, end.s}, *hit);
  item.AddAt(Ink::kTouching, {position, turn.c, turn.s}, out);
  out.AddLine(Ink::kPath, start.position, position);
  out.AddLine(Ink::kBeyond, position, end.position);
}

// Returns the ink of a shape at the end of its way if its first hit is not known.
template <class Row>
Ink EndInk(const ItemReader<Row>& items) {
  return items.is_known() && items.count() == 0 ? Ink::kEnd : Ink::kAsked;
}

void Add(const SweepColumns& asked, const SweepAnswers* answers, Drawing& out) {
  ItemReader items(answers, &SweepAnswers::hits);
  for (size_t i = 0; i < asked.size(); ++i) {
    const std::optional<Pose> start = PoseOf(asked.movers, i);
    if (!items.Next() || !start) continue;
    Pose end = *start;
    if (asked.dx.empty()) {
      end.position = {asked.to_x[i], asked.to_y[i]};
    } else {
      end.position = {end.position.x + asked.dx[i], end.position.y + asked.dy[i]};
    }
    const std::span<const SweepHit> hits = items.rows();
    AddMotion({asked.movers, i, *start}, end, hits.empty() ? nullptr : &hits[0].fraction,
              EndInk(items), out);
    for (const SweepHit& hit : hits) out.AddHit(hit.point, hit.normal);
  }
}

void Add(const RotatingSweepColumns& asked, const RotatingSweepAnswers* answers, Drawing& out) {
  ItemReader items(answers, &RotatingSweepAnswers::hits);
  for (size_t i = 0; i < asked.size(); ++i) {
    const std::optional<Pose> start = PoseOf(asked.movers, i);
    const std::optional<CosSin> turn = RotationOf(asked.to_c, asked.to_s, asked.to_angle, i);
    if (!items.Next() || !start || !turn) continue;
    const Pose end{{asked.to_x[i], asked.to_y[i]}, turn->c, turn->s};
    const std::span<const RotatingSweepHit> hits = items.rows();
    AddMotion({asked.movers, i, *start}, end, hits.empty() ? nullptr : &hits[0].high, EndInk(items),
              out);
  }
}

// Draws the legs of a slide, and the shape at its end, `position`.
void AddSlide(const MovingItem& item, std::span<const SlideLeg> legs, Vec2 position, Drawing& out) {
  std::vector<Vec2> way;
  for (const SlideLeg& leg : legs) {
    way.push_back(leg.from);
    if (leg.has_hit) out.AddHit(leg.hit.point, leg.hit.normal);
  }
  way.push_back(position);
  item.AddAt(Ink::kStart, item.start, out);
  item.AddAt(Ink::kEnd, {position, item.start.c, item.start.s}, out);
  out.AddLine(Ink::kPath, way);
}

// Draws a slide that is not answered: the shape at the start, and its pushes one after the other.
void AddPushes(const MovingItem& item, std::span<const double> dx, std::span<const double> dy,
               Drawing& out) {
  item.AddAt(Ink::kAsked, item.start, out);
  Vec2 from = item.start.position;
  for (size_t k = 0; k < dx.size(); ++k) {
    const Vec2 to{from.x + dx[k], from.y + dy[k]};
    out.AddLine(Ink::kAsked, from, to);
    from = to;
  }
}

void Add(const SlideColumns& asked, const SlideAnswers* answers, Drawing& out) {
  ItemReader items(answers, &SlideAnswers::rows);
  std::span<const SlideLeg> legs;
  if (answers != nullptr) legs = answers->legs;
  size_t push = 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    const bool is_drawn = items.Next();
    const size_t pushes = asked.pushes.empty() ? 1 : asked.pushes[i];
    const size_t leg_count = items.rows().empty() ? 0 : items.rows()[0].legs;
    const auto own_legs = legs.first(std::min(leg_count, legs.size()));
    const std::optional<Pose> start = PoseOf(asked.movers, i);
    if (is_drawn && start && items.is_known()) {
      AddSlide({asked.movers, i, *start}, own_legs, items.rows()[0].position, out);
    } else if (is_drawn && start) {
      AddPushes({asked.movers, i, *start}, asked.dx.subspan(push, pushes),
                asked.dy.subspan(push, pushes), out);
    }
    legs = legs.subspan(own_legs.size());
    push += pushes;
  }
}

void Add(const MoveColumns& asked, const MoveAnswers* answers, Drawing& out) {
  std::span<const ItemError> errors;
  if (answers != nullptr) errors = answers->errors;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!errors.empty() && errors[0].index == i) {
      errors = errors.subspan(1);
      continue;
    }
    const Vec2 to{asked.x[i], asked.y[i]};
    Ink ink = Ink::kDot;
    if (answers != nullptr) {
      ink = (answers->clear[i / 64] >> (i % 64) & 1) != 0 ? Ink::kOutside : Ink::kInside;
    }
    out.AddCross(ink, to);
    if (asked.sweeps()) out.AddLine(Ink::kPath, {asked.from_x[i], asked.from_y[i]}, to);
  }
}

// Draws all questions of a group that `CheckGroup` accepts, and the bodies.
void AddGroup(const Group& group, const GroupAnswers* answers, Drawing& out) {
  const ShapeColumns& bodies = group.bodies.placed;
  for (size_t i = 0; i < bodies.size(); ++i) {
    AddPlaced(Ink::kBody, bodies, i, PoseOf(bodies, i), out);
  }
  ForEachKind([&](const auto& kind) {
    const auto& asked = group.*kind.columns;
    const auto* found = answers != nullptr ? &(answers->*kind.answers) : nullptr;
    if (found != nullptr && !Fit(asked, *found)) found = nullptr;
    Add(asked, found, out);
  });
}

// Returns a box about `bounds` that is at least a quarter as high as it is wide, so that a flat
// scene has room for its normals, and wide enough to fill the width of a picture.
Box PictureBox(Box bounds) {
  if (bounds.empty()) return bounds;
  const Vec2 size{bounds.max.x - bounds.min.x, bounds.max.y - bounds.min.y};
  const double width = std::max(size.x, size.y * 0.75);
  const double height = std::max(size.y, width / 4);
  bounds.Extend(Vec2{bounds.min.x - (width - size.x) / 2, bounds.min.y - (height - size.y) / 2});
  bounds.Extend(Vec2{bounds.min.x + width, bounds.min.y + height});
  return bounds;
}

// Returns the frame of a picture of `box` that is `width` pixels wide and a whole number of pixels
// high.
SvgFrame WholeFrame(const Box& box, double width) {
  SvgMargins margins{kMargin, kMargin, kMargin};
  const double height = SvgFrame(box, width - 2 * kMargin, margins).height();
  margins.bottom += std::ceil(height) - height;
  return {box, width - 2 * kMargin, margins};
}

}  // namespace

namespace internal {

void DrawGroup(const Group& group, const GroupAnswers* answers, Drawing& out) {
  AddGroup(group, answers, out);
}

SvgFrame FrameOf(Box bounds, const SvgOptions& options) {
  return WholeFrame(PictureBox(bounds), std::clamp(options.width, kMinSvgWidth, kMaxSvgWidth));
}

}  // namespace internal

std::string DrawSvg(const Scene& scene, const Group* group, const GroupAnswers* answers,
                    const SvgOptions& options) {
  Drawing drawing;
  if (group != nullptr && CheckGroup(*group).ok()) {
    internal::DrawGroup(*group, answers, drawing);
  }
  Box bounds = scene.bounds();
  bounds.Extend(drawing.bounds());
  const SvgFrame frame = internal::FrameOf(bounds, options);
  std::string out;
  AppendHead(frame, SvgSize::kFixed, out);
  for (size_t i = 0; i < scene.polygon_count(); ++i) AppendMap({&scene.polygon(i), 1}, frame, out);
  drawing.Append(frame.bounds(), frame, out);
  out += "</svg>\n";
  return out;
}

}  // namespace carom
