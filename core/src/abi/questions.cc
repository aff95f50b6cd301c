// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "abi/questions.h"

#include <cstdint>
#include <span>

#include "abi/call.h"
#include "abi/handles.h"
#include "absl/strings/str_cat.h"

namespace carom::abi {
namespace {

// --- Enumerations by the numbers of carom.h; entry 0 is the default

constexpr CastMode kCastModes[] = {CastMode::kClosest, CastMode::kAny, CastMode::kClosest,
                                   CastMode::kAll, CastMode::kAllPassages};
constexpr InsidePolicy kInsidePolicies[] = {
    InsidePolicy::kReportStart, InsidePolicy::kReportStart, InsidePolicy::kIgnore,
    InsidePolicy::kExit,        InsidePolicy::kBlocking,    InsidePolicy::kBlockingLeave};
constexpr CastTarget kCastTargets[] = {CastTarget::kPolygons, CastTarget::kPolygons,
                                       CastTarget::kBounds};
constexpr CastDetail kCastDetails[] = {CastDetail::kExit, CastDetail::kFraction,
                                       CastDetail::kNormal, CastDetail::kEdge, CastDetail::kExit};
constexpr OverlapDetail kOverlapDetails[] = {OverlapDetail::kIds, OverlapDetail::kIds,
                                             OverlapDetail::kEdges};
constexpr DistanceMode kDistanceModes[] = {DistanceMode::kNearest, DistanceMode::kNearest,
                                           DistanceMode::kAll, DistanceMode::kWithin,
                                           DistanceMode::kNearestK};
constexpr StartPolicy kStartPolicies[] = {StartPolicy::kReportStart, StartPolicy::kReportStart,
                                          StartPolicy::kIgnore};
constexpr Coherence kCoherences[] = {Coherence::kOn, Coherence::kOn, Coherence::kOff};
constexpr Against kAgainst[] = {Against::kScene, Against::kScene, Against::kBodies, Against::kBoth};

uint64_t MaskOf(uint64_t mask) { return mask != 0 ? mask : kEveryCategory; }
uint32_t OrDefault(uint32_t value, uint32_t otherwise) { return value != 0 ? value : otherwise; }

void ReadFilter(const carom_scope& scope, const ColumnReader& question, Scope& out) {
  if (scope.against == 0 && scope.reserved == 0 && scope.masks.length == 0 &&
      scope.ignore_owner.length == 0) [[likely]] {
    out = {};
    return;
  }
  ColumnReader reader = question.Below("scope.");
  out.against = reader.ReadEnum("against", scope.against, kAgainst);
  reader.CheckReserved(scope.reserved);
  reader.Read("masks", scope.masks, out.mask);
  reader.Read("ignore_owner", scope.ignore_owner, out.ignore_owner);
}

// Reads the scope of a question, and the moments of its items.
template <class Question>
void ReadScope(const Question& asked, ColumnReader& reader, Scope& out) {
  ReadFilter(asked.scope, reader, out);
  reader.Read("as_of", asked.as_of, out.as_of);
}

// Reads what shapes at poses have beside the shapes.
template <class Columns>
void ReadPoses(const carom_placed& placed, ColumnReader& reader, Columns& out) {
  reader.Read("shape", placed.shape, out.shape);
  reader.Read("x", placed.x, out.x);
  reader.Read("y", placed.y, out.y);
  reader.Read("c", placed.c, out.c);
  reader.Read("s", placed.s, out.s);
  reader.Read("angle", placed.angle, out.angle);
}

// Returns the table of a handle; null, with a fault, if the handle is not one of shapes.
const ShapeTable* TableOf(const carom_shapes* shapes, ColumnReader& reader) {
  if (shapes == nullptr) return nullptr;
  if (CheckHandle(shapes, "").ok()) return shapes->table.get();
  reader.Refuse("shapes", "is no living handle of shapes");
  return nullptr;
}

// --- `ReadQuestion` has one overload for each kind

// Reads the options of soft walls.
template <class Question, class Options>
void ReadSoft(const Question& asked, Options& options) {
  options.soft_mask = asked.soft_mask;
  options.soft_count = asked.soft_count;
}

template <class Question>
void ReadCastOptions(const Question& asked, ColumnReader& reader, CastOptions& options) {
  options.mode = reader.ReadEnum("mode", asked.mode, kCastModes);
  options.inside_policy = reader.ReadEnum("inside_policy", asked.inside_policy, kInsidePolicies);
  options.target = reader.ReadEnum("target", asked.target, kCastTargets);
  options.detail = reader.ReadEnum("detail", asked.detail, kCastDetails);
  options.reflect = reader.ReadFlag("reflect", asked.reflect);
  options.max_hits = OrDefault(asked.max_hits, CastOptions().max_hits);
  options.mask = MaskOf(asked.mask);
  ReadSoft(asked, options);
  options.soft_length = reader.ReadFlag("soft_length", asked.soft_length);
  reader.CheckReserved(asked.reserved);
}

template <class Question>
void ReadEnds(const Question& asked, ColumnReader& reader, SegmentColumns& out) {
  reader.Read("ax", asked.ax, out.ax);
  reader.Read("ay", asked.ay, out.ay);
  reader.Read("bx", asked.bx, out.bx);
  reader.Read("by", asked.by, out.by);
}

void ReadQuestion(const carom_segments& asked, ColumnReader& reader, Group& group) {
  ReadCastOptions(asked, reader, group.cast_options);
  ReadScope(asked, reader, group.segments.scope);
  ReadEnds(asked, reader, group.segments);
}

void ReadQuestion(const carom_rays& asked, ColumnReader& reader, Group& group) {
  ReadCastOptions(asked, reader, group.ray_options);
  RayColumns& out = group.rays;
  ReadScope(asked, reader, out.scope);
  reader.Read("x", asked.x, out.x);
  reader.Read("y", asked.y, out.y);
  reader.Read("dx", asked.dx, out.dx);
  reader.Read("dy", asked.dy, out.dy);
  reader.Read("t_min", asked.t_min, out.t_min);
  reader.Read("t_max", asked.t_max, out.t_max);
}

void ReadQuestion(const carom_points& asked, ColumnReader& reader, Group& group) {
  reader.CheckReserved(asked.reserved);
  group.point_mask = MaskOf(asked.mask);
  ReadScope(asked, reader, group.points.scope);
  reader.Read("x", asked.x, group.points.x);
  reader.Read("y", asked.y, group.points.y);
}

template <class Question>
void ReadOverlapOptions(const Question& asked, ColumnReader& reader, OverlapOptions& options) {
  options.detail = reader.ReadEnum("detail", asked.detail, kOverlapDetails);
  options.mask = MaskOf(asked.mask);
}

void ReadQuestion(const carom_circles& asked, ColumnReader& reader, Group& group) {
  ReadOverlapOptions(asked, reader, group.circle_options);
  ReadScope(asked, reader, group.circles.scope);
  reader.Read("x", asked.x, group.circles.x);
  reader.Read("y", asked.y, group.circles.y);
  reader.Read("radius", asked.radius, group.circles.radius);
}

void ReadQuestion(const carom_capsule_overlaps& asked, ColumnReader& reader, Group& group) {
  ReadOverlapOptions(asked, reader, group.capsule_options);
  ReadScope(asked, reader, group.capsules.scope);
  reader.Read("ax", asked.ax, group.capsules.ax);
  reader.Read("ay", asked.ay, group.capsules.ay);
  reader.Read("bx", asked.bx, group.capsules.bx);
  reader.Read("by", asked.by, group.capsules.by);
  reader.Read("radius", asked.radius, group.capsules.radius);
}

void ReadQuestion(const carom_boxes& asked, ColumnReader& reader, Group& group) {
  ReadOverlapOptions(asked, reader, group.box_options);
  ReadScope(asked, reader, group.boxes.scope);
  reader.Read("min_x", asked.min_x, group.boxes.min_x);
  reader.Read("min_y", asked.min_y, group.boxes.min_y);
  reader.Read("max_x", asked.max_x, group.boxes.max_x);
  reader.Read("max_y", asked.max_y, group.boxes.max_y);
}

void ReadQuestion(const carom_polygon_overlaps& asked, ColumnReader& reader, Group& group) {
  ReadOverlapOptions(asked, reader, group.polygon_options);
  ReadScope(asked, reader, group.polygons.scope);
  ColumnReader below = reader.Below("movers.");
  const ShapeTable* const table = TableOf(asked.movers.shapes, below);
  group.polygons.shapes =
      table != nullptr ? std::span<const Polygon>(table->polygons) : std::span<const Polygon>();
  ReadPoses(asked.movers, below, group.polygons);
  // Item i is shape i of all shapes; those behind the polygons are capsules, errors of their items.
  if (table != nullptr && group.polygons.shape.empty() &&
      group.polygons.x.size() == table->shapes.size()) {
    group.polygons.shape = below.Indices(table->shapes.size());
  }
}

void ReadQuestion(const carom_distances& asked, ColumnReader& reader, Group& group) {
  group.distance_options.mode = reader.ReadEnum("mode", asked.mode, kDistanceModes);
  group.distance_options.mask = MaskOf(asked.mask);
  group.distance_options.k = OrDefault(asked.k, DistanceOptions().k);
  reader.CheckReserved(asked.reserved);
  ReadScope(asked, reader, group.distances.movers.scope);
  ReadPlaced(asked.movers, reader.Below("movers."), group.distances.movers);
  reader.Read("max_distance", asked.max_distance, group.distances.max_distance);
}

void ReadQuestion(const carom_contacts& asked, ColumnReader& reader, Group& group) {
  reader.CheckReserved(asked.reserved);
  group.contact_options.mask = MaskOf(asked.mask);
  ReadScope(asked, reader, group.contacts.movers.scope);
  ReadPlaced(asked.movers, reader.Below("movers."), group.contacts.movers);
  reader.Read("mass", asked.mass, group.contacts.mass);
  reader.Read("polygon_mass", asked.polygon_mass, group.contacts.polygon_mass);
}

void ReadQuestion(const carom_body_contacts& asked, ColumnReader& reader, Group& group) {
  reader.CheckReserved(asked.reserved);
  group.body_contact_options.mask = MaskOf(asked.mask);
  reader.Read("body", asked.body, group.body_contacts.body);
  reader.Read("mass", asked.mass, group.body_contacts.mass);
}

void ReadQuestion(const carom_depenetrations& asked, ColumnReader& reader, Group& group) {
  group.depenetration_options.max_steps =
      OrDefault(asked.max_steps, DepenetrateOptions().max_steps);
  group.depenetration_options.mask = MaskOf(asked.mask);
  ReadPlaced(asked.movers, reader.Below("movers."), group.depenetrations);
}

void ReadQuestion(const carom_sweeps& asked, ColumnReader& reader, Group& group) {
  SweepOptions& options = group.sweep_options;
  options.mode = reader.ReadEnum("mode", asked.mode, kCastModes);
  options.inside_policy = reader.ReadEnum("inside_policy", asked.inside_policy, kInsidePolicies);
  options.max_hits = OrDefault(asked.max_hits, SweepOptions().max_hits);
  options.mask = MaskOf(asked.mask);
  SweepColumns& out = group.sweeps;
  ReadScope(asked, reader, out.movers.scope);
  ReadPlaced(asked.movers, reader.Below("movers."), out.movers);
  reader.Read("to_x", asked.to_x, out.to_x);
  reader.Read("to_y", asked.to_y, out.to_y);
  reader.Read("dx", asked.dx, out.dx);
  reader.Read("dy", asked.dy, out.dy);
  reader.Read("skin", asked.skin, out.skin);
}

void ReadQuestion(const carom_rotating_sweeps& asked, ColumnReader& reader, Group& group) {
  group.rotating_sweep_options.start_policy =
      reader.ReadEnum("start_policy", asked.start_policy, kStartPolicies);
  group.rotating_sweep_options.mask = MaskOf(asked.mask);
  RotatingSweepColumns& out = group.rotating_sweeps;
  ReadPlaced(asked.movers, reader.Below("movers."), out.movers);
  reader.Read("to_x", asked.to_x, out.to_x);
  reader.Read("to_y", asked.to_y, out.to_y);
  reader.Read("to_c", asked.to_c, out.to_c);
  reader.Read("to_s", asked.to_s, out.to_s);
  reader.Read("to_angle", asked.to_angle, out.to_angle);
  reader.Read("tolerance", asked.tolerance, out.tolerance);
}

void ReadQuestion(const carom_arcs& asked, ColumnReader& reader, Group& group) {
  ArcOptions& options = group.arc_options;
  options.mode = reader.ReadEnum("mode", asked.mode, kCastModes);
  options.inside_policy = reader.ReadEnum("inside_policy", asked.inside_policy, kInsidePolicies);
  options.max_hits = OrDefault(asked.max_hits, ArcOptions().max_hits);
  options.mask = MaskOf(asked.mask);
  ArcColumns& out = group.arcs;
  ReadScope(asked, reader, out.scope);
  reader.Read("x", asked.x, out.x);
  reader.Read("y", asked.y, out.y);
  reader.Read("vx", asked.vx, out.vx);
  reader.Read("vy", asked.vy, out.vy);
  reader.Read("ax", asked.ax, out.ax);
  reader.Read("ay", asked.ay, out.ay);
  reader.Read("duration", asked.duration, out.duration);
}

void ReadQuestion(const carom_sights& asked, ColumnReader& reader, Group& group) {
  reader.CheckReserved(asked.reserved);
  reader.CheckReserved(asked.reserved_2);
  group.sight_options.mask = MaskOf(asked.mask);
  ReadSoft(asked, group.sight_options);
  ReadScope(asked, reader, group.sights.scope);
  ReadEnds(asked, reader, group.sights);
}

void ReadQuestion(const carom_fans& asked, ColumnReader& reader, Group& group) {
  group.fan_options.inside_policy =
      reader.ReadEnum("inside_policy", asked.inside_policy, kInsidePolicies);
  group.fan_options.mask = MaskOf(asked.mask);
  ReadSoft(asked, group.fan_options);
  reader.CheckReserved(asked.reserved);
  FanColumns& out = group.fans;
  ReadScope(asked, reader, out.scope);
  reader.Read("x", asked.x, out.x);
  reader.Read("y", asked.y, out.y);
  reader.Read("angle", asked.angle, out.angle);
  reader.Read("step", asked.step, out.step);
  reader.Read("range", asked.range, out.range);
  reader.Read("beams", asked.beams, out.beams);
}

void ReadQuestion(const carom_moves& asked, ColumnReader& reader, Group& group) {
  reader.CheckReserved(asked.reserved);
  MoveOptions& options = group.move_options;
  options.detail = reader.ReadEnum("detail", asked.detail, kOverlapDetails);
  options.coherence = reader.ReadEnum("coherence", asked.coherence, kCoherences);
  options.quiet_radii = reader.ReadFlag("quiet_radii", asked.quiet_radii);
  options.tolerance = asked.tolerance;
  MoveColumns& out = group.moves;
  out.first_tracker = asked.first_tracker;
  reader.Read("tracker", asked.tracker, out.tracker);
  reader.Read("x", asked.x, out.x);
  reader.Read("y", asked.y, out.y);
  reader.Read("c", asked.c, out.c);
  reader.Read("s", asked.s, out.s);
  reader.Read("angle", asked.angle, out.angle);
  reader.Read("from_x", asked.from_x, out.from_x);
  reader.Read("from_y", asked.from_y, out.from_y);
  reader.Read("from_c", asked.from_c, out.from_c);
  reader.Read("from_s", asked.from_s, out.from_s);
  reader.Read("from_angle", asked.from_angle, out.from_angle);
}

void ReadQuestion(const carom_slides& asked, ColumnReader& reader, Group& group) {
  reader.CheckReserved(asked.reserved);
  SlideOptions& options = group.slide_options;
  options.inside_policy =
      asked.inside_policy == 0
          ? SlideOptions().inside_policy
          : reader.ReadEnum("inside_policy", asked.inside_policy, kInsidePolicies);
  options.max_contacts = OrDefault(asked.max_contacts, SlideOptions().max_contacts);
  options.mask = MaskOf(asked.mask);
  ReadScope(asked, reader, group.slides.movers.scope);
  ReadPlaced(asked.movers, reader.Below("movers."), group.slides.movers);
  reader.Read("dx", asked.dx, group.slides.dx);
  reader.Read("dy", asked.dy, group.slides.dy);
  reader.Read("pushes", asked.pushes, group.slides.pushes);
  reader.Read("skin", asked.skin, group.slides.skin);
}

void ReadQuestion(const carom_bounces& asked, ColumnReader& reader, Group& group) {
  group.bounce_options.max_bounces = OrDefault(asked.max_bounces, BounceOptions().max_bounces);
  group.bounce_options.mask = MaskOf(asked.mask);
  ReadEnds(asked, reader, group.bounces);
}

void ReadQuestion(const carom_ray_bounces& asked, ColumnReader& reader, Group& group) {
  reader.CheckReserved(asked.reserved);
  group.ray_bounce_mask = MaskOf(asked.mask);
  RayBounceColumns& out = group.ray_bounces;
  reader.Read("x", asked.x, out.x);
  reader.Read("y", asked.y, out.y);
  reader.Read("dx", asked.dx, out.dx);
  reader.Read("dy", asked.dy, out.dy);
  reader.Read("t_max", asked.t_max, out.t_max);
  reader.Read("max_bounces", asked.max_bounces, out.max_bounces);
}

template <class Question>
void ReadEyes(const Question& asked, ColumnReader& reader, AreaColumns& out) {
  ReadScope(asked, reader, out.scope);
  reader.Read("x", asked.x, out.x);
  reader.Read("y", asked.y, out.y);
  reader.Read("range", asked.range, out.range);
  reader.Read("from", asked.from, out.from);
  reader.Read("to", asked.to, out.to);
  reader.Read("eye", asked.eye, out.eye);
  out.trackers = {};
}

void ReadQuestion(const carom_areas& asked, ColumnReader& reader, Group& group) {
  reader.CheckReserved(asked.reserved);
  AreaOptions& options = group.area_options;
  options.inside_policy = reader.ReadEnum("inside_policy", asked.inside_policy, kInsidePolicies);
  options.max_rows = OrDefault(asked.max_rows, AreaOptions().max_rows);
  options.mask = MaskOf(asked.mask);
  ReadEyes(asked, reader, group.areas);
}

void ReadQuestion(const carom_sees& asked, ColumnReader& reader, Group& group) {
  SeeOptions& options = group.see_options;
  options.inside_policy = reader.ReadEnum("inside_policy", asked.inside_policy, kInsidePolicies);
  options.margin = asked.margin;
  options.mask = MaskOf(asked.mask);
  ReadEyes(asked, reader, group.sees);
}

template <class Question>
absl::Status ReadAs(const void* asked, const char* prefix, ColumnStorage& storage, Refusal& refusal,
                    Group& group) {
  Question copy;
  const Question* whole = nullptr;
  if (absl::Status status = Whole(static_cast<const Question*>(asked), prefix, copy, whole);
      !status.ok()) {
    return status;
  }
  ColumnReader reader(prefix, storage, refusal);
  ReadQuestion(*whole, reader, group);
  return absl::OkStatus();
}

// Reads one batch of a known kind. Faults go to `refusal`. INVALID_ARGUMENT for a null question.
absl::Status ReadBatch(const carom_batch& batch, ColumnStorage& storage, Refusal& refusal,
                       Group& group) {
  switch (batch.kind) {
#define CAROM_READ_KIND(number, name, Question, Answers, function) \
  case number:                                                     \
    return ReadAs<Question>(batch.question, NameOfKind(number), storage, refusal, group);
    CAROM_KINDS(CAROM_READ_KIND)
#undef CAROM_READ_KIND
    default:
      return InvalidField("kind", "must be a carom_kind");
  }
}

}  // namespace

void ReadPlaced(const carom_placed& placed, ColumnReader reader, ShapeColumns& out) {
  const ShapeTable* const table = TableOf(placed.shapes, reader);
  out.shapes = table != nullptr ? std::span<const Shape>(table->shapes) : std::span<const Shape>();
  ReadPoses(placed, reader, out);
}

absl::Status ReadBatches(const carom_batch* batches, size_t count, ColumnStorage& storage,
                         Group& group, GroupKindSet& asked) {
  asked.reset();
  storage.Clear();
  if (count > kGroupKindCount) {
    return InvalidField("batch_count", "must be at most the number of kinds");
  }
  if (batches == nullptr && count != 0) return InvalidField("batches", "must not be null");
  Refusal refusal;
  for (size_t i = 0; i < count; ++i) {
    const carom_batch& batch = batches[i];
    const auto refuse = [&](const char* member, const char* description) {
      return InvalidField(absl::StrCat("batches[", i, "].", member), description);
    };
    if (batch.kind < 1 || batch.kind > kGroupKindCount) {
      return refuse("kind", "must be a carom_kind");
    }
    if (asked.test(batch.kind - 1)) return refuse("kind", "must not be the kind of another batch");
    if (batch.reserved != 0) return refuse("reserved", "must be 0");
    asked.set(batch.kind - 1);
    if (absl::Status status = ReadBatch(batch, storage, refusal, group); !status.ok()) {
      return status;
    }
  }
  return refusal.empty() ? absl::OkStatus() : refusal.status();
}

}  // namespace carom::abi
