// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes and buffers of carom.h.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "abi/call.h"
#include "abi/column_reader.h"
#include "abi/handles.h"
#include "abi/limits.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/bundle.h"
#include "carom/bundle_file.h"

namespace carom::abi {
namespace {

// Sets `out` to a handle of `scene`.
absl::Status Give(absl::StatusOr<Scene::Ptr> scene, carom_scene** out) {
  if (!scene.ok()) return scene.status();
  *out = New<carom_scene>();
  (*out)->scene = *std::move(scene);
  return absl::OkStatus();
}

// Checks a scene and a parameter for a result.
absl::Status Check(const carom_scene* scene, carom_scene** out) {
  absl::Status status = CheckOut(out);
  status.Update(CheckHandle(scene, "scene"));
  return status;
}

template <class Edit>
absl::Status AddEdits(const carom_polygon_set* set, const char* field,
                      std::vector<SceneEdit>& edits) {
  if (set == nullptr) return absl::OkStatus();
  if (absl::Status status = CheckHandle(set, field); !status.ok()) return status;
  for (const Polygon& polygon : set->polygons) edits.emplace_back(Edit{polygon});
  return absl::OkStatus();
}

// Sets `version` to that of the scene after the edits.
absl::StatusOr<std::vector<SceneEdit>> ReadEdits(const carom_edits* given, uint64_t& version) {
  carom_edits copy;
  const carom_edits* edits = nullptr;
  absl::Status status = Whole(given, "edits", copy, edits);
  if (!status.ok()) return status;
  version = edits->version;
  std::vector<SceneEdit> result;
  status.Update(AddEdits<AddPolygon>(edits->added, "edits.added", result));
  status.Update(AddEdits<ReplacePolygon>(edits->replaced, "edits.replaced", result));
  if (!status.ok()) return status;
  ColumnStorage storage;
  Refusal refusal;
  ColumnReader reader("edits", storage, refusal);
  std::span<const uint64_t> removed;
  reader.CheckReserved(edits->reserved);
  reader.Read("removed", edits->removed, removed);
  if (!refusal.empty()) return refusal.status();
  for (const uint64_t id : removed) result.emplace_back(RemovePolygon{id});
  return result;
}

absl::StatusOr<BundleReadOptions> ReadOptions(const carom_limits* limits) {
  Limits read;
  if (absl::Status status = ReadLimits(limits, read); !status.ok()) return status;
  return BundleReadOptions{.limits = read.scene, .polygon_limits = read.polygon, .workers = {}};
}

// Returns the status of an operation on a file: a fault of the file system names `path`, and is
// NOT_FOUND or FAILED_PRECONDITION.
absl::Status OfFile(const absl::Status& status) {
  if (status.ok() || !Violations(status).empty()) return status;
  const bool is_missing = absl::IsNotFound(status);
  return Refused(is_missing ? absl::StatusCode::kNotFound : absl::StatusCode::kFailedPrecondition,
                 "path", status.message());
}

// Returns polygon `index` of a scene.
absl::StatusOr<const Polygon*> PolygonAt(const carom_scene* scene, size_t index,
                                         const char* field) {
  if (absl::Status status = CheckHandle(scene, "scene"); !status.ok()) return status;
  if (index >= scene->scene->polygon_count()) {
    return InvalidField(field, "must be below the number of polygons");
  }
  return &scene->scene->polygon(index);
}

// The column of one coordinate of vertices.
carom_f64_column CoordinatesOf(std::span<const Vec2> vertices, double Vec2::*coordinate) {
  if (vertices.empty()) return {};
  return {&(vertices[0].*coordinate), vertices.size(), sizeof(Vec2) / sizeof(double)};
}

}  // namespace
}  // namespace carom::abi

using namespace carom::abi;  // NOLINT: the functions of carom.h are in no namespace

uint32_t carom_scene_create(const carom_polygon_set* polygons, uint64_t version,
                            const carom_limits* limits, carom_scene** out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    Limits read;
    absl::Status checked = CheckOut(out);
    checked.Update(CheckHandle(polygons, "polygons"));
    checked.Update(ReadLimits(limits, read));
    if (!checked.ok()) return checked;
    return Give(carom::Scene::Create(polygons->polygons, version, read.scene), out);
  });
}

uint32_t carom_scene_copy(const carom_scene* scene, carom_scene** out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    absl::Status checked = Check(scene, out);
    return checked.ok() ? Give(scene->scene, out) : checked;
  });
}

uint32_t carom_scene_with_version(const carom_scene* scene, uint64_t version, carom_scene** out,
                                  carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    absl::Status checked = Check(scene, out);
    return checked.ok() ? Give(scene->scene->WithVersion(version), out) : checked;
  });
}

void carom_scene_destroy(carom_scene* scene) { Destroy(scene); }

uint32_t carom_scene_commit(const carom_scene* scene, const carom_edits* edits,
                            const carom_limits* limits, carom_scene** out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    Limits read;
    absl::Status checked = Check(scene, out);
    checked.Update(ReadLimits(limits, read));
    if (!checked.ok()) return checked;
    uint64_t version = 0;
    auto changes = ReadEdits(edits, version);
    if (!changes.ok()) return changes.status();
    return Give(scene->scene->Commit(*std::move(changes), version, read.scene), out);
  });
}

uint64_t carom_scene_version(const carom_scene* scene) {
  return CheckHandle(scene, "").ok() ? scene->scene->version() : 0;
}

size_t carom_scene_polygon_count(const carom_scene* scene) {
  return CheckHandle(scene, "").ok() ? scene->scene->polygon_count() : 0;
}

size_t carom_scene_vertex_count(const carom_scene* scene) {
  return CheckHandle(scene, "").ok() ? scene->scene->vertex_count() : 0;
}

uint32_t carom_scene_bounds(const carom_scene* scene, carom_box* out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckHandle(scene, "scene"); !checked.ok()) return checked;
    if (out == nullptr) return carom::InvalidField("out", "must not be null");
    const carom::Box& box = scene->scene->bounds();
    *out = {box.min.x, box.min.y, box.max.x, box.max.y};
    return absl::OkStatus();
  });
}

uint32_t carom_scene_polygon(const carom_scene* scene, size_t index, carom_polygon* out,
                             carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    const auto found = PolygonAt(scene, index, "index");
    if (!found.ok()) return found.status();
    const carom::Polygon& polygon = **found;
    const bool is_even_odd = polygon.fill_rule() == carom::FillRule::kEvenOdd;
    const bool is_solid = polygon.solidity() == carom::Solidity::kSolid;
    carom_polygon result{};
    result.fill_rule = is_even_odd ? CAROM_FILL_RULE_EVEN_ODD : CAROM_FILL_RULE_NON_ZERO;
    result.solidity = is_solid ? CAROM_SOLIDITY_SOLID : CAROM_SOLIDITY_BOUNDARY;
    result.id = polygon.id();
    result.category = polygon.category();
    result.ring_count = polygon.ring_count();
    result.user_data_size = polygon.user_data().size();
    result.user_data = polygon.user_data().data();
    return WriteStruct(result, out, "out");
  });
}

uint32_t carom_scene_find(const carom_scene* scene, uint64_t id, size_t* out,
                          carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckHandle(scene, "scene"); !checked.ok()) return checked;
    if (out == nullptr) return carom::InvalidField("out", "must not be null");
    const carom::Scene& found = *scene->scene;
    size_t begin = 0;  // binary search by ids, which ascend
    for (size_t left = found.polygon_count(); left > 0;) {
      const size_t half = left / 2;
      if (found.polygon(begin + half).id() < id) {
        begin += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    if (begin == found.polygon_count() || found.polygon(begin).id() != id) {
      return carom::Refused(absl::StatusCode::kNotFound, "id", "no polygon has this id");
    }
    *out = begin;
    return absl::OkStatus();
  });
}

uint32_t carom_scene_ring(const carom_scene* scene, size_t polygon, size_t ring, carom_ring* out,
                          carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    const auto found = PolygonAt(scene, polygon, "polygon");
    if (!found.ok()) return found.status();
    if (ring >= (*found)->ring_count()) {
      return carom::InvalidField("ring", "must be below the number of rings");
    }
    const std::span<const carom::Vec2> vertices = (*found)->ring(ring);
    carom_ring result{};
    result.open = (*found)->is_open(ring) ? 1 : 0;
    result.x = CoordinatesOf(vertices, &carom::Vec2::x);
    result.y = CoordinatesOf(vertices, &carom::Vec2::y);
    return WriteStruct(result, out, "out");
  });
}

uint32_t carom_scene_from_bundle(const void* bytes, size_t size, const carom_limits* limits,
                                 carom_scene** out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    if (bytes == nullptr) return carom::InvalidField("bytes", "must not be null");
    auto options = ReadOptions(limits);
    if (!options.ok()) return options.status();
    return Give(carom::ReadBundle({static_cast<const char*>(bytes), size}, *options), out);
  });
}

uint32_t carom_scene_open_bundle(const char* path, const carom_limits* limits, carom_scene** out,
                                 carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    if (path == nullptr) return carom::InvalidField("path", "must not be null");
    auto options = ReadOptions(limits);
    if (!options.ok()) return options.status();
    auto opened = carom::OpenBundle(path, *options);
    if (!opened.ok()) return OfFile(opened.status());
    return Give(std::move(opened), out);
  });
}

uint32_t carom_scene_to_bundle(const carom_scene* scene, carom_buffer* out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    absl::Status checked = CheckHandle(scene, "scene");
    checked.Update(CheckHandle(out, "out"));
    if (checked.ok()) out->bytes = carom::WriteBundle(*scene->scene);
    return checked;
  });
}

uint32_t carom_scene_save_bundle(const carom_scene* scene, const char* path, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckHandle(scene, "scene"); !checked.ok()) return checked;
    if (path == nullptr) return carom::InvalidField("path", "must not be null");
    return OfFile(carom::SaveBundle(*scene->scene, path));
  });
}

uint32_t carom_buffer_create(carom_buffer** out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    *out = New<carom_buffer>();
    return absl::OkStatus();
  });
}

void carom_buffer_destroy(carom_buffer* buffer) { Destroy(buffer); }

const char* carom_buffer_data(const carom_buffer* buffer) {
  return CheckHandle(buffer, "").ok() ? buffer->bytes.data() : nullptr;
}

size_t carom_buffer_size(const carom_buffer* buffer) {
  return CheckHandle(buffer, "").ok() ? buffer->bytes.size() : 0;
}
