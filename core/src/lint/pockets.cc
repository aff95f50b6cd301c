// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/pockets.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "lint/regions.h"
#include "lint/walls.h"

namespace carom::internal {
namespace {

// Finds the pockets among the regions.
class PocketSearch {
 public:
  PocketSearch(const Walls& walls, const Regions& regions, const LintOptions& options,
               FindingSink& sink)
      : walls_(walls),
        regions_(regions),
        sink_(sink),
        from_(options.from),
        outline_left_(options.max_outline_vertices),
        is_reached_(regions.count(), false) {}

  bool Run(WorkMeter& meter) {
    is_reached_[Regions::kUnbounded] = true;  // not a pocket
    for (const Vec2 p : from_) {
      const std::optional<uint32_t> region = regions_.RegionAt(Normalized(p), meter);
      if (meter.stopped()) return false;
      if (region.has_value()) is_reached_[*region] = true;
    }
    for (uint32_t region = 0; region < regions_.count(); ++region) {
      if (is_reached_[region] || regions_.is_solid(region)) continue;
      if (!meter.Spend(16 * regions_.sides_of(region).size())) return false;
      Add(region);
    }
    return true;
  }

 private:
  // The least name of the edges that a side is a part of, and of the place at which it begins; none
  // for a gap that begins at no place.
  std::optional<EdgeName> NameOf(uint32_t side) const {
    std::optional<EdgeName> least;
    const uint32_t begin = regions_.begin_of(side);
    if (begin < walls_.map().places().size()) least = walls_.map().places()[begin].name;
    for (const PieceEdge& part : walls_.edges_of_piece(side / 2)) {
      const EdgeName& name = walls_.map().edges()[part.edge].name;
      if (!least.has_value() || name < *least) least = name;
    }
    return least;
  }
  Vec2 BeginOf(uint32_t side) const { return walls_.rounded(regions_.begin_of(side)); }

  // Half of the sum of the cross products of all sides, relative to a corner of the region.
  double AreaOf(uint32_t region) const {
    const Vec2 origin = BeginOf(regions_.sides_of(region)[0]);
    double sum = 0;
    for (const uint32_t side : regions_.sides_of(region)) {
      const Vec2 a = BeginOf(side);
      const Vec2 b = walls_.rounded(regions_.end_of(side));
      sum += (a.x - origin.x) * (b.y - origin.y) - (a.y - origin.y) * (b.x - origin.x);
    }
    return std::abs(sum) / 2;
  }

  // The side of the loop around the region with the least name, then the least point. There is one,
  // since each gap has a place at an end, where a side of the loop begins.
  std::pair<uint32_t, EdgeName> FirstSide(uint32_t region) const {
    std::optional<std::pair<uint32_t, EdgeName>> first;
    const auto key = [this](uint32_t side, const EdgeName& name) {
      return std::tuple(name, BeginOf(side).x, BeginOf(side).y);
    };
    for (const uint32_t side : regions_.sides_of(region)) {
      if (regions_.is_outer(side)) continue;
      const std::optional<EdgeName> name = NameOf(side);
      if (!name.has_value()) continue;
      if (!first.has_value() || key(side, *name) < key(first->first, first->second)) {
        first = {side, *name};
      }
    }
    return first.value_or(std::pair(regions_.sides_of(region)[0], EdgeName()));
  }

  void Add(uint32_t region) {
    const auto [begin, name] = FirstSide(region);
    LintFinding finding = NamedFinding(walls_.map().scene(), LintKind::kPocket, name, name);
    finding.point = finding.other_point = BeginOf(begin);
    sink_.Add(std::move(finding), [&, begin = begin](LintFinding& added) {
      added.measure = AreaOf(region);
      for (uint32_t side = begin;;) {
        if (added.outline.size() == outline_left_) {
          added.outline.clear();
          return;
        }
        added.outline.push_back(BeginOf(side));
        side = regions_.next(side);
        if (side == begin) break;
      }
      outline_left_ -= added.outline.size();
    });
  }

  const Walls& walls_;
  const Regions& regions_;
  FindingSink& sink_;
  const std::vector<Vec2>& from_;
  size_t outline_left_;
  std::vector<bool> is_reached_;
};

}  // namespace

bool FindPockets(const LintMap& map, std::vector<Gap> gaps, const LintOptions& options,
                 FindingSink& sink, WorkMeter& meter) {
  const Walls walls(map, std::move(gaps), meter);
  if (!walls.ok() || meter.stopped()) return false;
  const Regions regions(walls, meter);
  return regions.ok() && PocketSearch(walls, regions, options, sink).Run(meter);
}

}  // namespace carom::internal
