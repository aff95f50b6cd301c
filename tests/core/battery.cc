// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/battery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace carom::testing {
namespace {

constexpr double kAngles[] = {0, 0, 0, 0.5, 1.5707963267948966, -2, 3};

Shape RandomShape(Random& random, const Grid& grid) {
  if (random.Below(3) == 0) {
    const Vec2 a = grid.Point(random);
    const Vec2 b = random.Below(2) == 0 ? a : grid.Point(random);
    const double radius = std::abs(grid.Coordinate(random)) / 4;
    return Shape::Create({{a, b}, random.Below(4) == 0 ? 0 : radius}).value();
  }
  return Polygon::Create(RandomPolygon(random, grid, 0)).value();
}

Mover RandomMovingShape(Random& random, const Grid& grid) {
  const double angle = kAngles[random.Below(7)];
  Mover mover{RandomShape(random, grid), grid.Point(random), angle, grid.Point(random),
              random.Below(2) == 0 ? angle : kAngles[random.Below(7)]};
  if (random.Below(8) == 0) mover.to = mover.position;
  return mover;
}

template <class Enum>
Enum Any(Random& random, int count) {
  return static_cast<Enum>(random.Below(count));
}

void RandomOptions(Random& random, Group& options) {
  for (CastOptions* cast : {&options.cast_options, &options.ray_options}) {
    cast->mode = random.Below(2) == 0 ? CastMode::kAllPassages : CastMode::kAll;
    cast->inside_policy = Any<InsidePolicy>(random, 3);
    cast->target = random.Below(4) == 0 ? CastTarget::kBounds : CastTarget::kPolygons;
    cast->reflect = random.Below(2) == 0;
  }
  for (OverlapOptions* overlap : {&options.circle_options, &options.polygon_options,
                                  &options.capsule_options, &options.box_options}) {
    overlap->detail = Any<OverlapDetail>(random, 2);
  }
  options.distance_options.mode = Any<DistanceMode>(random, 4);
  options.distance_options.k = 1 + static_cast<uint32_t>(random.Below(4));
  options.depenetration_options.max_steps = 16;
  options.sweep_options.mode = CastMode::kAll;
  options.sweep_options.inside_policy = Any<InsidePolicy>(random, 3);
  options.rotating_sweep_options.start_policy = Any<StartPolicy>(random, 2);
  options.arc_options.mode = CastMode::kAll;
  options.arc_options.inside_policy = Any<InsidePolicy>(random, 3);
  options.fan_options.inside_policy = Any<InsidePolicy>(random, 3);
}

// The columns of a battery.
class Columns {
 public:
  explicit Columns(const Battery& battery) : group_(battery.options) {
    group_.segments = {Column(battery.segments, [](auto& s) { return s.a.x; }),
                       Column(battery.segments, [](auto& s) { return s.a.y; }),
                       Column(battery.segments, [](auto& s) { return s.b.x; }),
                       Column(battery.segments, [](auto& s) { return s.b.y; })};
    group_.sights = group_.segments;
    group_.rays = {Column(battery.rays, [](auto& r) { return r.origin.x; }),
                   Column(battery.rays, [](auto& r) { return r.origin.y; }),
                   Column(battery.rays, [](auto& r) { return r.direction.x; }),
                   Column(battery.rays, [](auto& r) { return r.direction.y; }),
                   Column(battery.rays, [](auto& r) { return r.t_min; }),
                   Column(battery.rays, [](auto& r) { return r.t_max; })};
    group_.points = {Column(battery.points, [](auto& p) { return p.x; }),
                     Column(battery.points, [](auto& p) { return p.y; })};
    group_.circles = {Column(battery.circles, [](auto& c) { return c.center.x; }),
                      Column(battery.circles, [](auto& c) { return c.center.y; }),
                      Column(battery.circles, [](auto& c) { return c.radius; })};
    group_.capsules = {Column(battery.capsules, [](auto& c) { return c.axis.a.x; }),
                       Column(battery.capsules, [](auto& c) { return c.axis.a.y; }),
                       Column(battery.capsules, [](auto& c) { return c.axis.b.x; }),
                       Column(battery.capsules, [](auto& c) { return c.axis.b.y; }),
                       Column(battery.capsules, [](auto& c) { return c.radius; })};
    group_.boxes = {Column(battery.boxes, [](auto& b) { return b.min.x; }),
                    Column(battery.boxes, [](auto& b) { return b.min.y; }),
                    Column(battery.boxes, [](auto& b) { return b.max.x; }),
                    Column(battery.boxes, [](auto& b) { return b.max.y; })};
    AddMovers(battery.movers);
    AddArcsAndFans(battery);
  }

  const Group& group() const { return group_; }

 private:
  template <class Items, class Value>
  std::span<const double> Column(const Items& items, Value value) {
    std::vector<double> column;
    for (const auto& item : items) column.push_back(value(item));
    return columns_.emplace_back(std::move(column));
  }

  void AddMovers(const std::vector<Mover>& movers) {
    std::vector<Mover> polygonal;
    for (const Mover& mover : movers) {
      shapes_.push_back(mover.shape);
      if (mover.shape.polygon() == nullptr) continue;
      polygons_.push_back(*mover.shape.polygon());
      polygonal.push_back(mover);
    }
    group_.polygons = Placed(polygons_, polygonal);
    group_.distances = {Placed(shapes_, movers), {}};
    group_.contacts = {Placed(shapes_, movers), {}, {}};
    group_.depenetrations = Placed(shapes_, movers);
    const auto to_x = Column(movers, [](auto& m) { return m.to.x; });
    const auto to_y = Column(movers, [](auto& m) { return m.to.y; });
    group_.sweeps = {Placed(shapes_, movers), to_x, to_y};
    group_.rotating_sweeps.movers = Placed(shapes_, movers);
    group_.rotating_sweeps.to_x = to_x;
    group_.rotating_sweeps.to_y = to_y;
    group_.rotating_sweeps.to_angle = Column(movers, [](auto& m) { return m.to_angle; });
    group_.rotating_sweeps.tolerance = Column(movers, [](auto& m) {
      const Box box = m.shape.bounds();
      const auto most = [](Vec2 p) { return std::max(std::abs(p.x), std::abs(p.y)); };
      const double size = most(box.min) + most(box.max) + most(m.position) + most(m.to);
      return size < kSmallestMagnitude ? 1 : size / 1024;
    });
  }

  template <class S>
  PlacedColumns<S> Placed(const std::vector<S>& shapes, const std::vector<Mover>& movers) {
    return {.shapes = shapes,
            .shape = {},
            .x = Column(movers, [](auto& m) { return m.position.x; }),
            .y = Column(movers, [](auto& m) { return m.position.y; }),
            .c = {},
            .s = {},
            .angle = Column(movers, [](auto& m) { return m.angle; })};
  }

  void AddArcsAndFans(const Battery& battery) {
    group_.arcs = {Column(battery.arcs, [](auto& a) { return a.p.x; }),
                   Column(battery.arcs, [](auto& a) { return a.p.y; }),
                   Column(battery.arcs, [](auto& a) { return a.v.x; }),
                   Column(battery.arcs, [](auto& a) { return a.v.y; }),
                   Column(battery.arcs, [](auto& a) { return a.a.x; }),
                   Column(battery.arcs, [](auto& a) { return a.a.y; }),
                   Column(battery.arcs, [](auto& a) { return a.duration; })};
    for (const FanItem& fan : battery.fans) beams_.push_back(fan.beams);
    group_.fans = {Column(battery.fans, [](auto& f) { return f.origin.x; }),
                   Column(battery.fans, [](auto& f) { return f.origin.y; }),
                   Column(battery.fans, [](auto& f) { return f.angle; }),
                   Column(battery.fans, [](auto& f) { return f.step; }),
                   Column(battery.fans, [](auto& f) { return f.range; }),
                   beams_};
  }

  Group group_;
  std::vector<std::vector<double>> columns_;  // their memory stays where it is when this one grows
  std::vector<uint32_t> beams_;
  std::vector<Polygon> polygons_;
  std::vector<Shape> shapes_;
};

// Writes answers as text.
class Writer {
 public:
  Writer(Depth depth, const Frame2& frame) : depth_(depth), frame_(frame) {}

  bool measures() const { return depth_ != Depth::kVerdicts; }
  bool all() const { return depth_ == Depth::kAll; }

  void Number(double value) {
    EXPECT_FALSE(std::isnan(value));
    EXPECT_FALSE(value == 0 && std::signbit(value)) << "-0";
    absl::StrAppendFormat(&text_, " %a", value);
  }
  void Integer(uint64_t value) { absl::StrAppendFormat(&text_, " %d", value); }
  // Smallest pushes are absolute, and what the smallest scale of a law, 2^-80, makes small enough
  // is read as 0: at all scales such lengths count as 0.
  void Length(double value) {
    const double length = value / frame_.scale;
    if (measures()) Number(std::abs(length) < 0x1p-60 ? 0 : length);
  }
  void Point(Vec2 p) {
    Length(p.x);
    Length(p.y);
  }
  void Direction(Vec2 n) {
    if (!measures()) return;
    Number(n.x);
    Number(n.y);
  }
  void Edge(bool present, EdgeRef edge) {
    if (!all()) return;
    Integer(present);
    Integer(present ? edge.ring : 0);
    Integer(present ? edge.edge : 0);
  }
  std::string Take() { return std::exchange(text_, ""); }

 private:
  Depth depth_;
  Frame2 frame_;
  std::string text_;
};

void Write(const CastHit& hit, Writer& w) {
  w.Integer(hit.polygon_id);
  w.Number(hit.fraction);
  w.Number(hit.exit_fraction);
  w.Integer(hit.starts_inside);
  w.Integer(hit.ends_inside);
  w.Point(hit.point);
  if (!w.all()) return;
  w.Integer(static_cast<uint64_t>(hit.feature));
  w.Edge(hit.feature != Feature::kNone, hit.edge);
  w.Edge(hit.has_exit_edge, hit.exit_edge);
  w.Direction(hit.normal);
  w.Direction(hit.exit_normal);
}

void Write(const SweepHit& hit, Writer& w) {
  w.Integer(hit.polygon_id);
  w.Number(hit.fraction);
  w.Integer(hit.starts_inside);
  w.Integer(hit.ties);
  if (!w.all()) return;
  w.Edge(hit.has_edge, hit.edge);
  w.Point(hit.point);
  w.Direction(hit.normal);
}

void Write(const ArcHit& hit, Writer& w) {
  w.Integer(hit.polygon_id);
  w.Number(hit.time);
  w.Integer(hit.starts_inside);
  w.Point(hit.point);
  if (!w.all()) return;
  w.Edge(hit.has_edge, hit.edge);
  w.Direction(hit.normal);
}

void Write(const RotatingSweepHit& hit, Writer& w) {
  if (!w.all()) return;
  w.Integer(hit.polygon_id);
  w.Number(hit.low);
  w.Number(hit.high);
}

void Write(const DistanceRow& row, Writer& w) {
  if (!w.all()) return;
  w.Length(row.distance);
  w.Point(row.point);
  w.Point(row.mover_point);
  w.Edge(row.has_edge, row.edge);
}

void Write(const Contact& contact, Writer& w) {
  w.Integer(static_cast<uint64_t>(contact.kind));
  if (!w.all()) return;
  w.Direction(contact.normal);
  w.Length(contact.depth);
  for (uint32_t i = 0; i < contact.point_count; ++i) {
    const ContactPoint& point = contact.points[i];
    w.Point(point.point);
    w.Length(point.depth);
    w.Integer(point.polygon_feature);
    w.Integer(point.mover_feature);
  }
}

// The items of one batch: write(row) for each row of an item.
template <class Answers, class WriteRow>
void Dump(const char* batch, const Answers& answers, Writer& w, WriteRow write,
          std::vector<std::string>& out) {
  EXPECT_TRUE(answers.errors.empty()) << batch << " " << Name(answers.errors.front().column) << " "
                                      << Description(answers.errors.front().fault);
  size_t row = 0;
  for (const uint32_t count : answers.counts) {
    std::string text = batch;
    for (uint32_t i = 0; i < count; ++i) write(row++);
    out.push_back(text + w.Take());
  }
}

void DumpCasts(const char* batch, const CastAnswers& answers, Writer& w,
               std::vector<std::string>& out) {
  Dump(
      batch, answers, w,
      [&](size_t row) {
        Write(answers.hits[row], w);
        if (w.all() && !answers.reflections.empty()) w.Point(answers.reflections[row]);
      },
      out);
}

void DumpOverlaps(const char* batch, const OverlapAnswers& answers, Writer& w,
                  std::vector<std::string>& out) {
  size_t edge = 0;
  Dump(
      batch, answers, w,
      [&](size_t row) {
        w.Integer(answers.polygon_ids[row]);
        if (!answers.touching.empty()) w.Integer(answers.touching[row]);
        if (answers.edge_counts.empty()) return;
        for (uint32_t i = 0; i < answers.edge_counts[row]; ++i) w.Edge(true, answers.edges[edge++]);
      },
      out);
}

void DumpMovers(const GroupAnswers& answers, Writer& w, std::vector<std::string>& out) {
  const DistanceAnswers& distances = answers.distances;
  Dump(
      "distance", distances, w,
      [&](size_t row) {
        w.Integer(distances.polygon_ids[row]);
        if (!distances.rows.empty()) Write(distances.rows[row], w);
      },
      out);
  Dump(
      "contact", answers.contacts, w,
      [&](size_t row) {
        w.Integer(answers.contacts.polygon_ids[row]);
        Write(answers.contacts.contacts[row], w);
      },
      out);
  Dump(
      "sweep", answers.sweeps, w, [&](size_t row) { Write(answers.sweeps.hits[row], w); }, out);
  Dump(
      "rotating", answers.rotating_sweeps, w,
      [&](size_t row) { Write(answers.rotating_sweeps.hits[row], w); }, out);
  if (!w.all()) return;
  const DepenetrateAnswers& free = answers.depenetrations;
  for (size_t i = 0; i < free.finished.size(); ++i) {
    w.Integer(free.finished[i]);
    w.Point(free.positions[i]);
    out.push_back("free" + w.Take());
  }
}

}  // namespace

Battery Battery::In(const Frame2& frame) const {
  Battery moved = *this;
  for (carom::Segment& s : moved.segments) s = {frame.Point(s.a), frame.Point(s.b)};
  for (carom::Ray& ray : moved.rays) {
    ray.origin = frame.Point(ray.origin);
    ray.direction = frame.Vector(ray.direction);
  }
  for (Vec2& p : moved.points) p = frame.Point(p);
  for (Circle& c : moved.circles) c = {frame.Point(c.center), c.radius * frame.scale};
  for (Capsule& c : moved.capsules) {
    c = {{frame.Point(c.axis.a), frame.Point(c.axis.b)}, c.radius * frame.scale};
  }
  for (Box& box : moved.boxes) box = {frame.Point(box.min), frame.Point(box.max)};
  const Frame2 shape_frame{frame.scale, {}};
  for (Mover& mover : moved.movers) {
    if (mover.shape.capsule() != nullptr) {
      Capsule c = *mover.shape.capsule();
      c = {{shape_frame.Point(c.axis.a), shape_frame.Point(c.axis.b)}, c.radius * frame.scale};
      mover.shape = Shape::Create(c).value();
    } else {
      const PolygonSpec spec = mover.shape.polygon()->spec();
      mover.shape = Polygon::Create(carom::testing::In(shape_frame, spec)).value();
    }
    mover.position = frame.Point(mover.position);
    mover.to = frame.Point(mover.to);
  }
  for (ArcItem& arc : moved.arcs) {
    arc = {frame.Point(arc.p), frame.Vector(arc.v), frame.Vector(arc.a), arc.duration};
  }
  for (FanItem& fan : moved.fans) {
    fan.origin = frame.Point(fan.origin);
    fan.range *= frame.scale;
  }
  return moved;
}

Battery Battery::Reversed() const {
  Battery reversed = *this;
  std::reverse(reversed.segments.begin(), reversed.segments.end());
  std::reverse(reversed.rays.begin(), reversed.rays.end());
  std::reverse(reversed.points.begin(), reversed.points.end());
  std::reverse(reversed.circles.begin(), reversed.circles.end());
  std::reverse(reversed.capsules.begin(), reversed.capsules.end());
  std::reverse(reversed.boxes.begin(), reversed.boxes.end());
  std::reverse(reversed.movers.begin(), reversed.movers.end());
  std::reverse(reversed.arcs.begin(), reversed.arcs.end());
  std::reverse(reversed.fans.begin(), reversed.fans.end());
  return reversed;
}

PolygonSpec In(const Frame2& frame, PolygonSpec spec) {
  for (RingSpec& ring : spec.rings) {
    for (Vec2& p : ring.vertices) p = frame.Point(p);
  }
  return spec;
}

Battery RandomBattery(Random& random, const Grid& grid, int count) {
  Battery battery;
  const auto length = [&] { return std::abs(grid.Coordinate(random)); };
  for (int i = 0; i < count; ++i) {
    battery.segments.push_back({grid.Point(random), grid.Point(random)});
    carom::Ray ray{grid.Point(random), grid.Point(random)};
    if (Normalized(ray.direction) == Vec2{}) ray.direction = {grid.scale, 0};
    ray.t_min = random.Below(3) == 0 ? random.Below(4) * 0.25 : 0;
    if (random.Below(2) == 0) ray.t_max = ray.t_min + 1 + random.Below(4) * 0.5;
    battery.rays.push_back(ray);
    battery.points.push_back(grid.Point(random));
    battery.circles.push_back({grid.Point(random), length()});
    battery.capsules.push_back({{grid.Point(random), grid.Point(random)}, length()});
    Box box;
    box.Extend(grid.Point(random));
    box.Extend(grid.Point(random));
    battery.boxes.push_back(box);
    battery.movers.push_back(RandomMovingShape(random, grid));
    battery.arcs.push_back({grid.Point(random), grid.Point(random),
                            random.Below(3) == 0 ? Vec2{} : grid.Point(random),
                            random.Below(5) * 0.5});
    battery.fans.push_back({grid.Point(random), kAngles[random.Below(7)], 0.25, length(),
                            static_cast<uint32_t>(1 + random.Below(4))});
  }
  RandomOptions(random, battery.options);
  return battery;
}

std::vector<std::string> Answers(const Scene& scene, const Battery& battery, Depth depth,
                                 const Frame2& frame) {
  const Columns columns(battery);
  GroupAnswers answers;
  WorkMeter meter;
  std::vector<std::string> out;
  const absl::Status checked = CheckGroup(columns.group());
  EXPECT_TRUE(checked.ok()) << checked;
  EXPECT_TRUE(EvaluateGroup(scene, columns.group(), answers, meter).ok());
  Writer w(depth, frame);
  DumpCasts("segment", answers.segments, w, out);
  DumpCasts("ray", answers.rays, w, out);
  Dump(
      "point", answers.points, w,
      [&](size_t row) {
        w.Integer(answers.points.polygon_ids[row]);
        w.Integer(static_cast<uint64_t>(answers.points.locations[row]));
      },
      out);
  DumpOverlaps("circle", answers.circles, w, out);
  DumpOverlaps("polygon", answers.polygons, w, out);
  DumpOverlaps("capsule", answers.capsules, w, out);
  DumpOverlaps("box", answers.boxes, w, out);
  DumpMovers(answers, w, out);
  Dump(
      "arc", answers.arcs, w, [&](size_t row) { Write(answers.arcs.hits[row], w); }, out);
  for (const uint8_t visible : answers.sights.visible) {
    out.push_back(visible != 0 ? "sight 1" : "sight 0");
  }
  Dump(
      "fan", answers.fans, w,
      [&](size_t row) {
        w.Integer(answers.fans.hits[row]);
        w.Integer(answers.fans.polygon_ids[row]);
        w.Length(answers.fans.distances[row]);
      },
      out);
  return out;
}

}  // namespace carom::testing
