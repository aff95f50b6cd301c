// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do lines hit if they consider bodies, or if each line has a mask of its own?
//
// First the scene is cast in runs of lines with one mask. Then each line is tested against the
// bodies, up to its hit in the scene. If the line meets a body, its hits in the scene are collected
// again together with the bodies, so that all hits are compared exactly.
// docs/adr/0021-bodies-in-a-frame.md gives the reasons.
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

// The lines of a batch, and the functions that read and cast them.
struct WorldCasts {
  const World& world;
  const CastOptions& options;
  const Scope& scope;
  size_t count;
  // Returns a bit for each of the lines [begin, begin + count), at most 64: set if the box of the
  // line may meet a box of the raster. The bit is arbitrary for a line that is not accepted. Lines
  // without the bit are not set, since no body is near.
  absl::FunctionRef<uint64_t(size_t begin, size_t count, const BoxRaster& raster)> near;
  // Sets the line of item i, or records an error and returns false.
  absl::FunctionRef<bool(size_t i, Line& line, std::vector<ItemError>& errors)> line_of;
  // Casts the lines [begin, begin + count) against the scene, by the given options. Returns false
  // once the meter stops.
  absl::FunctionRef<bool(size_t begin, size_t count, const CastOptions& options, CastAnswers& out)>
      cast_scene;
};

// Casts all lines. Clears `out` first. Returns false once the meter stops; `out` is then
// meaningless.
bool CastInWorld(const WorldCasts& casts, CastAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
