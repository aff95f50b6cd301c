// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/scene.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/variant.h"
#include "carom/status.h"
#include "index/edit_history.h"
#include "index/scene_index.h"

namespace carom {
namespace {

using internal::EditHistory;
using internal::SceneIndex;

uint64_t EditedId(const SceneEdit& edit) {
  if (const auto* add = std::get_if<AddPolygon>(&edit)) return add->polygon.id();
  if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) return replace->polygon.id();
  return std::get<RemovePolygon>(edit).id;
}

// Returns the polygon that the edit adds; null for a removal.
const Polygon* ArrivingPolygon(const SceneEdit& edit) {
  if (const auto* add = std::get_if<AddPolygon>(&edit)) return &add->polygon;
  const auto* replace = std::get_if<ReplacePolygon>(&edit);
  return replace == nullptr ? nullptr : &replace->polygon;
}

// Returns the field path of the polygon id within an edit of a commit request, for error messages.
const char* IdField(const SceneEdit& edit) {
  if (std::holds_alternative<AddPolygon>(edit)) return "add.id";
  return std::holds_alternative<ReplacePolygon>(edit) ? "replace.id" : "remove";
}

// Returns the error of the first check that fails, for all edits that fail it: no polygon id occurs
// in two edits; no id of an added polygon is in the scene; each id of a replaced or removed polygon
// is in the scene. Returns OK if no check fails.
absl::Status CheckEdits(const Scene& scene, std::span<const SceneEdit> edits) {
  Refusal twice;
  Refusal exists;
  Refusal missing;
  std::unordered_set<uint64_t> seen;
  for (size_t i = 0; i < edits.size(); ++i) {
    const uint64_t id = EditedId(edits[i]);
    const auto field = [&] { return absl::StrCat("edits[", i, "].", IdField(edits[i])); };
    if (!seen.insert(id).second) {
      twice.Add(field(), "must not occur twice in one commit");
      continue;
    }
    const bool present = scene.Find(id) != nullptr;
    const bool adds = std::holds_alternative<AddPolygon>(edits[i]);
    if (adds && present) exists.Add(field(), "is in the scene already");
    if (!adds && !present) missing.Add(field(), "is not in the scene");
  }
  if (!twice.empty()) return twice.status();
  if (!exists.empty()) return exists.status(absl::StatusCode::kAlreadyExists);
  return missing.status(absl::StatusCode::kNotFound);
}

// Returns OK if all ids are distinct, else an error that names each polygon that has the same id as
// an earlier polygon of `polygons`.
absl::Status CheckIds(const std::vector<Polygon>& polygons) {
  std::vector<uint64_t> ids(polygons.size());
  for (size_t i = 0; i < polygons.size(); ++i) ids[i] = polygons[i].id();
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) == ids.end()) return absl::OkStatus();
  std::unordered_set<uint64_t> seen;
  Refusal refusal;
  for (size_t i = 0; i < polygons.size(); ++i) {
    if (!seen.insert(polygons[i].id()).second) {
      refusal.Add(absl::StrCat("polygons[", i, "].id"), "must be unique in the scene");
    }
  }
  return refusal.status();
}

// Builds an index from scratch for the polygons of the scene without the polygons `removed`, and
// with the polygons `arriving`.
std::unique_ptr<const SceneIndex> Rebuilt(const Scene& scene,
                                          const std::vector<const Polygon*>& removed,
                                          std::vector<Polygon> arriving) {
  std::unordered_set<uint64_t> removed_ids;
  for (const Polygon* polygon : removed) removed_ids.insert(polygon->id());
  std::vector<Polygon> polygons = std::move(arriving);
  polygons.reserve(polygons.size() + scene.polygon_count());
  for (size_t i = 0; i < scene.polygon_count(); ++i) {
    if (!removed_ids.contains(scene.polygon(i).id())) polygons.push_back(scene.polygon(i));
  }
  return std::make_unique<const SceneIndex>(std::move(polygons), Workers{});
}

}  // namespace

absl::Status SceneLimits::Check(size_t polygons, size_t vertices) const {
  if (polygons > max_polygons) {
    return Refused(absl::StatusCode::kResourceExhausted, "polygons",
                   absl::StrCat("must be at most ", max_polygons, " (polygons a scene)"));
  }
  if (vertices > max_vertices) {
    return Refused(
        absl::StatusCode::kResourceExhausted, "polygons",
        absl::StrCat("must have at most ", max_vertices, " vertices (vertices a scene)"));
  }
  return absl::OkStatus();
}

Scene::Scene(std::shared_ptr<const SceneIndex> index, std::shared_ptr<const EditHistory> history,
             uint64_t version)
    : version_(version), index_(std::move(index)), history_(std::move(history)) {}

Scene::~Scene() = default;

size_t Scene::polygon_count() const { return index_->polygon_count(); }
size_t Scene::vertex_count() const { return index_->vertex_count(); }
const Box& Scene::bounds() const { return index_->bounds(); }
const Polygon* Scene::Find(uint64_t id) const { return index_->Find(id); }
const Polygon& Scene::polygon(size_t index) const { return index_->polygon(index); }

absl::StatusOr<Scene::Ptr> Scene::Create(std::vector<Polygon> polygons, uint64_t version,
                                         const SceneLimits& limits, const Workers& workers) {
  size_t vertices = 0;
  for (const Polygon& polygon : polygons) vertices += polygon.vertex_count();
  if (absl::Status status = limits.Check(polygons.size(), vertices); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckIds(polygons); !status.ok()) return status;
  return Ptr(new Scene(std::make_unique<const SceneIndex>(std::move(polygons), workers),
                       std::make_unique<const EditHistory>(), version));
}

Scene::Ptr internal::SceneOf(std::unique_ptr<const SceneIndex> index, uint64_t version) {
  return Scene::Ptr(new Scene(std::move(index), std::make_unique<const EditHistory>(), version));
}

absl::Status Scene::CheckCommit(std::span<const SceneEdit> edits, const SceneLimits& limits) const {
  if (absl::Status status = CheckEdits(*this, edits); !status.ok()) return status;
  size_t polygons = polygon_count();
  size_t vertices = vertex_count();
  for (const SceneEdit& edit : edits) {
    if (!std::holds_alternative<AddPolygon>(edit)) {
      vertices -= Find(EditedId(edit))->vertex_count();
      --polygons;
    }
    if (const Polygon* const next = ArrivingPolygon(edit)) {
      vertices += next->vertex_count();
      ++polygons;
    }
  }
  return limits.Check(polygons, vertices);
}

// Builds an index only after all checks have passed, since a commit applies as a whole or not at
// all. Rebuilds the whole index if more than half of the polygons change, or if an added polygon
// lies outside of the box of the space-filling curve that orders the index. Otherwise the index
// shares with the index of this scene the groups of polygons (tiles, and pages by id) that the
// edits do not change. The edit history records the boxes of the removed and of the added polygons:
// outside of these boxes this scene and the returned scene are equal.
absl::StatusOr<Scene::Ptr> Scene::Commit(std::vector<SceneEdit> edits, uint64_t version,
                                         const SceneLimits& limits) const {
  if (absl::Status status = CheckCommit(edits, limits); !status.ok()) return status;
  std::vector<const Polygon*> removed;
  std::vector<Polygon> arriving;
  for (SceneEdit& edit : edits) {
    if (!std::holds_alternative<AddPolygon>(edit)) removed.push_back(Find(EditedId(edit)));
    if (auto* add = std::get_if<AddPolygon>(&edit)) {
      arriving.push_back(std::move(add->polygon));
    } else if (auto* replace = std::get_if<ReplacePolygon>(&edit)) {
      arriving.push_back(std::move(replace->polygon));
    }
  }
  std::vector<Box> touched;
  touched.reserve(removed.size() + arriving.size());
  for (const Polygon* polygon : removed) touched.push_back(polygon->bounds());
  for (const Polygon& polygon : arriving) touched.push_back(polygon.bounds());
  const bool rebuilds =
      2 * edits.size() > polygon_count() ||
      !std::all_of(arriving.begin(), arriving.end(),
                   [this](const Polygon& polygon) { return index_->HasPlaceFor(polygon); });
  std::unique_ptr<const SceneIndex> index =
      rebuilds ? Rebuilt(*this, removed, std::move(arriving))
               : std::make_unique<const SceneIndex>(*index_, removed, std::move(arriving));
  return Ptr(new Scene(std::move(index),
                       std::make_unique<const EditHistory>(*history_, std::move(touched)),
                       version));
}

bool Scene::IsRebuiltBy(std::span<const SceneEdit> edits) const {
  return 2 * edits.size() > polygon_count() ||
         !std::all_of(edits.begin(), edits.end(), [this](const SceneEdit& edit) {
           const Polygon* const arriving = ArrivingPolygon(edit);
           return arriving == nullptr || index_->HasPlaceFor(*arriving);
         });
}

Scene::Ptr Scene::WithVersion(uint64_t version) const {
  return Ptr(new Scene(index_, history_, version));
}

size_t Scene::BytesBeyond(const Scene& base) const {
  return index_ == base.index_ ? 0 : index_->BytesBeyond(*base.index_);
}

}  // namespace carom
