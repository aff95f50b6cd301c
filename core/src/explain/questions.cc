// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which elementary questions does one item of each kind consist of?

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "carom/group_kinds.h"
#include "carom/sincos.h"
#include "explain/question.h"
#include "numeric/exact.h"
#include "tracker/tracker_access.h"

namespace carom::internal {
namespace {

// --- Boxes

// Returns `box` grown by `radius` on each side, rounded outward.
Box GrownBox(const Box& box, double radius) {
  return {{NextBelow(box.min.x - radius), NextBelow(box.min.y - radius)},
          {NextAbove(box.max.x + radius), NextAbove(box.max.y + radius)}};
}

Box Everywhere() { return {{-HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, HUGE_VAL}}; }

// Returns the box of a shape at its start and after the displacement `d`.
Box MovedBox(const Box& box, Vec2 d) {
  Box moved = box;
  moved.Extend(
      GrownBox({{box.min.x + d.x, box.min.y + d.y}, {box.max.x + d.x, box.max.y + d.y}}, 0));
  return moved;
}

// Returns the greatest distance of a corner of the shape's box from its reference point, enlarged
// for the rotations that conventions accept.
double ExtentOf(const Shape& shape) {
  const Box box = shape.bounds();
  const double x = std::max(std::abs(box.min.x), std::abs(box.max.x));
  const double y = std::max(std::abs(box.min.y), std::abs(box.max.y));
  return std::sqrt(x * x + y * y) * 1.000001;
}

// --- Items

const char* NameOfPolicy(InsidePolicy policy) {
  constexpr const char* kNames[] = {"report_start", "ignore", "exit", "blocking", "blocking_leave"};
  return kNames[static_cast<size_t>(policy)];
}

CosSin RotationAt(std::span<const double> c, std::span<const double> s,
                  std::span<const double> angle, size_t i) {
  if (!c.empty()) return {c[i], s[i]};
  return angle.empty() ? CosSin{} : SinCos(angle[i]);
}

// The shape of item 0 of `movers`, and its pose.
struct MoverAt {
  Shape shape;
  Pose pose;
  Shape placed;
};

template <class S>
MoverAt MoverOf(const PlacedColumns<S>& movers, size_t i = 0) {
  const size_t index = movers.shape.empty() ? i : movers.shape[i];
  const CosSin turn = RotationAt(movers.c, movers.s, movers.angle, i);
  const Pose pose{{movers.x[i], movers.y[i]}, turn.c, turn.s};
  const Shape shape(movers.shapes[index]);
  absl::StatusOr<Shape> placed = Placed(shape, pose);
  return {shape, pose, placed.ok() ? *std::move(placed) : shape};
}

std::string ShapeText(const MoverAt& mover) {
  const Capsule* const capsule = mover.placed.capsule();
  const std::string at = absl::StrCat(" at ", Text(mover.pose.position));
  if (capsule == nullptr) {
    return absl::StrCat("polygon of ", mover.placed.vertex_count(), " vertices", at);
  }
  const char* const name = capsule->axis.a == capsule->axis.b ? "circle" : "capsule";
  return absl::StrCat(name, " of radius ", Text(capsule->radius), at);
}

void SetShape(const MoverAt& mover, Question& out) {
  out.probe.form = Probe::Form::kShape;
  out.probe.shape = mover.placed;
  out.reach = GrownBox(mover.placed.bounds(), 0);
}

// Sets the columns of a shape alone at a pose.
void SetMover(const Shape& shape, const Pose& pose, const Scope& scope, Questions& own,
              ShapeColumns& out) {
  out.shapes = own.One(shape);
  out.x = own.One(pose.position.x);
  out.y = own.One(pose.position.y);
  out.c = own.One(pose.c);
  out.s = own.One(pose.s);
  out.scope = scope;
}

// --- Questions

// How a cast is asked.
struct CastHow {
  const char* what;
  Scope scope;
  CastOptions options;
};

// Returns the text of the option of soft walls, if it is set.
std::string SoftText(const CastOptions& options) {
  if (options.soft_mask == 0) return "";
  return absl::StrCat(", past at most ", options.soft_count, " soft walls");
}

// Adds the cast of a segment. `options` are those of the kind; the stage answers the whole of the
// first hit, or of all hits.
void AskSegment(const CastHow& how, const Segment& line, const Group& asked, Questions& out) {
  CastOptions options = how.options;
  Question& question = out.Add();
  question.key = "fraction";
  if (options.mode == CastMode::kAny) options.mode = CastMode::kClosest;
  options.detail = CastDetail::kExit;
  question.text =
      absl::StrCat(how.what, " ", Text(line.a), " -> ", Text(line.b), ", inside policy ",
                   NameOfPolicy(options.inside_policy), SoftText(options));
  question.group.bodies = asked.bodies;
  question.group.cast_options = options;
  question.group.segments = {out.One(line.a.x), out.One(line.a.y), out.One(line.b.x),
                             out.One(line.b.y), how.scope};
  const bool is_bounds = options.target == CastTarget::kBounds;
  question.probe.form = is_bounds ? Probe::Form::kBounds : Probe::Form::kLine;
  question.probe.line = {Normalized(line.a), Normalized(line.b)};
  question.reach = BoundsOf(question.probe.line);
}

// Adds the cast of a ray over [t_min, t_max].
void AskRay(const CastHow& how, const Ray& ray, const Group& asked, Questions& out) {
  CastOptions options = how.options;
  Question& question = out.Add();
  question.key = "fraction";
  if (options.mode == CastMode::kAny) options.mode = CastMode::kClosest;
  options.detail = CastDetail::kExit;
  question.text =
      absl::StrCat(how.what, " from ", Text(ray.origin), " along ", Text(ray.direction), ", t in [",
                   Text(ray.t_min), ", ", Text(ray.t_max), "], inside policy ",
                   NameOfPolicy(options.inside_policy), SoftText(options));
  question.group.bodies = asked.bodies;
  question.group.ray_options = options;
  question.group.rays = {out.One(ray.origin.x),
                         out.One(ray.origin.y),
                         out.One(ray.direction.x),
                         out.One(ray.direction.y),
                         out.One(ray.t_min),
                         out.One(ray.t_max),
                         how.scope};
  const bool is_bounds = options.target == CastTarget::kBounds;
  question.probe.form = is_bounds ? Probe::Form::kBounds : Probe::Form::kRay;
  question.probe.line.a = Normalized(ray.origin);
  question.probe.velocity = Normalized(ray.direction);
  // Each coordinate goes one way from the origin, at most to its value at t_max.
  const Vec2 o = question.probe.line.a, d = question.probe.velocity;
  const auto way = [&](double along) { return along == 0 ? 0 : along * ray.t_max; };
  const Vec2 w = {way(d.x), way(d.y)};
  question.reach = BoundsOf({o, {o.x + w.x, o.y + w.y}});
  // The way is rounded once, and its end again; an infinite side needs no margin.
  const double margin = std::max(std::abs(w.x), std::abs(w.y)) * 0x1p-52;
  question.reach = GrownBox(question.reach, std::isfinite(margin) ? margin : 0);
}

void AskOne(const Group& asked, const SegmentColumns& columns, const CastAnswers&, Questions& out) {
  AskSegment({"segment", columns.scope, asked.cast_options},
             {{columns.ax[0], columns.ay[0]}, {columns.bx[0], columns.by[0]}}, asked, out);
}

void AskOne(const Group& asked, const SegmentColumns& columns, const SightAnswers&,
            Questions& out) {
  CastOptions options;
  options.mask = asked.sight_options.mask;
  options.soft_mask = asked.sight_options.soft_mask;
  options.soft_count = asked.sight_options.soft_count;
  AskSegment({"line of sight", columns.scope, options},
             {{columns.ax[0], columns.ay[0]}, {columns.bx[0], columns.by[0]}}, asked, out);
}

void AskOne(const Group& asked, const SegmentColumns& columns, const BounceAnswers& answers,
            Questions& out) {
  CastOptions options;
  options.mask = asked.bounce_options.mask;
  for (const BounceLeg& leg : answers.legs) {
    AskSegment({"leg", columns.scope, options}, {leg.a, leg.b}, asked, out);
  }
}

void AskOne(const Group& asked, const RayColumns& rays, const CastAnswers&, Questions& out) {
  const Ray ray{{rays.x[0], rays.y[0]},
                {rays.dx[0], rays.dy[0]},
                rays.t_min.empty() ? 0 : rays.t_min[0],
                rays.t_max.empty() ? HUGE_VAL : rays.t_max[0]};
  AskRay({"ray", rays.scope, asked.ray_options}, ray, asked, out);
}

void AskOne(const Group& asked, const RayBounceColumns&, const RayBounceAnswers& answers,
            Questions& out) {
  CastOptions options;
  options.mask = asked.ray_bounce_mask;
  for (const RayBounceLeg& leg : answers.legs) {
    AskRay({"leg", {}, options}, {leg.origin, leg.direction, 0, leg.t_max}, asked, out);
  }
}

// The ends of beams are those of carom/visibility.h.
void AskOne(const Group& asked, const FanColumns& fans, const FanAnswers&, Questions& out) {
  CastOptions options;
  options.inside_policy = asked.fan_options.inside_policy;
  options.mask = asked.fan_options.mask;
  options.soft_mask = asked.fan_options.soft_mask;
  options.soft_count = asked.fan_options.soft_count;
  const Vec2 from = Normalized(Vec2{fans.x[0], fans.y[0]});
  const double range = Normalized(fans.range[0]);
  const uint32_t beams = fans.beams[0];
  for (uint32_t k = 0; k < beams && k < kMaxExplainedStages; ++k) {
    const CosSin direction = SinCos(fans.angle[0] + k * fans.step[0]);
    const Vec2 to = Normalized(Vec2{from.x + range * direction.c, from.y + range * direction.s});
    AskSegment({"beam", fans.scope, options}, {from, to}, asked, out);
  }
  out.unlisted = beams - std::min<uint64_t>(beams, kMaxExplainedStages);
}

// Asks for each piece on an edge what a ray hits that passes through the middle of the piece,
// about, within the range.
void AskOne(const Group& asked, const AreaColumns& areas, const AreaAnswers& answers,
            Questions& out) {
  CastOptions options;
  options.inside_policy = asked.area_options.inside_policy;
  options.mask = asked.area_options.mask;
  const Vec2 eye = Normalized(Vec2{areas.x[0], areas.y[0]});
  const std::vector<AreaPiece>& pieces = answers.pieces;
  for (size_t k = 0; k < pieces.size(); ++k) {
    if (pieces[k].kind != AreaPieceKind::kEdge) continue;
    if (out.list.size() == kMaxExplainedStages) {
      ++out.unlisted;
      continue;
    }
    const Vec2 a = pieces[k].start, b = pieces[(k + 1) % pieces.size()].start;
    const Vec2 d = Normalized(
        Vec2{(a.x - eye.x) / 2 + (b.x - eye.x) / 2, (a.y - eye.y) / 2 + (b.y - eye.y) / 2});
    const double length = std::sqrt(d.x * d.x + d.y * d.y);
    if (!(length > 0)) continue;
    const double end = std::max(areas.range[0] / length, 1.0);
    AskRay({"line of sight", areas.scope, options}, {eye, d, 0, end}, asked, out);
  }
}

// Asks for each body what the line of sight to its reference point meets in the scene.
void AskOne(const Group& asked, const AreaColumns& observers, const SeeAnswers&, Questions& out) {
  CastOptions options;
  options.inside_policy = asked.see_options.inside_policy;
  options.mask = observers.scope.mask.empty() ? asked.see_options.mask : observers.scope.mask[0];
  const Vec2 eye = Normalized(Vec2{observers.x[0], observers.y[0]});
  const ShapeColumns& placed = asked.bodies.placed;
  const size_t count = std::min<size_t>(placed.size(), kMaxExplainedStages);
  for (size_t k = 0; k < count; ++k) {
    const Vec2 to = Normalized(Vec2{placed.x[k], placed.y[k]});
    AskSegment({"line of sight", {}, options}, {eye, to}, asked, out);
  }
  out.unlisted = placed.size() - count;
}

void AskOne(const Group& asked, const ArcColumns& arcs, const ArcAnswers&, Questions& out) {
  Question& question = out.Add();
  question.key = "time";
  question.group.bodies = asked.bodies;
  question.group.arcs = arcs;
  question.group.arc_options = asked.arc_options;
  if (asked.arc_options.mode == CastMode::kAny) {
    question.group.arc_options.mode = CastMode::kClosest;
  }
  Probe& probe = question.probe;
  probe.form = Probe::Form::kArc;
  probe.line.a = Normalized(Vec2{arcs.x[0], arcs.y[0]});
  probe.velocity = Normalized(Vec2{arcs.vx[0], arcs.vy[0]});
  probe.acceleration = Normalized(Vec2{arcs.ax[0], arcs.ay[0]});
  question.reach = Everywhere();
  question.text = absl::StrCat("arc from ", Text(probe.line.a), ", velocity ", Text(probe.velocity),
                               ", acceleration ", Text(probe.acceleration), ", duration ",
                               Text(arcs.duration[0]), ", inside policy ",
                               NameOfPolicy(asked.arc_options.inside_policy));
}

void AskOne(const Group& asked, const PointColumns& points, const LocateAnswers&, Questions& out) {
  Question& question = out.Add();
  question.group.bodies = asked.bodies;
  question.group.points = points;
  question.group.point_mask = asked.point_mask;
  const Vec2 p = Normalized(Vec2{points.x[0], points.y[0]});
  question.probe.line = {p, p};
  question.reach = {p, p};
  question.text = absl::StrCat("point ", Text(p));
}

// Adds the overlap of a disc or a capsule.
void AskRound(Question& question, const Capsule& capsule) {
  question.probe.form = Probe::Form::kShape;
  question.probe.shape = *Shape::Create(capsule);
  question.reach = GrownBox(question.probe.shape->bounds(), 0);
}

void AskOne(const Group& asked, const CircleColumns& circles, const OverlapAnswers&,
            Questions& out) {
  Question& question = out.Add();
  question.group.bodies = asked.bodies;
  question.group.circles = circles;
  question.group.circle_options = asked.circle_options;
  const Vec2 p{circles.x[0], circles.y[0]};
  AskRound(question, {{p, p}, circles.radius[0]});
  question.text = absl::StrCat("circle about ", Text(p), ", radius ", Text(circles.radius[0]));
}

void AskOne(const Group& asked, const CapsuleColumns& capsules, const OverlapAnswers&,
            Questions& out) {
  Question& question = out.Add();
  question.group.bodies = asked.bodies;
  question.group.capsules = capsules;
  question.group.capsule_options = asked.capsule_options;
  const Vec2 a{capsules.ax[0], capsules.ay[0]}, b{capsules.bx[0], capsules.by[0]};
  AskRound(question, {{a, b}, capsules.radius[0]});
  question.text = absl::StrCat("capsule about ", Text(a), " -> ", Text(b), ", radius ",
                               Text(capsules.radius[0]));
}

void AskOne(const Group& asked, const BoxColumns& boxes, const OverlapAnswers&, Questions& out) {
  Question& question = out.Add();
  question.group.bodies = asked.bodies;
  question.group.boxes = boxes;
  question.group.box_options = asked.box_options;
  const Box box{Normalized(Vec2{boxes.min_x[0], boxes.min_y[0]}),
                Normalized(Vec2{boxes.max_x[0], boxes.max_y[0]})};
  question.probe.form = Probe::Form::kBox;
  question.probe.box = box;
  question.reach = box;
  question.text = absl::StrCat("box ", Text(box));
}

void AskOne(const Group& asked, const PolygonColumns& polygons, const OverlapAnswers&,
            Questions& out) {
  Question& question = out.Add();
  question.group.bodies = asked.bodies;
  question.group.polygons = polygons;
  question.group.polygon_options = asked.polygon_options;
  const MoverAt mover = MoverOf(polygons);
  SetShape(mover, question);
  question.text = ShapeText(mover);
}

// Adds a distance query. Beyond the largest of `distances`, of an answer to the nearest, nothing
// is considered.
void AskDistances(const MoverAt& mover, const DistanceColumns& columns,
                  const DistanceOptions& options, double reach, Question& question) {
  question.group.distances = columns;
  question.group.distance_options = options;
  question.key = "distance";
  SetShape(mover, question);
  question.max_distance = columns.max_distance.empty() ? HUGE_VAL : columns.max_distance[0];
  question.is_nearest =
      options.mode == DistanceMode::kNearest || options.mode == DistanceMode::kNearestK;
  question.reach = GrownBox(question.reach, reach * (1 + 0x1p-40));
  question.text = absl::StrCat("distance from ", ShapeText(mover));
  if (*question.max_distance != HUGE_VAL) {
    absl::StrAppend(&question.text, ", at most ", Text(*question.max_distance));
  }
}

void AskOne(const Group& asked, const DistanceColumns& columns, const DistanceAnswers& answers,
            Questions& out) {
  Question& question = out.Add();
  question.group.bodies = asked.bodies;
  double reach = columns.max_distance.empty() ? HUGE_VAL : columns.max_distance[0];
  const DistanceMode mode = asked.distance_options.mode;
  const bool is_full =
      mode == DistanceMode::kNearest ||
      (mode == DistanceMode::kNearestK && answers.rows.size() == asked.distance_options.k);
  if (is_full && !answers.rows.empty()) reach = NextAbove(answers.rows.back().distance);
  AskDistances(MoverOf(columns.movers), columns, asked.distance_options, reach, question);
}

void AskContacts(const MoverAt& mover, const BodyColumns& bodies, const ContactColumns& columns,
                 const ContactOptions& options, Questions& out) {
  Question& question = out.Add();
  question.key = "depth";
  question.group.bodies = bodies;
  question.group.contacts = columns;
  question.group.contact_options = options;
  SetShape(mover, question);
  question.text = absl::StrCat("contacts of ", ShapeText(mover));
}

void AskOne(const Group& asked, const ContactColumns& columns, const ContactAnswers&,
            Questions& out) {
  AskContacts(MoverOf(columns.movers), asked.bodies, columns, asked.contact_options, out);
}

// The mover is the body, and the candidates are the bodies of lower index.
void AskOne(const Group& asked, const BodyContactColumns& columns, const ContactAnswers&,
            Questions& out) {
  const size_t index = columns.body[0];
  const MoverAt mover = MoverOf(asked.bodies.placed, index);
  BodyColumns lower = asked.bodies;
  ShapeColumns& placed = lower.placed;
  for (std::span<const double>* column :
       {&placed.x, &placed.y, &placed.c, &placed.s, &placed.angle}) {
    *column = column->first(std::min(column->size(), index));
  }
  placed.shape = placed.shape.first(std::min(placed.shape.size(), index));
  lower.category = lower.category.first(std::min(lower.category.size(), index));
  lower.owner = lower.owner.first(std::min(lower.owner.size(), index));
  ContactColumns contacts;
  Scope scope;
  scope.against = Against::kBodies;
  SetMover(mover.shape, mover.pose, scope, out, contacts.movers);
  AskContacts(mover, lower, contacts, asked.body_contact_options, out);
}

void AskOne(const Group& asked, const ShapeColumns& movers, const DepenetrateAnswers& answers,
            Questions& out) {
  const MoverAt start = MoverOf(movers);
  const uint64_t mask = asked.depenetration_options.mask;
  AskContacts(start, {}, {movers, {}, {}}, {mask}, out);
  out.list.back().text = absl::StrCat("before the pushes: ", out.list.back().text);
  const Pose end{answers.positions[0], start.pose.c, start.pose.s};
  const absl::StatusOr<Shape> placed = Placed(start.shape, end);
  if (!placed.ok()) return;
  Question& question = out.Add();
  DistanceColumns columns;
  SetMover(start.shape, end, {}, out, columns.movers);
  columns.max_distance = out.One(0.0);
  AskDistances({start.shape, end, *placed}, columns, {DistanceMode::kWithin, mask}, 0, question);
  question.text = absl::StrCat("after the pushes: ", question.text);
}

// How a sweep is asked.
struct SweepHow {
  const char* what;
  SweepOptions options;
  BodyColumns bodies;
};

void AskSweep(const SweepHow& how, const MoverAt& mover, Vec2 d, const SweepColumns& columns,
              Questions& out) {
  SweepOptions options = how.options;
  Question& question = out.Add();
  question.key = "fraction";
  question.group.bodies = how.bodies;
  if (options.mode == CastMode::kAny) options.mode = CastMode::kClosest;
  question.group.sweeps = columns;
  question.group.sweep_options = options;
  SetShape(mover, question);
  question.probe.moves = true;
  question.probe.velocity = d;
  question.reach = MovedBox(question.reach, d);
  question.text = absl::StrCat(how.what, " of ", ShapeText(mover), " by ", Text(d),
                               ", inside policy ", NameOfPolicy(options.inside_policy));
}

void AskOne(const Group& asked, const SweepColumns& columns, const SweepAnswers&, Questions& out) {
  const MoverAt mover = MoverOf(columns.movers);
  Vec2 d;
  if (columns.dx.empty()) {
    const Vec2 to = Normalized(Vec2{columns.to_x[0], columns.to_y[0]});
    const Vec2 from = Normalized(mover.pose.position);
    d = {to.x - from.x, to.y - from.y};
  } else {
    d = {columns.dx[0], columns.dy[0]};
  }
  AskSweep({"sweep", asked.sweep_options, asked.bodies}, mover, Normalized(d), columns, out);
}

void AskOne(const Group& asked, const SlideColumns& columns, const SlideAnswers& answers,
            Questions& out) {
  const MoverAt start = MoverOf(columns.movers);
  SweepOptions options;
  options.inside_policy = asked.slide_options.inside_policy;
  options.mask = asked.slide_options.mask;
  for (const SlideLeg& leg : answers.legs) {
    const Pose pose{leg.from, start.pose.c, start.pose.s};
    const absl::StatusOr<Shape> placed = Placed(start.shape, pose);
    if (!placed.ok()) return;
    SweepColumns sweep;
    SetMover(start.shape, pose, columns.movers.scope, out, sweep.movers);
    sweep.dx = out.One(leg.d.x);
    sweep.dy = out.One(leg.d.y);
    sweep.skin = columns.skin;
    AskSweep({"leg", options, asked.bodies}, {start.shape, pose, *placed}, Normalized(leg.d), sweep,
             out);
  }
}

void AskTurn(const MoverAt& mover, const RotatingSweepColumns& columns,
             const RotatingSweepOptions& options, Questions& out) {
  Question& question = out.Add();
  question.key = "high";
  question.group.rotating_sweeps = columns;
  question.group.rotating_sweep_options = options;
  SetShape(mover, question);
  const Vec2 to{columns.to_x[0], columns.to_y[0]};
  question.reach = GrownBox(BoundsOf({mover.pose.position, to}),
                            ExtentOf(mover.shape) + 2 * columns.tolerance[0]);
  question.text = absl::StrCat("rotating sweep of ", ShapeText(mover), " to ", Text(to),
                               ", tolerance ", Text(columns.tolerance[0]));
}

void AskOne(const Group& asked, const RotatingSweepColumns& columns, const RotatingSweepAnswers&,
            Questions& out) {
  AskTurn(MoverOf(columns.movers), columns, asked.rotating_sweep_options, out);
}

// `AskMove` asks about moves.
void AskOne(const Group&, const MoveColumns&, const MoveAnswers&, Questions&) {}

}  // namespace

void Ask(const Group& group, const GroupAnswers& answers, Questions& out) {
  ForEachKind([&](const auto& kind) {
    const auto& columns = group.*kind.columns;
    if (columns.size() != 0) AskOne(group, columns, answers.*kind.answers, out);
  });
}

// A move asks what the shape touches at its end, and before that, if it is a sweep, what it touches
// first on its path.
void AskMove(const Group& group, Questions& out) {
  const MoveColumns& moves = group.moves;
  const TrackedShape& tracked = TrackerAccess::shape(*TrackerOf(moves, 0));
  const uint64_t mask = tracked.options.mask;
  const CosSin turn = RotationAt(moves.c, moves.s, moves.angle, 0);
  const Pose end{{moves.x[0], moves.y[0]}, turn.c, turn.s};
  const absl::StatusOr<Shape> placed_end = Placed(tracked.shape, end);
  if (moves.sweeps()) {
    Pose from{{moves.from_x[0], moves.from_y[0]}, turn.c, turn.s};
    if (!moves.from_c.empty() || !moves.from_angle.empty()) {
      const CosSin start = RotationAt(moves.from_c, moves.from_s, moves.from_angle, 0);
      from = {from.position, start.c, start.s};
    }
    const absl::StatusOr<Shape> placed = Placed(tracked.shape, from);
    const MoverAt mover{tracked.shape, from, placed.ok() ? *placed : tracked.shape};
    if (tracked.Turns(from, end)) {
      const double tolerance = group.move_options.tolerance;
      RotatingSweepColumns columns;
      SetMover(tracked.shape, from, {}, out, columns.movers);
      columns.to_x = moves.x;
      columns.to_y = moves.y;
      columns.to_c = out.One(end.c);
      columns.to_s = out.One(end.s);
      columns.tolerance = out.One(tolerance > 0 ? tolerance : tracked.extent * 0x1p-10);
      AskTurn(mover, columns, {StartPolicy::kReportStart, mask}, out);
    } else {
      SweepColumns columns;
      SetMover(tracked.shape, from, {}, out, columns.movers);
      columns.to_x = moves.x;
      columns.to_y = moves.y;
      SweepOptions options;
      options.mask = mask;
      const Vec2 to = Normalized(end.position), start = Normalized(from.position);
      AskSweep({"path", options, {}}, mover, Normalized(Vec2{to.x - start.x, to.y - start.y}),
               columns, out);
    }
  }
  if (!placed_end.ok()) return;
  Question& question = out.Add();
  DistanceColumns columns;
  SetMover(tracked.shape, end, {}, out, columns.movers);
  columns.max_distance = out.One(tracked.options.within);
  AskDistances({tracked.shape, end, *placed_end}, columns, {DistanceMode::kWithin, mask},
               tracked.options.within, question);
  question.text = absl::StrCat("at the end of the move: ", question.text);
}

}  // namespace carom::internal
