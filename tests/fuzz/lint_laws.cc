// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "carom/lint.h"
#include "tests/fuzz/laws.h"

namespace carom::testing {
namespace {

// The report, or nullopt if a scene has too many crossings for pockets.
std::optional<LintReport> Linted(const Scene& scene, const LintOptions& options) {
  WorkMeter meter;
  meter.set_max_units(uint64_t{1} << 26);
  absl::StatusOr<LintReport> report = Lint(scene, options, meter);
  if (!report.ok()) return std::nullopt;
  return *std::move(report);
}

auto NameOf(const LintFinding& finding) {
  return std::tuple(finding.polygon_id, finding.at, finding.kind, finding.other_polygon_id,
                    finding.other);
}

// Whether two reports have the same findings at the same points.
bool AreSame(const LintReport& a, const LintReport& b) {
  return a.counts == b.counts &&
         std::equal(a.findings.begin(), a.findings.end(), b.findings.begin(), b.findings.end(),
                    [](const LintFinding& f, const LintFinding& g) {
                      return NameOf(f) == NameOf(g) && f.point == g.point &&
                             f.other_point == g.other_point && f.measure == g.measure;
                    });
}

// Whether two reports have findings of the same names.
bool HaveSameNames(const LintReport& a, const LintReport& b) {
  return a.counts == b.counts &&
         std::equal(
             a.findings.begin(), a.findings.end(), b.findings.begin(), b.findings.end(),
             [](const LintFinding& f, const LintFinding& g) { return NameOf(f) == NameOf(g); });
}

void CheckReport(const GroupCase& made, const LintReport& report, const LintOptions& options) {
  uint64_t total = 0;
  for (const uint64_t count : report.counts) total += count;
  Require(report.findings.size() == std::min<uint64_t>(total, options.max_findings), made,
          "a report keeps the first findings");
  Require(report.truncated == (total > report.findings.size()), made,
          "a report that lacks findings is truncated");
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const LintFinding& finding = report.findings[i];
    Require(made.scene->Find(finding.polygon_id) != nullptr, made, "a finding is of a polygon");
    Require(std::isfinite(finding.measure) && finding.measure >= 0, made,
            "a measure is finite and at least 0", {finding.measure});
    if (i == 0) continue;
    Require(NameOf(report.findings[i - 1]) <= NameOf(finding), made, "findings are in order");
  }
}

Scene::Ptr MadeScene(const std::vector<PolygonSpec>& specs) {
  std::vector<Polygon> polygons;
  for (const PolygonSpec& spec : specs) polygons.push_back(*Polygon::Create(spec));
  return *Scene::Create(std::move(polygons));
}

// Moves the points by 2^power along both axes. Returns false if that rounds a coordinate.
bool Move(std::vector<PolygonSpec>& specs, Vec2& from, int power) {
  const double by = std::ldexp(1.0, power);
  bool is_exact = true;
  const auto move = [&](double& x) {
    is_exact = is_exact && std::abs(x + by) <= kMaxCoordinate && (x + by) - by == x;
    x += by;
  };
  for (PolygonSpec& spec : specs) {
    for (RingSpec& ring : spec.rings) {
      for (Vec2& p : ring.vertices) {
        move(p.x);
        move(p.y);
      }
    }
  }
  move(from.x);
  move(from.y);
  return is_exact;
}

// Repairs of one of these kinds leave no finding of the kind. Whether a ring that crosses others is
// a hole may depend on the vertex that comes first, so windings are repaired for sure only of
// single rings.
void CheckEdits(const GroupCase& made, LintOptions options) {
  for (const LintKind kind :
       {LintKind::kDuplicatePolygon, LintKind::kDuplicateVertex, LintKind::kWinding}) {
    const bool are_single =
        std::all_of(made.specs.begin(), made.specs.end(),
                    [](const PolygonSpec& spec) { return spec.rings.size() == 1; });
    if (kind == LintKind::kWinding && !are_single) continue;
    options.kinds = 1U << static_cast<unsigned>(kind);
    options.max_findings = 100000;
    const std::optional<LintReport> report = Linted(*made.scene, options);
    Require(report.has_value(), made, "simple kinds need little work");
    const absl::StatusOr<Scene::Ptr> repaired =
        made.scene->Commit(LintEdits(*made.scene, *report, 0), 2);
    Require(repaired.ok(), made, "proposed edits apply");
    const std::optional<LintReport> after = Linted(**repaired, options);
    Require(after.has_value() && after->findings.empty(), made, "repairs leave no finding",
            {static_cast<double>(kind)});
  }
}

}  // namespace

void CheckLintLaws(Choices& choices, const GroupCase& made) {
  LintOptions options;
  options.gap_radius = std::min(made.numbers.Length(choices), 0x1p50);
  options.mover_radius = choices.OneIn(2) ? options.gap_radius : 0;
  options.winding = static_cast<LintWinding>(choices.Below(3));
  options.near_distance = std::min(made.numbers.Length(choices), 0x1p40);
  options.lattice_pitch =
      std::ldexp(1.0 + choices.Below(8), static_cast<int>(choices.Below(16)) - 8);
  options.max_findings = choices.OneIn(4) ? choices.Below(8) : 100000;
  options.from = {made.Point(choices)};
  const auto power = static_cast<int>(choices.Below(40)) - 10;
  CheckEdits(made, options);
  const std::optional<LintReport> report = Linted(*made.scene, options);
  if (!report.has_value()) return;
  CheckReport(made, *report, options);

  std::vector<PolygonSpec> specs = made.specs;
  std::reverse(specs.begin(), specs.end());
  const std::optional<LintReport> again = Linted(*MadeScene(specs), options);
  Require(again.has_value() && AreSame(*report, *again), made,
          "the order of polygons does not change findings");

  // The lattice does not move along.
  options.kinds &= ~(1U << static_cast<unsigned>(LintKind::kOffLattice));
  const std::optional<LintReport> before = Linted(*made.scene, options);
  if (!Move(specs, options.from[0], power)) return;
  const std::optional<LintReport> after = Linted(*MadeScene(specs), options);
  if (!before.has_value() || !after.has_value()) return;
  Require(HaveSameNames(*before, *after), made, "findings move with the scene",
          {std::ldexp(1.0, power)});
}

}  // namespace carom::testing
