// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "edges/edge_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "numeric/box_distance.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// The second moments of the edge vectors of a chain (consecutive edges): the sums of x^2, x y and
// y^2 over the vectors (x, y). Their main axis is the direction along which the chain runs,
// forwards and backwards. (The chord, from the first vertex to the last, gives no direction if the
// chain returns to its start.)
struct Moment {
  double xx = 0;
  double xy = 0;
  double yy = 0;

  void Add(const Moment& other) {
    xx += other.xx;
    xy += other.xy;
    yy += other.yy;
  }
  // Returns a normal of the main axis, with a length of about 1. The main axis has the angle t with
  // tan(2t) = 2 * xy / (xx - yy).
  Vec2 Normal() const {
    const double difference = xx - yy;
    const double root = std::sqrt(difference * difference + 4 * xy * xy);
    Vec2 axis = difference >= 0 ? Vec2{difference + root, 2 * xy} : Vec2{2 * xy, root - difference};
    const double length = std::sqrt(axis.x * axis.x + axis.y * axis.y);
    if (!(length > 0) || !(length < HUGE_VAL)) return {0, 1};
    return {-axis.y / length, axis.x / length};
  }
};

// A chain: the polygon's consecutive edges with indices in [first, last), which become a child of a
// node of the index.
struct Chain {
  Box box;
  Moment moment;
  double start_y = 0;
  double end_y = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t ring = 0;  // the index of the ring that contains the first edge
  // The reference to the chain's node or leaf, encoded as `EdgeNode::child`.
  uint32_t node = EdgeNode::kIrregularLeaf;
  // True if the chain is one or several whole rings, false if it is a part of one ring.
  bool whole = false;

  void Append(const Chain& next) {
    box.Extend(next.box);
    moment.Add(next.moment);
    end_y = next.end_y;
    last = next.last;
  }
};

// Returns true if one chain (consecutive edges) may contain both chains: both consist of whole
// rings, or both are parts of one ring. Parts of two rings may not be joined, because point
// location needs one chord (the segment from the first vertex to the last) for a chain of parts.
bool MayJoin(const Chain& a, const Chain& b) {
  return a.whole ? b.whole : !b.whole && a.ring == b.ring;
}

// Returns the scale of a node's frame, the factor by which the node multiplies differences of
// coordinates from its origin: 2^-e for the least e with 2^e > extent; 1 for an extent of 0.
// `extent` is the largest of these differences in magnitude; it is 0 or at least 2^-192.
double ScaleOf(double extent) {
  if (extent == 0) return 1;
  const uint64_t exponent = std::bit_cast<uint64_t>(extent) >> 52;
  return std::bit_cast<double>((2045 - exponent) << 52);
}

// A ring of at most this many edges becomes one leaf of the tree. Two leaves would need a node
// above them, which takes 512 bytes.
constexpr uint32_t kMaxWholeLeaf = 2 * kLanes;

// Returns the number of nodes of a tree above `count` leaves of one ring, if each node has `kLanes`
// children as far as possible.
size_t NodesOver(size_t count) {
  size_t nodes = 0;
  do {
    count = (count + kLanes - 1) / kLanes;
    nodes += count;
  } while (count > 1);
  return nodes;
}

// Builds the tree of an `EdgeIndex`: first cuts the rings into leaves (chains of consecutive
// edges), then makes level after level, where each node joins up to eight consecutive chains of the
// level below.
class Builder {
 public:
  Builder(const Polygon& polygon, EdgeIndex::Strips strips, std::vector<EdgeNode>& nodes)
      : polygon_(polygon), strips_(strips), nodes_(nodes) {}

  void Build() {
    CutRings();
    nodes_.reserve(NodesOver(level_.size()));
    do {
      AddLevel();
    } while (level_.size() > 1);
    // A polygon of many rings may need more nodes than were reserved. If so, the vector has grown,
    // and may have much unused capacity.
    if (nodes_.capacity() > nodes_.size() + nodes_.size() / 8) nodes_.shrink_to_fit();
  }

 private:
  // Calls visit(vertex) for each vertex of the edges of `chain`, in order.
  template <class Visit>
  void VisitVertices(const Chain& chain, const Visit& visit) const;

  void CutRings();
  Chain Part(uint32_t ring, uint32_t first, uint32_t last) const;
  void SetMoment(Chain& part) const;
  void AddLevel();
  Chain Join(std::span<const Chain> children);
  void SetFrame(const Box& box, EdgeNode& node) const;
  void SetChild(const Chain& child, size_t lane, EdgeNode& node) const;
  void SetStrip(const Chain& child, size_t lane, EdgeNode& node) const;

  const Polygon& polygon_;
  EdgeIndex::Strips strips_;
  std::vector<EdgeNode>& nodes_;
  // The index of the first edge of each ring, then the number of all edges.
  std::vector<uint32_t> ring_first_;
  std::vector<Chain> level_;
};

template <class Visit>
void Builder::VisitVertices(const Chain& chain, const Visit& visit) const {
  if (chain.whole) {
    for (size_t ring = chain.ring; ring_first_[ring] < chain.last; ++ring) {
      for (const Vec2 v : polygon_.ring(ring)) visit(v);
    }
    return;
  }
  const std::span<const Vec2> ring = polygon_.ring(chain.ring);
  const size_t first = chain.first - ring_first_[chain.ring];
  const size_t last = chain.last - ring_first_[chain.ring];
  for (size_t i = first; i <= last && i < ring.size(); ++i) visit(ring[i]);
  if (last == ring.size()) visit(ring[0]);
}

Chain Builder::Part(uint32_t ring, uint32_t first, uint32_t last) const {
  Chain part;
  part.ring = ring;
  part.first = first;
  part.last = last;
  const Vec2 start = polygon_.edge(first).a;
  Double2 min{start.x, start.y};
  Double2 max = min;
  VisitVertices(part, [&](Vec2 v) {
    const Double2 p{v.x, v.y};
    min = p < min ? p : min;
    max = p > max ? p : max;
    part.end_y = v.y;
  });
  part.start_y = start.y;
  part.box = {{min[0], min[1]}, {max[0], max[1]}};
  if (strips_ == EdgeIndex::Strips::kAll) SetMoment(part);
  return part;
}

void Builder::SetMoment(Chain& part) const {
  Vec2 before = polygon_.edge(part.first).a;
  VisitVertices(part, [&](Vec2 v) {
    const Vec2 d{v.x - before.x, v.y - before.y};
    part.moment.Add({d.x * d.x, d.x * d.y, d.y * d.y});
    before = v;
  });
}

// Makes the leaves. A ring of more than `kMaxWholeLeaf` edges is cut into parts of eight
// consecutive edges and a last part of the remaining edges. Consecutive small rings are joined into
// one part as long as it has at most eight edges.
void Builder::CutRings() {
  uint32_t end = 0;
  uint32_t first_vertex = 0;
  level_.reserve(polygon_.edge_count() / kLanes + polygon_.ring_count());
  for (uint32_t ring = 0; ring < polygon_.ring_count(); ++ring) {
    const auto vertices = static_cast<uint32_t>(polygon_.ring(ring).size());
    const uint32_t edges = polygon_.is_open(ring) && vertices > 1 ? vertices - 1 : vertices;
    const uint32_t part_size = edges <= kMaxWholeLeaf ? kMaxWholeLeaf : kLanes;
    ring_first_.push_back(end);
    for (uint32_t done = 0; done < edges; done += part_size) {
      const uint32_t count = std::min(part_size, edges - done);
      Chain part = Part(ring, end + done, end + done + count);
      part.whole = count == edges;
      if (count == kLanes && done + kLanes < vertices) {
        part.node = EdgeNode::kLeaf | (first_vertex + done);
      }
      if (part.whole && !level_.empty() && level_.back().whole &&
          part.last - level_.back().first <= kLanes) {
        level_.back().Append(part);
        level_.back().node = EdgeNode::kIrregularLeaf;
      } else {
        level_.push_back(part);
      }
    }
    first_vertex += vertices;
    end += edges;
  }
  ring_first_.push_back(end);
}

// Replaces `level_` by the fewer chains of the level above, each of which joins up to eight
// consecutive chains. If the level has several chains, at least two consecutive chains can be
// joined: two parts of one ring, or two chains of whole rings. If the level is a single leaf, the
// leaf gets a node above it.
void Builder::AddLevel() {
  std::vector<Chain> above;
  above.reserve(level_.size() / kLanes + 1);
  for (size_t first = 0; first < level_.size();) {
    size_t last = first + 1;
    while (last < level_.size() && last - first < kLanes && MayJoin(level_[first], level_[last])) {
      ++last;
    }
    const bool alone = last - first == 1 && level_.size() > 1;
    above.push_back(alone ? level_[first] : Join(std::span(level_).subspan(first, last - first)));
    first = last;
  }
  level_ = std::move(above);
}

Chain Builder::Join(std::span<const Chain> children) {
  Chain chain = children[0];
  for (const Chain& child : children.subspan(1)) chain.Append(child);
  chain.whole = chain.first == ring_first_[chain.ring] &&
                (children[0].whole || chain.last == ring_first_[chain.ring + 1]);
  chain.node = static_cast<uint32_t>(nodes_.size());
  EdgeNode& node = nodes_.emplace_back();
  node.count = static_cast<uint32_t>(children.size());
  SetFrame(chain.box, node);
  for (size_t i = 0; i < children.size(); ++i) SetChild(children[i], i, node);
  node.first[children.size()] = chain.last;
  return chain;
}

// Sets the node's frame (the origin and the scale of the coordinates that the node stores), and
// `slack`, which bounds the error of `EdgeNode::BoxOf`, where a corner in the frame is scaled back
// and added to the origin. Let u = 2^-53 and m the magnitude of the largest coordinate. Rounding
// the corner to float moves it by at most 2^-25 / scale, and rounding its difference to the origin
// by at most 2um; the sum of corner and origin, and the addition of the slack to this sum, round by
// less than 2.1um. 8um covers all errors that are multiples of um.
void Builder::SetFrame(const Box& box, EdgeNode& node) const {
  node.origin = {box.min.x / 2 + box.max.x / 2, box.min.y / 2 + box.max.y / 2};
  node.scale = ScaleOf(std::max({node.origin.x - box.min.x, box.max.x - node.origin.x,
                                 node.origin.y - box.min.y, box.max.y - node.origin.y}));
  const double magnitude = std::max(
      {std::abs(box.min.x), std::abs(box.max.x), std::abs(box.min.y), std::abs(box.max.y)});
  node.slack = 0x1p-24 / node.scale + 8 * kUnit * magnitude;
}

void Builder::SetChild(const Chain& child, size_t lane, EdgeNode& node) const {
  node.min_x.Set(lane, node.X(child.box.min.x));
  node.min_y.Set(lane, node.Y(child.box.min.y));
  node.max_x.Set(lane, node.X(child.box.max.x));
  node.max_y.Set(lane, node.Y(child.box.max.y));
  node.start_y.Set(lane, child.whole ? 0 : child.start_y);
  node.end_y.Set(lane, child.whole ? 0 : child.end_y);
  node.first[lane] = child.first;
  node.child[lane] = child.node;
  if (strips_ == EdgeIndex::Strips::kAll) SetStrip(child, lane, node);
}

void Builder::SetStrip(const Chain& child, size_t lane, EdgeNode& node) const {
  const Vec2 normal = child.moment.Normal();
  const auto x = static_cast<float>(normal.x);
  const auto y = static_cast<float>(normal.y);
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  VisitVertices(child, [&](Vec2 v) {
    const double along =
        x * ((v.x - node.origin.x) * node.scale) + y * ((v.y - node.origin.y) * node.scale);
    low = std::min(low, along);
    high = std::max(high, along);
  });
  node.normal_x.Set(lane, x);
  node.normal_y.Set(lane, y);
  node.low.Set(lane, static_cast<float>(low - EdgeNode::kStripPad));
  node.high.Set(lane, static_cast<float>(high + EdgeNode::kStripPad));
}

}  // namespace

MeetsSegment::MeetsSegment(const Segment& s) : segment(s) {
  const Vec2 d{s.b.x - s.a.x, s.b.y - s.a.y};
  const double length = std::sqrt(d.x * d.x + d.y * d.y);
  if (length > 0) normal = {-d.y / length, d.x / length};
}

// Returns the children that pass three tests. (1) The bounding box of the segment meets the child's
// box. (2) The line through the segment passes between the two corners of the child's box that are
// extreme along the line's normal. (3) The ends of the segment do not both lie outside of the
// child's strip (two parallel lines with the child between them) on one side of the strip.
//
// Let u = 2^-53, and m the magnitude of the segment's first vertex in the frame of the node. The
// normal is turned by at most 4u, which moves the line by 4u (m + 2) where it passes the node; the
// vertex is off by um and the dot product by 3um; 16u (m + 2) covers these errors. `kStripPad`
// covers the errors of the corners' dot products, which are computed like the dot products of a
// strip. The ends of the segment may lie outside of the node's box. With k the larger of their
// magnitudes in the frame, the floats, the products and the sum in the dot product of an end with a
// strip's normal are off by 2^-21 k in all.
LaneBits EdgeNode::Meeting(const MeetsSegment& query) const {
  const LaneBits in_box = Meeting(MeetsBox{Grown(BoundsOf(query.segment), query.margin)});
  if (in_box == 0) return 0;
  const Vec2 a{(query.segment.a.x - origin.x) * scale, (query.segment.a.y - origin.y) * scale};
  const double line = query.normal.x * a.x + query.normal.y * a.y;
  const double margin = query.margin * scale;
  const double pad = kStripPad + margin + 16 * kUnit * (std::abs(a.x) + std::abs(a.y) + 2);
  const auto least = static_cast<float>(line - pad);
  const auto most = static_cast<float>(line + pad);
  const auto x = static_cast<float>(query.normal.x);
  const auto y = static_cast<float>(query.normal.y);
  const Floats& low_x = x >= 0 ? min_x : max_x;
  const Floats& low_y = y >= 0 ? min_y : max_y;
  const Floats& high_x = x >= 0 ? max_x : min_x;
  const Floats& high_y = y >= 0 ? max_y : min_y;
  const Vec2 b{(query.segment.b.x - origin.x) * scale, (query.segment.b.y - origin.y) * scale};
  const double magnitude = std::max(std::abs(a.x) + std::abs(a.y), std::abs(b.x) + std::abs(b.y));
  if (magnitude > 0x1p60) return in_box;  // the products of floats below may overflow
  const auto strip_pad = static_cast<float>(0x1p-20 * magnitude + 2 * margin);
  const auto a_x = static_cast<float>(a.x);
  const auto a_y = static_cast<float>(a.y);
  const auto b_x = static_cast<float>(b.x);
  const auto b_y = static_cast<float>(b.y);
  const auto passing = [&](size_t half) {
    const Float4 a_along = normal_x.half[half] * a_x + normal_y.half[half] * a_y;
    const Float4 b_along = normal_x.half[half] * b_x + normal_y.half[half] * b_y;
    const Float4 lower = low.half[half] - strip_pad;
    const Float4 upper = high.half[half] + strip_pad;
    return (low_x.half[half] * x + low_y.half[half] * y <= most) &
           (high_x.half[half] * x + high_y.half[half] * y >= least) &
           ((a_along >= lower) | (b_along >= lower)) & ((a_along <= upper) | (b_along <= upper));
  };
  return Bits(passing(0), passing(1)) & in_box;
}

EdgeIndex::EdgeIndex(const Polygon& polygon, Strips strips) {
  Builder(polygon, strips, nodes_).Build();
}

}  // namespace carom::internal
