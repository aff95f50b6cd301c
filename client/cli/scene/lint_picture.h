// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A picture of a scene with the findings of a lint.
#pragma once

#include <span>
#include <string>

#include "carom/lint.h"
#include "carom/scene.h"

namespace carom::cli {

// Returns an SVG document: the scene, pockets as shaded areas, gaps and pairs of points as lines,
// and a ring with the number of each finding, as the command prints it, at its point. Only the
// first 1,000 findings have numbers.
std::string LintPicture(const Scene& scene, std::span<const LintFinding> findings);

}  // namespace carom::cli
