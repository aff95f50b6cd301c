// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/group_case.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "tests/support/body_case.h"

namespace carom::testing {
namespace {

constexpr double kCommon[] = {
    0,         1,         -1,      0x1p53, -0x1p53, 0x1p-140, -0x1p-140,
    0x1.8p-99, 0x1p20,    1.0 / 3, 3,      0.5,     -0.25,    0x1.fffffffffffffp-140,
    0x1p-30,   -0x1p-141, 0x1.8p52};

PolygonSpec MakeSpec(Choices& choices, const Numbers& numbers, uint64_t id) {
  PolygonSpec spec;
  spec.id = id;
  spec.fill_rule = choices.OneIn(2) ? FillRule::kNonZero : FillRule::kEvenOdd;
  spec.solidity = choices.OneIn(6) ? Solidity::kBoundary : Solidity::kSolid;
  if (choices.OneIn(5)) spec.category = choices.Below(4);
  const uint32_t rings = choices.OneIn(5) ? 2 + choices.Below(2) : 1;
  for (uint32_t r = 0; r < rings; ++r) {
    RingSpec ring;
    const uint32_t vertices = 1 + choices.Below(7);
    for (uint32_t i = 0; i < vertices; ++i) ring.vertices.push_back(numbers.Point(choices));
    ring.open = spec.solidity == Solidity::kBoundary && choices.OneIn(2);
    spec.rings.push_back(std::move(ring));
  }
  return spec;
}

// A triangle or a box: convex pairs are too rare among random rings.
PolygonSpec MakeConvexSpec(Choices& choices, const Numbers& numbers, uint64_t id) {
  PolygonSpec spec;
  spec.id = id;
  const Vec2 a = numbers.Point(choices), b = numbers.Point(choices), c = numbers.Point(choices);
  if (choices.OneIn(2)) {
    spec.rings = {{{a, b, c}}};
  } else {
    spec.rings = {{{a, {b.x, a.y}, b, {a.x, b.y}}}};
  }
  return spec;
}

PolygonSpec AnySpec(Choices& choices, const Numbers& numbers, uint64_t id) {
  return choices.OneIn(2) ? MakeConvexSpec(choices, numbers, id) : MakeSpec(choices, numbers, id);
}

Shape MakeShape(Choices& choices, const Numbers& numbers) {
  if (choices.OneIn(3)) {
    const Vec2 a = numbers.Point(choices), b = choices.OneIn(2) ? numbers.Point(choices) : a;
    const double radius = choices.OneIn(3) ? 0 : numbers.Length(choices);
    if (auto shape = Shape::Create(Capsule{{a, b}, radius}); shape.ok()) return *std::move(shape);
  }
  return Polygon::Create(AnySpec(choices, numbers, 0)).value();
}

// `number`, or now and then one that is not accepted.
double Spoiled(Choices& choices, BadNumbers bad, double number) {
  constexpr double kBad[] = {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, 0x1p54,
                             -0x1.8p53};
  if (bad == BadNumbers::kNone || !choices.OneIn(100)) return number;
  return kBad[choices.Below(std::size(kBad))];
}

// Fills the columns of one case; each member function one batch.
class Filler {
 public:
  Filler(Choices& choices, uint32_t max_items, BadNumbers bad, GroupCase& made)
      : choices_(choices), max_items_(max_items), bad_(bad), made_(made), group_(made.group) {}

  void Casts() {
    Choose(group_.cast_options, 4);
    group_.cast_options.target = choices_.OneIn(6) ? CastTarget::kBounds : CastTarget::kPolygons;
    group_.cast_options.reflect = choices_.OneIn(2);
    if (choices_.OneIn(3)) Soften(group_.cast_options);
    Segments(Count(), group_.segments);
    Choose(group_.ray_options, 4);
    group_.ray_options.reflect = choices_.OneIn(4);
    if (choices_.OneIn(3)) Soften(group_.ray_options);
    const size_t count = Count();
    RayColumns& rays = group_.rays;
    Pairs(count, rays.x, rays.y);
    Pairs(count, rays.dx, rays.dy);
    if (choices_.OneIn(2)) rays.t_min = made_.Column(count, [&](size_t) { return Time(0); });
    if (choices_.OneIn(2)) {
      rays.t_max = made_.Column(count, [&](size_t) { return Time(choices_.OneIn(4) ? 0 : 4); });
    }
    group_.sight_options.mask = Mask();
    if (choices_.OneIn(3)) SoftWalls(group_.sight_options);
    Segments(Count(), group_.sights);
  }

  void Overlaps() {
    group_.point_mask = Mask();
    Pairs(Count(), group_.points.x, group_.points.y);
    Choose(group_.circle_options);
    const size_t circles = Count();
    Pairs(circles, group_.circles.x, group_.circles.y);
    group_.circles.radius = Lengths(circles);
    Choose(group_.capsule_options);
    const size_t capsules = Count();
    CapsuleColumns& capsule = group_.capsules;
    Pairs(capsules, capsule.ax, capsule.ay);
    Pairs(capsules, capsule.bx, capsule.by);
    capsule.radius = Lengths(capsules);
    Choose(group_.box_options);
    Boxes(Count());
    Choose(group_.polygon_options);
    FillPoses(choices_, bad_, Count(), made_, group_.polygons);
  }

  void Movers() {
    constexpr DistanceMode kModes[] = {DistanceMode::kNearest, DistanceMode::kAll,
                                       DistanceMode::kWithin, DistanceMode::kNearestK};
    const uint32_t choice = choices_.Below(16);
    group_.distance_options = {kModes[choice % 4], Mask(), 1 + choice / 4};
    const size_t distances = Count();
    FillPoses(choices_, bad_, distances, made_, group_.distances.movers);
    if (choices_.OneIn(2)) group_.distances.max_distance = Lengths(distances);
    group_.contact_options.mask = Mask();
    const size_t contacts = Count();
    FillPoses(choices_, bad_, contacts, made_, group_.contacts.movers);
    if (choices_.OneIn(2)) {
      group_.contacts.mass = Masses(contacts);
      group_.contacts.polygon_mass = Masses(contacts);
    }
    group_.depenetration_options = {1 + choices_.Below(64), Mask()};
    FillPoses(choices_, bad_, Count(), made_, group_.depenetrations);
  }

  void Sweeps() {
    Choose(group_.sweep_options, 3);
    const size_t sweeps = Count();
    FillPoses(choices_, bad_, sweeps, made_, group_.sweeps.movers);
    Pairs(sweeps, group_.sweeps.to_x, group_.sweeps.to_y);
    RotatingSweepColumns& turning = group_.rotating_sweeps;
    group_.rotating_sweep_options = {
        choices_.OneIn(2) ? StartPolicy::kIgnore : StartPolicy::kReportStart, Mask()};
    const size_t count = Count() / 2;
    FillPoses(choices_, bad_, count, made_, turning.movers);
    Pairs(count, turning.to_x, turning.to_y);
    if (choices_.OneIn(2)) {
      turning.to_angle = made_.Column(count, [&](size_t) { return choices_.Unit() * 8 - 4; });
    }
    const double tolerance = std::ldexp(made_.numbers.scale, -static_cast<int>(choices_.Below(16)));
    turning.tolerance = made_.Column(count, [&](size_t) { return tolerance; });
  }

  void ArcsAndFans() {
    Choose(group_.arc_options, 3);
    const size_t count = Count();
    ArcColumns& arcs = group_.arcs;
    Pairs(count, arcs.x, arcs.y);
    Pairs(count, arcs.vx, arcs.vy);
    Pairs(count, arcs.ax, arcs.ay);
    arcs.duration = made_.Column(count, [&](size_t) { return Time(4); });
    group_.fan_options = {Policy(), Mask()};
    if (choices_.OneIn(3)) SoftWalls(group_.fan_options);
    const size_t fans = 1 + Count() / 8;
    FanColumns& fan = group_.fans;
    Pairs(fans, fan.x, fan.y);
    fan.angle = made_.Column(fans, [&](size_t) { return Number(choices_.Unit() * 8 - 4); });
    fan.step = made_.Column(fans, [&](size_t) { return choices_.Unit() - 0.5; });
    fan.range = Lengths(fans);
    fan.beams = made_.Indices(fans, [&](size_t) { return 1 + choices_.Below(16); });
  }

  // Trackers of the shapes and one that is undefined; sweeps half of the time.
  void Moves() {
    for (const Shape& shape : made_.shapes) {
      TrackerOptions options{.mask = Mask()};
      if (choices_.OneIn(4)) options.within = made_.numbers.Length(choices_);
      absl::StatusOr<Tracker> tracker = Tracker::Create(shape, options);
      made_.trackers.push_back(tracker.ok() ? *std::move(tracker) : Tracker());
    }
    made_.trackers.emplace_back();
    const auto known = static_cast<uint32_t>(made_.trackers.size());
    const size_t count = Count();
    MoveColumns& moves = group_.moves;
    moves.trackers = made_.trackers;
    moves.tracker = made_.Indices(count, [&](size_t) { return choices_.Below(known + 1); });
    Pairs(count, moves.x, moves.y);
    Turns(count, moves.angle);
    if (choices_.OneIn(2)) {
      Pairs(count, moves.from_x, moves.from_y);
      Turns(count, moves.from_angle);
    }
    MoveOptions& options = group_.move_options;
    options.detail = choices_.OneIn(2) ? OverlapDetail::kEdges : OverlapDetail::kIds;
    options.coherence = choices_.OneIn(4) ? Coherence::kOff : Coherence::kOn;
    options.quiet_radii = choices_.OneIn(2);
    if (choices_.OneIn(2)) {
      options.tolerance = std::ldexp(made_.numbers.scale, -static_cast<int>(choices_.Below(16)));
    }
  }

  // Pushes of any number, at times none or too many.
  void Motion() {
    SlideOptions& options = group_.slide_options;
    options.inside_policy =
        choices_.OneIn(4) ? InsidePolicy::kBlocking : InsidePolicy::kBlockingLeave;
    options.max_contacts = 1 + choices_.Below(kMaxContacts);
    options.mask = Mask();
    SlideColumns& slides = group_.slides;
    const size_t count = Count() / 2;
    FillPoses(choices_, bad_, count, made_, slides.movers);
    size_t pushes = count;
    if (choices_.OneIn(2)) {
      const uint32_t most = bad_ == BadNumbers::kSome ? kMaxPushes + 2 : kMaxPushes;
      slides.pushes = made_.Indices(count, [&](size_t) {
        return choices_.Below(most) + (bad_ == BadNumbers::kSome ? 0 : 1);
      });
      pushes = std::accumulate(slides.pushes.begin(), slides.pushes.end(), size_t{0});
    }
    Pairs(pushes, slides.dx, slides.dy);
    if (choices_.OneIn(2)) slides.skin = Lengths(count);
    group_.bounce_options = {1 + choices_.Below(kMaxBounces), Mask()};
    Segments(Count(), group_.bounces);
  }

  // At times without an end, and with a number of bounces that is none.
  void RayBounces() {
    group_.ray_bounce_mask = Mask();
    RayBounceColumns& rays = group_.ray_bounces;
    const size_t count = Count();
    Pairs(count, rays.x, rays.y);
    Pairs(count, rays.dx, rays.dy);
    if (choices_.OneIn(2)) rays.t_max = made_.Column(count, [&](size_t) { return Time(4); });
    if (choices_.OneIn(2)) {
      const bool all = bad_ == BadNumbers::kSome;
      rays.max_bounces = made_.Indices(
          count, [&](size_t) { return all ? choices_.Below(18) : 1 + choices_.Below(16); });
    }
  }

  // At times no sector; at times a second side that is not behind the first one.
  void Areas() {
    AreaOptions& options = group_.area_options;
    options.inside_policy = choices_.OneIn(3) ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
    if (choices_.OneIn(4)) options.max_rows = 1 + choices_.Below(6);
    options.mask = Mask();
    Eyes(group_.areas);
  }

  void Sees() {
    SeeOptions& options = group_.see_options;
    options.inside_policy = choices_.OneIn(3) ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
    if (choices_.OneIn(2)) options.margin = choices_.Unit();
    options.mask = Mask();
    Eyes(group_.sees);
  }

 private:
  void Eyes(AreaColumns& areas) {
    const size_t count = Count();
    Pairs(count, areas.x, areas.y);
    areas.range = Lengths(count);
    if (count % 2 != 0) {
      areas.eye = made_.Indices(count, [](size_t i) { return static_cast<uint32_t>(7 * i % 5); });
    }
    if (choices_.OneIn(2)) return;
    areas.from = made_.Column(count, [&](size_t) { return Number(choices_.Unit() * 8 - 4); });
    const double back = bad_ == BadNumbers::kSome ? 0.25 : 0;
    areas.to = made_.Column(
        count, [&](size_t i) { return areas.from[i] + 0.125 + choices_.Unit() * 6 - back; });
  }

  void Turns(size_t count, std::span<const double>& angle) {
    if (choices_.OneIn(2)) return;
    angle = made_.Column(count, [&](size_t) { return Number(choices_.Unit() * 8 - 4); });
  }
  size_t Count() { return choices_.Below(max_items_ + 1); }
  uint64_t Mask() { return choices_.OneIn(8) ? choices_.Below(4) : kEveryCategory; }
  double Number(double value) { return Spoiled(choices_, bad_, value); }
  double Time(int at_least) { return Number(at_least + choices_.Below(9) / 4.0); }

  InsidePolicy Policy() {
    constexpr InsidePolicy kPolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kIgnore,
                                          InsidePolicy::kExit};
    return kPolicies[choices_.Below(3)];
  }
  template <class Options>
  void SoftWalls(Options& options) {
    options.soft_mask = 1 + choices_.Below(3);
    options.soft_count = choices_.Below(kMaxSoftCount + 1) / (1 + choices_.Below(8));
  }
  // Soft walls are for modes with one hit at most.
  void Soften(CastOptions& options) {
    options.mode = choices_.OneIn(4) ? CastMode::kAny : CastMode::kClosest;
    SoftWalls(options);
    options.soft_length = options.mode == CastMode::kClosest && choices_.OneIn(2);
  }
  template <class Options>
  void Choose(Options& options, uint32_t modes) {
    constexpr CastMode kModes[] = {CastMode::kAll, CastMode::kClosest, CastMode::kAny,
                                   CastMode::kAllPassages};
    options.mode = kModes[choices_.Below(modes)];
    options.inside_policy = Policy();
    if (choices_.OneIn(4)) options.max_hits = 1 + choices_.Below(3);
    options.mask = Mask();
  }
  void Choose(OverlapOptions& options) {
    options.detail = choices_.OneIn(2) ? OverlapDetail::kEdges : OverlapDetail::kIds;
    options.mask = Mask();
  }

  // Points in two columns.
  void Pairs(size_t count, std::span<const double>& x, std::span<const double>& y) {
    std::vector<Vec2> points;
    for (size_t i = 0; i < count; ++i) points.push_back(made_.Point(choices_));
    x = made_.Column(count, [&](size_t i) { return Number(points[i].x); });
    y = made_.Column(count, [&](size_t i) { return Number(points[i].y); });
  }
  void Segments(size_t count, SegmentColumns& segments) {
    Pairs(count, segments.ax, segments.ay);
    Pairs(count, segments.bx, segments.by);
  }
  std::span<const double> Lengths(size_t count) {
    return made_.Column(count, [&](size_t) { return Number(made_.numbers.Length(choices_)); });
  }
  std::span<const double> Masses(size_t count) {
    return made_.Column(count, [&](size_t) { return Number(1 + choices_.Below(5)); });
  }
  void Boxes(size_t count) {
    std::vector<Box> boxes(count);
    for (Box& box : boxes) {
      box.Extend(made_.Point(choices_));
      box.Extend(made_.Point(choices_));
    }
    BoxColumns& columns = group_.boxes;
    columns.min_x = made_.Column(count, [&](size_t i) { return Number(boxes[i].min.x); });
    columns.min_y = made_.Column(count, [&](size_t i) { return Number(boxes[i].min.y); });
    columns.max_x = made_.Column(count, [&](size_t i) { return Number(boxes[i].max.x); });
    columns.max_y = made_.Column(count, [&](size_t i) { return Number(boxes[i].max.y); });
  }

  Choices& choices_;
  uint32_t max_items_;
  BadNumbers bad_;
  GroupCase& made_;
  Group& group_;
};

// An unturned shape half of the time, so that placing is exact on grids.
template <class S>
void FillRotations(Choices& choices, BadNumbers bad, size_t count, GroupCase& made,
                   PlacedColumns<S>& movers) {
  constexpr double kTurns[][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {0.6, 0.8}, {-0.28, 0.96}};
  switch (choices.Below(4)) {
    case 2: {
      std::vector<uint32_t> turns;
      for (size_t i = 0; i < count; ++i) turns.push_back(choices.Below(std::size(kTurns)));
      movers.c = made.Column(count, [&](size_t i) { return kTurns[turns[i]][0]; });
      movers.s = made.Column(count, [&](size_t i) { return kTurns[turns[i]][1]; });
      break;
    }
    case 3:
      movers.angle =
          made.Column(count, [&](size_t) { return Spoiled(choices, bad, choices.Unit() * 8 - 4); });
      break;
    default:
      break;
  }
}

// Places the shapes of `movers`.
template <class S>
void Fill(Choices& choices, BadNumbers bad, size_t count, GroupCase& made,
          PlacedColumns<S>& movers) {
  const uint32_t known = static_cast<uint32_t>(movers.shapes.size());
  const uint32_t indices = bad == BadNumbers::kSome && choices.OneIn(16) ? known + 1 : known;
  movers.shape = made.Indices(count, [&](size_t) { return choices.Below(indices); });
  std::vector<Vec2> positions;
  for (size_t i = 0; i < count; ++i) positions.push_back(made.Point(choices));
  movers.x = made.Column(count, [&](size_t i) { return Spoiled(choices, bad, positions[i].x); });
  movers.y = made.Column(count, [&](size_t i) { return Spoiled(choices, bad, positions[i].y); });
  FillRotations(choices, bad, count, made, movers);
}

// Shapes of the case at poses that leave the accepted range nowhere.
ShapeColumns PlaceSome(Choices& choices, GroupCase& made) {
  struct Placing {
    uint32_t shape;
    Pose pose;
  };
  std::vector<Placing> placings;
  for (uint32_t left = choices.Below(9); left > 0; --left) {
    const uint32_t shape = choices.Below(static_cast<uint32_t>(made.shapes.size()));
    Pose pose{made.Point(choices)};
    if (choices.OneIn(2)) pose.c = 0.6, pose.s = 0.8;
    if (Placed(made.shapes[shape], pose).ok()) placings.push_back({shape, pose});
  }
  const size_t count = placings.size();
  ShapeColumns placed;
  placed.shapes = made.shapes;
  placed.shape = made.Indices(count, [&](size_t i) { return placings[i].shape; });
  placed.x = made.Column(count, [&](size_t i) { return placings[i].pose.position.x; });
  placed.y = made.Column(count, [&](size_t i) { return placings[i].pose.position.y; });
  placed.c = made.Column(count, [&](size_t i) { return placings[i].pose.c; });
  placed.s = made.Column(count, [&](size_t i) { return placings[i].pose.s; });
  return placed;
}

Scope AnyScope(Choices& choices, size_t items, GroupCase& made) {
  constexpr Against kAgainst[] = {Against::kBoth, Against::kBodies, Against::kScene};
  Scope scope{.against = kAgainst[choices.Below(3)]};
  if (choices.OneIn(2)) {
    scope.mask = made.Words(
        items, [&](size_t) { return choices.OneIn(2) ? choices.Below(4) : kEveryCategory; });
  }
  if (choices.OneIn(2)) {
    scope.ignore_owner = made.Indices(items, [&](size_t) { return choices.Below(3); });
  }
  return scope;
}

void AppendCode(const PolygonSpec& spec, std::string& code) {
  char text[96];
  std::snprintf(text, sizeof text, "PolygonSpec{%llu, {", static_cast<unsigned long long>(spec.id));
  code += text;
  for (const RingSpec& ring : spec.rings) {
    code += "{{";
    for (const Vec2 p : ring.vertices) {
      std::snprintf(text, sizeof text, "{%a, %a}, ", p.x, p.y);
      code += text;
    }
    code += ring.open ? "}, true}, " : "}, false}, ";
  }
  std::snprintf(text, sizeof text, "}, FillRule(%d), Solidity(%d), %llu},\n",
                static_cast<int>(spec.fill_rule), static_cast<int>(spec.solidity),
                static_cast<unsigned long long>(spec.category));
  code += text;
}

}  // namespace

Numbers Numbers::Make(Choices& choices) {
  constexpr double kScales[] = {1, 1, 0.25, 0x1p40, 0x1p-120, 0x1p-137};
  Numbers numbers;
  numbers.style = static_cast<Style>(choices.Below(5));
  numbers.scale = kScales[choices.Below(std::size(kScales))];
  if (numbers.style == Style::kMixed || numbers.style == Style::kFar) numbers.scale = 1;
  return numbers;
}

double Numbers::Coordinate(Choices& choices) const {
  switch (style) {
    case Style::kGrid:
      return scale * choices.Below(7);
    case Style::kOff: {
      const double value = scale * choices.Below(7);
      if (!choices.OneIn(4)) return value;
      return std::nextafter(value, choices.OneIn(2) ? HUGE_VAL : -HUGE_VAL);
    }
    case Style::kUniform:
      return scale * (choices.Unit() * 8 - 1);
    case Style::kMixed:
      if (choices.OneIn(4)) {
        const int exponent = 52 - static_cast<int>(choices.Below(190));
        return std::ldexp(choices.Unit() + 0.5, exponent);
      }
      return kCommon[choices.Below(std::size(kCommon))];
    case Style::kFar:
      return 0x1p53 - choices.Below(7);
  }
  return 0;
}

Vec2 Numbers::Point(Choices& choices) const {
  const double x = Coordinate(choices);
  return {x, Coordinate(choices)};
}

Vec2 GroupCase::Point(Choices& choices) const {
  if (specs.empty() || choices.OneIn(2)) return numbers.Point(choices);
  const PolygonSpec& spec = specs[choices.Below(static_cast<uint32_t>(specs.size()))];
  const std::vector<Vec2>& vertices = spec.rings[0].vertices;
  return vertices[choices.Below(static_cast<uint32_t>(vertices.size()))];
}

std::string GroupCase::ToCode() const {
  std::string code = "scene:\n";
  for (const PolygonSpec& spec : specs) AppendCode(spec, code);
  code += "moving polygons:\n";
  for (const Polygon& polygon : polygons) AppendCode(polygon.spec(), code);
  code += "moving shapes:\n";
  for (const Shape& shape : shapes) {
    if (const Capsule* capsule = shape.capsule()) {
      char text[192];
      std::snprintf(text, sizeof text, "Capsule{{{%a, %a}, {%a, %a}}, %a},\n", capsule->axis.a.x,
                    capsule->axis.a.y, capsule->axis.b.x, capsule->axis.b.y, capsule->radius);
      code += text;
    } else {
      AppendCode(shape.polygon()->spec(), code);
    }
  }
  return code;
}

std::unique_ptr<GroupCase> MakeScene(Choices& choices) {
  auto made = std::make_unique<GroupCase>();
  made->numbers = Numbers::Make(choices);
  const uint32_t polygons = choices.Below(6);
  std::vector<Polygon> fixed;
  for (uint32_t i = 0; i < polygons; ++i) {
    made->specs.push_back(AnySpec(choices, made->numbers, 1 + 3 * i));
    fixed.push_back(Polygon::Create(made->specs.back()).value());
  }
  made->scene = Scene::Create(std::move(fixed), 7).value();
  // Shapes near their reference points, or no pose there would be accepted.
  const Numbers local = made->numbers.style == Numbers::Style::kFar ? Numbers{} : made->numbers;
  const uint32_t shapes = 1 + choices.Below(4);
  for (uint32_t i = 0; i < shapes; ++i) {
    made->polygons.push_back(Polygon::Create(AnySpec(choices, local, 0)).value());
    made->shapes.push_back(MakeShape(choices, local));
  }
  return made;
}

std::unique_ptr<GroupCase> MakeGroupCase(Choices& choices, uint32_t max_items, BadNumbers bad) {
  std::unique_ptr<GroupCase> made = MakeScene(choices);
  Filler filler(choices, max_items, bad, *made);
  filler.Casts();
  filler.Overlaps();
  filler.Movers();
  filler.Sweeps();
  filler.ArcsAndFans();
  filler.Moves();
  filler.Motion();
  filler.RayBounces();
  filler.Areas();
  filler.Sees();
  return made;
}

void AddBodies(Choices& choices, GroupCase& made) {
  Group& group = made.group;
  DropKindsWithoutBodies(group);
  group.bodies = {};
  group.bodies.placed = PlaceSome(choices, made);
  const size_t bodies = group.bodies.size();
  if (choices.OneIn(2)) {
    group.bodies.category = made.Words(bodies, [&](size_t) { return choices.Below(4); });
  }
  if (choices.OneIn(2)) {
    group.bodies.owner = made.Indices(bodies, [&](size_t) { return choices.Below(3); });
  }
  ForEachKind([&](const auto& kind) {
    auto& columns = group.*kind.columns;
    if constexpr (HasScope<std::remove_reference_t<decltype(columns)>>) {
      if (kAsksBodies<decltype(kind)>) ScopeOf(columns) = AnyScope(choices, columns.size(), made);
      if (kAlwaysAsksBodies<decltype(kind)>) ScopeOf(columns).against = Against::kScene;
    }
  });
  // One body more than there are: an error of its item.
  const auto known = static_cast<uint32_t>(bodies) + 1;
  group.body_contacts.body =
      made.Indices(choices.Below(9), [&](size_t) { return choices.Below(known); });
  group.body_contacts.mass = {};
  if (choices.OneIn(2)) {
    group.body_contacts.mass = made.Column(bodies, [&](size_t) { return choices.Below(6); });
  }
}

void FillPoses(Choices& choices, BadNumbers bad, size_t count, GroupCase& made,
               PolygonColumns& movers) {
  movers.shapes = made.polygons;
  Fill(choices, bad, count, made, movers);
}

void FillPoses(Choices& choices, BadNumbers bad, size_t count, GroupCase& made,
               ShapeColumns& movers) {
  movers.shapes = made.shapes;
  Fill(choices, bad, count, made, movers);
}

}  // namespace carom::testing
