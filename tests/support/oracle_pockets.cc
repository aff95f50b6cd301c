// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Pockets by slabs: vertical lines through all ends and crossings of walls cut the plane into
// trapezoids, which are joined where they share a part of a line that no wall covers.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

#include "tests/support/oracle_lint.h"
#include "tests/support/oracle_lint_parts.h"

namespace carom::testing {
namespace {

struct Wall {
  RationalXy a;  // a.x <= b.x
  RationalXy b;

  bool IsVertical() const { return a.x == b.x; }
  Rational At(const Rational& x) const { return a.y + (x - a.x) / (b.x - a.x) * (b.y - a.y); }
};

struct Trapezoid {
  Rational x0, x1;
  std::optional<Wall> low, high;  // none: unbounded
  bool bounded_x = true;
  bool solid = false;

  bool IsBounded() const { return bounded_x && low.has_value() && high.has_value(); }
};

class Slabs {
 public:
  Slabs(const std::vector<OraclePolygon>& scene, double radius) : map_(scene) {
    for (const LintSegment& edge : map_.edges) {
      if (edge.Proper()) AddWall(Exact(edge.a), Exact(edge.b));
    }
    for (const LintGap& gap : map_.Gaps(radius)) AddWall(Exact(gap.v), gap.q);
    FindCuts();
    for (size_t i = 0; i <= cuts_.size(); ++i) AddSlab(i);
    parent_.resize(cells_.size());
    std::iota(parent_.begin(), parent_.end(), 0);
    for (size_t i = 0; i < cuts_.size(); ++i) JoinAt(i);
  }

  std::vector<Rational> Pockets(const std::vector<Xy>& from) {
    std::vector<bool> excluded(cells_.size(), false);
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (!cells_[i].IsBounded() || cells_[i].solid) excluded[Find(i)] = true;
    }
    for (const Xy p : from) {
      if (const std::optional<size_t> cell = CellAt(Exact(Flushed(p))))
        excluded[Find(*cell)] = true;
    }
    std::vector<Rational> area(cells_.size(), 0);
    for (size_t i = 0; i < cells_.size(); ++i) {
      const Trapezoid& c = cells_[i];
      if (excluded[Find(i)]) continue;
      area[Find(i)] += (c.x1 - c.x0) *
                       (c.high->At(c.x0) - c.low->At(c.x0) + c.high->At(c.x1) - c.low->At(c.x1)) /
                       2;
    }
    std::erase_if(area, [](const Rational& a) { return a == 0; });
    std::sort(area.begin(), area.end());
    return area;
  }

 private:
  void AddWall(const RationalXy& a, const RationalXy& b) {
    const bool ordered = a.x <= b.x;
    walls_.push_back(ordered ? Wall{a, b} : Wall{b, a});
  }

  void FindCuts() {
    for (const Wall& w : walls_) {
      cuts_.push_back(w.a.x);
      cuts_.push_back(w.b.x);
      for (const Wall& v : walls_) {
        const RationalXy d = w.b - w.a;
        const RationalXy e = v.b - v.a;
        const Rational cross = Cross(d, e);
        if (cross == 0) continue;
        const Rational t = Cross(v.a - w.a, e) / cross;
        const Rational u = Cross(v.a - w.a, d) / cross;
        if (t >= 0 && t <= 1 && u >= 0 && u <= 1) cuts_.push_back(w.a.x + t * d.x);
      }
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  }

  // Slab i is between cut i - 1 and cut i; the first and the last one are half-planes.
  void AddSlab(size_t i) {
    first_cell_.push_back(cells_.size());
    if (i == 0 || i == cuts_.size()) {
      cells_.push_back({.x0 = 0, .x1 = 0, .low = {}, .high = {}, .bounded_x = false});
      return;
    }
    const Rational x0 = cuts_[i - 1];
    const Rational x1 = cuts_[i];
    const Rational x = (x0 + x1) / 2;
    std::vector<Wall> across;
    for (const Wall& w : walls_) {
      if (!w.IsVertical() && w.a.x <= x0 && w.b.x >= x1) across.push_back(w);
    }
    std::sort(across.begin(), across.end(),
              [&](const Wall& v, const Wall& w) { return v.At(x) < w.At(x); });
    std::optional<Wall> low;
    for (const Wall& w : across) {
      if (low.has_value() && low->At(x) == w.At(x)) continue;
      AddCell({.x0 = x0, .x1 = x1, .low = low, .high = w}, x);
      low = w;
    }
    AddCell({.x0 = x0, .x1 = x1, .low = low, .high = {}}, x);
  }
  void AddCell(Trapezoid cell, const Rational& x) {
    if (cell.IsBounded()) {
      const RationalXy middle{x, (cell.low->At(x) + cell.high->At(x)) / 2};
      cell.solid = std::any_of(map_.bodies.begin(), map_.bodies.end(),
                               [&](const LintBody& body) { return body.Fills(middle); });
    }
    cells_.push_back(std::move(cell));
  }

  // Joins cells that share a part of the line at cut i that no vertical wall covers.
  void JoinAt(size_t i) {
    const Rational& x = cuts_[i];
    const size_t end = i + 2 < first_cell_.size() ? first_cell_[i + 2] : cells_.size();
    for (size_t l = first_cell_[i]; l < first_cell_[i + 1]; ++l) {
      for (size_t r = first_cell_[i + 1]; r < end; ++r) {
        if (AreOpen(cells_[l], cells_[r], x)) parent_[Find(l)] = Find(r);
      }
    }
  }
  bool AreOpen(const Trapezoid& l, const Trapezoid& r, const Rational& x) const {
    std::vector<Rational> ys;
    for (const Trapezoid* cell : {&l, &r}) {
      if (cell->low.has_value()) ys.push_back(cell->low->At(x));
      if (cell->high.has_value()) ys.push_back(cell->high->At(x));
    }
    for (const Wall& w : walls_) {
      if (w.IsVertical() && w.a.x == x) {
        ys.push_back(w.a.y);
        ys.push_back(w.b.y);
      }
    }
    if (ys.empty()) return true;
    std::sort(ys.begin(), ys.end());
    std::vector<Rational> tries = {ys.front() - 1, ys.back() + 1};
    for (size_t k = 0; k + 1 < ys.size(); ++k) {
      if (ys[k] < ys[k + 1]) tries.push_back((ys[k] + ys[k + 1]) / 2);
    }
    return std::any_of(tries.begin(), tries.end(), [&](const Rational& y) {
      return Spans(l, x, y) && Spans(r, x, y) && !IsCovered(x, y);
    });
  }
  static bool Spans(const Trapezoid& cell, const Rational& x, const Rational& y) {
    return (!cell.low.has_value() || cell.low->At(x) < y) &&
           (!cell.high.has_value() || y < cell.high->At(x));
  }
  bool IsCovered(const Rational& x, const Rational& y) const {
    return std::any_of(walls_.begin(), walls_.end(), [&](const Wall& w) {
      return w.IsVertical() && w.a.x == x && std::min(w.a.y, w.b.y) <= y &&
             y <= std::max(w.a.y, w.b.y);
    });
  }

  std::optional<size_t> CellAt(const RationalXy& p) {
    for (const Wall& w : walls_) {
      const RationalXy d = w.b - w.a;
      const Rational t = Dot(p - w.a, d);
      if (Cross(p - w.a, d) == 0 && t >= 0 && t <= Dot(d, d)) return std::nullopt;
    }
    const size_t slab =
        static_cast<size_t>(std::upper_bound(cuts_.begin(), cuts_.end(), p.x) - cuts_.begin());
    const size_t end = slab + 1 < first_cell_.size() ? first_cell_[slab + 1] : cells_.size();
    for (size_t i = first_cell_[slab]; i < end; ++i) {
      if (Spans(cells_[i], p.x, p.y)) return i;
    }
    return std::nullopt;
  }

  size_t Find(size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }

  LintScenery map_;
  std::vector<Wall> walls_;
  std::vector<Rational> cuts_;
  std::vector<Trapezoid> cells_;
  std::vector<size_t> first_cell_;  // of each slab
  std::vector<size_t> parent_;
};

}  // namespace

std::vector<Rational> OraclePockets(const std::vector<OraclePolygon>& scene, double radius,
                                    const std::vector<Xy>& from) {
  return Slabs(scene, radius).Pockets(from);
}

}  // namespace carom::testing
