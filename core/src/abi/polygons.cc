// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Polygon sets and shapes of carom.h.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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
#include "absl/strings/str_cat.h"

namespace carom::abi {
namespace {

constexpr FillRule kFillRules[] = {FillRule::kEvenOdd, FillRule::kEvenOdd, FillRule::kNonZero};
constexpr Solidity kSolidities[] = {Solidity::kSolid, Solidity::kSolid, Solidity::kBoundary};

// The columns of `carom_polygons`.
struct PolygonSpans {
  std::span<const uint64_t> id, category;
  std::span<const uint32_t> ring_count, ring_size, user_data_size;
  std::span<const double> x, y;
  std::span<const uint8_t> open, fill_rule, solidity, user_data;
};

uint64_t SumOf(std::span<const uint32_t> values) {
  uint64_t sum = 0;
  for (const uint32_t value : values) sum += value;
  return sum;
}

// Makes polygons of columns whose lengths fit.
class PolygonMaker {
 public:
  PolygonMaker(const PolygonSpans& columns, size_t count, const PolygonLimits& limits)
      : columns_(columns), count_(count), limits_(limits) {}

  absl::StatusOr<std::vector<Polygon>> Make() {
    std::vector<Polygon> polygons;
    polygons.reserve(count_);
    Refusal refusal;
    absl::StatusCode code = absl::StatusCode::kInvalidArgument;
    for (size_t i = 0; i < count_; ++i) {
      absl::StatusOr<Polygon> polygon = Polygon::Create(NextSpec(i, refusal), limits_);
      if (polygon.ok()) {
        polygons.push_back(*std::move(polygon));
        continue;
      }
      code = polygon.status().code();
      for (const Violation& violation : Violations(polygon.status())) {
        const char* const dot = violation.field.empty() ? "" : ".";
        refusal.Add(absl::StrCat("polygons[", i, "]", dot, violation.field), violation.description);
      }
    }
    if (!refusal.empty()) return refusal.status(code);
    return polygons;
  }

 private:
  PolygonSpec NextSpec(size_t i, Refusal& refusal) {
    PolygonSpec spec;
    spec.id = columns_.id.empty() ? i : columns_.id[i];
    if (!columns_.category.empty()) spec.category = columns_.category[i];
    spec.fill_rule = EnumAt(columns_.fill_rule, i, kFillRules, "fill_rule", refusal);
    spec.solidity = EnumAt(columns_.solidity, i, kSolidities, "solidity", refusal);
    const size_t rings = columns_.ring_count.empty() ? 1 : columns_.ring_count[i];
    for (size_t k = 0; k < rings; ++k) spec.rings.push_back(NextRing());
    if (!columns_.user_data_size.empty()) {
      const auto data = columns_.user_data.subspan(data_, columns_.user_data_size[i]);
      spec.user_data.assign(data.begin(), data.end());
      data_ += data.size();
    }
    return spec;
  }

  RingSpec NextRing() {
    RingSpec ring;
    const size_t size = columns_.ring_size.empty() ? columns_.x.size() : columns_.ring_size[ring_];
    ring.open = !columns_.open.empty() && columns_.open[ring_] != 0;
    ring.vertices.reserve(size);
    for (size_t end = vertex_ + size; vertex_ < end; ++vertex_) {
      ring.vertices.push_back({columns_.x[vertex_], columns_.y[vertex_]});
    }
    ++ring_;
    return ring;
  }

  template <class T, size_t kSize>
  static T EnumAt(std::span<const uint8_t> column, size_t i, const T (&values)[kSize],
                  const char* name, Refusal& refusal) {
    if (column.empty()) return values[0];
    if (column[i] < kSize) return values[column[i]];
    refusal.Add(absl::StrCat("polygons.", name, "[", i, "]"),
                absl::StrCat("must be in [0, ", kSize - 1, "]"));
    return values[0];
  }

  const PolygonSpans& columns_;
  const size_t count_;
  const PolygonLimits limits_;
  size_t ring_ = 0, vertex_ = 0, data_ = 0;  // the next ring, vertex, byte of user data
};

// Checks that the columns fit, and returns the number of polygons in `count`.
absl::Status CheckLengths(const PolygonSpans& columns, const SceneLimits& limits, size_t& count) {
  Refusal refusal;
  const auto expect = [&](const char* name, size_t size, uint64_t expected, bool optional) {
    if (size == expected || (optional && size == 0)) return;
    refusal.Add(
        absl::StrCat("polygons.", name),
        absl::StrCat(optional ? "must be empty or have " : "must have ", expected, " entries"));
  };
  const bool is_one_ring = columns.ring_size.empty();
  count = !columns.ring_count.empty() ? columns.ring_count.size()
          : is_one_ring               ? (columns.x.empty() ? 0 : 1)
                                      : columns.ring_size.size();
  const uint64_t rings = columns.ring_count.empty() ? count : SumOf(columns.ring_count);
  const uint64_t vertices = is_one_ring ? columns.x.size() : SumOf(columns.ring_size);
  if (!is_one_ring || rings != 1) expect("ring_size", columns.ring_size.size(), rings, false);
  expect("x", columns.x.size(), vertices, false);
  expect("y", columns.y.size(), vertices, false);
  expect("id", columns.id.size(), count, true);
  expect("open", columns.open.size(), rings, true);
  expect("fill_rule", columns.fill_rule.size(), count, true);
  expect("solidity", columns.solidity.size(), count, true);
  expect("category", columns.category.size(), count, true);
  expect("user_data_size", columns.user_data_size.size(), count, true);
  expect("user_data", columns.user_data.size(), SumOf(columns.user_data_size), false);
  if (!refusal.empty()) return refusal.status();
  return limits.Check(count, columns.x.size());
}

absl::StatusOr<std::vector<Polygon>> MakePolygons(const carom_polygons* given,
                                                  const carom_limits* given_limits) {
  carom_polygons copy;
  const carom_polygons* polygons = nullptr;
  absl::Status status = Whole(given, "polygons", copy, polygons);
  if (!status.ok()) return status;
  Limits limits;
  status = ReadLimits(given_limits, limits);
  if (!status.ok()) return status;
  ColumnStorage storage;
  Refusal refusal;
  ColumnReader reader("polygons", storage, refusal);
  PolygonSpans columns;
  reader.CheckReserved(polygons->reserved);
  reader.Read("id", polygons->id, columns.id);
  reader.Read("ring_count", polygons->ring_count, columns.ring_count);
  reader.Read("ring_size", polygons->ring_size, columns.ring_size);
  reader.Read("x", polygons->x, columns.x);
  reader.Read("y", polygons->y, columns.y);
  reader.Read("open", polygons->open, columns.open);
  reader.Read("fill_rule", polygons->fill_rule, columns.fill_rule);
  reader.Read("solidity", polygons->solidity, columns.solidity);
  reader.Read("category", polygons->category, columns.category);
  reader.Read("user_data_size", polygons->user_data_size, columns.user_data_size);
  reader.Read("user_data", polygons->user_data, columns.user_data);
  if (!refusal.empty()) return refusal.status();
  size_t count = 0;
  status = CheckLengths(columns, limits.scene, count);
  if (!status.ok()) return status;
  return PolygonMaker(columns, count, limits.polygon).Make();
}

absl::Status AddCapsules(const carom_capsules* given, std::vector<Shape>& shapes) {
  carom_capsules copy;
  const carom_capsules* capsules = nullptr;
  absl::Status status = Whole(given, "capsules", copy, capsules);
  if (!status.ok()) return status;
  ColumnStorage storage;
  Refusal refusal;
  ColumnReader reader("capsules", storage, refusal);
  std::span<const double> ax, ay, bx, by, radius;
  reader.CheckReserved(capsules->reserved);
  reader.Read("ax", capsules->ax, ax);
  reader.Read("ay", capsules->ay, ay);
  reader.Read("bx", capsules->bx, bx);
  reader.Read("by", capsules->by, by);
  reader.Read("radius", capsules->radius, radius);
  for (const auto& [name, size] :
       {std::pair("ay", ay.size()), std::pair("bx", bx.size()), std::pair("by", by.size()),
        std::pair("radius", radius.size())}) {
    if (size != ax.size()) {
      reader.Refuse(name, absl::StrCat("must have as many entries as capsules.ax, ", ax.size()));
    }
  }
  if (!refusal.empty()) return refusal.status();
  for (size_t i = 0; i < ax.size(); ++i) {
    absl::StatusOr<Shape> shape =
        Shape::Create(Capsule{{{ax[i], ay[i]}, {bx[i], by[i]}}, radius[i]});
    if (shape.ok()) {
      shapes.push_back(*std::move(shape));
      continue;
    }
    for (const Violation& violation : Violations(shape.status())) {
      refusal.Add(absl::StrCat("capsules.", violation.field, "[", i, "]"), violation.description);
    }
  }
  return refusal.empty() ? absl::OkStatus() : refusal.status();
}

}  // namespace

absl::Status ReadLimits(const carom_limits* given, Limits& out) {
  if (given == nullptr) return absl::OkStatus();
  carom_limits copy;
  const carom_limits* limits = nullptr;
  if (absl::Status status = Whole(given, "limits", copy, limits); !status.ok()) return status;
  if (limits->reserved != 0) return InvalidField("limits.reserved", "must be 0");
  if (limits->max_polygons != 0) out.scene.max_polygons = limits->max_polygons;
  if (limits->max_vertices != 0) out.scene.max_vertices = limits->max_vertices;
  if (limits->max_polygon_vertices != 0) out.polygon.max_vertices = limits->max_polygon_vertices;
  if (limits->max_user_data_bytes != 0) {
    out.polygon.max_user_data_bytes = limits->max_user_data_bytes;
  }
  return absl::OkStatus();
}

}  // namespace carom::abi

using namespace carom::abi;  // NOLINT: the functions of carom.h are in no namespace

uint32_t carom_polygon_set_create(const carom_polygons* polygons, const carom_limits* limits,
                                  carom_polygon_set** out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    auto made = MakePolygons(polygons, limits);
    if (!made.ok()) return made.status();
    *out = New<carom_polygon_set>();
    (*out)->polygons = *std::move(made);
    return absl::OkStatus();
  });
}

void carom_polygon_set_destroy(carom_polygon_set* set) { Destroy(set); }

size_t carom_polygon_set_size(const carom_polygon_set* set) {
  return CheckHandle(set, "").ok() ? set->polygons.size() : 0;
}

uint32_t carom_shapes_create(const carom_polygon_set* polygons, const carom_capsules* capsules,
                             carom_shapes** out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    auto table = std::make_shared<ShapeTable>();
    if (polygons != nullptr) {
      if (absl::Status checked = CheckHandle(polygons, "polygons"); !checked.ok()) return checked;
      table->polygons = polygons->polygons;
      table->shapes.assign(table->polygons.begin(), table->polygons.end());
    }
    if (capsules != nullptr) {
      if (absl::Status added = AddCapsules(capsules, table->shapes); !added.ok()) return added;
    }
    *out = New<carom_shapes>();
    (*out)->table = std::move(table);
    return absl::OkStatus();
  });
}

void carom_shapes_destroy(carom_shapes* shapes) { Destroy(shapes); }

size_t carom_shapes_size(const carom_shapes* shapes) {
  return CheckHandle(shapes, "").ok() ? shapes->table->shapes.size() : 0;
}
