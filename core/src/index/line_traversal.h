// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may lines meet?
//
// Many lines descend the trees of boxes together, level by level: one loop over pairs of a line and
// a node makes the pairs of the level below. The loop has no branch that depends on a single line,
// so no branch is mispredicted, and it prefetches the nodes of later pairs while it tests one. The
// tests of boxes use floats and are conservative: the order and number of the polygons visited may
// vary with the instruction set, but every polygon that a line meets is visited.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "index/box_tree.h"
#include "index/pages.h"
#include "index/scene_index.h"
#include "shape/line.h"

namespace carom::internal {

// The offset of each column in a `BoxNode`, in floats.
inline constexpr uint32_t kMinX = offsetof(BoxNode, min_x) / sizeof(float);
inline constexpr uint32_t kMinY = offsetof(BoxNode, min_y) / sizeof(float);
inline constexpr uint32_t kMaxX = offsetof(BoxNode, max_x) / sizeof(float);
inline constexpr uint32_t kMaxY = offsetof(BoxNode, max_y) / sizeof(float);

// A line, or a part of it, in the form in which eight boxes at a time are tested against it.
//
// A point p of the line has normal . (p - origin) = 0, so a box that meets the line has a corner at
// or above `offset - slack` along the normal, and a corner at or below `offset + slack`. Let M be
// the largest magnitude of a coordinate of the scene and of the origin, u = 2^-24, and components
// of the normal below 2. Rounding the normal moves the product by 8 u M, rounding the offset by 4 u
// M, and evaluating in floats by 4 + 4 + 8 u M more, each less than 2^-140 where it underflows.
// `slack` is more than twice the sum: 64 u M + 2^-120.
class LineCull {
 public:
  LineCull() = default;  // uninitialized, to be assigned
  // Makes the test of the part of the line within `reach`. `magnitude` is the largest magnitude of
  // a coordinate of the scene.
  LineCull(const Line& line, const Box& reach, double magnitude);

  void SetReach(const Box& reach);
  // Sets the normal, which may have any length as long as its components are below 2 in magnitude.
  void SetNormal(float x, float y) {
    normal_x = x;
    normal_y = y;
    upper_x = x >= 0 ? kMaxX : kMinX;
    lower_x = x >= 0 ? kMinX : kMaxX;
    upper_y = y >= 0 ? kMaxY : kMinY;
    lower_y = y >= 0 ? kMinY : kMaxY;
  }
  // Makes the line meet no box from then on.
  void Stop() { max_x = -HUGE_VALF; }

  // Bounds of the part, rounded to floats. Rounding is monotonic as for boxes, so no box that meets
  // the part is lost. An empty box never passes.
  float min_x, max_x, min_y, max_y;
  // The normal; the value along it that the upper corner of a box must reach, and the value that
  // the lower corner must not exceed.
  float normal_x, normal_y, least, most;
  // The offsets of the columns of a node that have the upper corner and the lower corner.
  uint32_t upper_x, upper_y, lower_x, lower_y;
  double far;  // a magnitude larger than any coordinate of the scene and of the origin
};

// Pairs of a line and a node, tile or polygon that the line may meet.
struct Frontier {
  // The pairs that are opened at once. The limit bounds the memory, however many boxes the lines
  // meet.
  static constexpr size_t kPart = 256;
  // Room for a part with all of its children, and for as many roots of tiles. Opening a node writes
  // eight pairs each time, and later pairs overwrite the pairs that the line does not meet.
  static constexpr size_t kCapacity = (BoxNode::kWidth + 1) * kPart + BoxNode::kWidth;

  void Add(uint32_t target, uint16_t line) {
    targets[count] = target;
    lines[count++] = line;
  }

  size_t count = 0;
  alignas(64) std::array<uint32_t, kCapacity> targets;
  alignas(64) std::array<uint16_t, kCapacity> lines;
};

// The pairs of `frontier` from `begin` on, at most `Frontier::kPart`. `lines[pair.line]` is the
// line of a pair.
struct FrontierPart {
  const Frontier& frontier;
  size_t begin;
  const LineCull* lines;
};

// Polygon `index` of a tile, or node `index` of a level of the tile's tree, packed into one number.
// A scene has fewer than 2^22 tiles: small tiles are joined, so 67 million polygons, the most that
// a server accepts, make about a million tiles.
struct Slot {
  static constexpr uint32_t kBits = 10;
  static_assert(size_t{1} << kBits == 2 * kPageSize);  // the most polygons of a tile

  uint32_t tile;
  uint32_t index;

  static Slot Of(uint32_t number) { return {number >> kBits, number & ((1u << kBits) - 1)}; }
  uint32_t number() const { return tile << kBits | index; }
};

// The nodes that the descent of a single line has yet to open. `lines` holds the kind of each node
// instead of a line. At each level at most the eight children of one node wait, and eight more
// entries are room for the store of a full node.
struct WalkStack {
  static constexpr size_t kLevels = 14;
  static constexpr uint16_t kTile =
      64;  // a tile; a kind below kTile is 1 + the level of a node in a tile
  static constexpr uint16_t kUpper =
      65;  // a node of level 0 of the upper tree; kUpper + k: of level k

  size_t count = 0;
  std::array<uint32_t, (kLevels + 1) * BoxNode::kWidth> targets;
  std::array<uint16_t, (kLevels + 1) * BoxNode::kWidth> lines;
};

// Receives the polygons that lines may meet.
class LineObserver {
 public:
  // Handles pairs of a line and the number of a polygon's `Slot`: the line may meet the polygon's
  // box. May narrow the reach of lines, and may stop lines.
  virtual void Visit(const Frontier& pairs) = 0;

 protected:
  ~LineObserver() = default;
};

// Takes lines down the trees of a scene. About 200 KiB, reused between calls. Not thread-safe.
class LineDescent {
 public:
  static constexpr size_t kMaxLines = 128;

  // Calls `observer` for all polygons that the first `count` of `lines` may meet, and perhaps for
  // more, until the meter stops. Each box counts as one unit of work.
  void Run(const SceneIndex& scene, size_t count, LineObserver& observer, WorkMeter& meter);

  std::array<LineCull, kMaxLines> lines;

  // The arguments that stay constant down the trees.
  struct Call {
    const SceneIndex& scene;
    LineObserver& observer;
    WorkMeter& meter;
  };

 private:
  // Up to this many lines descend one by one, since too few pairs share the work of a level.
  static constexpr size_t kFew = 2;

  // Enough levels for the tiles that `Slot` can number, and for the 2 kPageSize polygons of a tile.
  // Each level multiplies the capacity by eight.
  static constexpr size_t kUpperLevels = 8;
  static constexpr size_t kTileLevels = 4;
  static_assert(uint64_t{1} << 3 * kUpperLevels >= uint64_t{1} << (32 - Slot::kBits));
  static_assert(size_t{1} << 3 * kTileLevels >= 2 * kPageSize);

  void Walk(const Call& call, uint16_t line);
  void OpenUpper(const Call& call, size_t level);
  void OpenTiles(const Call& call);
  void OpenInTiles(const Call& call, size_t level);

  // Element 0 has tiles, element k > 0 nodes of level k - 1 of the upper tree.
  std::array<Frontier, kUpperLevels + 1> upper_;
  // Element 0 has polygons, element k > 0 nodes of level k - 1 of the trees of tiles.
  std::array<Frontier, kTileLevels + 1> in_tiles_;
};

}  // namespace carom::internal
