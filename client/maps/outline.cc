// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/outline.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace carom {
namespace {

// A maximal sequence of filled columns [begin, end) in row y.
struct LatticeRun {
  int32_t y = 0, begin = 0, end = 0;
};

// A boundary edge: where it starts, the component of the cell on its left, and the edge that
// continues its ring.
struct BoundaryEdge {
  LatticePoint from;
  uint32_t component = 0;
  uint32_t next = 0;
};

// Which of the parts 0 to n - 1 are connected?
class PartSets {
 public:
  explicit PartSets(size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }

  void Unite(uint32_t a, uint32_t b) {
    a = Root(a);
    b = Root(b);
    // The least member is the root, so that the components can be numbered by their first member.
    if (a != b) parent_[std::max(a, b)] = std::min(a, b);
  }
  // Halves the path to the root, so that it stays short.
  uint32_t Root(uint32_t part) {
    while (parent_[part] != part) part = parent_[part] = parent_[parent_[part]];
    return part;
  }
  // Returns the number of the component of each part; components are numbered in the order of their
  // first parts.
  std::vector<uint32_t> Numbers() {
    std::vector<uint32_t> numbers(parent_.size());
    uint32_t next = 0;
    for (uint32_t part = 0; part < numbers.size(); ++part) {
      const uint32_t root = Root(part);
      numbers[part] = root == part ? next++ : numbers[root];
    }
    return numbers;
  }

 private:
  std::vector<uint32_t> parent_;
};

// Coordinates are at most 2^29 in magnitude, so products of their differences fit.
int64_t Cross(LatticePoint a, LatticePoint b) { return int64_t{a.x} * b.y - int64_t{a.y} * b.x; }
int64_t Dot(LatticePoint a, LatticePoint b) { return int64_t{a.x} * b.x + int64_t{a.y} * b.y; }
LatticePoint Direction(LatticePoint from, LatticePoint to) {
  return {to.x - from.x, to.y - from.y};
}

// Goes along the rings of linked edges. The edges of each component are ordered by their starts, by
// y, then x: the first edge of a component starts at its least vertex, which is on its outer ring.
//
// Where several edges of one component start at a vertex, `next` is the one farthest to the right:
// the ring stays with the empty cells on its right. Two parts of a component that meet at a vertex
// are connected elsewhere, and with the vertex they separate the empty cells between them from each
// other; so a ring, which goes around connected empty cells, meets the vertex once (law 4).
std::vector<Outline> TraceRings(const std::vector<BoundaryEdge>& edges, bool joins_collinear) {
  std::vector<Outline> outlines;
  std::vector<bool> used(edges.size());
  for (uint32_t first = 0; first < edges.size(); ++first) {
    if (used[first]) continue;
    const uint32_t component = edges[first].component;
    if (component >= outlines.size()) outlines.resize(component + 1);
    std::vector<LatticePoint>& ring = outlines[component].rings.emplace_back();
    LatticePoint arrival;
    for (uint32_t at = first; !used[at]; at = edges[at].next) {
      used[at] = true;
      const LatticePoint direction = Direction(edges[at].from, edges[edges[at].next].from);
      const bool is_straight =
          at != first && Cross(arrival, direction) == 0 && Dot(arrival, direction) > 0;
      if (!joins_collinear || !is_straight) ring.push_back(edges[at].from);
      arrival = direction;
    }
    ring.shrink_to_fit();
  }
  return outlines;
}

// Returns the runs of the cells, each of which covers `width` columns.
std::vector<LatticeRun> RunsOf(std::vector<Cell> cells, int32_t width) {
  const auto by_row = [](Cell a, Cell b) { return a.y != b.y ? a.y < b.y : a.x < b.x; };
  if (!std::ranges::is_sorted(cells, by_row)) std::ranges::sort(cells, by_row);
  std::vector<LatticeRun> runs;
  for (const Cell cell : cells) {
    if (!runs.empty() && runs.back().y == cell.y && cell.x <= runs.back().end) {
      runs.back().end = std::max(runs.back().end, cell.x + width);
    } else {
      runs.push_back({cell.y, cell.x, cell.x + width});
    }
  }
  return runs;
}

// Calls `row(lower, upper)` with the runs of each two adjacent rows, as ranges of indices; one of
// them may be empty. Every run is once in an upper row and once in a lower row.
template <typename Row>
void ForEachPairOfRows(const std::vector<LatticeRun>& runs, Row row) {
  using Range = std::pair<size_t, size_t>;
  Range lower{0, 0};
  for (size_t next = 0; next < runs.size() || lower.first < lower.second;) {
    const bool has_lower = lower.first < lower.second;
    Range upper{next, next};
    if (next < runs.size() && (!has_lower || runs[next].y == runs[lower.first].y + 1)) {
      while (upper.second < runs.size() && runs[upper.second].y == runs[next].y) ++upper.second;
    }
    row(lower, upper);
    lower = upper;
    next = upper.second;
  }
}

// Makes the boundary edges of runs and links them, row after row.
//
// At each vertex on the line between two rows, four runs meet: lower left, lower right, upper left
// and upper right, each of which may be missing. They say which edges arrive and leave there. An
// edge is made at its start; if its end comes first in the order of the vertices, what continues it
// is kept until then.
class RowLinker {
 public:
  RowLinker(const std::vector<LatticeRun>& runs, const std::vector<uint32_t>& components,
            bool unit_steps)
      : runs_(runs),
        components_(components),
        unit_steps_(unit_steps),
        right_side_(runs.size()),
        behind_left_side_(runs.size()) {}

  // Links the edges on the line between two adjacent rows.
  void operator()(std::pair<size_t, size_t> lower, std::pair<size_t, size_t> upper) {
    line_ = lower.first < lower.second ? runs_[lower.first].y + 1 : runs_[upper.first].y;
    size_t l = lower.first;
    size_t u = upper.first;
    int32_t before = INT32_MIN;
    uint32_t lower_left = kNoRun;
    uint32_t upper_left = kNoRun;
    while (l < lower.second || u < upper.second) {
      int32_t x = INT32_MAX;
      if (l < lower.second) x = lower_left != kNoRun ? runs_[l].end : runs_[l].begin;
      if (u < upper.second) x = std::min(x, upper_left != kNoRun ? runs_[u].end : runs_[u].begin);
      const uint32_t lower_right = RightOf(x, lower_left, l, lower.second);
      const uint32_t upper_right = RightOf(x, upper_left, u, upper.second);
      if (unit_steps_) AddSteps(before, x, lower_left, upper_left);
      AddVertex({x, line_}, {lower_left, lower_right, upper_left, upper_right});
      before = x;
      lower_left = lower_right;
      upper_left = upper_right;
    }
  }

  std::vector<BoundaryEdge> Take() { return std::move(edges_); }

 private:
  static constexpr uint32_t kNoRun = UINT32_MAX;
  // Directions, counter-clockwise.
  enum Heading : uint8_t { kRight, kUp, kLeft, kDown };
  struct Quarters {
    uint32_t lower_left, lower_right, upper_left, upper_right;
  };
  // An edge that leaves the vertex, or arrives there.
  struct Leaving {
    Heading heading;
    uint32_t component, edge;
  };

  // Returns the run of a row on the right of x, where `next` is the first run that does not end
  // before x, and steps over it if it ends at x.
  uint32_t RightOf(int32_t x, uint32_t left, size_t& next, size_t end) const {
    if (next < end && left != kNoRun && runs_[next].end == x) {
      ++next;
      return kNoRun;
    }
    return next < end && runs_[next].begin <= x ? static_cast<uint32_t>(next) : kNoRun;
  }

  uint32_t Add(LatticePoint from, uint32_t run, uint32_t next = 0) {
    edges_.push_back({from, components_[run], next});
    return static_cast<uint32_t>(edges_.size() - 1);
  }

  // Cuts the level edge between two vertices at each column.
  void AddSteps(int32_t begin, int32_t end, uint32_t lower, uint32_t upper) {
    if ((lower == kNoRun) == (upper == kNoRun)) return;
    for (int32_t x = begin + 1; x < end; ++x) {
      if (lower != kNoRun) {
        behind_leftward_ = Add({x, line_}, lower, behind_leftward_);
      } else {
        const uint32_t edge = Add({x, line_}, upper);
        edges_[rightward_].next = edge;
        rightward_ = edge;
      }
    }
  }

  // Makes the edges that leave a vertex, then links those that arrive.
  void AddVertex(LatticePoint vertex, const Quarters& at) {
    const auto [lower_left, lower_right, upper_left, upper_right] = at;
    const bool ll = lower_left != kNoRun, lr = lower_right != kNoRun;
    const bool ul = upper_left != kNoRun, ur = upper_right != kNoRun;
    leaving_count_ = 0;
    if (ll && !ul) Leave(kLeft, lower_left, Add(vertex, lower_left, behind_leftward_));
    if (lr && !ll)
      Leave(kDown, lower_right, Add(vertex, lower_right, behind_left_side_[lower_right]));
    if (ur && !lr) Leave(kRight, upper_right, rightward_after_ = Add(vertex, upper_right));
    if (ul && !ur) Leave(kUp, upper_left, right_side_[upper_left] = Add(vertex, upper_left));
    if (ul && !ll) edges_[rightward_].next = Continuation(kRight, upper_left);
    if (ll && !lr) edges_[right_side_[lower_left]].next = Continuation(kUp, lower_left);
    if (lr && !ur) behind_leftward_ = Continuation(kLeft, lower_right);
    if (ur && !ul) behind_left_side_[upper_right] = Continuation(kDown, upper_right);
    rightward_ = rightward_after_;
  }

  void Leave(Heading heading, uint32_t run, uint32_t edge) {
    leaving_[leaving_count_++] = {heading, components_[run], edge};
  }

  // Returns the edge that continues one of a run: of its component, the farthest to the right.
  uint32_t Continuation(Heading arrival, uint32_t run) const {
    uint32_t edge = 0;
    bool is_right_turn = false;
    for (size_t i = 0; i < leaving_count_; ++i) {
      if (leaving_[i].component != components_[run] || is_right_turn) continue;
      edge = leaving_[i].edge;
      is_right_turn = leaving_[i].heading == (arrival + 3) % 4;
    }
    return edge;
  }

  const std::vector<LatticeRun>& runs_;
  const std::vector<uint32_t>& components_;
  bool unit_steps_;
  std::vector<BoundaryEdge> edges_;
  int32_t line_ = 0;
  // For each run: the last edge up its right side, and what continues the edge down its left side.
  std::vector<uint32_t> right_side_;
  std::vector<uint32_t> behind_left_side_;
  // On the line, on the left of the vertex: the edge to the right, and what continues the edge to
  // the left.
  uint32_t rightward_ = 0;
  uint32_t rightward_after_ = 0;
  uint32_t behind_leftward_ = 0;
  Leaving leaving_[2] = {};
  size_t leaving_count_ = 0;
};

// Unites the runs of adjacent rows that share an edge.
std::vector<uint32_t> ComponentsOf(const std::vector<LatticeRun>& runs) {
  PartSets sets(runs.size());
  ForEachPairOfRows(runs, [&](std::pair<size_t, size_t> lower, std::pair<size_t, size_t> upper) {
    size_t l = lower.first;
    size_t u = upper.first;
    while (l < lower.second && u < upper.second) {
      if (runs[l].begin < runs[u].end && runs[u].begin < runs[l].end) {
        sets.Unite(static_cast<uint32_t>(l), static_cast<uint32_t>(u));
      }
      runs[l].end < runs[u].end ? ++l : ++u;
    }
  });
  return sets.Numbers();
}

std::vector<Outline> OutlineRuns(const std::vector<LatticeRun>& runs,
                                 const std::vector<uint32_t>& components, bool are_bricks) {
  RowLinker linker(runs, components, are_bricks);
  ForEachPairOfRows(runs, [&](std::pair<size_t, size_t> lower, std::pair<size_t, size_t> upper) {
    linker(lower, upper);
  });
  return TraceRings(linker.Take(), /*joins_collinear=*/!are_bricks);
}

// Finds which boxes are connected: each two boxes that share a point, and others through them.
//
// Sweeps over the boxes from below. For each x the sweep knows the box that reaches highest so far:
// of the boxes below a box, those that it touches are connected with the highest one, or are it.
class BoxSweep {
 public:
  explicit BoxSweep(std::span<const LatticeBox> boxes) : boxes_(boxes), sets_(boxes.size()) {}

  // Returns the number of each box's component. If that takes more than `max_steps`, all boxes
  // count as connected.
  std::vector<uint32_t> Components(size_t max_steps) {
    std::vector<uint32_t> order(boxes_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
      return boxes_[a].min.y != boxes_[b].min.y ? boxes_[a].min.y < boxes_[b].min.y : a < b;
    });
    for (const uint32_t box : order) {
      Insert(box);
      if (steps_ > max_steps) return std::vector<uint32_t>(boxes_.size());
    }
    return sets_.Numbers();
  }

 private:
  struct Piece {
    int32_t end = 0;
    uint32_t box = 0;  // the one that reaches highest
  };

  void Insert(uint32_t box) {
    const auto& [min, max] = boxes_[box];
    auto at = pieces_.lower_bound(min.x);
    if (at != pieces_.begin() && std::prev(at)->second.end >= min.x) --at;
    int32_t covered = min.x;  // everything on the left of it is up to date
    while (at != pieces_.end() && at->first <= max.x) {
      ++steps_;
      const auto [begin, piece] = *at;
      const LatticeBox& other = boxes_[piece.box];
      if (other.max.y >= min.y) sets_.Unite(box, piece.box);
      const bool only_touches = begin == max.x || piece.end == min.x;
      if (only_touches || other.max.y > max.y) {
        if (!only_touches && covered < begin) pieces_[covered] = {begin, box};
        if (!only_touches) covered = std::min(piece.end, max.x);
        ++at;
        continue;
      }
      // The box replaces the part of the piece below it.
      at = pieces_.erase(at);
      if (begin < min.x) pieces_[begin] = {min.x, piece.box};
      if (piece.end > max.x)
        at = pieces_.insert_or_assign(max.x, Piece{piece.end, piece.box}).first;
      if (piece.end > max.x) break;
    }
    if (covered < max.x) pieces_[covered] = {max.x, box};
  }

  std::span<const LatticeBox> boxes_;
  PartSets sets_;
  std::map<int32_t, Piece> pieces_;  // by their begins; they do not overlap
  size_t steps_ = 0;
};

// Cuts boxes along the lines on which any of them begins or ends, and unites the pieces between two
// adjacent lines to runs. The rows of the runs are the ranks of the lines.
class BoxCutter {
 public:
  explicit BoxCutter(std::vector<LatticeBox> boxes)
      : boxes_(std::move(boxes)), first_run_(boxes_.size()), by_start_(boxes_.size()) {
    for (const LatticeBox& box : boxes_) {
      lines_.push_back(box.min.y);
      lines_.push_back(box.max.y);
    }
    std::ranges::sort(lines_);
    lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
    std::iota(by_start_.begin(), by_start_.end(), 0);
    std::ranges::sort(by_start_, [&](uint32_t a, uint32_t b) {
      return boxes_[a].min.y != boxes_[b].min.y ? boxes_[a].min.y < boxes_[b].min.y
                                                : StartsLeft(a, b);
    });
  }

  // Takes the number of pieces from `pieces_left`; returns false if there are more.
  bool Cut(size_t& pieces_left) {
    size_t next = 0;
    for (size_t row = 0; row + 1 < lines_.size(); ++row) {
      std::erase_if(active_, [&](uint32_t box) { return boxes_[box].max.y <= lines_[row]; });
      const size_t kept = active_.size();
      while (next < by_start_.size() && boxes_[by_start_[next]].min.y == lines_[row]) {
        active_.push_back(by_start_[next++]);
      }
      std::inplace_merge(active_.begin(), active_.begin() + static_cast<ptrdiff_t>(kept),
                         active_.end(), [&](uint32_t a, uint32_t b) { return StartsLeft(a, b); });
      if (active_.size() > pieces_left) return false;
      pieces_left -= active_.size();
      AddRow(row);
    }
    return true;
  }

  // Returns the outlines of the boxes, and the number of the outline of each box.
  BoxUnion Union() const {
    const std::vector<uint32_t> components = ComponentsOf(runs_);
    BoxUnion result{OutlineRuns(runs_, components, /*are_bricks=*/false), {}};
    for (Outline& outline : result.outlines) {
      for (std::vector<LatticePoint>& ring : outline.rings) {
        for (LatticePoint& point : ring) point.y = lines_[static_cast<size_t>(point.y)];
      }
    }
    for (const uint32_t run : first_run_) result.outline_of.push_back(components[run]);
    return result;
  }

 private:
  bool StartsLeft(uint32_t a, uint32_t b) const { return boxes_[a].min.x < boxes_[b].min.x; }

  void AddRow(size_t row) {
    const int32_t y = static_cast<int32_t>(row);
    for (const uint32_t box : active_) {
      const auto& [min, max] = boxes_[box];
      if (!runs_.empty() && runs_.back().y == y && min.x <= runs_.back().end) {
        runs_.back().end = std::max(runs_.back().end, max.x);
      } else {
        runs_.push_back({y, min.x, max.x});
      }
      if (min.y == lines_[row]) first_run_[box] = static_cast<uint32_t>(runs_.size() - 1);
    }
  }

  std::vector<LatticeBox> boxes_;
  std::vector<int32_t> lines_;
  std::vector<LatticeRun> runs_;
  std::vector<uint32_t> first_run_;  // the run with the lowest piece of each box
  std::vector<uint32_t> by_start_;   // the boxes in the order of their starts
  std::vector<uint32_t> active_;     // the boxes in the current row, from left to right
};

// Puts the outlines in the order of their least vertices.
void SortOutlines(BoxUnion& result) {
  std::vector<uint32_t> order(result.outlines.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    const LatticePoint p = result.outlines[a].rings[0][0], q = result.outlines[b].rings[0][0];
    return p.y != q.y ? p.y < q.y : p.x < q.x;
  });
  std::vector<Outline> sorted(order.size());
  std::vector<uint32_t> place(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    sorted[i] = std::move(result.outlines[order[i]]);
    place[order[i]] = i;
  }
  result.outlines = std::move(sorted);
  for (uint32_t& outline : result.outline_of) outline = place[outline];
}

// An edge of a cell, before it is linked.
struct CellEdge {
  LatticePoint from, to;
  uint32_t cell = 0;  // later its component
};

// Orders edges by their ends, so that the two directions of an edge are adjacent.
bool EndsBefore(const CellEdge& a, const CellEdge& b) {
  const auto ends = [](const CellEdge& edge) { return std::minmax(edge.from, edge.to); };
  return ends(a) != ends(b) ? ends(a) < ends(b) : a.from < b.from;
}

// Orders the edges of a component by their starts, by y, then x.
bool StartsBefore(const CellEdge& a, const CellEdge& b) {
  if (a.cell != b.cell) return a.cell < b.cell;
  if (a.from.y != b.from.y) return a.from.y < b.from.y;
  return a.from.x < b.from.x;
}

// Returns whether someone who arrives in the direction `arrival` turns farther to the right with
// `a` than with `b`.
bool IsFartherRight(LatticePoint arrival, LatticePoint a, LatticePoint b) {
  const bool a_is_right = Cross(arrival, a) < 0;
  const bool b_is_right = Cross(arrival, b) < 0;
  if (a_is_right != b_is_right) return a_is_right;
  return Cross(a, b) > 0;
}

// Links the boundary edges of components, which are in the order of `StartsBefore`.
std::vector<BoundaryEdge> Linked(const std::vector<CellEdge>& edges) {
  std::vector<BoundaryEdge> linked;
  linked.reserve(edges.size());
  for (const CellEdge& edge : edges) {
    const CellEdge key{edge.to, edge.to, edge.cell};
    const auto begin = std::ranges::lower_bound(edges, key, StartsBefore);
    const auto end = std::ranges::upper_bound(edges, key, StartsBefore);
    auto best = begin;
    for (auto i = begin; i != end; ++i) {
      const LatticePoint direction = Direction(i->from, i->to);
      if (IsFartherRight(Direction(edge.from, edge.to), direction,
                         Direction(best->from, best->to))) {
        best = i;
      }
    }
    linked.push_back({edge.from, edge.cell, static_cast<uint32_t>(best - edges.begin())});
  }
  return linked;
}

}  // namespace

std::vector<Outline> OutlineCells(std::vector<Cell> cells) {
  const std::vector<LatticeRun> runs = RunsOf(std::move(cells), 1);
  return OutlineRuns(runs, ComponentsOf(runs), /*are_bricks=*/false);
}

std::vector<Outline> OutlineBricks(std::vector<Cell> bricks) {
  const std::vector<LatticeRun> runs = RunsOf(std::move(bricks), 2);
  return OutlineRuns(runs, ComponentsOf(runs), /*are_bricks=*/true);
}

// Boxes that are not connected are cut apart from each other, so that their lines do not cut other
// boxes.
std::optional<BoxUnion> OutlineBoxes(std::span<const LatticeBox> boxes, size_t max_pieces) {
  const std::vector<uint32_t> components = BoxSweep(boxes).Components(max_pieces);
  std::vector<std::vector<uint32_t>> members;
  for (uint32_t box = 0; box < boxes.size(); ++box) {
    if (components[box] >= members.size()) members.resize(components[box] + 1);
    members[components[box]].push_back(box);
  }
  BoxUnion result;
  result.outline_of.resize(boxes.size());
  size_t pieces_left = max_pieces;
  for (const std::vector<uint32_t>& group : members) {
    std::vector<LatticeBox> part;
    part.reserve(group.size());
    for (const uint32_t box : group) part.push_back(boxes[box]);
    BoxCutter cutter(std::move(part));
    if (!cutter.Cut(pieces_left)) return std::nullopt;
    BoxUnion united = cutter.Union();
    const auto base = static_cast<uint32_t>(result.outlines.size());
    for (size_t i = 0; i < group.size(); ++i) {
      result.outline_of[group[i]] = base + united.outline_of[i];
    }
    std::ranges::move(united.outlines, std::back_inserter(result.outlines));
  }
  SortOutlines(result);
  return result;
}

std::vector<Outline> SeparateCells(std::span<const Cell> cells) {
  std::vector<Outline> outlines;
  outlines.reserve(cells.size());
  for (const auto [x, y] : cells) {
    outlines.push_back({{{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}}}});
  }
  return outlines;
}

std::vector<Outline> SeparateBricks(std::span<const Cell> bricks) {
  std::vector<Outline> outlines;
  outlines.reserve(bricks.size());
  for (const auto [x, y] : bricks) {
    outlines.push_back(
        {{{{x, y}, {x + 1, y}, {x + 2, y}, {x + 2, y + 1}, {x + 1, y + 1}, {x, y + 1}}}});
  }
  return outlines;
}

// Sorts the edges so that the two directions of a shared edge meet: they cancel, and connect their
// cells.
std::vector<Outline> OutlineRings(std::span<const std::vector<LatticePoint>> cells) {
  std::vector<CellEdge> edges;
  for (uint32_t cell = 0; cell < cells.size(); ++cell) {
    const std::vector<LatticePoint>& ring = cells[cell];
    for (size_t i = 0; i < ring.size(); ++i) {
      const LatticePoint to = ring[i + 1 == ring.size() ? 0 : i + 1];
      if (ring[i] != to) edges.push_back({ring[i], to, cell});
    }
  }
  std::ranges::sort(edges, EndsBefore);
  PartSets sets(cells.size());
  std::vector<CellEdge> boundary;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (i + 1 < edges.size() && edges[i].from == edges[i + 1].to &&
        edges[i].to == edges[i + 1].from) {
      sets.Unite(edges[i].cell, edges[i + 1].cell);
      ++i;
    } else {
      boundary.push_back(edges[i]);
    }
  }
  const std::vector<uint32_t> components = sets.Numbers();
  for (CellEdge& edge : boundary) edge.cell = components[edge.cell];
  std::ranges::sort(boundary, StartsBefore);
  std::vector<Outline> outlines = TraceRings(Linked(boundary), /*joins_collinear=*/true);
  std::erase_if(outlines, [](const Outline& outline) { return outline.rings.empty(); });
  return outlines;
}

}  // namespace carom
