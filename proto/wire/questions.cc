// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Encodes and decodes the queries of a group (the queries about one scene). Each kind of query has
// one list of columns (repeated fields, wire/question_columns.h) for encoding and decoding;
// templates handle the options that several kinds share.

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
#include "wire/kinds.h"
#include "wire/parts.h"
#include "wire/question_columns.h"

namespace carom::wire {
namespace {

// --- Scopes: whether queries consider the scene, bodies (moving shapes beside it) or both

template <class Message>
concept AsksBodies = requires(const Message& message) {
  message.against();
};

// Decodes the scope of a kind of query (whether queries consider the scene, bodies or both), if the
// message has the fields of a scope: kinds that consider only the scene do not have them.
template <class Columns, class Message>
void DecodeScope(absl::string_view kind, const Message& message, Columns& columns,
                 ViolationList& violation_list) {
  if constexpr (AsksBodies<Message>) {
    Scope& scope = ScopeOf(columns);
    ReadEnum(message.against(), kind, "against", scope.against, violation_list);
    scope.mask = View(message.masks());
    scope.ignore_owner = View(message.ignore_owner());
    scope.as_of = View(message.as_of());
  }
}

// Writes the scope of a kind of query (whether queries consider the scene, bodies or both); the
// reverse of `DecodeScope`.
template <class Columns, class Message>
void EncodeScope(const Columns& columns, Message& message) {
  if constexpr (AsksBodies<Message>) {
    const Scope& scope = ScopeOf(columns);
    // Omits kScene, as an absent field means kScene.
    if (scope.against != Against::kScene) {
      message.set_against(static_cast<v1::Against>(EnumToWire(scope.against)));
    }
    CopyColumn(scope.mask, message.mutable_masks());
    CopyColumn(scope.ignore_owner, message.mutable_ignore_owner());
    CopyColumn(scope.as_of, message.mutable_as_of());
  }
}

// --- Options
//
// Each line of the functions below reads or writes one option that several kinds of queries share,
// for every kind whose options struct in the geometry core has a member for the option.

template <class Message>
uint64_t MaskOf(const Message& message) {
  return message.has_mask() ? message.mask() : kEveryCategory;
}

template <class Message, class Options>
void DecodeOptions(absl::string_view kind, const Message& message, Options& options,
                   ViolationList& violation_list) {
  const auto read = [&](const char* name, int wire, auto& value) {
    ReadEnum(wire, kind, name, value, violation_list);
  };
  if constexpr (requires { options.mode; }) read("mode", message.mode(), options.mode);
  if constexpr (requires { options.inside_policy; }) {
    // If a slide (the kind of query whose options have `max_contacts`) has no policy, keeps the
    // default of the options struct in the geometry core, which differs from the first entry of the
    // enum table.
    const bool is_default = requires { options.max_contacts; }
    &&message.inside_policy() == 0;
    if (!is_default) read("inside_policy", message.inside_policy(), options.inside_policy);
  }
  if constexpr (requires { options.start_policy; }) {
    read("start_policy", message.start_policy(), options.start_policy);
  }
  if constexpr (requires { options.detail; }) read("detail", message.detail(), options.detail);
  if constexpr (requires { options.target; }) read("target", message.target(), options.target);
  if constexpr (requires { options.reflect; }) options.reflect = message.reflect();
  if constexpr (requires { options.max_hits; }) {
    if (message.max_hits() != 0) options.max_hits = message.max_hits();
  }
  if constexpr (requires { options.max_rows; }) {
    if (message.max_rows() != 0) options.max_rows = message.max_rows();
  }
  if constexpr (requires { options.max_steps; }) {
    if (message.max_steps() != 0) options.max_steps = message.max_steps();
  }
  if constexpr (requires { options.max_contacts; }) {
    if (message.max_contacts() != 0) options.max_contacts = message.max_contacts();
  }
  if constexpr (requires { options.max_bounces; }) {
    if (message.max_bounces() != 0) options.max_bounces = message.max_bounces();
  }
  if constexpr (requires { options.k; }) {
    if (message.k() != 0) options.k = message.k();
  }
  if constexpr (requires { options.tolerance; }) options.tolerance = message.tolerance();
  if constexpr (requires { options.margin; }) options.margin = message.margin();
  if constexpr (requires { options.quiet_radii; }) options.quiet_radii = message.quiet_radii();
  if constexpr (requires { options.mask; }) options.mask = MaskOf(message);
  if constexpr (requires { options.soft_mask; }) {
    options.soft_mask = message.soft_mask();
    options.soft_count = message.soft_count();
  }
  if constexpr (requires { options.soft_length; }) options.soft_length = message.soft_length();
}

// Decodes the options of kinds of queries whose only option is the mask (one bit for each category
// of polygons that a query considers).
template <class Message>
void DecodeOptions(absl::string_view, const Message& message, uint64_t& mask, ViolationList&) {
  mask = MaskOf(message);
}

// Writes a mask (one bit for each category of polygons that a query considers). Omits the mask of
// all categories, because an absent field means all categories, too.
template <class Message>
void EncodeMask(uint64_t mask, Message& message) {
  if (mask != kEveryCategory) message.set_mask(mask);
}

template <class Options, class Message>
void EncodeOptions(const Options& options, Message& message) {
  if constexpr (requires { options.mode; }) {
    message.set_mode(static_cast<decltype(message.mode())>(EnumToWire(options.mode)));
  }
  if constexpr (requires { options.inside_policy; }) {
    message.set_inside_policy(static_cast<v1::InsidePolicy>(EnumToWire(options.inside_policy)));
  }
  if constexpr (requires { options.start_policy; }) {
    message.set_start_policy(static_cast<v1::StartPolicy>(EnumToWire(options.start_policy)));
  }
  if constexpr (requires { options.detail; }) {
    message.set_detail(static_cast<decltype(message.detail())>(EnumToWire(options.detail)));
  }
  if constexpr (requires { options.target; }) {
    message.set_target(static_cast<v1::CastTarget>(EnumToWire(options.target)));
  }
  if constexpr (requires { options.reflect; }) message.set_reflect(options.reflect);
  if constexpr (requires { options.max_hits; }) message.set_max_hits(options.max_hits);
  if constexpr (requires { options.max_rows; }) message.set_max_rows(options.max_rows);
  if constexpr (requires { options.max_steps; }) message.set_max_steps(options.max_steps);
  if constexpr (requires { options.max_contacts; }) message.set_max_contacts(options.max_contacts);
  if constexpr (requires { options.max_bounces; }) message.set_max_bounces(options.max_bounces);
  if constexpr (requires { options.k; }) {
    if (options.k != Options().k) message.set_k(options.k);
  }
  if constexpr (requires { options.tolerance; }) message.set_tolerance(options.tolerance);
  if constexpr (requires { options.margin; }) message.set_margin(options.margin);
  if constexpr (requires { options.quiet_radii; }) message.set_quiet_radii(options.quiet_radii);
  if constexpr (requires { options.mask; }) EncodeMask(options.mask, message);
  if constexpr (requires { options.soft_mask; }) {
    message.set_soft_mask(options.soft_mask);
    message.set_soft_count(options.soft_count);
  }
  if constexpr (requires { options.soft_length; }) message.set_soft_length(options.soft_length);
}

template <class Message>
void EncodeOptions(uint64_t mask, Message& message) {
  EncodeMask(mask, message);
}

// --- Decoding

template <class Message>
concept HasFloats = requires(const Message& message) {
  message.floats();
};

// Returns the message that has the shapes and poses of a kind of query: `message` itself or its
// field `movers`.
template <class Message>
const auto& PlacedIn(const Message& message) {
  if constexpr (requires { message.movers(); }) {
    return message.movers();
  } else {
    return message;
  }
}

// Sets the spans of `columns` to views of the columns (repeated fields) in the message of a kind of
// query.
template <class Message, class Columns>
void ViewKind(const Message& message, Columns& columns) {
  if constexpr (HasShapes<Columns>) {
    const auto& from = PlacedIn(message);
    auto& placed = PlacedOf(columns);
    ViewColumns(from, ColumnsOf<std::remove_cvref_t<decltype(from)>>(placed), placed);
  }
  // Views all columns except those of placed shapes. The kinds `polygons` and `depenetrations`,
  // whose struct of columns has `shapes` itself, have no further columns.
  if constexpr (!requires { columns.shapes; }) {
    ViewColumns(message, ColumnsOf<Message>(columns), columns);
  }
  if constexpr (requires { columns.first_tracker; }) {
    columns.first_tracker = message.first_tracker();
  }
}

// Calls f(column) for each column that a client may send as floats.
template <class Columns, class F>
void ForEachFloatColumn(const Columns& columns, F f) {
  std::apply([&](const auto&... column) { (f(column), ...); }, FloatColumnsOf(columns));
}

// Returns the number of floats in the message of a kind of query, each of which becomes a double.
template <class Message, class Columns>
size_t FloatCount(const Message& message, const Columns& columns) {
  size_t count = 0;
  ForEachFloatColumn(columns, [&](const auto& column) {
    count += static_cast<size_t>((message.floats().*column.read)().size());
  });
  return count;
}

// Converts the columns that the client sent as floats to doubles, appends the doubles to `doubles`,
// and sets the spans of `columns` to them. `doubles` must have enough reserved memory, as spans of
// other kinds of queries already point into `doubles`. Before the call, `columns` has views of the
// columns that the client sent as doubles: for one kind of query, a client must not send both
// floats and doubles.
template <class Message, class Columns>
void DecodeFloats(absl::string_view kind, const Message& message, Columns& columns,
                  std::vector<double>& doubles, ViolationList& violation_list) {
  bool twice = false;
  ForEachFloatColumn(columns,
                     [&](const auto& column) { twice = twice || !(columns.*column.core).empty(); });
  if (twice) {
    return violation_list.Add(absl::StrCat(kind, ".floats"),
                              "must not be given together with the columns of doubles");
  }
  ForEachFloatColumn(columns, [&](const auto& column) {
    const auto& floats = (message.floats().*column.read)();
    const size_t first = doubles.size();
    doubles.insert(doubles.end(), floats.begin(), floats.end());
    columns.*column.core = {doubles.data() + first, doubles.size() - first};
  });
}

// Appends the shapes of a kind of query to `shapes`, and sets the span `columns.shapes` to the
// appended shapes. `shapes` must have enough reserved memory, as spans of other kinds of queries
// already point into `shapes`. Does not limit the number of vertices, which `CheckGroup` checks
// later.
template <class Message, class S>
void DecodeShapes(const ListPath& path, const Message& messages, PlacedColumns<S>& columns,
                  std::vector<S>& shapes, ViolationList& violation_list) {
  const size_t first = shapes.size();
  if constexpr (std::is_same_v<S, Shape>) {
    DecodeEach(messages, path, DecodeShape, shapes, violation_list);
  } else {
    DecodeEach(messages, path, DecodeMovingPolygon, shapes, violation_list);
  }
  columns.shapes = {shapes.data() + first, shapes.size() - first};
}

// Decodes one kind of query into `out`. Before the call, the columns and options of the kind in
// `out` must be empty.
template <class Kind, class Message>
void DecodeKind(const Kind& kind, const Message& message, DecodedGroup& out,
                ViolationList& violation_list) {
  auto& columns = out.group.*kind.core.columns;
  ViewKind(message, columns);
  DecodeScope(kind.name(), message, columns, violation_list);
  DecodeOptions(kind.name(), message, out.group.*kind.core.options, violation_list);
  if constexpr (HasFloats<Message>) {
    if (message.has_floats()) {
      DecodeFloats(kind.name(), message, columns, out.floats, violation_list);
    }
  }
  if constexpr (HasShapes<std::remove_cvref_t<decltype(columns)>>) {
    auto& placed = PlacedOf(columns);
    const auto& messages = PlacedIn(message).shapes();
    if constexpr (requires { message.movers(); }) {
      DecodeShapes({kind.name(), ".movers.shapes"}, messages, placed, out.shapes, violation_list);
    } else {
      DecodeShapes({kind.name(), ".shapes"}, messages, placed, out.polygons, violation_list);
    }
  }
}

// Decodes the bodies of a group (moving shapes that queries can hit beside the scene): views of the
// message, and shapes, which are appended to `out.shapes`.
void DecodeBodies(const v1::Bodies& message, DecodedGroup& out, ViolationList& violation_list) {
  BodyColumns& bodies = out.group.bodies;
  ViewColumns(message.placed(), ColumnsOf<v1::PlacedShapes>(bodies.placed), bodies.placed);
  DecodeShapes({"bodies", ".placed.shapes"}, message.placed().shapes(), bodies.placed, out.shapes,
               violation_list);
  bodies.category = View(message.category());
  bodies.owner = View(message.owner());
}

// Clears the vectors of `out`, and reserves memory for all kinds of queries together, since a
// vector must not reallocate once a span points into it. `out.polygons` has the shapes of one kind,
// `polygons`, and needs no reserve; all other kinds with shapes, and the bodies, share
// `out.shapes`.
void Reserve(const v1::Group& message, DecodedGroup& out) {
  size_t shapes = static_cast<size_t>(message.bodies().placed().shapes_size());
  size_t floats = 0;
  ForEachOf<kWireKinds>(out.kinds, [&](const auto& kind) {
    const auto& asked = (message.*kind.question.get)();
    if constexpr (requires { asked.movers(); }) {
      shapes += static_cast<size_t>(asked.movers().shapes_size());
    }
    if constexpr (requires { asked.floats(); }) {
      if (asked.has_floats()) floats += FloatCount(asked, out.group.*kind.core.columns);
    }
  });
  out.polygons.clear();
  out.shapes.clear();
  out.shapes.reserve(shapes);
  out.floats.clear();
  out.floats.reserve(floats);
}

// --- Encoding

// Returns whether `value` is finite and exactly representable as a float.
bool IsFloat(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         static_cast<double>(static_cast<float>(value)) == value;
}

// Writes the columns that a message can have as floats, as floats if each of their values is
// exactly a float, which takes half the bytes without a loss; otherwise writes nothing. Returns a
// copy of `columns` in which the written columns are empty.
template <class Columns, class Message>
Columns EncodeFloats(Columns columns, Message& message) {
  std::apply(
      [&](const auto&... column) {
        if (!(std::ranges::all_of(columns.*column.core, IsFloat) && ...)) return;
        EncodeColumns(columns, std::tuple{column...}, *message.mutable_floats());
        ((columns.*column.core = {}), ...);
      },
      FloatColumnsOf(columns));
  return columns;
}

template <class S, class Message>
void EncodePlaced(const PlacedColumns<S>& columns, Message& message) {
  for (const S& shape : columns.shapes) {
    if constexpr (std::is_same_v<S, Shape>) {
      EncodeShape(shape, *message.add_shapes());
    } else {
      EncodePolygon(shape, *message.add_shapes());
    }
  }
  EncodeColumns(columns, ColumnsOf<Message>(columns), message);
}

// Writes the bodies of a group (moving shapes beside the scene); the reverse of `DecodeBodies`.
void EncodeBodies(const BodyColumns& bodies, v1::Bodies& message) {
  EncodePlaced(bodies.placed, *message.mutable_placed());
  CopyColumn(bodies.category, message.mutable_category());
  CopyColumn(bodies.owner, message.mutable_owner());
}

// Writes the columns of a kind of query; the reverse of `DecodeKind`.
template <class Columns, class Message>
void EncodeKind(const Columns& columns, Message& message) {
  if constexpr (requires { message.mutable_movers(); }) {
    EncodePlaced(PlacedOf(columns), *message.mutable_movers());
  } else if constexpr (HasShapes<Columns>) {
    EncodePlaced(columns, message);
  }
  if constexpr (HasFloats<Message>) {
    EncodeColumns(EncodeFloats(columns, message), ColumnsOf<Message>(columns), message);
  } else if constexpr (!requires { columns.shapes; }) {
    EncodeColumns(columns, ColumnsOf<Message>(columns), message);
  }
  if constexpr (requires { columns.first_tracker; }) {
    message.set_first_tracker(columns.first_tracker);
  }
}

}  // namespace

// Decodes a group (the queries about one scene). `out` may have a preceding group: clears the
// columns and options only of the kinds of queries that `out.kinds` lists, the kinds of the
// preceding group, since most groups have few kinds.
absl::Status DecodeGroup(const v1::Group& message, DecodedGroup& out, const BodyHistory* history) {
  static const Group kNone;
  ForEachOf<kWireKinds>(out.kinds, [&](const auto& kind) {
    out.group.*kind.core.columns = kNone.*kind.core.columns;
    out.group.*kind.core.options = kNone.*kind.core.options;
  });
  out.group.bodies = kNone.bodies;
  out.kinds = KindsAsked(message);
  Reserve(message, out);
  ViolationList violation_list;
  ForEachOf<kWireKinds>(out.kinds, [&](const auto& kind) {
    DecodeKind(kind, (message.*kind.question.get)(), out, violation_list);
  });
  if (message.has_bodies()) DecodeBodies(message.bodies(), out, violation_list);
  DecodeUseOfBodySet(message, history, out.group, violation_list);
  return violation_list.empty() ? CheckGroup(out.group, out.kinds) : violation_list.status();
}

void EncodeGroup(const Group& from, v1::Group& to) {
  to.clear_bodies();
  if (from.bodies.size() > 0) EncodeBodies(from.bodies, *to.mutable_bodies());
  EncodeUseOfBodySet(from, to);
  ForEachWireKind([&](const auto& kind) {
    const auto& columns = from.*kind.core.columns;
    if (columns.size() == 0) return (to.*kind.question.clear)();
    auto& message = *(to.*kind.question.mutate)();
    message.Clear();
    EncodeKind(columns, message);
    EncodeScope(columns, message);
    EncodeOptions(from.*kind.core.options, message);
  });
}

}  // namespace carom::wire
