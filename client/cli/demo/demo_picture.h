// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Draws the picture of `carom demo`: the map, and the last tick with the server's answers.
#pragma once

#include <span>
#include <string>

#include "carom/polygon.h"
#include "client/cli/demo/demo_run.h"
#include "client/cli/demo/demo_world.h"

namespace carom::cli {

// Returns an SVG document. The document does not contain measured times, so equal runs give equal
// pictures.
std::string DemoPicture(std::string_view title, std::span<const Polygon> map,
                        const DemoWorld& world, const DemoOutcome& outcome);

}  // namespace carom::cli
