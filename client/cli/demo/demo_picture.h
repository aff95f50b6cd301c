// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The picture of `carom demo`: the map as imported, and the last tick as the server answered it.
#pragma once

#include <span>
#include <string>

#include "carom/polygon.h"
#include "client/cli/demo/demo_run.h"
#include "client/cli/demo/demo_world.h"

namespace carom::cli {

// An SVG document. It holds nothing that depends on time, so equal runs give equal pictures.
std::string DemoPicture(std::string_view title, std::span<const Polygon> map,
                        const DemoWorld& world, const DemoOutcome& outcome);

}  // namespace carom::cli
