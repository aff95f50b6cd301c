// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may lines meet?
//
// Many lines go down the trees of boxes together, level by level: a loop over pairs of a line and a
// node, which makes the pairs of the level below. Nothing in it depends on what one line does, so
// there is no branch to predict, and the memory of the pairs ahead is on its way while one is
// visited. The tests of boxes are in floats and conservative: the order and number of polygons
// visited may vary with the instruction set, whether one is visited that the line meets does not.
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

// Where a node has its columns, in floats from its start.
inline constexpr uint32_t kMinX = offsetof(BoxNode, min_x) / sizeof(float);
inline constexpr uint32_t kMinY = offsetof(BoxNode, min_y) / sizeof(float);
inline constexpr uint32_t kMaxX = offsetof(BoxNode, max_x) / sizeof(float);
inline constexpr uint32_t kMaxY = offsetof(BoxNode, max_y) / sizeof(float);

// A line, or a stretch of it, as eight boxes at a time are tested against it.
//
// A point p of the line has normal . (p - origin) = 0, so of a box some corner is at or above
// `offset - slack` along the normal and some corner at or below `offset + slack`. With M the
// largest magnitude of a coordinate of the scene and of the origin, u = 2^-24 and components of the
// normal below 2: rounding the normal moves the product by 8 u M, rounding the offset by 4 u M,
// evaluating in floats by 4 + 4 + 8 u M more, each less than 2^-140 where it underflows. `slack` is
// twice that and more: 64 u M + 2^-120.
class LineCull {
 public:
  LineCull() = default;  // to be assigned to
  // What `reach` holds of the line. `magnitude` is M but for the origin.
  LineCull(const Line& line, const Box& reach, double magnitude);

  void SetReach(const Box& reach);
  // Of any length but so that components are below 2.
  void SetNormal(float x, float y) {
    normal_x = x;
    normal_y = y;
    upper_x = x >= 0 ? kMaxX : kMinX;
    lower_x = x >= 0 ? kMinX : kMaxX;
    upper_y = y >= 0 ? kMaxY : kMinY;
    lower_y = y >= 0 ? kMinY : kMaxY;
  }
  // Meets nothing from now on.
  void Stop() { max_x = -HUGE_VALF; }

  // The reach, rounded as boxes are to floats, which keeps what meets; no empty box passes.
  float min_x, max_x, min_y, max_y;
  // The normal; what the upper corner of a box must attain, and the lower one must not exceed.
  float normal_x, normal_y, least, most;
  // Where a node has those corners.
  uint32_t upper_x, upper_y, lower_x, lower_y;
  double far;  // beyond the scene and the origin
};

// Pairs of a line and what it may meet.
struct Frontier {
  // So many are opened at once, which bounds the memory however much lines meet.
  static constexpr size_t kPart = 256;
  // A part with all its children, and as many roots of tiles. Those of a node are written all
  // eight, and the ones that the line does not meet are overwritten by what follows.
  static constexpr size_t kCapacity = (BoxNode::kWidth + 1) * kPart + BoxNode::kWidth;

  void Add(uint32_t target, uint16_t line) {
    targets[count] = target;
    lines[count++] = line;
  }

  size_t count = 0;
  alignas(64) std::array<uint32_t, kCapacity> targets;
  alignas(64) std::array<uint16_t, kCapacity> lines;
};

// The pairs of `frontier` from `begin` on, `Frontier::kPart` at most, with what `lines[pair.line]`
// may meet.
struct FrontierPart {
  const Frontier& frontier;
  size_t begin;
  const LineCull* lines;
};

// Polygon `index` of a tile, or a node of its tree, as one number. A scene has less than 2^22
// tiles: as small ones join, 67 million polygons, the most that a server takes, make a million.
struct Slot {
  static constexpr uint32_t kBits = 10;
  static_assert(size_t{1} << kBits == 2 * kPageSize);  // what a tile has at most

  uint32_t tile;
  uint32_t index;

  static Slot Of(uint32_t number) { return {number >> kBits, number & ((1u << kBits) - 1)}; }
  uint32_t number() const { return tile << kBits | index; }
};

// What a line that goes alone has yet to open: nodes with their kinds, in place of lines. Of each
// level no more than the children of one node wait, and one more in front of them.
struct WalkStack {
  static constexpr size_t kLevels = 14;
  static constexpr uint16_t kTile = 64;   // a tile; below, a node of that level, plus 1, of a tile
  static constexpr uint16_t kUpper = 65;  // a node of level 0 of the upper tree, and so on

  size_t count = 0;
  std::array<uint32_t, (kLevels + 1) * BoxNode::kWidth> targets;
  std::array<uint16_t, (kLevels + 1) * BoxNode::kWidth> lines;
};

// Called for the polygons that lines may meet.
class LineObserver {
 public:
  // Each pair is a line and the number of a polygon's `Slot`; a line may meet the polygon's box.
  // May narrow lines and stop them.
  virtual void Visit(const Frontier& pairs) = 0;

 protected:
  ~LineObserver() = default;
};

// Takes lines down the trees of a scene. Some 200 KiB, reused; not thread-safe.
class LineDescent {
 public:
  static constexpr size_t kMaxLines = 128;

  // Calls `observer` for all polygons that the first `count` of `lines` may meet, perhaps of more,
  // until the meter stops. Each box is a unit of work.
  void Run(const SceneIndex& scene, size_t count, LineObserver& observer, WorkMeter& meter);

  std::array<LineCull, kMaxLines> lines;

  // What stays the same down the trees.
  struct Call {
    const SceneIndex& scene;
    LineObserver& observer;
    WorkMeter& meter;
  };

 private:
  // So few lines are taken down one by one: they have no pairs to share the work of a level.
  static constexpr size_t kFew = 2;

  // Over the tiles that `Slot` can number, respectively over 2 kPageSize polygons: powers of
  // eight.
  static constexpr size_t kUpperLevels = 8;
  static constexpr size_t kTileLevels = 4;
  static_assert(uint64_t{1} << 3 * kUpperLevels >= uint64_t{1} << (32 - Slot::kBits));
  static_assert(size_t{1} << 3 * kTileLevels >= 2 * kPageSize);

  void Walk(const Call& call, uint16_t line);
  void OpenUpper(const Call& call, size_t level);
  void OpenTiles(const Call& call);
  void OpenInTiles(const Call& call, size_t level);

  // At 0 tiles, at k > 0 nodes of level k - 1 of the upper tree.
  std::array<Frontier, kUpperLevels + 1> upper_;
  // At 0 polygons, at k > 0 nodes of level k - 1 of their tiles' trees.
  std::array<Frontier, kTileLevels + 1> in_tiles_;
};

}  // namespace carom::internal
