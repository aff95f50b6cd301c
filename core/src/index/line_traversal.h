// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene may lines meet?
//
// Many lines descend the trees of boxes together, level by level: one loop over the pairs of a line
// and a node that the line may meet makes the pairs of the level below. The loop has no branch that
// depends on a single line, so no branch is mispredicted, and it prefetches the nodes of later
// pairs while it tests one. The tests of boxes use floats and are conservative: the order and
// number of the polygons visited may vary with the instruction set, but every polygon that a line
// meets is visited.
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

// The offset of each column of eight coordinates in a `BoxNode`, in floats.
inline constexpr uint32_t kMinX = offsetof(BoxNode, min_x) / sizeof(float);
inline constexpr uint32_t kMinY = offsetof(BoxNode, min_y) / sizeof(float);
inline constexpr uint32_t kMaxX = offsetof(BoxNode, max_x) / sizeof(float);
inline constexpr uint32_t kMaxY = offsetof(BoxNode, max_y) / sizeof(float);

// A line, or a part of it, in the form in which eight boxes at a time are tested against it.
//
// A point p of the line has normal . p = offset, where offset = normal . (origin of the line). So a
// box that meets the line has a corner with normal . corner >= offset - slack, and a corner with
// normal . corner <= offset + slack, where `slack` covers the rounding errors of the test. Let M be
// the largest magnitude of a coordinate of the scene and of the origin, u = 2^-24, and the
// components of the normal below 2. Rounding the normal to floats changes normal . corner by 8 u M,
// rounding the offset by 4 u M, and evaluating in floats by 4 + 4 + 8 u M more, each less than
// 2^-140 where it underflows. `slack` is more than twice the sum: 64 u M + 2^-120.
class LineCull {
 public:
  LineCull() = default;  // uninitialized, to be assigned
  // Makes the test for the part of the line in the box `reach`. `magnitude` is the largest
  // magnitude of a coordinate of the scene.
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
  // Makes the line meet no box, until a later call of `SetReach`.
  void Stop() { max_x = -HUGE_VALF; }

  // The bounds of the part of the line that is tested, rounded to floats. Rounding is monotonic for
  // these bounds and for the boxes of nodes, so no box that meets the part is lost. An empty box
  // never passes.
  float min_x, max_x, min_y, max_y;
  // The line's normal, and the bounds `offset - slack` and `offset + slack`: for the corner c of a
  // box farthest along the normal, normal . c must be at least `least`, and for the opposite corner
  // at most `most`.
  float normal_x, normal_y, least, most;
  // Which columns of a `BoxNode` (kMinX to kMaxY) have the coordinates of a box's corner that is
  // farthest along the normal (upper), and of the opposite corner (lower).
  uint32_t upper_x, upper_y, lower_x, lower_y;
  double far;  // twice the largest magnitude of a coordinate of the scene and of the line's origin
};

// Pairs of a line and a target that the line may meet: a polygon, a tile (a group of neighbouring
// polygons with a tree over their boxes), or a node of such a tree or of the tree over all tiles.
struct Frontier {
  // The number of pairs that are opened at once. To open a pair of a line and a node is to add the
  // pairs of the line and those children of the node that the line may meet. The limit bounds the
  // memory, however many boxes the lines meet.
  static constexpr size_t kPart = 256;
  // Room for the pairs of all eight children of kPart nodes, and for the roots of the trees of
  // kPart tiles. Opening a node stores eight pairs each time, and later pairs overwrite the stored
  // pairs that the line does not meet, hence room for eight pairs more.
  static constexpr size_t kCapacity = (BoxNode::kWidth + 1) * kPart + BoxNode::kWidth;

  void Add(uint32_t target, uint16_t line) {
    targets[count] = target;
    lines[count++] = line;
  }

  size_t count = 0;
  alignas(64) std::array<uint32_t, kCapacity> targets;
  alignas(64) std::array<uint16_t, kCapacity> lines;
};

// At most `Frontier::kPart` pairs of `frontier`, from the pair `begin` on. The line of pair i is
// `lines[frontier.lines[i]]`.
struct FrontierPart {
  const Frontier& frontier;
  size_t begin;
  const LineCull* lines;
};

// The number of a tile (a group of neighbouring polygons with a tree over their boxes) together
// with the index of a polygon in the tile, or of a node on a level of the tile's tree, packed into
// 32 bits. A scene has fewer than 2^22 tiles: small tiles are joined, so 67 million polygons, the
// most that a server accepts, make about a million tiles.
struct Slot {
  static constexpr uint32_t kBits = 10;
  static_assert(size_t{1} << kBits == 2 * kPageSize);  // the most polygons of a tile

  uint32_t tile;
  uint32_t index;

  static Slot Of(uint32_t number) { return {number >> kBits, number & ((1u << kBits) - 1)}; }
  uint32_t number() const { return tile << kBits | index; }
};

// The tree nodes that one line, descending the trees alone, has yet to open: to compare the boxes
// of the node's eight children with the line. A tile is a group of neighbouring polygons with a
// tree over their boxes. The members are named as those of `Frontier`, so that `AddChildren` writes
// to either, but `lines` holds the kind of each node instead of a line. On each level at most the
// eight children of one node wait, and opening a node stores eight entries, even if the line may
// meet fewer of the node's children.
struct WalkStack {
  static constexpr size_t kLevels = 14;
  // The kinds of nodes. kTile: the root of a tile's tree. 1 + k, which is below kTile: a node of
  // level k of a tile's tree. kUpper + k: a node of level k of the upper tree, the scene's tree
  // over its tiles.
  static constexpr uint16_t kTile = 64;
  static constexpr uint16_t kUpper = 65;

  size_t count = 0;
  std::array<uint32_t, (kLevels + 1) * BoxNode::kWidth> targets;
  std::array<uint16_t, (kLevels + 1) * BoxNode::kWidth> lines;
};

// Receives the polygons that lines may meet. A scene has its polygons in tiles, groups of
// neighbouring polygons.
class LineObserver {
 public:
  // Handles pairs of a line and a polygon, given by its tile and its index in the tile
  // (`Slot::number`): the line may meet the polygon's box. May narrow the parts of lines that are
  // tested (`LineCull::SetReach`), and may stop lines (`LineCull::Stop`).
  virtual void Visit(const Frontier& pairs) = 0;

 protected:
  ~LineObserver() = default;
};

// Finds the polygons that lines may meet: the lines descend the bounding-box trees of a scene, the
// tree over its tiles (groups of neighbouring polygons) and the trees of the tiles over their
// polygons. An object takes about 200 KiB; callers reuse it from call to call. Not thread-safe.
class LineDescent {
 public:
  static constexpr size_t kMaxLines = 128;

  // Calls `observer` for all pairs of one of the first `count` elements of `lines` and a polygon
  // that the line may meet, and perhaps for more pairs, until the meter stops the work. Each box
  // counts as one unit of work.
  void Run(const SceneIndex& scene, size_t count, LineObserver& observer, WorkMeter& meter);

  std::array<LineCull, kMaxLines> lines;

  // The arguments of `Run`, which stay constant while the lines descend.
  struct Call {
    const SceneIndex& scene;
    LineObserver& observer;
    WorkMeter& meter;
  };

 private:
  // At most this many lines descend the trees one by one: with so few lines, a level of a tree has
  // too few pairs of a line and a node for the loop over all pairs of the level to be faster.
  static constexpr size_t kFew = 2;

  // Enough levels for the tiles (groups of polygons) that `Slot` can number, and for the 2
  // kPageSize polygons of a tile. Each level multiplies the capacity by eight.
  static constexpr size_t kUpperLevels = 8;
  static constexpr size_t kTileLevels = 4;
  static_assert(uint64_t{1} << 3 * kUpperLevels >= uint64_t{1} << (32 - Slot::kBits));
  static_assert(size_t{1} << 3 * kTileLevels >= 2 * kPageSize);

  void Walk(const Call& call, uint16_t line);
  void OpenUpper(const Call& call, size_t level);
  void OpenTiles(const Call& call);
  void OpenInTiles(const Call& call, size_t level);

  // Element 0 has pairs of a line and a tile, element k > 0 pairs of a line and a node of level k -
  // 1 of the upper tree, the scene's tree over its tiles.
  std::array<Frontier, kUpperLevels + 1> upper_;
  // Element 0 has pairs of a line and a polygon, element k > 0 pairs of a line and a node of level
  // k - 1 of the tree of a tile.
  std::array<Frontier, kTileLevels + 1> in_tiles_;
};

}  // namespace carom::internal
