// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/contact_batch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_scratch.h"
#include "cells/cell_traversal.h"
#include "contact/feature_contact.h"
#include "contact/manifold.h"
#include "contact/plain_axis.h"
#include "contact/plain_manifold.h"
#include "contact/plain_mover.h"
#include "edges/placed_shape.h"
#include "index/body_set.h"
#include "index/box_traversal.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "shape/convex_core.h"

namespace carom::internal {
namespace {

// Checks the masses of item i, where there are any.
bool CheckMasses(const ContactColumns& columns, size_t i, ItemChecker& check) {
  if (columns.mass.empty()) return true;
  const double mover = columns.mass[i];
  const double fixed = columns.polygon_mass[i];
  if (!(mover > 0)) return check.Fail(ItemColumn::kMass, ItemFault::kNotAMass);
  if (!(fixed > 0) || (std::isinf(mover) && std::isinf(fixed))) {
    return check.Fail(ItemColumn::kPolygonMass, ItemFault::kNotAMass);
  }
  return true;
}

constexpr size_t kWindow = 32;  // items whose memory is fetched together
static_assert(kWindow <= CellPairs::kMostQueries && kWindow <= BoxPairs::kMostQueries);
constexpr size_t kMaxPairs = 512;  // at a time
constexpr size_t kCachedShapes = 16;
constexpr size_t kMaxCachedItems = 16384;

// A place for a contact that is yet to be measured. Faster to copy than to make.
const Contact kNoContact;

// An item of the window. In general it is placed when it is asked for.
struct Mover {
  const Shape* shape;
  size_t number;  // of the shape
  size_t vertex_count;
  Pose pose;
  bool is_placed;    // `general` is
  bool is_in_order;  // its rows
  bool has_edges;    // where it is plain
  MovingShape general;
};

// Whether polygons are looked for in cells first. Not where most have an index, which only trees
// lead to.
bool HasCells(const SceneIndex& scene) {
  return !scene.grid().empty() &&
         scene.vertex_count() <= IndexedPolygon::kMaxScanned * scene.polygon_count();
}

// A small convex shape of the batch.
struct CachedShape {
  size_t number = SIZE_MAX;
  PlainShape plain;
};

// What batches of contacts work with, kept while it is small.
struct Scratch {
  bool IsWorthCaching() const {
    return convexity.capacity() <= kMaxCachedItems && largest <= kMaxMovingVertices;
  }

  std::array<Mover, kWindow> movers;
  std::array<PlainMover, kWindow> plain;            // of size 0 where a mover is not plain
  std::vector<std::optional<Convexity>> convexity;  // of each shape as described, once asked for
  std::array<CachedShape, kCachedShapes> shapes;    // by the lowest digits of their numbers
  std::array<BoxQuery, kWindow> queries;
  std::array<PlainPair, kMaxPairs> pairs;
  CellPairs in_cells;
  BoxPairs in_trees;
  ContactBlock block;
  size_t largest = 0;  // vertices of a mover in general
};

// The items of a batch, a window at a time: first where they may meet polygons, then those pairs.
class ContactBatch {
 public:
  ContactBatch(const ContactRun& run, ContactAnswers& out, WorkMeter& meter)
      : scene_(run.scene),
        columns_(run.columns),
        options_(run.options),
        way_(run.way),
        out_(out),
        meter_(meter),
        has_cells_(run.way == ContactWay::kShort && HasCells(run.scene.index())),
        is_plain_(IsPlain(run.columns.movers.scope)) {
    masks_.fill(options_.mask);
  }

  // Called once. Returns false once the meter stops.
  bool Run() {
    const size_t shapes = columns_.movers.shapes.size();
    if (!meter_.Spend(shapes / 64)) return false;
    scratch_->convexity.assign(shapes, std::nullopt);
    for (CachedShape& shape : scratch_->shapes) shape.number = SIZE_MAX;
    for (begin_ = 0; begin_ < columns_.size(); begin_ += kWindow) {
      const size_t count = std::min(kWindow, columns_.size() - begin_);
      const size_t first_row = out_.contacts.size();
      is_in_order_ = true;
      for (size_t k = 0; k < count; ++k) {
        if (!PlaceItem(begin_ + k, k)) return false;
      }
      if (!TakePairs(count) || !AnswerPairs()) return false;
      EndRows(count, first_row);
    }
    if (scratch_->IsWorthCaching()) scratch_.Return();
    return true;
  }

  const ContactCounts& counts() const { return counts_; }

 private:
  Convexity ConvexityOfShape(size_t number) {
    std::optional<Convexity>& known = scratch_->convexity[number];
    const Polygon* const polygon = columns_.movers.shapes[number].polygon();
    if (!known) known = polygon == nullptr ? Convexity::kWeak : ConvexityOf(*polygon);
    return *known;
  }

  // Of size 0 where the shape is not plain.
  const PlainShape& PlainOf(size_t number) {
    CachedShape& cached = scratch_->shapes[number % kCachedShapes];
    if (cached.number != number) {
      cached.number = number;
      cached.plain = PlainShape(columns_.movers.shapes[number], ConvexityOfShape(number));
    }
    return cached.plain;
  }

  // Counts what the window's items have added up. Returns false once the meter stops.
  bool SpendUnits() { return meter_.Spend(std::exchange(units_, 0)); }

  // Places item i, mover k of the window. Returns false once the meter stops.
  bool PlaceItem(size_t i, size_t k) {
    Mover& mover = scratch_->movers[k];
    BoxQuery& query = scratch_->queries[k];
    query.is_asked = false;
    ++units_;
    if (!is_plain_) SetMask(i, k);
    ItemChecker check(i, out_.errors);
    mover.shape = ShapeOf(columns_.movers, i, check);
    if (mover.shape == nullptr || !ReadPose(columns_.movers, i, check, mover.pose)) return true;
    mover.vertex_count = mover.shape->vertex_count();
    units_ += mover.vertex_count;
    if (mover.vertex_count > kMostPlainVertices && !SpendUnits()) return false;
    mover.number = columns_.movers.shape.empty() ? i : columns_.movers.shape[i];
    mover.is_placed = false;
    mover.is_in_order = true;
    mover.has_edges = false;
    const PlainShape& described = PlainOf(mover.number);
    PlainMover& plain = scratch_->plain[k];
    if (way_ == ContactWay::kShort && described.size != 0 &&
        place_plain_.vertices(described, mover.pose, plain)) {
      query.reach = plain.bounds;
      query.is_asked = CheckMasses(columns_, i, check);
    } else {
      plain.size = 0;
      if (!PlaceInGeneral(mover)) {
        check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
        return true;
      }
      query.reach = mover.general.bounds();
      query.is_asked = CheckMasses(columns_, i, check) && !IsHollow(*mover.shape);
    }
    if (query.is_asked) units_ += mover.vertex_count;
    return true;
  }

  void SetMask(size_t i, size_t k) {
    const auto considered = Considered::Of(columns_.movers.scope, i, options_.mask);
    masks_[k] = considered.scene ? considered.mask : 0;
  }

  // Returns false where a placed vertex is not accepted.
  bool PlaceInGeneral(Mover& mover) {
    scratch_->largest = std::max(scratch_->largest, mover.vertex_count);
    mover.is_placed = true;
    const bool is_convex = ConvexityOfShape(mover.number) != Convexity::kNone;
    return mover.general.Place(*mover.shape, mover.pose, is_convex);
  }

  // Takes the polygons that the window's movers may meet as pairs: from the cells of the grid where
  // these have all, else from the trees. Where they are many, it answers those there are. Returns
  // false once the meter stops.
  bool TakePairs(size_t count) {
    const std::span<BoxQuery> queries(scratch_->queries.data(), count);
    uint32_t left = has_cells_
                        ? FindPairsInCells(scene_.index(), queries, scratch_->in_cells, meter_)
                        : LeaveToTrees(queries, scratch_->in_cells);
    units_ += scratch_->in_cells.boxes;
    if (left != 0) FindInTrees(queries, left);
    size_t in_cells = 0;
    size_t in_trees = 0;
    for (; left != 0; left &= left - 1) {
      const auto k = static_cast<uint32_t>(std::countr_zero(left));
      if (!TakeFromCells(k, in_cells) || !TakeFromTrees(k, in_trees)) return false;
    }
    return TakeFromCells(kWindow, in_cells);
  }

  // Takes what was found in cells, from place `i` on, for movers before `end`. Returns false once
  // the meter stops.
  bool TakeFromCells(uint32_t end, size_t& i) {
    const CellPairs& found = scratch_->in_cells;
    uint32_t last = kWindow;
    for (; i < found.count && found.pairs[i].query < end; ++i) {
      const uint32_t k = found.pairs[i].query;
      if (k != last && !StartMover()) return false;
      last = k;
      TakePair(Unowned<Polygon>(found.pairs[i].polygon), nullptr, k);
    }
    return true;
  }

  // Before the few pairs of a mover, which are answered together.
  bool StartMover() {
    if (pair_count_ + FewPolygons::kMost > kMaxPairs && !AnswerPairs()) return false;
    first_pair_ = pair_count_;
    return true;
  }

  // Finds what queries may meet that are left to the trees.
  void FindInTrees(std::span<BoxQuery> queries, uint32_t left) {
    uint32_t asked = 0;
    for (size_t k = 0; k < queries.size(); ++k) {
      asked |= uint32_t{queries[k].is_asked} << k;
      queries[k].is_asked = (left >> k & 1) != 0;
    }
    BoxPairs& found = scratch_->in_trees;
    FindPairs(scene_.index(), queries, found);
    units_ += found.boxes;
    for (size_t i = 0; i < found.count; ++i) Prefetch(found.pairs[i].polygon->polygon());
    for (size_t k = 0; k < queries.size(); ++k) queries[k].is_asked = (asked >> k & 1) != 0;
  }

  // The same for mover k, of which trees may have found too much. Then they find all once more, in
  // any order.
  bool TakeFromTrees(uint32_t k, size_t& i) {
    const BoxPairs& found = scratch_->in_trees;
    const bool has_few = scratch_->queries[k].has_few;
    if (!StartMover()) return false;
    for (; i < found.count && found.pairs[i].query == k; ++i) {
      if (has_few) TakeIndexed(*found.pairs[i].polygon, k);
    }
    if (has_few) return true;
    if (!SpendUnits()) return false;
    is_in_order_ = scratch_->movers[k].is_in_order = false;
    const MeetsBox meets{scratch_->queries[k].reach};
    scene_.index().Traverse(meter_, meets, [&](const IndexedPolygon& fixed) {
      TakeIndexed(fixed, k);
      if (pair_count_ < kMaxPairs) return true;
      first_pair_ = 0;
      return AnswerPairs();
    });
    return !meter_.stopped();
  }

  void TakeIndexed(const IndexedPolygon& fixed, uint32_t k) {
    TakePair(Unowned<Polygon>(fixed.polygon()), &fixed, k);
  }

  // Adds a pair of mover k if it is to be looked at, before those of the mover with a greater id.
  void TakePair(const Unowned<Polygon>& fixed, const IndexedPolygon* indexed, uint32_t k) {
    const Polygon& polygon = fixed.get();
    if ((polygon.category() & masks_[k]) == 0 || polygon.solidity() == Solidity::kBoundary ||
        !polygon.bounds().Intersects(scratch_->queries[k].reach)) {
      return;
    }
    auto& pairs = scratch_->pairs;
    size_t at = pair_count_++;
    for (; at > first_pair_ && pairs[at - 1].polygon().id() > polygon.id(); --at) {
      pairs[at] = pairs[at - 1];
    }
    pairs[at].fixed = fixed;
    pairs[at].indexed = indexed;
    pairs[at].mover = k;
    pairs[at].axis.verdict = AxisVerdict::kUncertain;
  }

  // Of the movers that have a pair. One that may have been bent as it was placed is not plain.
  void PlaceEdges() {
    for (size_t i = 0; i < pair_count_; ++i) {
      const uint32_t k = scratch_->pairs[i].mover;
      PlainMover& plain = scratch_->plain[k];
      if (plain.size == 0 || std::exchange(scratch_->movers[k].has_edges, true)) continue;
      if (!place_plain_.edges(plain)) plain.size = 0;
    }
  }

  // Adds the rows of the pairs there are, and clears them. Returns false once the meter stops.
  bool AnswerPairs() {
    if (!SpendUnits()) return false;
    PlaceEdges();
    const std::span<PlainPair> pairs(scratch_->pairs.data(), pair_count_);
    counts_.pairs += pairs.size();
    if (!FindAxes(pairs, scratch_->plain.data(), meter_)) return false;
    for (PlainPair& pair : pairs) {
      if (pair.axis.verdict == AxisVerdict::kApart) continue;
      if (pair.axis.verdict == AxisVerdict::kUncertain && !Decide(pair)) return false;
      if (pair.axis.verdict == AxisVerdict::kFound && !AddToBlock(pair)) return false;
    }
    pair_count_ = 0;
    return MeasureContacts();
  }

  // Sets the axis of a pair that the filter left, or answers it. Returns false once the meter
  // stops.
  bool Decide(PlainPair& pair) {
    pair.axis.verdict = AxisVerdict::kApart;
    if (scratch_->plain[pair.mover].size != 0 && pair.is_plain()) {
      ++counts_.axes;
      return FindAxisAlone(scratch_->plain[pair.mover], meter_, pair);
    }
    ++counts_.not_plain;
    const std::optional<Contact> contact = InGeneral(pair);
    if (meter_.stopped()) return false;
    if (!contact) return true;
    out_.contacts.push_back(*contact);
    return AddRow(pair);
  }

  std::optional<Contact> InGeneral(const PlainPair& pair) {
    Mover& mover = scratch_->movers[pair.mover];
    if (!mover.is_placed) PlaceInGeneral(mover);
    if (pair.indexed != nullptr) return ContactOf(*pair.indexed, mover.general, meter_);
    if (pair.polygon().edge_count() <= IndexedPolygon::kMaxScanned) {
      return ContactOf(pair.polygon(), pair.convexity(), mover.general, meter_);
    }
    const IndexedPolygon* const indexed = FindIndexed(pair.polygon());
    return indexed != nullptr ? ContactOf(*indexed, mover.general, meter_) : std::nullopt;
  }

  // The entry of a polygon that was found in a cell. Null once the meter has stopped.
  const IndexedPolygon* FindIndexed(const Polygon& polygon) {
    const IndexedPolygon* found = nullptr;
    const Vec2 corner = polygon.bounds().min;
    scene_.index().Traverse(meter_, MeetsBox{{corner, corner}}, [&](const IndexedPolygon& fixed) {
      if (fixed.polygon().memory() == polygon.memory()) found = &fixed;
      return found == nullptr;
    });
    return found;
  }

  // The contact is there, or a place for it.
  bool AddRow(const PlainPair& pair) {
    ++out_.counts[begin_ + pair.mover];
    out_.polygon_ids.push_back(pair.polygon().id());
    return meter_.SpendRows(1);
  }

  bool AddToBlock(const PlainPair& pair) {
    SetLane(pair, scratch_->plain[pair.mover], lanes_, scratch_->block);
    waiting_[lanes_] = {&pair, out_.contacts.size()};
    ++lanes_;
    out_.contacts.push_back(kNoContact);
    return AddRow(pair) && (lanes_ < ContactBlock::kSize || MeasureContacts());
  }

  // Writes the rows of the block. Returns false once the meter stops.
  bool MeasureContacts() {
    if (lanes_ == 0) return true;
    Measure(lanes_, scratch_->block);
    for (size_t lane = 0; lane < lanes_; ++lane) {
      Contact& contact = out_.contacts[waiting_[lane].row];
      if ((scratch_->block.is_certain >> lane & 1) != 0) {
        WriteLane(scratch_->block, lane, contact);
        continue;
      }
      ++counts_.left;
      const std::optional<Contact> general = InGeneral(*waiting_[lane].pair);
      if (meter_.stopped()) return false;
      contact = *general;
    }
    lanes_ = 0;
    return true;
  }

  // Ends the items of the window: the rows of each by ascending id.
  void EndRows(size_t count, size_t row) {
    if (columns_.mass.empty() && is_in_order_) return;
    for (size_t k = 0; k < count; ++k) {
      const size_t i = begin_ + k;
      const size_t end = row + out_.counts[i];
      if (row < end && !scratch_->movers[k].is_in_order) SortRows(row, end);
      for (; row < end; ++row) {
        if (columns_.mass.empty()) continue;
        out_.splits.push_back(
            SplitByMass(out_.contacts[row], columns_.polygon_mass[i], columns_.mass[i]));
      }
    }
  }

  void SortRows(size_t begin, size_t end) {
    std::vector<std::pair<uint64_t, Contact>> rows;
    for (size_t i = begin; i < end; ++i) rows.emplace_back(out_.polygon_ids[i], out_.contacts[i]);
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = begin; i < end; ++i) {
      out_.polygon_ids[i] = rows[i - begin].first;
      out_.contacts[i] = rows[i - begin].second;
    }
  }

  static void Prefetch(const Polygon& polygon) {
    const auto* const block = static_cast<const char*>(polygon.memory());
    __builtin_prefetch(block);
    __builtin_prefetch(block + 64);
    __builtin_prefetch(block + 128);
  }

  // A contact in the block, and where it is written.
  struct Waiting {
    const PlainPair* pair;
    size_t row;
  };

  const Scene& scene_;
  const ContactColumns& columns_;
  const ContactOptions& options_;
  const ContactWay way_;
  ContactAnswers& out_;
  WorkMeter& meter_;
  ThreadScratch<Scratch> scratch_;
  const bool has_cells_;
  const bool is_plain_;  // whether all items have the mask of the options
  const PlainPlacing place_plain_ = PlacePlain();
  uint64_t units_ = 0;  // of the window, not yet counted
  size_t begin_ = 0;    // of the window
  size_t pair_count_ = 0;
  size_t first_pair_ = 0;  // of the mover whose pairs are taken
  size_t lanes_ = 0;
  bool is_in_order_ = true;              // whether the rows of all movers of the window are
  std::array<uint64_t, kWindow> masks_;  // of the movers
  std::array<Waiting, ContactBlock::kSize> waiting_;  // beside the lanes
  ContactCounts counts_;
};

}  // namespace

bool IsHollow(const Shape& shape) {
  return shape.polygon() && shape.polygon()->solidity() == Solidity::kBoundary;
}

bool RunContacts(const ContactRun& run, ContactAnswers& out, WorkMeter& meter,
                 ContactCounts* counts) {
  ContactBatch batch(run, out, meter);
  const bool finished = batch.Run();
  if (counts != nullptr) *counts = batch.counts();
  return finished;
}

}  // namespace carom::internal
