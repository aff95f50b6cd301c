// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Eyes of the tests of areas.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/area.h"
#include "tests/core/random_scene.h"

namespace carom::testing {

struct EyeCase {
  Vec2 eye;
  double range = 1;
  std::optional<std::pair<double, double>> sector = std::nullopt;
  InsidePolicy policy = InsidePolicy::kReportStart;

  std::string ToCode() const {
    return absl::StrFormat("eye {%a, %a} range %a policy %d sector %a %a\n", eye.x, eye.y, range,
                           static_cast<int>(policy), sector ? sector->first : 0,
                           sector ? sector->second : 0);
  }
};

inline AreaAnswers AreasOf(const World& world, const std::vector<EyeCase>& eyes, Scope scope = {},
                           uint32_t max_rows = 65536) {
  std::vector<double> x, y, range, from, to;
  for (const EyeCase& eye : eyes) {
    x.push_back(eye.eye.x);
    y.push_back(eye.eye.y);
    range.push_back(eye.range);
    if (eye.sector) {
      from.push_back(eye.sector->first);
      to.push_back(eye.sector->second);
    }
  }
  AreaAnswers out;
  WorkMeter meter;
  AreaOptions options;
  options.inside_policy = eyes.empty() ? InsidePolicy::kReportStart : eyes[0].policy;
  options.max_rows = max_rows;
  EXPECT_TRUE(FindAreas(world, {x, y, range, from, to, scope}, options, out, meter));
  EXPECT_EQ(meter.rows(), out.pieces.size());
  return out;
}

}  // namespace carom::testing
