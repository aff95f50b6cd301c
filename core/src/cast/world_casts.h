// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do lines hit where they consider bodies, or each line has a mask of its own?
//
// The scene is cast as ever, in runs of lines of one mask. Then each line goes through the bodies,
// up to what it hit in the scene; if it meets one, what it hit in the scene is collected once more
// beside the bodies, so that all is compared exactly. docs/adr/0021-bodies-in-a-frame.md.
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

// Lines as a batch asks about them.
struct WorldCasts {
  const World& world;
  const CastOptions& options;
  const Scope& scope;
  size_t count;
  // Which of the lines [begin, begin + count) have a box that may meet one of the raster, if they
  // are accepted, a bit each: lines that no body is near need not be set. `count` is 64 at most.
  absl::FunctionRef<uint64_t(size_t begin, size_t count, const BoxRaster& raster)> near;
  // Sets the line of item i, or records an error and returns false.
  absl::FunctionRef<bool(size_t i, Line& line, std::vector<ItemError>& errors)> line_of;
  // Casts the lines [begin, begin + count) against the scene, by those options. Returns false once
  // the meter stops.
  absl::FunctionRef<bool(size_t begin, size_t count, const CastOptions& options, CastAnswers& out)>
      cast_scene;
};

// Clears `out` first. Returns false once the meter stops; `out` is then meaningless.
bool CastInWorld(const WorldCasts& casts, CastAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
