// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/scene.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/types/variant.h"
#include "box_hierarchy.h"
#include "carom/status.h"
#include "indexed_polygon.h"

namespace carom {
namespace {

using Shared = std::shared_ptr<const IndexedPolygon>;

bool ById(const Shared& a, const Shared& b) { return a->polygon().id() < b->polygon().id(); }

absl::Status CheckLimits(size_t polygons, size_t vertices, const SceneLimits& limits) {
  if (polygons > limits.max_polygons) {
    return Refused(absl::StatusCode::kResourceExhausted, "polygons",
                   absl::StrCat("must be at most ", limits.max_polygons, " (polygons a scene)"));
  }
  if (vertices > limits.max_vertices) {
    return Refused(
        absl::StatusCode::kResourceExhausted, "polygons",
        absl::StrCat("must have at most ", limits.max_vertices, " vertices (vertices a scene)"));
  }
  return absl::OkStatus();
}

// Spreads the low 32 bits to the even positions.
uint64_t Spread(uint64_t v) {
  v = (v | (v << 16)) & 0x0000ffff0000ffff;
  v = (v | (v << 8)) & 0x00ff00ff00ff00ff;
  v = (v | (v << 4)) & 0x0f0f0f0f0f0f0f0f;
  v = (v | (v << 2)) & 0x3333333333333333;
  return (v | (v << 1)) & 0x5555555555555555;
}

// The position of `value` between `min` and `max` in [0, 2^32).
uint64_t Cell(double value, double min, double max) {
  if (!(max > min)) return 0;
  const double cell = (value - min) / (max - min) * 0x1p32;
  return static_cast<uint64_t>(std::clamp(cell, 0.0, 0x1p32 - 1));
}

// Polygon indices along a Z-order curve over the centres of their boxes (Morton 1966): neighbours
// in the order are neighbours in the plane. Only speed depends on it.
std::vector<uint32_t> CurveOrder(const std::vector<Shared>& polygons, const Box& bounds) {
  std::vector<std::pair<uint64_t, uint32_t>> keyed(polygons.size());
  for (size_t i = 0; i < polygons.size(); ++i) {
    const Box& box = polygons[i]->polygon().bounds();
    const uint64_t x = Cell(box.min.x / 2 + box.max.x / 2, bounds.min.x, bounds.max.x);
    const uint64_t y = Cell(box.min.y / 2 + box.max.y / 2, bounds.min.y, bounds.max.y);
    keyed[i] = {Spread(x) | (Spread(y) << 1), static_cast<uint32_t>(i)};
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<uint32_t> order(keyed.size());
  for (size_t i = 0; i < keyed.size(); ++i) order[i] = keyed[i].second;
  return order;
}

uint64_t EditedId(const SceneEdit& edit) {
  if (const auto* add = std::get_if<AddPolygon>(&edit)) return add->polygon.id();
  if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) return replace->polygon.id();
  return std::get<RemovePolygon>(edit).id;
}

const char* IdField(const SceneEdit& edit) {
  if (std::holds_alternative<AddPolygon>(edit)) return "add.id";
  return std::holds_alternative<ReplacePolygon>(edit) ? "replace.id" : "remove";
}

// The checks of `Scene::Commit` in the order of precedence that it states.
absl::Status CheckEdits(const Scene& scene, const std::vector<SceneEdit>& edits) {
  Refusal twice;
  Refusal exists;
  Refusal missing;
  absl::flat_hash_set<uint64_t> seen;
  for (size_t i = 0; i < edits.size(); ++i) {
    const uint64_t id = EditedId(edits[i]);
    const std::string field = absl::StrCat("edits[", i, "].", IdField(edits[i]));
    if (!seen.insert(id).second) {
      twice.Add(field, "must not occur twice in one commit");
      continue;
    }
    const bool present = scene.Find(id) != nullptr;
    const bool adds = std::holds_alternative<AddPolygon>(edits[i]);
    if (adds && present) exists.Add(field, "is in the scene already");
    if (!adds && !present) missing.Add(field, "is not in the scene");
  }
  if (!twice.empty()) return twice.status();
  if (!exists.empty()) return exists.status(absl::StatusCode::kAlreadyExists);
  return missing.status(absl::StatusCode::kNotFound);
}

}  // namespace

Scene::Scene(std::vector<Shared> polygons, uint64_t version)
    : version_(version), polygons_(std::move(polygons)) {
  for (const Shared& indexed : polygons_) {
    vertex_count_ += indexed->polygon().vertex_count();
    bounds_.Extend(indexed->polygon().bounds());
  }
  order_ = CurveOrder(polygons_, bounds_);
  hierarchy_ = std::make_unique<const BoxHierarchy>(
      order_.size(), [this](size_t i) { return polygons_[order_[i]]->polygon().bounds(); });
}

Scene::~Scene() = default;

absl::StatusOr<Scene::Ptr> Scene::Create(std::vector<Polygon> polygons, uint64_t version,
                                         const SceneLimits& limits) {
  size_t vertices = 0;
  absl::flat_hash_set<uint64_t> seen;
  Refusal refusal;
  for (size_t i = 0; i < polygons.size(); ++i) {
    vertices += polygons[i].vertex_count();
    if (!seen.insert(polygons[i].id()).second) {
      refusal.Add(absl::StrCat("polygons[", i, "].id"), "must be unique in the scene");
    }
  }
  if (absl::Status status = CheckLimits(polygons.size(), vertices, limits); !status.ok()) {
    return status;
  }
  if (!refusal.empty()) return refusal.status();
  std::vector<Shared> shared;
  shared.reserve(polygons.size());
  for (Polygon& polygon : polygons) {
    shared.push_back(std::make_shared<const IndexedPolygon>(std::move(polygon)));
  }
  std::sort(shared.begin(), shared.end(), ById);
  return Ptr(new Scene(std::move(shared), version));
}

absl::StatusOr<Scene::Ptr> Scene::Commit(std::vector<SceneEdit> edits, uint64_t version,
                                         const SceneLimits& limits) const {
  if (absl::Status status = CheckEdits(*this, edits); !status.ok()) return status;
  absl::flat_hash_set<uint64_t> gone;
  std::vector<Shared> arriving;
  for (SceneEdit& edit : edits) {
    if (!std::holds_alternative<AddPolygon>(edit)) gone.insert(EditedId(edit));
    if (auto* add = std::get_if<AddPolygon>(&edit)) {
      arriving.push_back(std::make_shared<const IndexedPolygon>(std::move(add->polygon)));
    } else if (auto* replace = std::get_if<ReplacePolygon>(&edit)) {
      arriving.push_back(std::make_shared<const IndexedPolygon>(std::move(replace->polygon)));
    }
  }
  std::sort(arriving.begin(), arriving.end(), ById);
  std::vector<Shared> staying;
  staying.reserve(polygons_.size() + arriving.size());
  for (const Shared& indexed : polygons_) {
    if (!gone.contains(indexed->polygon().id())) staying.push_back(indexed);
  }
  std::vector<Shared> merged(staying.size() + arriving.size());
  std::merge(staying.begin(), staying.end(), arriving.begin(), arriving.end(), merged.begin(),
             ById);
  size_t vertices = 0;
  for (const Shared& indexed : merged) vertices += indexed->polygon().vertex_count();
  if (absl::Status status = CheckLimits(merged.size(), vertices, limits); !status.ok()) {
    return status;
  }
  return Ptr(new Scene(std::move(merged), version));
}

const Polygon* Scene::Find(uint64_t id) const {
  const auto found =
      std::lower_bound(polygons_.begin(), polygons_.end(), id,
                       [](const Shared& a, uint64_t b) { return a->polygon().id() < b; });
  if (found == polygons_.end() || (*found)->polygon().id() != id) return nullptr;
  return &(*found)->polygon();
}

const Polygon& Scene::polygon(size_t index) const { return polygons_[index]->polygon(); }

}  // namespace carom
