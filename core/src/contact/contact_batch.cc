// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/contact_batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_scratch.h"
#include "contact/feature_contact.h"
#include "contact/manifold.h"
#include "contact/plain_axis.h"
#include "contact/plain_manifold.h"
#include "contact/plain_mover.h"
#include "index/body_set.h"
#include "index/box_traversal.h"
#include "index/placed_items.h"
#include "index/placed_shape.h"
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
static_assert(kWindow <= BoxPairs::kMostQueries);
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
  BoxPairs found;
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
        meter_(meter) {}

  // Called once. Returns false once the meter stops.
  bool Run() {
    const size_t shapes = columns_.movers.shapes.size();
    if (!meter_.Spend(shapes / 64)) return false;
    scratch_->convexity.assign(shapes, std::nullopt);
    for (CachedShape& shape : scratch_->shapes) shape.number = SIZE_MAX;
    for (begin_ = 0; begin_ < columns_.size(); begin_ += kWindow) {
      const size_t count = std::min(kWindow, columns_.size() - begin_);
      const size_t first_row = out_.contacts.size();
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
    PlainMover& plain = scratch_->plain[k];
    BoxQuery& query = scratch_->queries[k];
    query.is_asked = false;
    ++units_;
    const auto considered = Considered::Of(columns_.movers.scope, i, options_.mask);
    masks_[k] = considered.scene ? considered.mask : 0;
    ItemChecker check(i, out_.errors);
    mover.shape = ShapeOf(columns_.movers, i, check);
    if (mover.shape == nullptr) return true;
    const std::optional<Pose> pose = PoseOf(columns_.movers, i, check);
    if (!pose) return true;
    mover.vertex_count = mover.shape->vertex_count();
    units_ += mover.vertex_count;
    if (mover.vertex_count > kMostPlainVertices && !SpendUnits()) return false;
    mover.pose = *pose;
    mover.number = columns_.movers.shape.empty() ? i : columns_.movers.shape[i];
    mover.is_placed = false;
    mover.is_in_order = true;
    mover.has_edges = false;
    const PlainShape& described = PlainOf(mover.number);
    if (way_ == ContactWay::kShort && described.size != 0 &&
        place_plain_.vertices(described, *pose, plain)) {
      query.reach = plain.bounds;
      query.is_asked = CheckMasses(columns_, i, check);
      return true;
    }
    plain.size = 0;
    if (!PlaceInGeneral(mover)) {
      check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
      return true;
    }
    query.reach = mover.general.bounds();
    query.is_asked = CheckMasses(columns_, i, check) && !IsHollow(*mover.shape);
    return true;
  }

  // Returns false where a placed vertex is not accepted.
  bool PlaceInGeneral(Mover& mover) {
    scratch_->largest = std::max(scratch_->largest, mover.vertex_count);
    mover.is_placed = true;
    const bool is_convex = ConvexityOfShape(mover.number) != Convexity::kNone;
    return mover.general.Place(*mover.shape, mover.pose, is_convex);
  }

  // Takes the polygons that the window's movers may meet as pairs. Where they are many, it answers
  // those there are. Returns false once the meter stops.
  bool TakePairs(size_t count) {
    BoxPairs& found = scratch_->found;
    FindPairs(scene_.index(), {scratch_->queries.data(), count}, found);
    units_ += found.boxes;
    for (size_t i = 0; i < found.count; ++i) Prefetch(*found.pairs[i].polygon);
    size_t i = 0;
    for (uint32_t k = 0; k < count; ++k) {
      if (!scratch_->queries[k].is_asked) continue;
      units_ += scratch_->movers[k].vertex_count;
      if (!scratch_->queries[k].has_few) {
        while (i < found.count && found.pairs[i].query == k) ++i;
        if (!TakeMany(k)) return false;
        continue;
      }
      for (; i < found.count && found.pairs[i].query == k; ++i) {
        scratch_->pairs[pair_count_++] = {found.pairs[i].polygon, 0, k, {}};
        if (pair_count_ == kMaxPairs && !AnswerPairs()) return false;
      }
    }
    return true;
  }
  // The same for mover k alone, in any order.
  bool TakeMany(uint32_t k) {
    if (!SpendUnits()) return false;
    scratch_->movers[k].is_in_order = false;
    scene_.index().Traverse(meter_, MeetsBox{scratch_->queries[k].reach},
                            [&](const IndexedPolygon& fixed) {
                              __builtin_prefetch(&fixed);
                              scratch_->pairs[pair_count_++] = {&fixed, 0, k, {}};
                              return pair_count_ < kMaxPairs || AnswerPairs();
                            });
    return !meter_.stopped();
  }

  // Keeps the pairs that are to be looked at, those of a mover by ascending id.
  void ArrangePairs() {
    constexpr size_t kAhead = 8;
    auto& pairs = scratch_->pairs;
    size_t kept = 0;
    size_t first = 0;  // of the mover
    for (size_t i = 0; i < pair_count_; ++i) {
      if (i + kAhead < pair_count_) Prefetch(*pairs[i + kAhead].fixed);
      const PlainPair& pair = pairs[i];
      const Polygon& polygon = pair.fixed->polygon();
      if ((polygon.category() & masks_[pair.mover]) == 0 ||
          polygon.solidity() == Solidity::kBoundary ||
          !polygon.bounds().Intersects(scratch_->queries[pair.mover].reach)) {
        continue;
      }
      if (kept != i) pairs[kept] = pair;
      pairs[kept].id = polygon.id();
      if (first < kept && pairs[first].mover != pairs[kept].mover) first = kept;
      for (size_t at = kept++; at > first && pairs[at - 1].id > pairs[at].id; --at) {
        std::swap(pairs[at - 1], pairs[at]);
      }
    }
    pair_count_ = kept;
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
    ArrangePairs();
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
    if (scratch_->plain[pair.mover].size != 0 && IsPlain(*pair.fixed)) {
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
    return ContactOf(*pair.fixed, mover.general, meter_);
  }

  // The contact is there, or a place for it.
  bool AddRow(const PlainPair& pair) {
    ++out_.counts[begin_ + pair.mover];
    out_.polygon_ids.push_back(pair.id);
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

  static void Prefetch(const IndexedPolygon& fixed) {
    const auto* const block = static_cast<const char*>(fixed.polygon().memory());
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
  const PlainPlacing place_plain_ = PlacePlain();
  uint64_t units_ = 0;  // of the window, not yet counted
  size_t begin_ = 0;    // of the window
  size_t pair_count_ = 0;
  size_t lanes_ = 0;
  std::array<uint64_t, kWindow> masks_;               // of the movers
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
