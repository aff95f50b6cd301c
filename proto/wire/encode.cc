// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/encode.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/repeated_field.h"

namespace carom::wire {
namespace {

using google::protobuf::RepeatedField;
using google::protobuf::RepeatedPtrField;

// Core enum values in their order; decode.cc has the inverse tables.
constexpr v1::FillRule kFillRules[] = {v1::FILL_RULE_EVEN_ODD, v1::FILL_RULE_NON_ZERO};
constexpr v1::Solidity kSolidities[] = {v1::SOLIDITY_SOLID, v1::SOLIDITY_BOUNDARY};
constexpr v1::CastMode kCastModes[] = {v1::CAST_MODE_ANY, v1::CAST_MODE_CLOSEST, v1::CAST_MODE_ALL};
constexpr v1::InsidePolicy kInsidePolicies[] = {v1::INSIDE_POLICY_REPORT_START,
                                                v1::INSIDE_POLICY_IGNORE, v1::INSIDE_POLICY_EXIT};
constexpr v1::OverlapDetail kOverlapDetails[] = {v1::OVERLAP_DETAIL_IDS, v1::OVERLAP_DETAIL_EDGES};
constexpr v1::Feature kFeatures[] = {v1::FEATURE_UNSPECIFIED, v1::FEATURE_EDGE, v1::FEATURE_VERTEX,
                                     v1::FEATURE_COLLINEAR};
constexpr v1::ItemFault kItemFaults[] = {
    v1::ITEM_FAULT_NOT_ACCEPTED,   v1::ITEM_FAULT_NEGATIVE_RADIUS,
    v1::ITEM_FAULT_NOT_A_ROTATION, v1::ITEM_FAULT_ANGLE_OUT_OF_RANGE,
    v1::ITEM_FAULT_UNKNOWN_SHAPE,  v1::ITEM_FAULT_PLACED_OUT_OF_RANGE};
constexpr v1::Location kLocations[] = {v1::LOCATION_UNSPECIFIED, v1::LOCATION_BOUNDARY,
                                       v1::LOCATION_INSIDE};

// The wire value of a core enum value; `Core` is an enum class of uint8_t.
template <typename Wire, size_t n, typename Core>
constexpr Wire ToWire(const Wire (&table)[n], Core value) {
  return table[static_cast<size_t>(value)];
}

// Makes `column` `count` entries long, with memory it had, and returns them to be written.
template <typename T>
T* Rows(RepeatedField<T>* column, size_t count) {
  column->Clear();
  column->Reserve(static_cast<int>(count));
  return column->AddNAlreadyReserved(static_cast<int>(count));
}

template <typename T, typename Values>
void CopyColumn(const Values& values, RepeatedField<T>* column) {
  std::copy(std::begin(values), std::end(values), Rows(column, std::size(values)));
}

// A mask of every category is left absent, which says the same.
template <typename Batch>
void EncodeMask(uint64_t mask, Batch& batch) {
  if (mask != kEveryCategory) batch.set_mask(mask);
}

void EncodeRing(std::span<const Vec2> vertices, bool open, v1::Ring& ring) {
  // `Polygon::Create` drops one closing duplicate: a ring that still ends where it starts needs
  // another one to arrive the same.
  const bool closes = !open && vertices.size() >= 2 && vertices.front() == vertices.back();
  const size_t count = vertices.size() + (closes ? 1 : 0);
  double* x = Rows(ring.mutable_x(), count);
  double* y = Rows(ring.mutable_y(), count);
  for (size_t i = 0; i < vertices.size(); ++i) {
    x[i] = vertices[i].x;
    y[i] = vertices[i].y;
  }
  if (closes) {
    x[count - 1] = vertices.front().x;
    y[count - 1] = vertices.front().y;
  }
  ring.set_open(open);
}

void EncodeSegments(const SegmentColumns& segments, const CastOptions& options,
                    v1::SegmentCasts& message) {
  message.Clear();
  CopyColumn(segments.ax, message.mutable_ax());
  CopyColumn(segments.ay, message.mutable_ay());
  CopyColumn(segments.bx, message.mutable_bx());
  CopyColumn(segments.by, message.mutable_by());
  message.set_mode(ToWire(kCastModes, options.mode));
  message.set_inside_policy(ToWire(kInsidePolicies, options.inside_policy));
  message.set_max_hits(options.max_hits);
  EncodeMask(options.mask, message);
}

void EncodePoints(const PointColumns& points, uint64_t mask, v1::PointLocations& message) {
  message.Clear();
  CopyColumn(points.x, message.mutable_x());
  CopyColumn(points.y, message.mutable_y());
  EncodeMask(mask, message);
}

void EncodeCircles(const CircleColumns& circles, const OverlapOptions& options,
                   v1::CircleOverlaps& message) {
  message.Clear();
  CopyColumn(circles.x, message.mutable_x());
  CopyColumn(circles.y, message.mutable_y());
  CopyColumn(circles.radius, message.mutable_radius());
  message.set_detail(ToWire(kOverlapDetails, options.detail));
  EncodeMask(options.mask, message);
}

void EncodePolygons(const PolygonColumns& polygons, const OverlapOptions& options,
                    v1::PolygonOverlaps& message) {
  message.Clear();
  for (const Polygon& shape : polygons.shapes) EncodePolygon(shape, *message.add_shapes());
  CopyColumn(polygons.shape, message.mutable_shape());
  CopyColumn(polygons.x, message.mutable_x());
  CopyColumn(polygons.y, message.mutable_y());
  CopyColumn(polygons.c, message.mutable_c());
  CopyColumn(polygons.s, message.mutable_s());
  CopyColumn(polygons.angle, message.mutable_angle());
  message.set_detail(ToWire(kOverlapDetails, options.detail));
  EncodeMask(options.mask, message);
}

void EncodeItemErrors(const std::vector<ItemError>& errors,
                      RepeatedPtrField<v1::ItemError>* messages) {
  messages->Clear();
  for (const ItemError& error : errors) {
    v1::ItemError& message = *messages->Add();
    message.set_index(error.index);
    message.set_code(static_cast<int>(absl::StatusCode::kInvalidArgument));
    message.set_field(Name(error.column));
    message.set_message(Description(error.fault));
    message.set_fault(ToWire(kItemFaults, error.fault));
  }
}

// One pass over the rows, all columns at once: the rows are the larger side, and are read once.
void EncodeHits(const std::vector<CastHit>& hits, v1::CastAnswers& message) {
  const size_t count = hits.size();
  uint64_t* polygon_id = Rows(message.mutable_polygon_id(), count);
  uint32_t* ring = Rows(message.mutable_ring(), count);
  uint32_t* edge = Rows(message.mutable_edge(), count);
  int* feature = Rows(message.mutable_feature(), count);
  double* fraction = Rows(message.mutable_fraction(), count);
  double* point_x = Rows(message.mutable_point_x(), count);
  double* point_y = Rows(message.mutable_point_y(), count);
  double* normal_x = Rows(message.mutable_normal_x(), count);
  double* normal_y = Rows(message.mutable_normal_y(), count);
  bool* starts_inside = Rows(message.mutable_starts_inside(), count);
  bool* ends_inside = Rows(message.mutable_ends_inside(), count);
  double* exit_fraction = Rows(message.mutable_exit_fraction(), count);
  bool* has_exit_edge = Rows(message.mutable_has_exit_edge(), count);
  uint32_t* exit_ring = Rows(message.mutable_exit_ring(), count);
  uint32_t* exit_edge = Rows(message.mutable_exit_edge(), count);
  double* exit_normal_x = Rows(message.mutable_exit_normal_x(), count);
  double* exit_normal_y = Rows(message.mutable_exit_normal_y(), count);
  for (size_t i = 0; i < count; ++i) {
    const CastHit& hit = hits[i];
    const bool has_edge = hit.feature != Feature::kNone;
    polygon_id[i] = hit.polygon_id;
    ring[i] = has_edge ? hit.edge.ring : 0;
    edge[i] = has_edge ? hit.edge.edge : 0;
    feature[i] = ToWire(kFeatures, hit.feature);
    fraction[i] = hit.fraction;
    point_x[i] = hit.point.x;
    point_y[i] = hit.point.y;
    normal_x[i] = hit.normal.x;
    normal_y[i] = hit.normal.y;
    starts_inside[i] = hit.starts_inside;
    ends_inside[i] = hit.ends_inside;
    exit_fraction[i] = hit.exit_fraction;
    has_exit_edge[i] = hit.has_exit_edge;
    exit_ring[i] = hit.has_exit_edge ? hit.exit_edge.ring : 0;
    exit_edge[i] = hit.has_exit_edge ? hit.exit_edge.edge : 0;
    exit_normal_x[i] = hit.exit_normal.x;
    exit_normal_y[i] = hit.exit_normal.y;
  }
}

void EncodeCastAnswers(const CastAnswers& answers, v1::CastAnswers& message) {
  message.Clear();
  CopyColumn(answers.counts, message.mutable_counts());
  CopyColumn(answers.truncated, message.mutable_truncated());
  EncodeItemErrors(answers.errors, message.mutable_errors());
  EncodeHits(answers.hits, message);
}

void EncodeLocateAnswers(const LocateAnswers& answers, v1::LocateAnswers& message) {
  message.Clear();
  CopyColumn(answers.counts, message.mutable_counts());
  EncodeItemErrors(answers.errors, message.mutable_errors());
  CopyColumn(answers.polygon_ids, message.mutable_polygon_id());
  int* location = Rows(message.mutable_location(), answers.locations.size());
  for (size_t i = 0; i < answers.locations.size(); ++i) {
    location[i] = ToWire(kLocations, answers.locations[i]);
  }
}

void EncodeOverlapAnswers(const OverlapAnswers& answers, v1::OverlapAnswers& message) {
  message.Clear();
  CopyColumn(answers.counts, message.mutable_counts());
  EncodeItemErrors(answers.errors, message.mutable_errors());
  CopyColumn(answers.polygon_ids, message.mutable_polygon_id());
  bool* touching = Rows(message.mutable_touching(), answers.touching.size());
  for (size_t i = 0; i < answers.touching.size(); ++i) touching[i] = answers.touching[i] != 0;
  CopyColumn(answers.edge_counts, message.mutable_edge_counts());
  uint32_t* ring = Rows(message.mutable_ring(), answers.edges.size());
  uint32_t* edge = Rows(message.mutable_edge(), answers.edges.size());
  for (size_t i = 0; i < answers.edges.size(); ++i) {
    ring[i] = answers.edges[i].ring;
    edge[i] = answers.edges[i].edge;
  }
}

}  // namespace

void EncodePolygon(const Polygon& polygon, v1::Polygon& message) {
  message.Clear();
  message.set_id(polygon.id());
  for (size_t i = 0; i < polygon.ring_count(); ++i) {
    EncodeRing(polygon.ring(i), polygon.is_open(i), *message.add_rings());
  }
  message.set_fill_rule(ToWire(kFillRules, polygon.fill_rule()));
  message.set_solidity(ToWire(kSolidities, polygon.solidity()));
  if (polygon.category() != 1) message.set_category(polygon.category());
  message.set_user_data(polygon.user_data());
}

void EncodeEdit(const SceneEdit& edit, v1::Edit& message) {
  if (const auto* add = std::get_if<AddPolygon>(&edit)) {
    EncodePolygon(add->polygon, *message.mutable_add());
  } else if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) {
    EncodePolygon(replace->polygon, *message.mutable_replace());
  } else {
    message.set_remove(std::get<RemovePolygon>(edit).id);
  }
}

void EncodeGroup(const Group& group, v1::Group& message) {
  if (group.segments.size() > 0) {
    EncodeSegments(group.segments, group.cast_options, *message.mutable_segments());
  } else {
    message.clear_segments();
  }
  if (group.points.size() > 0) {
    EncodePoints(group.points, group.point_mask, *message.mutable_points());
  } else {
    message.clear_points();
  }
  if (group.circles.size() > 0) {
    EncodeCircles(group.circles, group.circle_options, *message.mutable_circles());
  } else {
    message.clear_circles();
  }
  if (group.polygons.size() > 0) {
    EncodePolygons(group.polygons, group.polygon_options, *message.mutable_polygons());
  } else {
    message.clear_polygons();
  }
}

// Columns of a batch that is asked again keep their memory; those of one that is not are freed, as
// absence and memory exclude each other in a message.
void EncodeGroupAnswers(const Group& group, const GroupAnswers& answers, v1::GroupAnswer& message) {
  message.clear_status();
  message.set_version(answers.version);
  if (group.segments.size() > 0) {
    EncodeCastAnswers(answers.segments, *message.mutable_segments());
  } else {
    message.clear_segments();
  }
  if (group.points.size() > 0) {
    EncodeLocateAnswers(answers.points, *message.mutable_points());
  } else {
    message.clear_points();
  }
  if (group.circles.size() > 0) {
    EncodeOverlapAnswers(answers.circles, *message.mutable_circles());
  } else {
    message.clear_circles();
  }
  if (group.polygons.size() > 0) {
    EncodeOverlapAnswers(answers.polygons, *message.mutable_polygons());
  } else {
    message.clear_polygons();
  }
}

void EncodeScene(absl::string_view name, const Scene& scene, v1::Scene& message) {
  message.Clear();
  message.set_name(name.data(), name.size());
  message.set_version(scene.version());
  message.set_polygon_count(scene.polygon_count());
  message.set_vertex_count(scene.vertex_count());
  if (scene.bounds().empty()) return;
  v1::Bounds& bounds = *message.mutable_bounds();
  bounds.set_min_x(scene.bounds().min.x);
  bounds.set_min_y(scene.bounds().min.y);
  bounds.set_max_x(scene.bounds().max.x);
  bounds.set_max_y(scene.bounds().max.y);
}

}  // namespace carom::wire
