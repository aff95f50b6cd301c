// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is a point inside a polygon that has an `EdgeIndex`, and how often does the polygon wind around
// it?

#include <bit>

#include "edges/edge_index.h"
#include "edges/point_scan.h"

namespace carom::internal {
namespace {

// The sets of children of an index node, by the position of each child's bounding box and strip
// (two parallel lines with the child between them) relative to a point.
struct ChildMasks {
  LaneBits inside;    // the box and the strip contain the point
  LaneBits in_box;    // the box contains the point
  LaneBits to_right;  // the box is strictly to the right of the point, at any height
};

// Tests the box and the strip (two parallel lines around the child) of all eight children at once,
// four in a vector. A lane of a comparison is all ones where the comparison holds; `used` masks off
// lanes beyond the node's number of children. The point is rounded to a float in the node's frame;
// boxes and strips are wide enough to cover that rounding.
ChildMasks ClassifyChildren(const EdgeNode& node, Vec2 p) {
  const float x = node.X(p.x);
  const float y = node.Y(p.y);
  const auto in_box = [&](size_t half) {
    return (node.min_x.half[half] <= x) & (node.min_y.half[half] <= y) &
           (node.max_x.half[half] >= x) & (node.max_y.half[half] >= y);
  };
  const auto in_strip = [&](size_t half) {
    const Float4 along = node.normal_x.half[half] * x + node.normal_y.half[half] * y;
    return (node.low.half[half] <= along) & (along <= node.high.half[half]);
  };
  const Int4 box[] = {in_box(0), in_box(1)};
  const LaneBits used = (1U << node.count) - 1;
  return {Bits(box[0] & in_strip(0), box[1] & in_strip(1)) & used, Bits(box[0], box[1]) & used,
          Bits(node.min_x.half[0] > x, node.min_x.half[1] > x) & used};
}

// Counts how often a polygon winds around a point, by the tree of an `EdgeIndex`. Each node has up
// to eight children: chains of consecutive edges, each with a bounding box and a strip (two
// parallel lines with the chain between them).
class Locator {
 public:
  Locator(const std::vector<EdgeNode>& nodes, const Polygon& polygon, Vec2 p, WorkMeter& meter)
      : nodes_(nodes), polygon_(polygon), p_(p), meter_(meter), scan_(p) {}

  // Adds the signed crossings of the edges in the subtree `node` with the horizontal ray from the
  // point to the right. Returns false if the point is on an edge, or once the meter stops the work.
  bool Add(const EdgeNode& node);
  int64_t winding() const { return scan_.winding(); }

 private:
  bool AddLeaf(const EdgeNode& node, size_t i);

  const std::vector<EdgeNode>& nodes_;
  const Polygon& polygon_;
  Vec2 p_;
  WorkMeter& meter_;
  PointScan scan_;
};

// Each child of the node counts one work unit, which includes the edges of a leaf of eight
// consecutive edges: most points reach one such leaf or none, and testing the leaf's box and edges
// takes about 16 ns. A path down the tree is short, so the meter checks whether to stop only where
// the path branches (several children contain the point), and at the leaves that are not eight
// consecutive edges; the callers of `Locate` check, too.
bool Locator::Add(const EdgeNode& node) {
  const ChildMasks masks = ClassifyChildren(node, p_);
  meter_.Count(node.count);
  // A child is a chain (consecutive edges) with a bounding box and a strip, two parallel lines with
  // the chain between them. A chain winds around a point outside of its box or strip as often as
  // its chord does (the segment from its first vertex to its last). So a child with a box to the
  // right of the point counts as its chord, which is to the right as well. A child to the left,
  // above or below does not count: above or below, both ends of its chord are on one side of the
  // point's height. For a child that contains the point in its box, but not in its strip,
  // `AddChord` tests the chord.
  const LaneBits starts_above = Above(node.start_y, p_.y);
  const LaneBits ends_above = Above(node.end_y, p_.y);
  const LaneBits passing = starts_above ^ ends_above;
  const LaneBits crossed = passing & masks.to_right;
  if (crossed != 0) scan_.AddCrossings(Count(crossed & ends_above) - Count(crossed & starts_above));
  for (LaneBits bits = masks.in_box & ~masks.inside & passing; bits != 0; bits &= bits - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    scan_.AddChord(polygon_.edge(node.first[i]).a, polygon_.edge(node.first[i + 1] - 1).b);
  }
  for (LaneBits bits = masks.inside; bits != 0;) {
    const auto i = static_cast<size_t>(std::countr_zero(bits));
    if (!(node.IsLeaf(i) ? AddLeaf(node, i) : Add(nodes_[node.child[i]]))) return false;
    bits &= bits - 1;
    if (bits != 0 && !meter_.Spend(0)) return false;
  }
  return true;
}

// Adds the edges of leaf `i`. A leaf of eight consecutive edges of one ring is read as nine
// vertices, from the vertex index in the low bits of `child`; the edges of other leaves are read
// one by one.
bool Locator::AddLeaf(const EdgeNode& node, size_t i) {
  if (node.child[i] != EdgeNode::kIrregularLeaf) {
    return scan_.AddEight(polygon_.vertices().data() + (node.child[i] & ~EdgeNode::kLeaf));
  }
  if (!meter_.Spend(node.first[i + 1] - node.first[i])) return false;
  for (uint32_t edge = node.first[i]; edge < node.first[i + 1]; ++edge) {
    if (!scan_.Add(polygon_.edge(edge))) return false;
  }
  return true;
}

}  // namespace

PointInPolygon EdgeIndex::Locate(const Polygon& polygon, Vec2 p, WorkMeter& meter) const {
  Locator locator(nodes_, polygon, p, meter);
  if (!locator.Add(nodes_.back())) return {Location::kBoundary, 0};
  return ToPointInPolygon(polygon, locator.winding());
}

}  // namespace carom::internal
