// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads the limits of what a call of carom.h may build.
#pragma once

#include "absl/status/status.h"
#include "carom/carom.h"
#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom::abi {

struct Limits {
  SceneLimits scene;
  PolygonLimits polygon;
};

// Sets `out` to the limits that `given` has; null: changes nothing.
absl::Status ReadLimits(const carom_limits* given, Limits& out);

}  // namespace carom::abi
