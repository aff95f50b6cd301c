// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/polygon.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/batch.h"
#include "carom/status.h"
#include "place_vertices.h"

namespace carom {
namespace {

void CheckRing(size_t index, const RingSpec& ring, Solidity solidity, Refusal& refusal) {
  if (ring.vertices.empty()) {
    refusal.Add(absl::StrCat("rings[", index, "]"), "must have at least one vertex");
  }
  if (ring.open && solidity == Solidity::kSolid) {
    refusal.Add(absl::StrCat("rings[", index, "].open"),
                "must be false in a SOLID polygon: only BOUNDARY polygons have open chains");
  }
  for (size_t i = 0; i < ring.vertices.size(); ++i) {
    const Vec2 p = ring.vertices[i];
    if (!IsAccepted(p.x)) {
      refusal.Add(absl::StrCat("rings[", index, "].x[", i, "]"),
                  Description(ItemFault::kNotAccepted));
    }
    if (!IsAccepted(p.y)) {
      refusal.Add(absl::StrCat("rings[", index, "].y[", i, "]"),
                  Description(ItemFault::kNotAccepted));
    }
  }
}

absl::Status CheckSize(const PolygonSpec& spec, const PolygonLimits& limits) {
  size_t vertices = 0;
  for (const RingSpec& ring : spec.rings) vertices += ring.vertices.size();
  if (vertices > limits.max_vertices) {
    return Refused(absl::StatusCode::kResourceExhausted, "rings",
                   absl::StrCat("must have at most ", limits.max_vertices,
                                " vertices in all (vertices a polygon)"));
  }
  if (spec.user_data.size() > limits.max_user_data_bytes) {
    return Refused(absl::StatusCode::kResourceExhausted, "user_data",
                   absl::StrCat("must be at most ", limits.max_user_data_bytes,
                                " bytes (user data a polygon)"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Polygon> Polygon::Create(PolygonSpec spec, const PolygonLimits& limits) {
  if (absl::Status size = CheckSize(spec, limits); !size.ok()) return size;
  Refusal refusal;
  if (spec.rings.empty()) refusal.Add("rings", "must have at least one ring");
  for (size_t i = 0; i < spec.rings.size(); ++i) {
    CheckRing(i, spec.rings[i], spec.solidity, refusal);
  }
  if (!refusal.empty()) return refusal.status();

  Polygon polygon;
  polygon.id_ = spec.id;
  polygon.category_ = spec.category;
  polygon.fill_rule_ = spec.fill_rule;
  polygon.solidity_ = spec.solidity;
  polygon.user_data_ = std::move(spec.user_data);
  for (RingSpec& ring : spec.rings) {
    for (Vec2& p : ring.vertices) p = Normalized(p);
    std::span<const Vec2> vertices = ring.vertices;
    if (!ring.open && vertices.size() >= 2 && vertices.front() == vertices.back()) {
      vertices = vertices.first(vertices.size() - 1);
    }
    polygon.AppendRing(vertices, ring.open);
  }
  return polygon;
}

void Polygon::AppendRing(std::span<const Vec2> vertices, bool open) {
  const auto first = static_cast<uint32_t>(vertices_.size());
  const auto count = static_cast<uint32_t>(vertices.size());
  rings_.push_back({first, count, static_cast<uint32_t>(tail_.size()), open});
  for (const Vec2 p : vertices) {
    vertices_.push_back(p);
    bounds_.Extend(p);
  }
  const uint32_t edges = open && count > 1 ? count - 1 : count;
  for (uint32_t i = 0; i < edges; ++i) {
    tail_.push_back(first + i);
    next_.push_back(first + (i + 1 == count ? 0 : i + 1));
  }
}

EdgeRef Polygon::edge_ref(size_t index) const {
  const auto after =
      std::upper_bound(rings_.begin(), rings_.end(), index,
                       [](size_t edge, const Ring& ring) { return edge < ring.first_edge; });
  const auto ring = static_cast<uint32_t>(after - rings_.begin() - 1);
  return {ring, static_cast<uint32_t>(index) - rings_[ring].first_edge};
}

PolygonSpec Polygon::spec() const {
  PolygonSpec spec{id_, {}, fill_rule_, solidity_, category_, user_data_};
  for (size_t i = 0; i < ring_count(); ++i) {
    const std::span<const Vec2> vertices = ring(i);
    RingSpec described{{vertices.begin(), vertices.end()}, is_open(i)};
    if (!described.open && vertices.size() >= 2 && vertices.front() == vertices.back()) {
      described.vertices.push_back(vertices.front());
    }
    spec.rings.push_back(std::move(described));
  }
  return spec;
}

absl::StatusOr<Polygon> PlacedPolygon(const Polygon& shape, const Pose& pose) {
  Polygon placed = shape;
  placed.bounds_ = internal::PlaceVertices(pose, placed.vertices_);
  if (!IsAccepted(placed.bounds_.min) || !IsAccepted(placed.bounds_.max)) {
    return InvalidField("", Description(ItemFault::kPlacedOutOfRange));
  }
  return placed;
}

}  // namespace carom
