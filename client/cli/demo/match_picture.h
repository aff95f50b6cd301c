// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Draws the picture of `carom demo match`: an SVG animation that repeats the match in a loop.
// Viewers without animations show the last tick and the paths of all bots.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "carom/polygon.h"
#include "client/cli/demo/match_world.h"

namespace carom::cli {

// Returns an SVG document. The document does not contain measured times, so equal matches give
// equal pictures. The world must have played at least one tick.
std::string MatchPicture(std::string_view title, std::span<const Polygon> map,
                         const MatchWorld& world);

}  // namespace carom::cli
