// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Convex pieces for physics engines, which know no other polygons.
#pragma once

#include <vector>

#include "tests/bench/scenes.h"

namespace carom::bench {

// Cuts a simple counter-clockwise outline into convex pieces of 3 to 8 vertices: triangles by ear
// clipping, joined along diagonals as long as they stay convex (Hertel and Mehlhorn 1983). A convex
// outline of at most 8 vertices is its own piece. Cost O(n^3) at worst: for outlines of some dozens
// of vertices.
std::vector<Outline> ConvexPieces(const Outline& outline);

}  // namespace carom::bench
