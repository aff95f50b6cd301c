// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Converts the messages of LintScene to the types of carom/lint.h and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/client.h"
#include "carom/lint.h"
#include "carom/v1/scene_service.pb.h"

namespace carom {

// Returns the request but for its name and version.
inline v1::LintSceneRequest EncodeLint(const LintOptions& options) {
  v1::LintSceneRequest request;
  if (options.kinds == 0) request.add_kinds(v1::LINT_KIND_UNSPECIFIED);  // else it means all kinds
  for (size_t i = 0; i < 32; ++i) {
    // A kind that is unknown here is unknown to the server, too, which refuses it.
    if ((options.kinds >> i & 1) != 0) request.add_kinds(static_cast<v1::LintKind>(i + 1));
  }
  request.set_gap_radius(options.gap_radius);
  request.set_mover_radius(options.mover_radius);
  for (const Vec2 p : options.from) {
    request.add_from_x(p.x);
    request.add_from_y(p.y);
  }
  request.set_winding(static_cast<v1::LintWinding>(options.winding));
  request.set_lattice_pitch(options.lattice_pitch);
  request.set_near_distance(options.near_distance);
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  request.set_max_findings(static_cast<uint32_t>(std::min(options.max_findings, kMost)));
  return request;
}

// Returns the findings. A finding of a kind that is unknown here, of a later release, is left out.
inline SceneLint DecodeLint(const v1::LintSceneResponse& response) {
  const auto is_known = [](int kind) { return kind > 0 && kind <= static_cast<int>(kLintKinds); };
  SceneLint lint;
  lint.version = response.version();
  LintReport& report = lint.report;
  for (const v1::LintFinding& message : response.findings()) {
    if (!is_known(message.kind())) continue;
    LintFinding& finding = report.findings.emplace_back();
    finding.kind = static_cast<LintKind>(message.kind() - 1);
    finding.polygon_id = message.polygon_id();
    finding.at = {message.ring(), message.edge()};
    finding.other_polygon_id = message.other_polygon_id();
    finding.other = {message.other_ring(), message.other_edge()};
    finding.point = {message.x(), message.y()};
    finding.other_point = {message.other_x(), message.other_y()};
    finding.measure = message.measure();
    const v1::Ring& outline = message.outline();
    for (int i = 0; i < std::min(outline.x_size(), outline.y_size()); ++i) {
      finding.outline.push_back({outline.x(i), outline.y(i)});
    }
  }
  for (const v1::LintCount& count : response.counts()) {
    if (is_known(count.kind()))
      report.counts[static_cast<size_t>(count.kind() - 1)] = count.count();
  }
  report.truncated = response.truncated();
  report.lattice_pitch = response.lattice_pitch();
  report.near_distance = response.near_distance();
  return lint;
}

}  // namespace carom
