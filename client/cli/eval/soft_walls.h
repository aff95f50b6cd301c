// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which walls does a line pass? The options of soft walls of one segment or line of sight.
#pragma once

#include <cstdint>

namespace carom::cli {

// Polygons and bodies with category & mask != 0 are soft; the line passes `count` passages of them.
struct SoftWalls {
  uint64_t mask = 0;
  uint32_t count = 0;
};

}  // namespace carom::cli
