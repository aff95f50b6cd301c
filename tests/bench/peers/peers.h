// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The C side of the Rust library beside this header; see its src/lib.rs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace carom::bench {

struct RustPolygons {
  const float* xy;         // x and y of each vertex in turn
  const uint32_t* starts;  // count + 1 of them
  size_t count;
};

struct RustSegment {
  float ax, ay, bx, by;
};

struct RustPlacement {
  uint32_t mover;
  float x, y;
  float c, s;
};

struct RustSweep {
  float x, y;
  float c, s;
  float dx, dy;
};

// A capsule; the ends of its axis are from its position.
struct RustWalker {
  float ax, ay, bx, by;
  float radius;
};

extern "C" {
void* carom_box2d_new(const RustPolygons* polygons, const RustPolygons* movers);
void carom_box2d_free(void* world);
uint64_t carom_box2d_cast(const void* world, const RustSegment* segments, size_t count);
void carom_box2d_move_discs(void* world, const RustPlacement* placements, size_t count,
                            float radius);
uint64_t carom_box2d_overlap(const void* world, const RustPlacement* placements, size_t count);
uint64_t carom_box2d_overlap_shape(const void* world, const RustPlacement* placements,
                                   size_t count);
uint64_t carom_box2d_touch(const void* world, const RustPlacement* placements, size_t count,
                           float reach);
uint64_t carom_box2d_sweep(const void* world, const RustSweep* sweeps, size_t count,
                           const float* points, size_t point_count, float radius);
uint64_t carom_box2d_sweep_mover(const void* world, const RustSweep* sweeps, size_t count,
                                 const float* points, float radius);
// One tick of so many players: x and y of each position, which is moved, and of each push.
void carom_box2d_walk(const void* world, const RustWalker* walker, float* positions,
                      const float* pushes, size_t count);

void* carom_parry_new(const RustPolygons* polygons);
void carom_parry_free(void* scene);
uint64_t carom_parry_cast(const void* scene, const RustSegment* segments, size_t count);

void* carom_rapier_new(const RustPolygons* polygons);
void carom_rapier_free(void* world);
void carom_rapier_walk(const void* world, const RustWalker* walker, float* positions,
                       const float* pushes, size_t count);
}

}  // namespace carom::bench
