// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The questions of a group, both ways. The columns of each kind are listed once; options that kinds
// share are read and written by what they share.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"
#include "wire/columns.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/parts.h"

namespace carom::wire {
namespace {

// --- Columns

// `Message` is SegmentCasts or Sights.
template <class Message>
constexpr auto ColumnsOf(const SegmentColumns&) {
  using C = SegmentColumns;
  return std::tuple{Column(&C::ax, &Message::ax, &Message::mutable_ax),
                    Column(&C::ay, &Message::ay, &Message::mutable_ay),
                    Column(&C::bx, &Message::bx, &Message::mutable_bx),
                    Column(&C::by, &Message::by, &Message::mutable_by)};
}

template <class Message>
constexpr auto ColumnsOf(const RayColumns&) {
  using C = RayColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::dx, &Message::dx, &Message::mutable_dx),
                    Column(&C::dy, &Message::dy, &Message::mutable_dy),
                    Column(&C::t_min, &Message::t_min, &Message::mutable_t_min),
                    Column(&C::t_max, &Message::t_max, &Message::mutable_t_max)};
}

template <class Message>
constexpr auto ColumnsOf(const ArcColumns&) {
  using C = ArcColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::vx, &Message::vx, &Message::mutable_vx),
                    Column(&C::vy, &Message::vy, &Message::mutable_vy),
                    Column(&C::ax, &Message::ax, &Message::mutable_ax),
                    Column(&C::ay, &Message::ay, &Message::mutable_ay),
                    Column(&C::duration, &Message::duration, &Message::mutable_duration)};
}

template <class Message>
constexpr auto ColumnsOf(const FanColumns&) {
  using C = FanColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::angle, &Message::angle, &Message::mutable_angle),
                    Column(&C::step, &Message::step, &Message::mutable_step),
                    Column(&C::range, &Message::range, &Message::mutable_range),
                    Column(&C::beams, &Message::beams, &Message::mutable_beams)};
}

template <class Message>
constexpr auto ColumnsOf(const PointColumns&) {
  using C = PointColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y)};
}

template <class Message>
constexpr auto ColumnsOf(const CircleColumns&) {
  using C = CircleColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::radius, &Message::radius, &Message::mutable_radius)};
}

template <class Message>
constexpr auto ColumnsOf(const CapsuleColumns&) {
  using C = CapsuleColumns;
  return std::tuple{Column(&C::ax, &Message::ax, &Message::mutable_ax),
                    Column(&C::ay, &Message::ay, &Message::mutable_ay),
                    Column(&C::bx, &Message::bx, &Message::mutable_bx),
                    Column(&C::by, &Message::by, &Message::mutable_by),
                    Column(&C::radius, &Message::radius, &Message::mutable_radius)};
}

template <class Message>
constexpr auto ColumnsOf(const BoxColumns&) {
  using C = BoxColumns;
  return std::tuple{Column(&C::min_x, &Message::min_x, &Message::mutable_min_x),
                    Column(&C::min_y, &Message::min_y, &Message::mutable_min_y),
                    Column(&C::max_x, &Message::max_x, &Message::mutable_max_x),
                    Column(&C::max_y, &Message::max_y, &Message::mutable_max_y)};
}

// `Message` is PolygonOverlaps or PlacedShapes; all but the shapes.
template <class Message, class S>
constexpr auto ColumnsOf(const PlacedColumns<S>&) {
  using C = PlacedColumns<S>;
  return std::tuple{Column(&C::shape, &Message::shape, &Message::mutable_shape),
                    Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::c, &Message::c, &Message::mutable_c),
                    Column(&C::s, &Message::s, &Message::mutable_s),
                    Column(&C::angle, &Message::angle, &Message::mutable_angle)};
}

// Of the kinds below, the columns beside those of the movers.
template <class Message>
constexpr auto ColumnsOf(const DistanceColumns&) {
  using C = DistanceColumns;
  return std::tuple{
      Column(&C::max_distance, &Message::max_distance, &Message::mutable_max_distance)};
}

template <class Message>
constexpr auto ColumnsOf(const ContactColumns&) {
  using C = ContactColumns;
  return std::tuple{
      Column(&C::mass, &Message::mass, &Message::mutable_mass),
      Column(&C::polygon_mass, &Message::polygon_mass, &Message::mutable_polygon_mass)};
}

template <class Message>
constexpr auto ColumnsOf(const SweepColumns&) {
  using C = SweepColumns;
  return std::tuple{Column(&C::to_x, &Message::to_x, &Message::mutable_to_x),
                    Column(&C::to_y, &Message::to_y, &Message::mutable_to_y)};
}

template <class Message>
constexpr auto ColumnsOf(const RotatingSweepColumns&) {
  using C = RotatingSweepColumns;
  return std::tuple{Column(&C::to_x, &Message::to_x, &Message::mutable_to_x),
                    Column(&C::to_y, &Message::to_y, &Message::mutable_to_y),
                    Column(&C::to_c, &Message::to_c, &Message::mutable_to_c),
                    Column(&C::to_s, &Message::to_s, &Message::mutable_to_s),
                    Column(&C::to_angle, &Message::to_angle, &Message::mutable_to_angle),
                    Column(&C::tolerance, &Message::tolerance, &Message::mutable_tolerance)};
}

template <class Message>
constexpr auto ColumnsOf(const MoveColumns&) {
  using C = MoveColumns;
  return std::tuple{Column(&C::tracker, &Message::tracker, &Message::mutable_tracker),
                    Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::c, &Message::c, &Message::mutable_c),
                    Column(&C::s, &Message::s, &Message::mutable_s),
                    Column(&C::angle, &Message::angle, &Message::mutable_angle),
                    Column(&C::from_x, &Message::from_x, &Message::mutable_from_x),
                    Column(&C::from_y, &Message::from_y, &Message::mutable_from_y),
                    Column(&C::from_c, &Message::from_c, &Message::mutable_from_c),
                    Column(&C::from_s, &Message::from_s, &Message::mutable_from_s),
                    Column(&C::from_angle, &Message::from_angle, &Message::mutable_from_angle)};
}

// Columns that may be sent as floats: those of the core, in the order of their message.
constexpr auto FloatColumnsOf(const SegmentColumns&) {
  using C = SegmentColumns;
  using M = v1::FloatSegments;
  return std::tuple{Column(&C::ax, &M::ax, &M::mutable_ax), Column(&C::ay, &M::ay, &M::mutable_ay),
                    Column(&C::bx, &M::bx, &M::mutable_bx), Column(&C::by, &M::by, &M::mutable_by)};
}

constexpr auto FloatColumnsOf(const MoveColumns&) {
  using C = MoveColumns;
  using M = v1::FloatPoses;
  return std::tuple{Column(&C::x, &M::x, &M::mutable_x), Column(&C::y, &M::y, &M::mutable_y),
                    Column(&C::c, &M::c, &M::mutable_c), Column(&C::s, &M::s, &M::mutable_s),
                    Column(&C::angle, &M::angle, &M::mutable_angle)};
}

// --- Options
//
// `options` is the message or the core's value of any kind; each of its members that a kind has is
// treated by one line here.

// Whether options of type O have a member of that name.
template <class O>
concept HasMode = requires(O options) {
  options.mode;
};
template <class O>
concept HasInsidePolicy = requires(O options) {
  options.inside_policy;
};
template <class O>
concept HasStartPolicy = requires(O options) {
  options.start_policy;
};
template <class O>
concept HasDetail = requires(O options) {
  options.detail;
};
template <class O>
concept HasTarget = requires(O options) {
  options.target;
};
template <class O>
concept HasReflect = requires(O options) {
  options.reflect;
};
template <class O>
concept HasMaxHits = requires(O options) {
  options.max_hits;
};
template <class O>
concept HasMaxSteps = requires(O options) {
  options.max_steps;
};

template <class Message, class Options>
void DecodeOptions(absl::string_view batch, const Message& message, Options& options,
                   Offences& offences) {
  if constexpr (HasMode<Options>) {
    ReadEnum(message.mode(), batch, "mode", options.mode, offences);
  }
  if constexpr (HasInsidePolicy<Options>) {
    ReadEnum(message.inside_policy(), batch, "inside_policy", options.inside_policy, offences);
  }
  if constexpr (HasStartPolicy<Options>) {
    ReadEnum(message.start_policy(), batch, "start_policy", options.start_policy, offences);
  }
  if constexpr (HasDetail<Options>) {
    ReadEnum(message.detail(), batch, "detail", options.detail, offences);
  }
  if constexpr (HasTarget<Options>) {
    ReadEnum(message.target(), batch, "target", options.target, offences);
  }
  if constexpr (HasReflect<Options>) options.reflect = message.reflect();
  if constexpr (HasMaxHits<Options>) {
    if (message.max_hits() != 0) options.max_hits = message.max_hits();
  }
  if constexpr (HasMaxSteps<Options>) {
    if (message.max_steps() != 0) options.max_steps = message.max_steps();
  }
  options.mask = message.has_mask() ? message.mask() : kEveryCategory;
}

// A mask of every category is left absent, which says the same.
template <class Options, class Message>
void EncodeOptions(const Options& options, Message& message) {
  if constexpr (HasMode<Options>) {
    message.set_mode(static_cast<decltype(message.mode())>(EnumToWire(options.mode)));
  }
  if constexpr (HasInsidePolicy<Options>) {
    message.set_inside_policy(static_cast<v1::InsidePolicy>(EnumToWire(options.inside_policy)));
  }
  if constexpr (HasStartPolicy<Options>) {
    message.set_start_policy(static_cast<v1::StartPolicy>(EnumToWire(options.start_policy)));
  }
  if constexpr (HasDetail<Options>) {
    message.set_detail(static_cast<decltype(message.detail())>(EnumToWire(options.detail)));
  }
  if constexpr (HasTarget<Options>) {
    message.set_target(static_cast<v1::CastTarget>(EnumToWire(options.target)));
  }
  if constexpr (HasReflect<Options>) message.set_reflect(options.reflect);
  if constexpr (HasMaxHits<Options>) message.set_max_hits(options.max_hits);
  if constexpr (HasMaxSteps<Options>) message.set_max_steps(options.max_steps);
  if (options.mask != kEveryCategory) message.set_mask(options.mask);
}

// The options of kinds that have a mask alone.
template <class Mask>
struct MaskOption {
  Mask& mask;
};
template <class Mask>
MaskOption(Mask&) -> MaskOption<Mask>;

// --- From messages

// A kind of question without shapes.
template <class Message, class Core, class Options>
void DecodeBatch(absl::string_view batch, const Message& message, Core& core, Options&& options,
                 Offences& offences) {
  ViewColumns(message, ColumnsOf<Message>(core), core);
  DecodeOptions(batch, message, options, offences);
}

// Columns that came as floats, if they did, widened into `doubles`. `core` views what came as
// doubles.
template <class Message, class Core>
void DecodeFloats(absl::string_view batch, const Message& message, std::vector<double>& doubles,
                  Core& core, Offences& offences) {
  if (!message.has_floats()) return;
  const auto each = [&](const auto& use) {
    std::apply([&](const auto&... column) { (use(column), ...); }, FloatColumnsOf(core));
  };
  bool twice = false;
  size_t total = 0;
  each([&](const auto& column) {
    twice = twice || !(core.*column.core).empty();
    total += static_cast<size_t>((message.floats().*column.read)().size());
  });
  if (twice) {
    return offences.Add(absl::StrCat(batch, ".floats"), "must not be given beside their doubles");
  }
  doubles.resize(total);
  double* next = doubles.data();
  each([&](const auto& column) {
    const auto& floats = (message.floats().*column.read)();
    double* const first = next;
    next = std::copy(floats.begin(), floats.end(), first);
    core.*column.core = {first, next};
  });
}

// Placed shapes, which are kept in `shapes`; their list is at `path`.
template <class Message, class S>
void DecodePlaced(absl::string_view path, const Message& message, std::vector<S>& shapes,
                  PlacedColumns<S>& core, Offences& offences) {
  PolygonLimits limits;
  limits.max_vertices = kMaxMovingVertices;
  DecodeEach(message.shapes(), path, 0, limits, shapes, offences);
  ViewColumns(message, ColumnsOf<Message>(core), core);
  core.shapes = shapes;
}

void DecodeCasts(const v1::Group& message, DecodedGroup& out, Offences& offences) {
  Group& group = out.group;
  if (message.has_segments()) {
    DecodeBatch("segments", message.segments(), group.segments, group.cast_options, offences);
    DecodeFloats("segments", message.segments(), out.segment_floats, group.segments, offences);
  }
  if (message.has_rays()) {
    DecodeBatch("rays", message.rays(), group.rays, group.ray_options, offences);
  }
  if (message.has_arcs()) {
    DecodeBatch("arcs", message.arcs(), group.arcs, group.arc_options, offences);
  }
  if (message.has_sights()) {
    DecodeBatch("sights", message.sights(), group.sights, MaskOption{group.sight_mask}, offences);
  }
  if (message.has_fans()) {
    DecodeBatch("fans", message.fans(), group.fans, group.fan_options, offences);
  }
}

void DecodeOverlaps(const v1::Group& message, DecodedGroup& out, Offences& offences) {
  Group& group = out.group;
  if (message.has_points()) {
    DecodeBatch("points", message.points(), group.points, MaskOption{group.point_mask}, offences);
  }
  if (message.has_circles()) {
    DecodeBatch("circles", message.circles(), group.circles, group.circle_options, offences);
  }
  if (message.has_capsules()) {
    DecodeBatch("capsules", message.capsules(), group.capsules, group.capsule_options, offences);
  }
  if (message.has_boxes()) {
    DecodeBatch("boxes", message.boxes(), group.boxes, group.box_options, offences);
  }
  if (message.has_polygons()) {
    DecodeOptions("polygons", message.polygons(), group.polygon_options, offences);
    DecodePlaced("polygons.shapes", message.polygons(), out.shapes, group.polygons, offences);
  }
}

void DecodeMoving(const v1::Group& message, DecodedGroup& out, Offences& offences) {
  Group& group = out.group;
  MoverShapes& movers = out.movers;
  if (message.has_distances()) {
    DecodeBatch("distances", message.distances(), group.distances, group.distance_options,
                offences);
    DecodePlaced("distances.movers.shapes", message.distances().movers(), movers.distances,
                 group.distances.movers, offences);
  }
  if (message.has_contacts()) {
    DecodeBatch("contacts", message.contacts(), group.contacts, group.contact_options, offences);
    DecodePlaced("contacts.movers.shapes", message.contacts().movers(), movers.contacts,
                 group.contacts.movers, offences);
  }
  if (message.has_depenetrations()) {
    DecodeOptions("depenetrations", message.depenetrations(), group.depenetration_options,
                  offences);
    DecodePlaced("depenetrations.movers.shapes", message.depenetrations().movers(),
                 movers.depenetrations, group.depenetrations, offences);
  }
  if (message.has_sweeps()) {
    DecodeBatch("sweeps", message.sweeps(), group.sweeps, group.sweep_options, offences);
    DecodePlaced("sweeps.movers.shapes", message.sweeps().movers(), movers.sweeps,
                 group.sweeps.movers, offences);
  }
  if (message.has_rotating_sweeps()) {
    DecodeBatch("rotating_sweeps", message.rotating_sweeps(), group.rotating_sweeps,
                group.rotating_sweep_options, offences);
    DecodePlaced("rotating_sweeps.movers.shapes", message.rotating_sweeps().movers(),
                 movers.rotating_sweeps, group.rotating_sweeps.movers, offences);
  }
}

void DecodeMoves(const v1::TrackerMoves& message, DecodedGroup& out, Offences& offences) {
  Group& group = out.group;
  ViewColumns(message, ColumnsOf<v1::TrackerMoves>(group.moves), group.moves);
  DecodeFloats("moves", message, out.move_floats, group.moves, offences);
  group.moves.first_tracker = message.first_tracker();
  MoveOptions& options = group.move_options;
  ReadEnum(message.detail(), "moves", "detail", options.detail, offences);
  options.tolerance = message.tolerance();
  options.quiet_radii = message.quiet_radii();
}

// --- To messages

bool IsFloat(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         static_cast<double>(static_cast<float>(value)) == value;
}

// Columns that hold floats alone go as floats: half the bytes, and the same numbers.
template <class Message, class Core>
void EncodeFloatsOrDoubles(Core core, Message& message) {
  std::apply(
      [&](const auto&... column) {
        if (!(std::ranges::all_of(core.*column.core, IsFloat) && ...)) return;
        EncodeColumns(core, std::tuple{column...}, *message.mutable_floats());
        ((core.*column.core = {}), ...);
      },
      FloatColumnsOf(core));
  EncodeColumns(core, ColumnsOf<Message>(core), message);
}

void EncodeMoves(const MoveColumns& moves, const MoveOptions& options, v1::Group& group) {
  if (moves.size() == 0) return group.clear_moves();
  v1::TrackerMoves& message = *group.mutable_moves();
  message.Clear();
  EncodeFloatsOrDoubles(moves, message);
  message.set_first_tracker(moves.first_tracker);
  message.set_detail(static_cast<decltype(message.detail())>(EnumToWire(options.detail)));
  message.set_tolerance(options.tolerance);
  message.set_quiet_radii(options.quiet_radii);
}

template <class S, class Message>
void EncodePlaced(const PlacedColumns<S>& core, Message& message) {
  for (const S& shape : core.shapes) {
    if constexpr (std::is_same_v<S, Shape>) {
      EncodeShape(shape, *message.add_shapes());
    } else {
      EncodePolygon(shape, *message.add_shapes());
    }
  }
  EncodeColumns(core, ColumnsOf<Message>(core), message);
}

template <class Core, class Message>
void EncodeItems(const Core& core, Message& message) {
  if constexpr (std::is_same_v<Core, ShapeColumns>) {
    EncodePlaced(core, *message.mutable_movers());
  } else if constexpr (std::is_same_v<Core, PolygonColumns>) {
    EncodePlaced(core, message);
  } else if constexpr (std::is_same_v<Message, v1::SegmentCasts>) {
    EncodeFloatsOrDoubles(core, message);
  } else {
    if constexpr (requires { core.movers; }) EncodePlaced(core.movers, *message.mutable_movers());
    EncodeColumns(core, ColumnsOf<Message>(core), message);
  }
}

// One kind of question; absent if it has no items.
template <class Core, class Options, class Message>
void EncodeBatch(const Core& core, const Options& options, v1::Group& group,
                 Message* (v1::Group::*batch)(), void (v1::Group::*clear)()) {
  if (core.size() == 0) return (group.*clear)();
  Message& message = *(group.*batch)();
  message.Clear();
  EncodeItems(core, message);
  EncodeOptions(options, message);
}

}  // namespace

void MoverShapes::Clear() {
  distances.clear();
  contacts.clear();
  depenetrations.clear();
  sweeps.clear();
  rotating_sweeps.clear();
}

size_t MoverShapes::capacity() const {
  return distances.capacity() + contacts.capacity() + depenetrations.capacity() +
         sweeps.capacity() + rotating_sweeps.capacity();
}

absl::Status DecodeGroup(const v1::Group& message, DecodedGroup& out) {
  out.group = Group{};
  out.shapes.clear();
  out.movers.Clear();
  Offences offences;
  DecodeCasts(message, out, offences);
  DecodeOverlaps(message, out, offences);
  DecodeMoving(message, out, offences);
  if (message.has_moves()) DecodeMoves(message.moves(), out, offences);
  return offences.empty() ? CheckGroup(out.group) : offences.status();
}

void EncodeGroup(const Group& from, v1::Group& to) {
  using G = v1::Group;
  EncodeBatch(from.segments, from.cast_options, to, &G::mutable_segments, &G::clear_segments);
  EncodeBatch(from.points, MaskOption{from.point_mask}, to, &G::mutable_points, &G::clear_points);
  EncodeBatch(from.circles, from.circle_options, to, &G::mutable_circles, &G::clear_circles);
  EncodeBatch(from.polygons, from.polygon_options, to, &G::mutable_polygons, &G::clear_polygons);
  EncodeBatch(from.rays, from.ray_options, to, &G::mutable_rays, &G::clear_rays);
  EncodeBatch(from.capsules, from.capsule_options, to, &G::mutable_capsules, &G::clear_capsules);
  EncodeBatch(from.boxes, from.box_options, to, &G::mutable_boxes, &G::clear_boxes);
  EncodeBatch(from.distances, from.distance_options, to, &G::mutable_distances,
              &G::clear_distances);
  EncodeBatch(from.contacts, from.contact_options, to, &G::mutable_contacts, &G::clear_contacts);
  EncodeBatch(from.depenetrations, from.depenetration_options, to, &G::mutable_depenetrations,
              &G::clear_depenetrations);
  EncodeBatch(from.sweeps, from.sweep_options, to, &G::mutable_sweeps, &G::clear_sweeps);
  EncodeBatch(from.rotating_sweeps, from.rotating_sweep_options, to, &G::mutable_rotating_sweeps,
              &G::clear_rotating_sweeps);
  EncodeBatch(from.arcs, from.arc_options, to, &G::mutable_arcs, &G::clear_arcs);
  EncodeBatch(from.sights, MaskOption{from.sight_mask}, to, &G::mutable_sights, &G::clear_sights);
  EncodeBatch(from.fans, from.fan_options, to, &G::mutable_fans, &G::clear_fans);
  EncodeMoves(from.moves, from.move_options, to);
}

}  // namespace carom::wire
