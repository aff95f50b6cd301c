// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/decode.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "google/protobuf/repeated_field.h"

namespace carom::wire {
namespace {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;

// Wire enum values in their order, absent first; encode.cc has the inverse tables.
constexpr FillRule kFillRules[] = {FillRule::kEvenOdd, FillRule::kEvenOdd, FillRule::kNonZero};
static_assert(std::size(kFillRules) == v1::FillRule_ARRAYSIZE);
constexpr Solidity kSolidities[] = {Solidity::kSolid, Solidity::kSolid, Solidity::kBoundary};
static_assert(std::size(kSolidities) == v1::Solidity_ARRAYSIZE);
constexpr CastMode kCastModes[] = {CastMode::kClosest, CastMode::kAny, CastMode::kClosest,
                                   CastMode::kAll};
static_assert(std::size(kCastModes) == v1::CastMode_ARRAYSIZE);
constexpr InsidePolicy kInsidePolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kReportStart,
                                            InsidePolicy::kIgnore, InsidePolicy::kExit};
static_assert(std::size(kInsidePolicies) == v1::InsidePolicy_ARRAYSIZE);
constexpr OverlapDetail kOverlapDetails[] = {OverlapDetail::kIds, OverlapDetail::kIds,
                                             OverlapDetail::kEdges};
static_assert(std::size(kOverlapDetails) == v1::OverlapDetail_ARRAYSIZE);
constexpr Feature kFeatures[] = {Feature::kNone, Feature::kCollinear, Feature::kVertex,
                                 Feature::kEdge};
static_assert(std::size(kFeatures) == v1::Feature_ARRAYSIZE);
// UNSPECIFIED is never sent and refused before the table is read.
constexpr Location kLocations[] = {Location::kOutside, Location::kBoundary, Location::kInside};
static_assert(std::size(kLocations) == v1::Location_ARRAYSIZE);
// UNSPECIFIED is never sent.
constexpr ItemFault kItemFaults[] = {ItemFault::kNotAccepted,     ItemFault::kNotAccepted,
                                     ItemFault::kNegativeRadius,  ItemFault::kNotARotation,
                                     ItemFault::kAngleOutOfRange, ItemFault::kUnknownShape,
                                     ItemFault::kPlacedOutOfRange};
static_assert(std::size(kItemFaults) == v1::ItemFault_ARRAYSIZE);

// `max_hits` where it is absent.
constexpr uint32_t kDefaultMaxHits = CastOptions{}.max_hits;

// The offences of a message with many parts, whose codes may differ: INVALID_ARGUMENT if any is,
// else the first code that is seen.
class Offences {
 public:
  void Add(absl::string_view field, absl::string_view description) {
    code_ = absl::StatusCode::kInvalidArgument;
    refusal_.Add(field, description);
  }

  // The violations of `status`, which is not OK, as those of the part at `path`.
  void AddPart(absl::string_view path, const absl::Status& status) {
    if (refusal_.empty() || status.code() == absl::StatusCode::kInvalidArgument) {
      code_ = status.code();
    }
    const std::vector<Violation> violations = Violations(status);
    if (violations.empty()) refusal_.Add(path, status.message());
    for (const Violation& violation : violations) {
      const char* dot = violation.field.empty() ? "" : ".";
      refusal_.Add(absl::StrCat(path, dot, violation.field), violation.description);
    }
    refusal_.AddUnlisted(ViolationCount(status) - violations.size());
  }

  bool empty() const { return refusal_.empty(); }
  absl::Status status() const { return refusal_.status(code_); }

 private:
  Refusal refusal_;
  absl::StatusCode code_ = absl::StatusCode::kInvalidArgument;
};

// The core value of a wire enum value. An unknown one is an offence, and reads as absent.
template <typename Core, size_t n>
Core FromWire(const Core (&table)[n], int value, absl::string_view field, Offences& offences) {
  if (value >= 0 && value < static_cast<int>(n)) return table[value];
  offences.Add(field, absl::StrCat("must be an enum value in [0, ", n - 1, "]"));
  return table[0];
}

template <typename T>
std::span<const T> View(const RepeatedField<T>& column) {
  return {column.data(), static_cast<size_t>(column.size())};
}

template <typename Batch>
uint64_t Mask(const Batch& batch) {
  return batch.has_mask() ? batch.mask() : kEveryCategory;
}

// The ring with `x` and `y` of equal length.
RingSpec DecodeRing(const v1::Ring& message) {
  RingSpec ring;
  ring.open = message.open();
  ring.vertices.resize(static_cast<size_t>(message.x_size()));
  const double* x = message.x().data();
  const double* y = message.y().data();
  for (size_t i = 0; i < ring.vertices.size(); ++i) ring.vertices[i] = {x[i], y[i]};
  return ring;
}

// Where a part stands in a message: `list[index]member`.
struct Place {
  absl::string_view list;
  size_t index = 0;
  absl::string_view member;
};

// The polygon of a part; null, and what is wrong with it in `offences`, if it is refused.
std::optional<Polygon> DecodePart(const v1::Polygon& message, const PolygonLimits& limits,
                                  const Place& place, Offences& offences) {
  absl::StatusOr<Polygon> polygon = DecodePolygon(message, limits);
  if (polygon.ok()) return *std::move(polygon);
  offences.AddPart(absl::StrCat(place.list, "[", place.index, "]", place.member), polygon.status());
  return std::nullopt;
}

// Appends the polygons of a list to `out`, and what is wrong with others to `offences`.
void DecodeEach(const RepeatedPtrField<v1::Polygon>& messages, absl::string_view path,
                size_t first_index, const PolygonLimits& limits, std::vector<Polygon>& out,
                Offences& offences) {
  for (const v1::Polygon& message : messages) {
    std::optional<Polygon> polygon =
        DecodePart(message, limits, {path, first_index++, ""}, offences);
    if (polygon.has_value()) out.push_back(*std::move(polygon));
  }
}

void DecodeSegments(const v1::SegmentCasts& message, Group& group, Offences& offences) {
  group.segments = {View(message.ax()), View(message.ay()), View(message.bx()), View(message.by())};
  CastOptions& options = group.cast_options;
  options.mode = FromWire(kCastModes, message.mode(), "segments.mode", offences);
  options.inside_policy =
      FromWire(kInsidePolicies, message.inside_policy(), "segments.inside_policy", offences);
  options.max_hits = message.max_hits() == 0 ? kDefaultMaxHits : message.max_hits();
  options.mask = Mask(message);
}

void DecodePoints(const v1::PointLocations& message, Group& group) {
  group.points = {View(message.x()), View(message.y())};
  group.point_mask = Mask(message);
}

void DecodeCircles(const v1::CircleOverlaps& message, Group& group, Offences& offences) {
  group.circles = {View(message.x()), View(message.y()), View(message.radius())};
  group.circle_options.detail =
      FromWire(kOverlapDetails, message.detail(), "circles.detail", offences);
  group.circle_options.mask = Mask(message);
}

void DecodeMovingPolygons(const v1::PolygonOverlaps& message, DecodedGroup& out,
                          Offences& offences) {
  Group& group = out.group;
  group.polygon_options.detail =
      FromWire(kOverlapDetails, message.detail(), "polygons.detail", offences);
  group.polygon_options.mask = Mask(message);
  PolygonLimits limits;
  limits.max_vertices = kMaxMovingVertices;
  DecodeEach(message.shapes(), "polygons.shapes", 0, limits, out.shapes, offences);
  group.polygons = {out.shapes,           View(message.shape()), View(message.x()),
                    View(message.y()),    View(message.c()),     View(message.s()),
                    View(message.angle())};
}

// A column that does not fit the others of its batch.
absl::Status Misfit(absl::string_view batch, absl::string_view column) {
  return Refused(absl::StatusCode::kInternal, absl::StrCat(batch, ".", column),
                 "does not fit the other columns of the answer");
}

// Below 2^63: a message has fewer than 2^31 entries.
uint64_t Sum(const RepeatedField<uint32_t>& counts) {
  uint64_t sum = 0;
  for (const uint32_t count : counts) sum += count;
  return sum;
}

struct ColumnSize {
  const char* name;
  int size;
};

// OK if every column has `rows` entries.
absl::Status CheckRows(absl::string_view batch, int rows,
                       std::initializer_list<ColumnSize> columns) {
  for (const ColumnSize& column : columns) {
    if (column.size != rows) return Misfit(batch, column.name);
  }
  return absl::OkStatus();
}

bool DecodeColumn(absl::string_view name, ItemColumn& out) {
  for (const ItemColumn column :
       {ItemColumn::kAx, ItemColumn::kAy, ItemColumn::kBx, ItemColumn::kBy, ItemColumn::kX,
        ItemColumn::kY, ItemColumn::kRadius, ItemColumn::kShape, ItemColumn::kC, ItemColumn::kS,
        ItemColumn::kAngle}) {
    if (name == Name(column)) {
      out = column;
      return true;
    }
  }
  return false;
}

// Errors name different items, ascending, each with a count of 0.
absl::Status DecodeItemErrors(absl::string_view batch,
                              const RepeatedPtrField<v1::ItemError>& messages,
                              const std::vector<uint32_t>& counts, std::vector<ItemError>& out) {
  for (const v1::ItemError& message : messages) {
    ItemError error{message.index(), ItemColumn::kX, ItemFault::kNotAccepted};
    const bool ascends = out.empty() || out.back().index < error.index;
    if (!ascends || error.index >= counts.size() || counts[error.index] != 0 ||
        !DecodeColumn(message.field(), error.column)) {
      return Misfit(batch, "errors");
    }
    // A fault that only a later release knows reads as NOT_ACCEPTED.
    if (v1::ItemFault_IsValid(message.fault())) error.fault = kItemFaults[message.fault()];
    out.push_back(error);
  }
  return absl::OkStatus();
}

// Truncated segments are different, ascending, and have hits.
absl::Status DecodeTruncated(const RepeatedField<uint32_t>& messages,
                             const std::vector<uint32_t>& counts, std::vector<uint32_t>& out) {
  for (const uint32_t index : messages) {
    const bool ascends = out.empty() || out.back() < index;
    if (!ascends || index >= counts.size() || counts[index] == 0) {
      return Misfit("segments", "truncated");
    }
    out.push_back(index);
  }
  return absl::OkStatus();
}

// Under ANY there are no rows and each count is 0 or 1; otherwise the counts sum to the rows.
absl::Status CheckCastCounts(const v1::CastAnswers& message) {
  const uint64_t rows = static_cast<uint64_t>(message.polygon_id_size());
  if (Sum(message.counts()) == rows) return absl::OkStatus();
  bool any = rows == 0;
  for (const uint32_t count : message.counts()) any = any && count <= 1;
  return any ? absl::OkStatus() : Misfit("segments", "counts");
}

absl::Status CheckHitColumns(const v1::CastAnswers& message) {
  if (absl::Status status = CheckRows("segments", message.polygon_id_size(),
                                      {{"ring", message.ring_size()},
                                       {"edge", message.edge_size()},
                                       {"feature", message.feature_size()},
                                       {"fraction", message.fraction_size()},
                                       {"point_x", message.point_x_size()},
                                       {"point_y", message.point_y_size()},
                                       {"normal_x", message.normal_x_size()},
                                       {"normal_y", message.normal_y_size()},
                                       {"starts_inside", message.starts_inside_size()},
                                       {"ends_inside", message.ends_inside_size()},
                                       {"exit_fraction", message.exit_fraction_size()},
                                       {"has_exit_edge", message.has_exit_edge_size()},
                                       {"exit_ring", message.exit_ring_size()},
                                       {"exit_edge", message.exit_edge_size()},
                                       {"exit_normal_x", message.exit_normal_x_size()},
                                       {"exit_normal_y", message.exit_normal_y_size()}});
      !status.ok()) {
    return status;
  }
  for (const int feature : message.feature()) {
    if (!v1::Feature_IsValid(feature)) return Misfit("segments", "feature");
  }
  return absl::OkStatus();
}

// The rows of a message that `CheckHitColumns` accepts.
void DecodeHits(const v1::CastAnswers& message, std::vector<CastHit>& hits) {
  hits.resize(static_cast<size_t>(message.polygon_id_size()));
  for (size_t row = 0; row < hits.size(); ++row) {
    const int i = static_cast<int>(row);
    CastHit& hit = hits[row];
    hit.polygon_id = message.polygon_id(i);
    hit.edge = {message.ring(i), message.edge(i)};
    hit.exit_edge = {message.exit_ring(i), message.exit_edge(i)};
    hit.feature = kFeatures[message.feature(i)];
    hit.starts_inside = message.starts_inside(i);
    hit.ends_inside = message.ends_inside(i);
    hit.has_exit_edge = message.has_exit_edge(i);
    hit.fraction = message.fraction(i);
    hit.exit_fraction = message.exit_fraction(i);
    hit.point = {message.point_x(i), message.point_y(i)};
    hit.normal = {message.normal_x(i), message.normal_y(i)};
    hit.exit_normal = {message.exit_normal_x(i), message.exit_normal_y(i)};
  }
}

absl::Status DecodeCastAnswers(const v1::CastAnswers& message, CastAnswers& out) {
  if (absl::Status status = CheckCastCounts(message); !status.ok()) return status;
  if (absl::Status status = CheckHitColumns(message); !status.ok()) return status;
  out.counts.assign(message.counts().begin(), message.counts().end());
  DecodeHits(message, out.hits);
  if (absl::Status status = DecodeTruncated(message.truncated(), out.counts, out.truncated);
      !status.ok()) {
    return status;
  }
  return DecodeItemErrors("segments", message.errors(), out.counts, out.errors);
}

absl::Status DecodeLocateAnswers(const v1::LocateAnswers& message, LocateAnswers& out) {
  const int rows = message.polygon_id_size();
  if (Sum(message.counts()) != static_cast<uint64_t>(rows)) return Misfit("points", "counts");
  if (message.location_size() != rows) return Misfit("points", "location");
  out.locations.reserve(static_cast<size_t>(rows));
  for (const int location : message.location()) {
    if (location != v1::LOCATION_BOUNDARY && location != v1::LOCATION_INSIDE) {
      return Misfit("points", "location");
    }
    out.locations.push_back(kLocations[location]);
  }
  out.counts.assign(message.counts().begin(), message.counts().end());
  out.polygon_ids.assign(message.polygon_id().begin(), message.polygon_id().end());
  return DecodeItemErrors("points", message.errors(), out.counts, out.errors);
}

// `touching` is the number of entries that the `touching` column has: the rows, or 0 for polygons.
absl::Status CheckOverlapColumns(absl::string_view batch, const v1::OverlapAnswers& message,
                                 int touching) {
  const int rows = message.polygon_id_size();
  if (Sum(message.counts()) != static_cast<uint64_t>(rows)) return Misfit(batch, "counts");
  if (message.touching_size() != touching) return Misfit(batch, "touching");
  const bool has_edges = message.edge_counts_size() != 0;
  if (has_edges && message.edge_counts_size() != rows) return Misfit(batch, "edge_counts");
  if (Sum(message.edge_counts()) != static_cast<uint64_t>(message.ring_size())) {
    return Misfit(batch, "edge_counts");
  }
  return CheckRows(batch, message.ring_size(), {{"edge", message.edge_size()}});
}

absl::Status DecodeOverlapAnswers(absl::string_view batch, const v1::OverlapAnswers& message,
                                  OverlapAnswers& out) {
  out.counts.assign(message.counts().begin(), message.counts().end());
  out.polygon_ids.assign(message.polygon_id().begin(), message.polygon_id().end());
  out.touching.assign(message.touching().begin(), message.touching().end());
  out.edge_counts.assign(message.edge_counts().begin(), message.edge_counts().end());
  out.edges.resize(static_cast<size_t>(message.ring_size()));
  const uint32_t* ring = message.ring().data();
  const uint32_t* edge = message.edge().data();
  for (size_t i = 0; i < out.edges.size(); ++i) out.edges[i] = {ring[i], edge[i]};
  return DecodeItemErrors(batch, message.errors(), out.counts, out.errors);
}

absl::Status DecodeBatches(const v1::GroupAnswer& message, GroupAnswers& out) {
  if (message.has_segments()) {
    absl::Status status = DecodeCastAnswers(message.segments(), out.segments);
    if (!status.ok()) return status;
  }
  if (message.has_points()) {
    absl::Status status = DecodeLocateAnswers(message.points(), out.points);
    if (!status.ok()) return status;
  }
  if (message.has_circles()) {
    const v1::OverlapAnswers& circles = message.circles();
    absl::Status status = CheckOverlapColumns("circles", circles, circles.polygon_id_size());
    if (status.ok()) status = DecodeOverlapAnswers("circles", circles, out.circles);
    if (!status.ok()) return status;
  }
  if (message.has_polygons()) {
    absl::Status status = CheckOverlapColumns("polygons", message.polygons(), 0);
    if (status.ok()) status = DecodeOverlapAnswers("polygons", message.polygons(), out.polygons);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Polygon> DecodePolygon(const v1::Polygon& message, const PolygonLimits& limits) {
  Offences offences;
  PolygonSpec spec;
  spec.id = message.id();
  spec.fill_rule = FromWire(kFillRules, message.fill_rule(), "fill_rule", offences);
  spec.solidity = FromWire(kSolidities, message.solidity(), "solidity", offences);
  if (message.has_category()) spec.category = message.category();
  spec.user_data = message.user_data();
  spec.rings.reserve(static_cast<size_t>(message.rings_size()));
  for (int i = 0; i < message.rings_size(); ++i) {
    const v1::Ring& ring = message.rings(i);
    if (ring.x_size() != ring.y_size()) {
      offences.Add(absl::StrCat("rings[", i, "].y"), "must be as many as x");
    } else if (offences.empty()) {
      spec.rings.push_back(DecodeRing(ring));
    }
  }
  if (!offences.empty()) return offences.status();
  return Polygon::Create(std::move(spec), limits);
}

absl::Status DecodePolygons(const RepeatedPtrField<v1::Polygon>& messages, absl::string_view path,
                            size_t first_index, const PolygonLimits& limits,
                            std::vector<Polygon>& out) {
  const size_t size = out.size();
  Offences offences;
  DecodeEach(messages, path, first_index, limits, out, offences);
  if (offences.empty()) return absl::OkStatus();
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(size), out.end());
  return offences.status();
}

absl::StatusOr<std::vector<SceneEdit>> DecodeEdits(const RepeatedPtrField<v1::Edit>& messages,
                                                   const PolygonLimits& limits) {
  Offences offences;
  std::vector<SceneEdit> edits;
  for (size_t i = 0; i < static_cast<size_t>(messages.size()); ++i) {
    const v1::Edit& edit = messages[static_cast<int>(i)];
    switch (edit.edit_case()) {
      case v1::Edit::kAdd:
        if (std::optional<Polygon> polygon =
                DecodePart(edit.add(), limits, {"edits", i, ".add"}, offences)) {
          edits.emplace_back(AddPolygon{*std::move(polygon)});
        }
        break;
      case v1::Edit::kReplace:
        if (std::optional<Polygon> polygon =
                DecodePart(edit.replace(), limits, {"edits", i, ".replace"}, offences)) {
          edits.emplace_back(ReplacePolygon{*std::move(polygon)});
        }
        break;
      case v1::Edit::kRemove:
        edits.emplace_back(RemovePolygon{edit.remove()});
        break;
      case v1::Edit::EDIT_NOT_SET:
        offences.Add(absl::StrCat("edits[", i, "]"), "must have one of add, replace and remove");
        break;
    }
  }
  if (!offences.empty()) return offences.status();
  return edits;
}

absl::Status DecodeGroup(const v1::Group& message, DecodedGroup& out) {
  out.group = Group{};
  out.shapes.clear();
  Offences offences;
  if (message.has_segments()) DecodeSegments(message.segments(), out.group, offences);
  if (message.has_points()) DecodePoints(message.points(), out.group);
  if (message.has_circles()) DecodeCircles(message.circles(), out.group, offences);
  if (message.has_polygons()) DecodeMovingPolygons(message.polygons(), out, offences);
  return offences.empty() ? CheckGroup(out.group) : offences.status();
}

absl::Status DecodeGroupAnswers(const v1::GroupAnswer& message, GroupAnswers& out) {
  out.Clear();
  out.version = message.version();
  absl::Status status = DecodeBatches(message, out);
  if (!status.ok()) out.Clear();
  return status;
}

}  // namespace carom::wire
