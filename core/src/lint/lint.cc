// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/lint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "lint/edge_findings.h"
#include "lint/finding_sink.h"
#include "lint/gaps.h"
#include "lint/lint_map.h"
#include "lint/pockets.h"
#include "lint/ring_findings.h"
#include "numeric/exact_count.h"

namespace carom {
namespace {

struct KindText {
  std::string_view name;
  std::string_view advice;
};

constexpr std::array<KindText, kLintKinds> kKindTexts = {{
    {"crossing", "Split the ring where its edges cross, or move a vertex."},
    {"overlap", "Remove the part of the ring that runs along its own edge."},
    {"duplicate-vertex", "Remove one of the two equal vertices."},
    {"near-vertex", "Merge the two vertices, or move them apart."},
    {"spike", "Remove the vertex at the tip of the spike."},
    {"zero-area", "Remove the ring, or make the polygon a BOUNDARY."},
    {"winding", "Reverse the order of the vertices of the ring."},
    {"inside", "Remove the inner polygon, or cut a hole into the outer polygon."},
    {"duplicate-polygon", "Remove one of the two equal polygons."},
    {"gap", "Close the gap, or widen it if movers should pass."},
    {"near-junction", "Move the vertex onto the edge, and insert it into the edge."},
    {"off-lattice", "Move the vertex onto the lattice."},
    {"pocket", "Open a passage to the place, or fill the place."},
}};

constexpr double kMaxRadius = 0x1p50;

bool InRange(double value, double max) { return value >= 0 && value <= max; }

absl::Status CheckLintOptions(const LintOptions& options) {
  if (options.kinds >> kLintKinds != 0) return InvalidField("kinds", "names an unknown kind");
  if (!InRange(options.gap_radius, kMaxRadius)) {
    return InvalidField("gap_radius", "must be in [0, 2^50]");
  }
  if (!InRange(options.mover_radius, kMaxRadius)) {
    return InvalidField("mover_radius", "must be in [0, 2^50]");
  }
  if (!InRange(options.near_distance, kMaxCoordinate)) {
    return InvalidField("near_distance", "must be in [0, 2^53]");
  }
  const double pitch = options.lattice_pitch;
  if (pitch != 0 && !(pitch >= 0x1p-60 && pitch <= kMaxCoordinate)) {
    return InvalidField("lattice_pitch", "must be 0 or in [2^-60, 2^53]");
  }
  for (size_t i = 0; i < options.from.size(); ++i) {
    if (!IsAccepted(options.from[i])) {
      return InvalidField(absl::StrCat("from[", i, "]"),
                          "must have finite coordinates of at most 2^53 in magnitude");
    }
  }
  return absl::OkStatus();
}

// Runs the checks of one lint, each if its kinds are asked for. Each check returns false if the
// meter stopped the work.
class LintRun {
 public:
  LintRun(const Scene& scene, const LintOptions& options, LintReport& report, WorkMeter& meter)
      : options_(options),
        report_(report),
        meter_(meter),
        sink_(options.kinds, options.max_findings),
        map_(scene, meter) {
    report.near_distance = options.near_distance > 0 ? Normalized(options.near_distance)
                                                     : Normalized(map_.magnitude() * 0x1p-44);
    report.lattice_pitch = options.lattice_pitch;
  }

  bool Run() {
    const Check checks[] = {
        {WantsAny({LintKind::kDuplicateVertex, LintKind::kNearVertex, LintKind::kSpike,
                   LintKind::kZeroArea, LintKind::kWinding}),
         &LintRun::CheckRings},
        {sink_.Wants(LintKind::kOffLattice), &LintRun::CheckLattice},
        {WantsAny({LintKind::kCrossing, LintKind::kOverlap}), &LintRun::CheckCrossings},
        {sink_.Wants(LintKind::kInside), &LintRun::CheckInside},
        {sink_.Wants(LintKind::kDuplicatePolygon), &LintRun::CheckDuplicates},
        {sink_.Wants(LintKind::kNearJunction), &LintRun::CheckJunctions},
        {FindsGaps(), &LintRun::CheckGaps},
        {sink_.Wants(LintKind::kPocket) && !options_.from.empty(), &LintRun::CheckPockets},
    };
    const auto total = static_cast<size_t>(
        std::ranges::count_if(checks, [](const Check& c) { return c.is_wanted; }));
    size_t done = 0;
    for (const Check& check : checks) {
      if (!check.is_wanted) continue;
      if (options_.progress) options_.progress(done++, total);
      if (!(this->*check.run)()) return false;
    }
    sink_.MoveTo(report_);
    return true;
  }

 private:
  struct Check {
    bool is_wanted;
    bool (LintRun::*run)();
  };

  bool WantsAny(std::initializer_list<LintKind> kinds) const {
    for (const LintKind kind : kinds) {
      if (sink_.Wants(kind)) return true;
    }
    return false;
  }
  bool FindsGaps() const { return sink_.Wants(LintKind::kGap) && options_.gap_radius > 0; }

  bool CheckRings() {
    return internal::FindInRings(map_, report_.near_distance, options_.winding, sink_, meter_);
  }
  bool CheckLattice() {
    if (report_.lattice_pitch == 0) report_.lattice_pitch = internal::LatticePitch(map_.scene());
    return report_.lattice_pitch == 0 ||
           internal::FindOffLattice(map_, report_.lattice_pitch, sink_, meter_);
  }
  bool CheckCrossings() { return internal::FindCrossings(map_, sink_, meter_); }
  bool CheckInside() { return internal::FindInside(map_, sink_, meter_); }
  bool CheckDuplicates() { return internal::FindDuplicates(map_, sink_, meter_); }
  bool CheckJunctions() {
    return internal::FindNearJunctions(map_, report_.near_distance, sink_, meter_);
  }
  bool CheckGaps() {
    if (!internal::FindGaps(map_, options_.gap_radius, gaps_, meter_)) return false;
    internal::AddGaps(map_, gaps_, sink_);
    return true;
  }
  bool CheckPockets() {
    if (!FindsGaps() || options_.gap_radius != options_.mover_radius) {
      gaps_.clear();
      if (options_.mover_radius > 0 &&
          !internal::FindGaps(map_, options_.mover_radius, gaps_, meter_)) {
        return false;
      }
    }
    return internal::FindPockets(map_, std::move(gaps_), options_, sink_, meter_);
  }

  const LintOptions& options_;
  LintReport& report_;
  WorkMeter& meter_;
  internal::FindingSink sink_;
  internal::LintMap map_;
  std::vector<internal::Gap> gaps_;  // of the last radius
};

}  // namespace

std::string_view LintName(LintKind kind) { return kKindTexts[static_cast<size_t>(kind)].name; }

std::string_view LintAdvice(LintKind kind) { return kKindTexts[static_cast<size_t>(kind)].advice; }

absl::StatusOr<LintReport> Lint(const Scene& scene, const LintOptions& options, WorkMeter& meter) {
  if (absl::Status status = CheckLintOptions(options); !status.ok()) return status;
  const internal::ExactCountScope exact(meter);
  LintReport report;
  LintRun run(scene, options, report, meter);
  if (meter.stopped() || !run.Run() || meter.stopped()) {
    if (meter.stopped()) {
      return absl::ResourceExhaustedError("the lint was stopped before its end");
    }
    return Refused(absl::StatusCode::kResourceExhausted, "from",
                   "edges cross too often to find pockets: at most 4,096 times and twice as often "
                   "as there are edges");
  }
  return report;
}

}  // namespace carom
