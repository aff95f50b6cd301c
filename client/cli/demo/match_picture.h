// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The picture of `carom demo match`: an SVG document that plays the match again and again. Viewers
// that do not animate show the last tick, with the ways of all bots.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "carom/polygon.h"
#include "client/cli/demo/match_world.h"

namespace carom::cli {

// It has nothing that depends on time, so equal matches give equal pictures. The world has played a
// tick or more.
std::string MatchPicture(std::string_view title, std::span<const Polygon> map,
                         const MatchWorld& world);

}  // namespace carom::cli
