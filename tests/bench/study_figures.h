// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The figures and ways of the time study, after Jimenez, Segura and Feito, "Polygon-Polygon
// Collision Detection in 2D", section 4.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/scenes.h"

namespace carom::bench {

// The static figure's and the mover's radius, units a second, and seconds a step.
inline constexpr double kFigureRadius = 1000;
inline constexpr double kMoverRadius = 100;
inline constexpr double kStudySpeed = 200;
inline constexpr double kStudyStep = 1.0 / 60;

// A figure about the origin, no vertex farther than its radius, and the same cut into convex pieces
// for peers that know no others.
struct Figure {
  std::string name;
  Outline outline;
  std::vector<Outline> pieces;
};

// Star as `MakeOutline`; comb: teeth about a disc; random: random radii; all about the origin, as
// the paper's figure 4 has them. Coast: from the maps, with about as many vertices; nothing where
// there is none.
enum class FigureKind { kStar, kComb, kRandom, kCoast };
inline constexpr FigureKind kFigureKinds[] = {FigureKind::kStar, FigureKind::kComb,
                                              FigureKind::kRandom, FigureKind::kCoast};
const char* Name(FigureKind kind);
std::optional<Figure> MakeFigure(FigureKind kind, size_t vertices, const std::string& maps);

// A mover about the origin: radii between 0.75 and 1 times its own.
Figure MakeMover(size_t vertices);

// Near: a circle about the figure that clears it by 2 %. Grazing: a circle of 0.95 R + 0.9 r.
// Linear: from outside of the figure to its middle.
enum class Path { kNear, kGrazing, kLinear };
inline constexpr Path kPaths[] = {Path::kNear, Path::kGrazing, Path::kLinear};
const char* Name(Path way);
// One round of it, by steps of a tick, not turned or turning by 1 rad/s.
Placements MakePath(Path way, bool turning);

}  // namespace carom::bench
