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
#include "contact/fast_axis.h"
#include "contact/fast_manifold.h"
#include "contact/fast_mover.h"
#include "contact/feature_contact.h"
#include "contact/manifold.h"
#include "edges/placed_shape.h"
#include "index/body_set.h"
#include "index/box_traversal.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "shape/convex_core.h"

namespace carom::internal {
namespace {

// Returns whether the masses of item i (of the mover and of the polygons) are valid or absent;
// otherwise records a fault of the item.
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

// Number of items (moving shapes) that are evaluated together, as a window, so that the memory that
// they read is prefetched together.
constexpr size_t kContactWindow = 32;
static_assert(kContactWindow <= CellPairs::kMostQueries &&
              kContactWindow <= BoxPairs::kMostQueries);
constexpr size_t kMaxPairs = 512;  // capacity of the buffer of pairs of a polygon and a mover
// Number of shapes of the batch that are cached in the form that the fast path (for small convex
// polygons) reads, `FastShape`.
constexpr size_t kCachedShapes = 16;
// A thread keeps the buffers of a batch for the next batch if the batch had at most this many
// shapes.
constexpr size_t kMaxCachedItems = 16384;

// A default contact, appended to the answers as the placeholder of a contact that is computed
// later. Copying it is faster than constructing one.
const Contact kNoContact;

// A moving shape at its pose, one of the items that are evaluated together. `general` is the shape
// placed for the general path (the code for all shapes; the fast path is for small convex
// polygons), when that path first needs it.
struct Mover {
  const Shape* shape;
  size_t number;  // index of the shape in the batch
  size_t vertex_count;
  Pose pose;
  bool is_placed;    // whether `general` is placed
  bool is_in_order;  // whether the item's contacts are added by ascending polygon id
  bool has_edges;    // whether `PlaceEdges` has set the mover's edges
  MovingShape general;
};

// The scene's grid has squares, which are divided into cells that list the polygons in them.
// Returns whether the batch searches these cells for polygons first, and the scene's bounding-box
// trees only where the cells do not suffice. Returns false where polygons have more than
// `kMaxEdgesWithoutIndex` vertices on average: most of them then have an edge index, and only the
// trees lead to the entries (`IndexedPolygon`) with an index.
bool HasCells(const SceneIndex& scene) {
  return !scene.grid().empty() &&
         scene.vertex_count() <= IndexedPolygon::kMaxEdgesWithoutIndex * scene.polygon_count();
}

// A shape of the batch in the form of the fast path (`FastShape`), and the index of the shape in
// the batch.
struct CachedShape {
  size_t number = SIZE_MAX;
  FastShape fast;
};

// Buffers of `ContactBatch`, which evaluates the movers (moving shapes) of a batch in windows:
// groups of at most `kContactWindow` movers. The thread keeps them for its next batch if they are
// small
// (`IsWorthCaching`).
struct ContactScratch {
  bool IsWorthCaching() const {
    return convexity.capacity() <= kMaxCachedItems && largest <= kMaxMovingVertices;
  }

  std::array<Mover, kContactWindow> movers;
  // The movers of the window in the form of the fast path, which is for small convex polygons; size
  // 0 if the general path (the code for all shapes) evaluates the mover.
  std::array<FastMover, kContactWindow> fast;
  // The convexity of each shape of the batch, computed on first use.
  std::vector<std::optional<Convexity>> convexity;
  // A cache of shapes of the batch; the shape with index n in the batch is at n modulo
  // `kCachedShapes`.
  std::array<CachedShape, kCachedShapes> shapes;
  std::array<BoxQuery, kContactWindow> queries;
  std::array<FastPair, kMaxPairs> pairs;
  CellPairs in_cells;
  BoxPairs in_trees;
  ContactBlock block;
  size_t largest = 0;  // most vertices of a mover that was placed for the general path
};

// Evaluates a batch of contact queries, `kContactWindow` items (moving shapes) at a time: finds the
// polygons that each of these movers may meet, then evaluates these pairs. The fast path computes
// contacts of small convex polygons in SIMD lanes, the general path those of all shapes. The
// scene's grid has squares, which are divided into cells that list the polygons in them.
class ContactBatch {
 public:
  ContactBatch(const ContactRun& run, ContactAnswers& out, WorkMeter& meter)
      : scene_(run.scene),
        columns_(run.columns),
        options_(run.options),
        path_(run.path),
        out_(out),
        meter_(meter),
        has_cells_(run.path == ContactBatchPath::kFast && HasCells(run.scene.index())),
        is_uniform_(IsUniform(run.columns.movers.scope)) {
    masks_.fill(options_.mask);
  }

  // Evaluates all items of the batch. May be called once. Returns false once the meter stops.
  bool Run() {
    const size_t shapes = columns_.movers.shapes.size();
    if (!meter_.Spend(shapes / 64)) return false;
    scratch_->convexity.assign(shapes, std::nullopt);
    for (CachedShape& shape : scratch_->shapes) shape.number = SIZE_MAX;
    for (begin_ = 0; begin_ < columns_.size(); begin_ += kContactWindow) {
      const size_t count = std::min(kContactWindow, columns_.size() - begin_);
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

  // Returns shape `number` of the batch in the form of the fast path. The form has size 0 if the
  // fast path does not support the shape (if it is not a small, strictly convex polygon).
  const FastShape& FastOf(size_t number) {
    CachedShape& cached = scratch_->shapes[number % kCachedShapes];
    if (cached.number != number) {
      cached.number = number;
      cached.fast = FastShape(columns_.movers.shapes[number], ConvexityOfShape(number));
    }
    return cached.fast;
  }

  // Charges the work units collected in `units_` to the meter. Returns false once the meter stops.
  bool SpendUnits() { return meter_.Spend(std::exchange(units_, 0)); }

  // Places item i of the batch as mover k of the window (the items that are evaluated together),
  // and sets query k, which searches for polygons near this mover. The query stays inactive if the
  // item is invalid. Returns false once the meter stops.
  bool PlaceItem(size_t i, size_t k) {
    Mover& mover = scratch_->movers[k];
    BoxQuery& query = scratch_->queries[k];
    query.is_active = false;
    ++units_;
    if (!is_uniform_) SetMask(i, k);
    ItemChecker check(i, out_.errors);
    mover.shape = ShapeOf(columns_.movers, i, check);
    if (mover.shape == nullptr || !ReadPose(columns_.movers, i, check, mover.pose)) return true;
    mover.vertex_count = mover.shape->vertex_count();
    units_ += mover.vertex_count;
    if (mover.vertex_count > kMostFastVertices && !SpendUnits()) return false;
    mover.number = columns_.movers.shape.empty() ? i : columns_.movers.shape[i];
    mover.is_placed = false;
    mover.is_in_order = true;
    mover.has_edges = false;
    const FastShape& described = FastOf(mover.number);
    FastMover& fast = scratch_->fast[k];
    if (path_ == ContactBatchPath::kFast && described.size != 0 &&
        place_fast_.vertices(described, mover.pose, fast)) {
      query.reach = fast.bounds;
      query.is_active = CheckMasses(columns_, i, check);
    } else {
      fast.size = 0;
      if (!PlaceForGeneralPath(mover)) {
        check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
        return true;
      }
      query.reach = mover.general.bounds();
      query.is_active = CheckMasses(columns_, i, check) && !IsHollow(*mover.shape);
    }
    if (query.is_active) units_ += mover.vertex_count;
    return true;
  }

  void SetMask(size_t i, size_t k) {
    const auto query_filter = QueryFilter::Of(columns_.movers.scope, i, options_.mask);
    masks_[k] = query_filter.scene ? query_filter.mask : 0;
  }

  // Places the shape of `mover` for the general path (`mover.general`). Returns false if a placed
  // vertex is out of range.
  bool PlaceForGeneralPath(Mover& mover) {
    scratch_->largest = std::max(scratch_->largest, mover.vertex_count);
    mover.is_placed = true;
    const bool is_convex = ConvexityOfShape(mover.number) != Convexity::kNone;
    return mover.general.Place(*mover.shape, mover.pose, is_convex);
  }

  // Collects, as pairs, the polygons that the first `count` movers of the window may meet: from
  // cells of the scene's grid where a mover comes near few cells, else from the scene's
  // bounding-box trees. Evaluates the collected pairs whenever their buffer is full. Returns false
  // once the meter stops.
  bool TakePairs(size_t count) {
    const std::span<BoxQuery> queries(scratch_->queries.data(), count);
    uint32_t fallbacks = has_cells_
                             ? FindPairsInCells(scene_.index(), queries, scratch_->in_cells, meter_)
                             : FallBackToTrees(queries, scratch_->in_cells);
    units_ += scratch_->in_cells.boxes;
    if (fallbacks != 0) FindInTrees(queries, fallbacks);
    size_t in_cells = 0;
    size_t in_trees = 0;
    for (; fallbacks != 0; fallbacks &= fallbacks - 1) {
      const auto k = static_cast<uint32_t>(std::countr_zero(fallbacks));
      if (!TakeFromCells(k, in_cells) || !TakeFromTrees(k, in_trees)) return false;
    }
    return TakeFromCells(kContactWindow, in_cells);
  }

  // Adds pairs for the polygons that were found in cells of the grid (`in_cells`), from entry `i`
  // on, for movers below `end`, and advances `i`. Returns false once the meter stops.
  bool TakeFromCells(uint32_t end, size_t& i) {
    const CellPairs& found = scratch_->in_cells;
    uint32_t last = kContactWindow;
    for (; i < found.count && found.pairs[i].query < end; ++i) {
      const uint32_t k = found.pairs[i].query;
      if (k != last && !StartMover()) return false;
      last = k;
      TakePair(Unowned<Polygon>(found.pairs[i].polygon), nullptr, k);
    }
    return true;
  }

  // Begins the pairs of the next mover. Evaluates the collected pairs first if their buffer has no
  // room for `NearPolygons::kMost` (the most polygons that the search finds for one mover) more
  // pairs. Returns false once the meter stops.
  bool StartMover() {
    if (pair_count_ + NearPolygons::kMost > kMaxPairs && !AnswerPairs()) return false;
    first_pair_ = pair_count_;
    return true;
  }

  // Finds, in the scene's bounding-box trees, the polygons that the movers in the set `fallbacks`
  // may meet: bit k for query k, the query of mover k.
  void FindInTrees(std::span<BoxQuery> queries, uint32_t fallbacks) {
    uint32_t asked = 0;
    for (size_t k = 0; k < queries.size(); ++k) {
      asked |= uint32_t{queries[k].is_active} << k;
      queries[k].is_active = (fallbacks >> k & 1) != 0;
    }
    BoxPairs& found = scratch_->in_trees;
    FindPairs(scene_.index(), queries, found);
    units_ += found.boxes;
    for (size_t i = 0; i < found.count; ++i) Prefetch(found.pairs[i].polygon->polygon());
    for (size_t k = 0; k < queries.size(); ++k) queries[k].is_active = (asked >> k & 1) != 0;
  }

  // Adds pairs for the polygons that were found in the scene's bounding-box trees (`in_trees`) for
  // mover k, from entry `i` on, and advances `i`. If the polygons were too many for `BoxPairs`,
  // traverses the trees again and adds all polygons, in any order. Returns false once the meter
  // stops.
  bool TakeFromTrees(uint32_t k, size_t& i) {
    const BoxPairs& found = scratch_->in_trees;
    const bool is_complete = scratch_->queries[k].is_complete;
    if (!StartMover()) return false;
    for (; i < found.count && found.pairs[i].query == k; ++i) {
      if (is_complete) TakeIndexed(*found.pairs[i].polygon, k);
    }
    if (is_complete) return true;
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

  // Adds the pair of the polygon `fixed` and mover k if their bounding boxes meet, the polygon is
  // solid and the mover's category mask admits it. Keeps the pairs of a mover sorted by polygon id.
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

  // Computes the edges of each mover that has a pair. Placing rounds vertices, so a polygon that
  // was strictly convex may no longer be; such a mover gets size 0, so that it takes the general
  // path.
  void PlaceEdges() {
    for (size_t i = 0; i < pair_count_; ++i) {
      const uint32_t k = scratch_->pairs[i].mover;
      FastMover& fast = scratch_->fast[k];
      if (fast.size == 0 || std::exchange(scratch_->movers[k].has_edges, true)) continue;
      if (!place_fast_.edges(fast)) fast.size = 0;
    }
  }

  // Computes the contacts of the collected pairs, adds a row to the answers for each contact, and
  // empties the buffer of pairs. Returns false once the meter stops.
  bool AnswerPairs() {
    if (!SpendUnits()) return false;
    PlaceEdges();
    const std::span<FastPair> pairs(scratch_->pairs.data(), pair_count_);
    counts_.pairs += pairs.size();
    if (!FindAxes(pairs, scratch_->fast.data(), meter_)) return false;
    for (FastPair& pair : pairs) {
      if (pair.axis.verdict == AxisVerdict::kApart) continue;
      if (pair.axis.verdict == AxisVerdict::kUncertain && !DecideByGeneralPath(pair)) return false;
      if (pair.axis.verdict == AxisVerdict::kFound && !AddToBlock(pair)) return false;
    }
    pair_count_ = 0;
    return MeasureContacts();
  }

  // Finds the contact axis of a pair if the fast path left this axis undecided. If the fast path
  // does not support the pair, computes the contact of the pair and adds a row for it to the
  // answers instead. Returns false once the meter stops.
  bool DecideByGeneralPath(FastPair& pair) {
    pair.axis.verdict = AxisVerdict::kApart;
    if (scratch_->fast[pair.mover].size != 0 && pair.suits_fast_path()) {
      ++counts_.axes;
      return FindAxisByGeneralPath(scratch_->fast[pair.mover], meter_, pair);
    }
    ++counts_.not_fast;
    const std::optional<Contact> contact = GeneralContact(pair);
    if (meter_.stopped()) return false;
    if (!contact) return true;
    out_.contacts.push_back(*contact);
    return AddRow(pair);
  }

  std::optional<Contact> GeneralContact(const FastPair& pair) {
    Mover& mover = scratch_->movers[pair.mover];
    if (!mover.is_placed) PlaceForGeneralPath(mover);
    if (pair.indexed != nullptr) return ContactOf(*pair.indexed, mover.general, meter_);
    if (pair.polygon().edge_count() <= IndexedPolygon::kMaxEdgesWithoutIndex) {
      return ContactOf(pair.polygon(), pair.convexity(), mover.general, meter_);
    }
    const IndexedPolygon* const indexed = FindIndexed(pair.polygon());
    return indexed != nullptr ? ContactOf(*indexed, mover.general, meter_) : std::nullopt;
  }

  // Returns the scene's entry, with an edge index, of a polygon that was found in a cell of the
  // grid; null once the meter has stopped.
  const IndexedPolygon* FindIndexed(const Polygon& polygon) {
    const IndexedPolygon* found = nullptr;
    const Vec2 corner = polygon.bounds().min;
    scene_.index().Traverse(meter_, MeetsBox{{corner, corner}}, [&](const IndexedPolygon& fixed) {
      if (fixed.polygon().memory() == polygon.memory()) found = &fixed;
      return found == nullptr;
    });
    return found;
  }

  // Adds a row to the answers for a pair: counts it for the item and appends the polygon id. The
  // contact of the pair, or a placeholder for it, must already be in `out_.contacts`. Returns false
  // once the meter stops.
  bool AddRow(const FastPair& pair) {
    ++out_.counts[begin_ + pair.mover];
    out_.polygon_ids.push_back(pair.polygon().id());
    return meter_.SpendRows(1);
  }

  bool AddToBlock(const FastPair& pair) {
    SetLane(pair, scratch_->fast[pair.mover], lanes_, scratch_->block);
    pending_[lanes_] = {&pair, out_.contacts.size()};
    ++lanes_;
    out_.contacts.push_back(kNoContact);
    return AddRow(pair) && (lanes_ < ContactBlock::kSize || MeasureContacts());
  }

  // Computes the contacts in the lanes of the block (up to four contacts, each in a SIMD lane), and
  // writes them over their placeholders in `out_.contacts`. Contacts with a number that the block
  // cannot certainly round fall back to the general path. Returns false once the meter stops.
  bool MeasureContacts() {
    if (lanes_ == 0) return true;
    Measure(lanes_, scratch_->block);
    for (size_t lane = 0; lane < lanes_; ++lane) {
      Contact& contact = out_.contacts[pending_[lane].row];
      if ((scratch_->block.is_certain >> lane & 1) != 0) {
        WriteLane(scratch_->block, lane, contact);
        continue;
      }
      ++counts_.undecided;
      const std::optional<Contact> general = GeneralContact(*pending_[lane].pair);
      if (meter_.stopped()) return false;
      contact = *general;
    }
    lanes_ = 0;
    return true;
  }

  // Completes the rows of the answers, from row `row` on, for the `count` items of the window (the
  // items that are evaluated together): sorts the rows of each item by polygon id, and, if the
  // batch has masses, adds how far each of the two shapes in contact moves to separate them
  // (`SplitByMass`).
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

  // A contact in a lane of the block that is not computed yet: its pair, and the index of its
  // placeholder in `out_.contacts`.
  struct PendingContact {
    const FastPair* pair;
    size_t row;
  };

  const Scene& scene_;
  const ContactColumns& columns_;
  const ContactOptions& options_;
  const ContactBatchPath path_;
  ContactAnswers& out_;
  WorkMeter& meter_;
  ThreadScratch<ContactScratch> scratch_;
  const bool has_cells_;
  const bool is_uniform_;  // whether every item has the mask `options_.mask`
  const FastPlacing place_fast_ = PlaceFast();
  uint64_t units_ = 0;  // units of work that are not charged to the meter yet
  size_t begin_ = 0;    // the first item of the window
  size_t pair_count_ = 0;
  size_t first_pair_ = 0;  // index of the first pair of the mover that `StartMover` began
  size_t lanes_ = 0;
  // Whether the rows of every item in the window were added by ascending polygon id.
  bool is_in_order_ = true;
  // For each mover of the window, the categories of the polygons that it may meet.
  std::array<uint64_t, kContactWindow> masks_;
  // The contacts in the block (four contacts that are computed together), by lane.
  std::array<PendingContact, ContactBlock::kSize> pending_;
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
