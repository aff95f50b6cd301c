// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/abi_group.h"

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "carom/group_kinds.h"

namespace carom::testing {
namespace {

// The number in carom.h of a value of an enum of the core: 0 is the default there.
template <class T>
uint32_t Number(T value) {
  return static_cast<uint32_t>(value) + 1;
}

// Sets the scope of a question, and the moments of its items.
template <class Question>
void SetScope(Question& q, const Scope& scope) {
  q.scope = {Number(scope.against), 0, AbiColumn(scope.mask), AbiColumn(scope.ignore_owner)};
  q.as_of = AbiColumn(scope.as_of);
}

}  // namespace

AbiPolygonSet MakeAbiPolygons(std::span<const Polygon> polygons, carom_status* status) {
  std::vector<uint64_t> id, category;
  std::vector<uint32_t> ring_count, ring_size, user_data_size;
  std::vector<double> x, y;
  std::vector<uint8_t> open, fill_rule, solidity;
  std::string user_data;
  for (const Polygon& polygon : polygons) {
    const PolygonSpec spec = polygon.spec();
    id.push_back(spec.id);
    category.push_back(spec.category);
    fill_rule.push_back(static_cast<uint8_t>(Number(spec.fill_rule)));
    solidity.push_back(static_cast<uint8_t>(Number(spec.solidity)));
    ring_count.push_back(static_cast<uint32_t>(spec.rings.size()));
    user_data_size.push_back(static_cast<uint32_t>(spec.user_data.size()));
    user_data += spec.user_data;
    for (const RingSpec& ring : spec.rings) {
      ring_size.push_back(static_cast<uint32_t>(ring.vertices.size()));
      open.push_back(ring.open ? 1 : 0);
      for (const Vec2 p : ring.vertices) {
        x.push_back(p.x);
        y.push_back(p.y);
      }
    }
  }
  auto columns = AbiStruct<carom_polygons>();
  columns.id = AbiColumn(id);
  columns.category = AbiColumn(category);
  columns.ring_count = AbiColumn(ring_count);
  columns.ring_size = AbiColumn(ring_size);
  columns.x = AbiColumn(x);
  columns.y = AbiColumn(y);
  columns.open = AbiColumn(open);
  columns.fill_rule = AbiColumn(fill_rule);
  columns.solidity = AbiColumn(solidity);
  columns.user_data_size = AbiColumn(user_data_size);
  columns.user_data = {reinterpret_cast<const uint8_t*>(user_data.data()), user_data.size(), 1};
  carom_polygon_set* set = nullptr;
  carom_polygon_set_create(&columns, nullptr, &set, status);
  return AbiPolygonSet(set);
}

AbiScene MakeAbiScene(const Scene& scene) {
  std::vector<Polygon> polygons;
  for (size_t i = 0; i < scene.polygon_count(); ++i) polygons.push_back(scene.polygon(i));
  const AbiPolygonSet set = MakeAbiPolygons(polygons);
  carom_scene* made = nullptr;
  carom_scene_create(set.get(), scene.version(), nullptr, &made, nullptr);
  return AbiScene(made);
}

AbiAnswers MakeAbiAnswers() {
  carom_answers* answers = nullptr;
  carom_answers_create(nullptr, &answers, nullptr);
  return AbiAnswers(answers);
}

AbiGroup::AbiGroup(const Group& group, size_t stride) : stride_(stride) {
  DefineTrackers(group.moves);
  if (group.bodies.size() > 0) {
    auto columns = AbiStruct<carom_body_columns>();
    columns.placed = Placed(group.bodies.placed);
    columns.category = AbiColumn(group.bodies.category);
    columns.owner = AbiColumn(group.bodies.owner);
    carom_bodies* bodies = nullptr;
    carom_bodies_create(&columns, &bodies, nullptr);
    bodies_.reset(bodies);
  }
  const auto add = [&]<class Question>(uint32_t number, std::type_identity<Question>,
                                       const auto& columns, const auto& options) {
    if (columns.size() == 0) return;
    auto question = std::make_shared<Question>(AbiStruct<Question>());
    Set(*question, columns, options);
    batches_.push_back({number, 0, question.get()});
    questions_.push_back(std::move(question));
  };
#define CAROM_ADD_KIND(number, name, Question, Answers, function)                               \
  add(number, std::type_identity<Question>(), group.*std::get<(number)-1>(kGroupKinds).columns, \
      group.*std::get<(number)-1>(kGroupKinds).options);
  CAROM_KINDS(CAROM_ADD_KIND)
#undef CAROM_ADD_KIND
}

carom_f64_column AbiGroup::Column(std::span<const double> values) {
  if (stride_ == 1 || values.empty()) return AbiColumn(values);
  std::vector<double>& copy = strided_.emplace_back(values.size() * stride_, 0.5);
  for (size_t i = 0; i < values.size(); ++i) copy[i * stride_] = values[i];
  return {copy.data(), values.size(), stride_};
}

template <class S>
carom_placed AbiGroup::Placed(const PlacedColumns<S>& columns) {
  // The shapes of a handle are polygons first, then capsules.
  std::vector<Polygon> polygons;
  std::vector<double> ax, ay, bx, by, radius;
  std::vector<std::pair<bool, uint32_t>> places;
  for (const S& shape : columns.shapes) {
    const Polygon* polygon = nullptr;
    const Capsule* capsule = nullptr;
    if constexpr (std::is_same_v<S, Polygon>) {
      polygon = &shape;
    } else {
      polygon = shape.polygon();
      capsule = shape.capsule();
    }
    places.emplace_back(polygon == nullptr,
                        static_cast<uint32_t>(polygon != nullptr ? polygons.size() : ax.size()));
    if (polygon != nullptr) {
      polygons.push_back(*polygon);
    } else if (capsule != nullptr) {
      ax.push_back(capsule->axis.a.x);
      ay.push_back(capsule->axis.a.y);
      bx.push_back(capsule->axis.b.x);
      by.push_back(capsule->axis.b.y);
      radius.push_back(capsule->radius);
    }
  }
  auto capsules = AbiStruct<carom_capsules>();
  capsules.ax = AbiColumn(ax);
  capsules.ay = AbiColumn(ay);
  capsules.bx = AbiColumn(bx);
  capsules.by = AbiColumn(by);
  capsules.radius = AbiColumn(radius);
  carom_shapes* shapes = nullptr;
  carom_shapes_create(MakeAbiPolygons(polygons).get(), &capsules, &shapes, nullptr);
  shapes_.emplace_back(shapes);
  // An index outside of the shapes stays outside.
  std::vector<uint32_t>& index = indices_.emplace_back();
  for (size_t i = 0; i < columns.size(); ++i) {
    const uint32_t k = columns.shape.empty() ? static_cast<uint32_t>(i) : columns.shape[i];
    const bool is_known = k < places.size();
    index.push_back(!is_known ? k
                              : places[k].second +
                                    (places[k].first ? static_cast<uint32_t>(polygons.size()) : 0));
  }
  carom_placed placed{};
  placed.shapes = shapes;
  placed.shape = AbiColumn(index);
  placed.x = Column(columns.x);
  placed.y = Column(columns.y);
  placed.c = Column(columns.c);
  placed.s = Column(columns.s);
  placed.angle = Column(columns.angle);
  return placed;
}

void AbiGroup::DefineTrackers(const MoveColumns& moves) {
  if (moves.size() == 0) return;
  carom_trackers* trackers = nullptr;
  carom_trackers_create(0, 0, &trackers, nullptr);
  trackers_.reset(trackers);
  for (size_t i = 0; i < moves.trackers.size(); ++i) {
    const Tracker& tracker = moves.trackers[i];
    if (!tracker.is_defined()) continue;
    const Shape shape[] = {tracker.shape()};
    const double zero[] = {0};
    const carom_placed placed = Placed(ShapeColumns{shape, {}, zero, zero});
    auto definition = AbiStruct<carom_tracker_definitions>();
    definition.first_tracker = static_cast<uint32_t>(i);
    definition.shapes = placed.shapes;
    definition.mask = tracker.options().mask;
    definition.within = tracker.options().within;
    carom_trackers_define(trackers, {}, &definition, nullptr);
  }
}

template <class Q, class C>
void AbiGroup::SetEnds(Q& question, const C& columns) {
  question.ax = Column(columns.ax);
  question.ay = Column(columns.ay);
  question.bx = Column(columns.bx);
  question.by = Column(columns.by);
}

template <class Question, class Options>
void AbiGroup::SetSoft(Question& q, const Options& o) {
  q.soft_mask = o.soft_mask;
  q.soft_count = o.soft_count;
}

void AbiGroup::Set(carom_segments& q, const SegmentColumns& c, const CastOptions& o) {
  q.mode = Number(o.mode);
  q.inside_policy = Number(o.inside_policy);
  q.target = Number(o.target);
  q.detail = Number(o.detail);
  q.reflect = o.reflect ? 1 : 0;
  q.max_hits = o.max_hits;
  q.mask = o.mask;
  SetSoft(q, o);
  q.soft_length = o.soft_length ? 1 : 0;
  SetScope(q, c.scope);
  SetEnds(q, c);
}

void AbiGroup::Set(carom_rays& q, const RayColumns& c, const CastOptions& o) {
  q.mode = Number(o.mode);
  q.inside_policy = Number(o.inside_policy);
  q.target = Number(o.target);
  q.detail = Number(o.detail);
  q.reflect = o.reflect ? 1 : 0;
  q.max_hits = o.max_hits;
  q.mask = o.mask;
  SetSoft(q, o);
  q.soft_length = o.soft_length ? 1 : 0;
  SetScope(q, c.scope);
  q.x = Column(c.x);
  q.y = Column(c.y);
  q.dx = Column(c.dx);
  q.dy = Column(c.dy);
  q.t_min = Column(c.t_min);
  q.t_max = Column(c.t_max);
}

void AbiGroup::Set(carom_points& q, const PointColumns& c, uint64_t mask) {
  q.mask = mask;
  SetScope(q, c.scope);
  q.x = Column(c.x);
  q.y = Column(c.y);
}

void AbiGroup::Set(carom_circles& q, const CircleColumns& c, const OverlapOptions& o) {
  q.detail = Number(o.detail);
  q.mask = o.mask;
  SetScope(q, c.scope);
  q.x = Column(c.x);
  q.y = Column(c.y);
  q.radius = Column(c.radius);
}

void AbiGroup::Set(carom_capsule_overlaps& q, const CapsuleColumns& c, const OverlapOptions& o) {
  q.detail = Number(o.detail);
  q.mask = o.mask;
  SetScope(q, c.scope);
  SetEnds(q, c);
  q.radius = Column(c.radius);
}

void AbiGroup::Set(carom_boxes& q, const BoxColumns& c, const OverlapOptions& o) {
  q.detail = Number(o.detail);
  q.mask = o.mask;
  SetScope(q, c.scope);
  q.min_x = Column(c.min_x);
  q.min_y = Column(c.min_y);
  q.max_x = Column(c.max_x);
  q.max_y = Column(c.max_y);
}

void AbiGroup::Set(carom_polygon_overlaps& q, const PolygonColumns& c, const OverlapOptions& o) {
  q.detail = Number(o.detail);
  q.mask = o.mask;
  SetScope(q, c.scope);
  q.movers = Placed(c);
}

void AbiGroup::Set(carom_distances& q, const DistanceColumns& c, const DistanceOptions& o) {
  q.mode = Number(o.mode);
  q.mask = o.mask;
  SetScope(q, c.movers.scope);
  q.movers = Placed(c.movers);
  q.max_distance = Column(c.max_distance);
  q.k = o.k;
}

void AbiGroup::Set(carom_contacts& q, const ContactColumns& c, const ContactOptions& o) {
  q.mask = o.mask;
  SetScope(q, c.movers.scope);
  q.movers = Placed(c.movers);
  q.mass = Column(c.mass);
  q.polygon_mass = Column(c.polygon_mass);
}

void AbiGroup::Set(carom_body_contacts& q, const BodyContactColumns& c, const ContactOptions& o) {
  q.mask = o.mask;
  q.body = AbiColumn(c.body);
  q.mass = Column(c.mass);
}

void AbiGroup::Set(carom_depenetrations& q, const ShapeColumns& c, const DepenetrateOptions& o) {
  q.max_steps = o.max_steps;
  q.mask = o.mask;
  q.movers = Placed(c);
}

void AbiGroup::Set(carom_sweeps& q, const SweepColumns& c, const SweepOptions& o) {
  q.mode = Number(o.mode);
  q.inside_policy = Number(o.inside_policy);
  q.max_hits = o.max_hits;
  q.mask = o.mask;
  SetScope(q, c.movers.scope);
  q.movers = Placed(c.movers);
  q.to_x = Column(c.to_x);
  q.to_y = Column(c.to_y);
  q.dx = Column(c.dx);
  q.dy = Column(c.dy);
  q.skin = Column(c.skin);
}

void AbiGroup::Set(carom_rotating_sweeps& q, const RotatingSweepColumns& c,
                   const RotatingSweepOptions& o) {
  q.start_policy = Number(o.start_policy);
  q.mask = o.mask;
  q.movers = Placed(c.movers);
  q.to_x = Column(c.to_x);
  q.to_y = Column(c.to_y);
  q.to_c = Column(c.to_c);
  q.to_s = Column(c.to_s);
  q.to_angle = Column(c.to_angle);
  q.tolerance = Column(c.tolerance);
}

void AbiGroup::Set(carom_arcs& q, const ArcColumns& c, const ArcOptions& o) {
  q.mode = Number(o.mode);
  q.inside_policy = Number(o.inside_policy);
  q.max_hits = o.max_hits;
  q.mask = o.mask;
  SetScope(q, c.scope);
  q.x = Column(c.x);
  q.y = Column(c.y);
  q.vx = Column(c.vx);
  q.vy = Column(c.vy);
  q.ax = Column(c.ax);
  q.ay = Column(c.ay);
  q.duration = Column(c.duration);
}

void AbiGroup::Set(carom_sights& q, const SegmentColumns& c, const SightOptions& o) {
  q.mask = o.mask;
  SetSoft(q, o);
  SetScope(q, c.scope);
  SetEnds(q, c);
}

void AbiGroup::Set(carom_fans& q, const FanColumns& c, const FanOptions& o) {
  q.inside_policy = Number(o.inside_policy);
  q.mask = o.mask;
  SetSoft(q, o);
  SetScope(q, c.scope);
  q.x = Column(c.x);
  q.y = Column(c.y);
  q.angle = Column(c.angle);
  q.step = Column(c.step);
  q.range = Column(c.range);
  q.beams = AbiColumn(c.beams);
}

void AbiGroup::Set(carom_moves& q, const MoveColumns& c, const MoveOptions& o) {
  q.detail = Number(o.detail);
  q.coherence = Number(o.coherence);
  q.quiet_radii = o.quiet_radii ? 1 : 0;
  q.first_tracker = c.first_tracker;
  q.tolerance = o.tolerance;
  q.tracker = AbiColumn(c.tracker);
  q.x = Column(c.x);
  q.y = Column(c.y);
  q.c = Column(c.c);
  q.s = Column(c.s);
  q.angle = Column(c.angle);
  q.from_x = Column(c.from_x);
  q.from_y = Column(c.from_y);
  q.from_c = Column(c.from_c);
  q.from_s = Column(c.from_s);
  q.from_angle = Column(c.from_angle);
}

void AbiGroup::Set(carom_slides& q, const SlideColumns& c, const SlideOptions& o) {
  q.inside_policy = Number(o.inside_policy);
  q.max_contacts = o.max_contacts;
  q.mask = o.mask;
  SetScope(q, c.movers.scope);
  q.movers = Placed(c.movers);
  q.dx = Column(c.dx);
  q.dy = Column(c.dy);
  q.pushes = AbiColumn(c.pushes);
  q.skin = Column(c.skin);
}

void AbiGroup::Set(carom_bounces& q, const SegmentColumns& c, const BounceOptions& o) {
  q.max_bounces = o.max_bounces;
  q.mask = o.mask;
  SetEnds(q, c);
}

void AbiGroup::Set(carom_ray_bounces& q, const RayBounceColumns& c, uint64_t mask) {
  q.mask = mask;
  q.x = Column(c.x);
  q.y = Column(c.y);
  q.dx = Column(c.dx);
  q.dy = Column(c.dy);
  q.t_max = Column(c.t_max);
  q.max_bounces = AbiColumn(c.max_bounces);
}

void AbiGroup::Set(carom_areas& q, const AreaColumns& c, const AreaOptions& o) {
  q.inside_policy = Number(o.inside_policy);
  q.max_rows = o.max_rows;
  q.mask = o.mask;
  SetScope(q, c.scope);
  q.x = Column(c.x);
  q.y = Column(c.y);
  q.range = Column(c.range);
  q.from = Column(c.from);
  q.to = Column(c.to);
  q.eye = AbiColumn(c.eye);
}

void AbiGroup::Set(carom_sees& q, const AreaColumns& c, const SeeOptions& o) {
  q.inside_policy = Number(o.inside_policy);
  q.margin = o.margin;
  q.mask = o.mask;
  SetScope(q, c.scope);
  q.x = Column(c.x);
  q.y = Column(c.y);
  q.range = Column(c.range);
  q.from = Column(c.from);
  q.to = Column(c.to);
  q.eye = AbiColumn(c.eye);
}

}  // namespace carom::testing
