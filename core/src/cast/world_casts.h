// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do lines hit if they consider bodies (moving shapes that are sent with the queries), or if
// each line has its own mask of polygon categories?
//
// First the lines are cast against the scene, in runs of consecutive lines with equal masks. Then
// each line is tested against the bodies, up to its hit in the scene. If a line meets a body, the
// hits of the line in the scene are collected again, together with its hits of bodies, so that all
// these hits are compared exactly. docs/adr/0021-bodies-in-a-frame.md gives the reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/work_meter.h"
#include "index/body_set.h"
#include "shape/line.h"

namespace carom::internal {

// The arguments of `CastInWorld`: the number of lines of a batch, and functions that read the lines
// and cast them. `world` has the scene and the bodies (moving shapes that are sent with the
// queries).
struct WorldCasts {
  const World& world;
  const CastOptions& options;
  const Scope& scope;
  size_t count;
  // Returns bit i for line begin + i, for at most 64 lines: set if the bounding box of the line may
  // meet the box of a body, by `raster`, a bitmap of the places with bodies. The bit is arbitrary
  // for an invalid line. If the bit is not set, `CastInWorld` does not read the line by `line_of`,
  // since no body is near the line.
  absl::FunctionRef<uint64_t(size_t begin, size_t count, const BoxRaster& raster)> near;
  // Sets `line` to line i of the batch; or, if line i is invalid, records an error and returns
  // false.
  absl::FunctionRef<bool(size_t i, Line& line, std::vector<ItemError>& errors)> line_of;
  // Casts the lines [begin, begin + count) of the batch against the scene, with the options given
  // in the call. Returns false once the meter stops the work.
  absl::FunctionRef<bool(size_t begin, size_t count, const CastOptions& options, CastAnswers& out)>
      cast_scene;
};

// Casts all lines against the scene and the bodies (moving shapes that are sent with the queries).
// Clears `out` first. Returns false once the meter stops the work; `out` is then meaningless.
bool CastInWorld(const WorldCasts& casts, CastAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
