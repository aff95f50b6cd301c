// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Lint of every shared scene: it ends within the work that a server allows, its findings are in
// order, and its repairs apply and remove what they are about. One case for each file of scenes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "carom/lint.h"
#include "client/formats/scene_reader.h"
#include "tests/conformance/fixture.h"

namespace carom::testing {
namespace {

constexpr uint64_t kServerUnits = 1'000'000'000;  // LintScene in proto/carom/v1

auto PlaceOf(const LintFinding& f) {
  return std::tuple(f.polygon_id, f.at, f.kind, f.other_polygon_id, f.other, f.point.x, f.point.y);
}

// Lints a scene; expects an end, an order and a number of findings.
LintReport CheckedLint(const Scene& scene, LintOptions options) {
  options.max_findings = 1000000;
  WorkMeter meter;
  meter.set_max_units(kServerUnits);
  const absl::StatusOr<LintReport> report = Lint(scene, options, meter);
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return {};
  EXPECT_TRUE(std::is_sorted(
      report->findings.begin(), report->findings.end(),
      [](const LintFinding& a, const LintFinding& b) { return PlaceOf(a) < PlaceOf(b); }));
  uint64_t total = 0;
  for (const uint64_t count : report->counts) total += count;
  EXPECT_EQ(total, report->findings.size());
  return *report;
}

// Repairs the findings of one kind until there are none. Merging two vertices may bring others
// near, but leaves fewer of them. Returns the number of findings at first.
size_t RepairAll(Scene::Ptr scene, LintKind kind, LintWinding winding, double near) {
  const LintOptions options{
      .kinds = 1U << static_cast<unsigned>(kind), .winding = winding, .near_distance = near};
  LintReport report = CheckedLint(*scene, options);
  const size_t first = report.findings.size();
  for (int round = 0; round < 8 && !report.findings.empty(); ++round) {
    const std::vector<SceneEdit> edits = LintEdits(*scene, report, near);
    absl::StatusOr<Scene::Ptr> repaired = scene->Commit(edits, scene->version() + 1);
    EXPECT_TRUE(repaired.ok()) << repaired.status();
    if (!repaired.ok()) return first;
    scene = *std::move(repaired);
    const size_t before = report.findings.size();
    report = CheckedLint(*scene, options);
    EXPECT_LT(report.findings.size(), before) << LintName(kind);
    if (kind != LintKind::kNearVertex) break;
  }
  // Where rings touch, the order of vertices may decide which one is a hole.
  const bool is_left =
      std::any_of(report.findings.begin(), report.findings.end(), [&](const LintFinding& finding) {
        return kind != LintKind::kWinding || scene->Find(finding.polygon_id)->ring_count() == 1;
      });
  EXPECT_FALSE(is_left) << LintName(kind) << ", " << report.findings.size();
  return first;
}

class LintScenesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LintScenesTest, EndsInOrderAndRepairsWhatItFinds) {
  CAROM_NEEDS_SHARED_DIR(data);
  const absl::StatusOr<SceneFile> file =
      SceneFile::Read(data + "/scenes/" + std::string(GetParam()) + ".jsonl");
  ASSERT_TRUE(file.ok()) << file.status();
  size_t findings = 0;
  size_t repaired = 0;
  for (size_t i = 0; i < file->size() && !HasFailure(); ++i) {
    SCOPED_TRACE("scene " + std::to_string(i));
    absl::StatusOr<std::vector<Polygon>> polygons = file->polygons(i);
    ASSERT_TRUE(polygons.ok()) << polygons.status();
    const Scene::Ptr scene = Scene::Create(*std::move(polygons)).value();
    if (scene->polygon_count() == 0) continue;
    const Box& box = scene->bounds();
    const double extent = std::max(box.max.x - box.min.x, box.max.y - box.min.y);
    LintOptions options{.gap_radius = extent / 200,
                        .mover_radius = extent / 200,
                        .from = {{box.min.x - extent, box.min.y - extent}},
                        .winding = LintWinding::kCounterClockwise};
    // Pockets are refused where edges cross more often than the server has room for.
    WorkMeter meter;
    if (!Lint(*scene, options, meter).ok()) options.from.clear();
    findings += CheckedLint(*scene, options).findings.size();
    for (const LintKind kind :
         {LintKind::kDuplicatePolygon, LintKind::kDuplicateVertex, LintKind::kNearVertex}) {
      repaired += RepairAll(scene, kind, LintWinding::kAny, extent / 1e4);
    }
    repaired += RepairAll(scene, LintKind::kWinding, LintWinding::kCounterClockwise, 0);
  }
  GTEST_LOG_(INFO) << findings << " findings, " << repaired << " repaired";
  EXPECT_GT(findings, 0u);
}

INSTANTIATE_TEST_SUITE_P(Files, LintScenesTest,
                         ::testing::Values("box2d", "clipper2", "earcut", "godot", "jts_wkt",
                                           "ldtk", "natural_earth", "polyanya", "world_geo"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace carom::testing
