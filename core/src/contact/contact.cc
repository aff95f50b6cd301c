// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/contact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/thread_scratch.h"
#include "contact/feature_contact.h"
#include "contact/manifold.h"
#include "index/placed_items.h"
#include "index/placed_shape.h"
#include "index/scene_traversal.h"
#include "index/shape_facts.h"

namespace carom {
namespace {

bool IsHollow(const Shape& shape) {
  return shape.polygon() && shape.polygon()->solidity() == Solidity::kBoundary;
}

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

// How much of a translation a body takes, in [0, 1]. Quotients of masses, so nothing overflows.
double Share(double own_mass, double other_mass) {
  if (std::isinf(own_mass)) return 0;
  if (std::isinf(other_mass)) return 1;
  if (other_mass >= own_mass) return 1 / (1 + own_mass / other_mass);
  return (other_mass / own_mass) / (1 + other_mass / own_mass);
}

constexpr size_t kWindow = 32;     // items whose memory is fetched together
constexpr size_t kMaxPairs = 512;  // at a time
constexpr size_t kMaxCachedItems = 16384;

// A polygon of the scene whose box an item of the window may meet.
struct Pair {
  size_t mover;
  const IndexedPolygon* fixed;
};

struct Row {
  size_t mover;
  uint64_t id;
  Contact contact;
};

// What batches of contacts work with, kept while it is small.
struct Scratch {
  bool IsWorthCaching() const {
    return rows.capacity() + is_convex.capacity() <= kMaxCachedItems &&
           largest <= kMaxMovingVertices;
  }

  std::array<internal::MovingShape, kWindow> movers;
  std::vector<Pair> pairs;
  std::vector<Row> rows;          // of the window
  std::vector<int8_t> is_convex;  // of each shape as described; -1 where nobody asked yet
  size_t largest = 0;             // vertices of a mover
};

// The items of a batch, a window at a time: first where they may meet polygons, then those pairs.
class ContactBatch {
 public:
  ContactBatch(const Scene& scene, const ContactColumns& columns, const ContactOptions& options,
               ContactAnswers& out, WorkMeter& meter)
      : scene_(scene), columns_(columns), options_(options), out_(out), meter_(meter) {}

  // Called once. Returns false once the meter stops.
  bool Run() {
    if (!meter_.Spend(columns_.movers.shapes.size() / 64)) return false;
    scratch_->is_convex.assign(columns_.movers.shapes.size(), -1);
    for (size_t begin = 0; begin < columns_.size(); begin += kWindow) {
      const size_t count = std::min(kWindow, columns_.size() - begin);
      scratch_->pairs.clear();
      scratch_->rows.clear();
      for (size_t k = 0; k < count; ++k) {
        if (!FindPairs(begin + k, k)) return false;
      }
      if (!AnswerPairs()) return false;
      AppendRows(begin, count);
    }
    if (scratch_->IsWorthCaching()) scratch_.Return();
    return true;
  }

 private:
  bool IsConvex(size_t shape) {
    int8_t& known = scratch_->is_convex[shape];
    if (known < 0) known = internal::IsConvexShape(columns_.movers.shapes[shape]) ? 1 : 0;
    return known > 0;
  }

  // Places item i, mover k of the window, and finds its pairs. Returns false once the meter stops.
  bool FindPairs(size_t i, size_t k) {
    if (!meter_.Spend(1)) return false;
    ItemChecker check(i, out_.errors);
    const Shape* const shape = internal::ShapeOf(columns_.movers, i, check);
    if (shape == nullptr) return true;
    const std::optional<Pose> pose = internal::PoseOf(columns_.movers, i, check);
    if (!pose) return true;
    if (!meter_.Spend(shape->vertex_count())) return false;
    scratch_->largest = std::max(scratch_->largest, shape->vertex_count());
    internal::MovingShape& mover = scratch_->movers[k];
    const auto number = static_cast<size_t>(shape - columns_.movers.shapes.data());
    if (!mover.Place(*shape, *pose, IsConvex(number))) {
      check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
      return true;
    }
    if (!CheckMasses(columns_, i, check) || IsHollow(*shape)) return true;
    if (!meter_.Spend(shape->vertex_count())) return false;
    scene_.index().Traverse(meter_, internal::MeetsBox{mover.bounds()},
                            [&](const IndexedPolygon& fixed) {
                              __builtin_prefetch(&fixed);
                              scratch_->pairs.push_back({k, &fixed});
                              return scratch_->pairs.size() < kMaxPairs || AnswerPairs();
                            });
    return !meter_.stopped();
  }

  // Adds the rows of the pairs there are, and clears them. Returns false once the meter stops.
  bool AnswerPairs() {
    constexpr size_t kAhead = 4;
    const std::vector<Pair>& pairs = scratch_->pairs;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (i + kAhead < pairs.size()) Prefetch(*pairs[i + kAhead].fixed);
      const IndexedPolygon& fixed = *pairs[i].fixed;
      const Polygon& polygon = fixed.polygon();
      internal::MovingShape& mover = scratch_->movers[pairs[i].mover];
      if ((polygon.category() & options_.mask) == 0 || polygon.solidity() == Solidity::kBoundary ||
          !polygon.bounds().Intersects(mover.bounds())) {
        continue;
      }
      const std::optional<Contact> contact = internal::ContactOf(fixed, mover, meter_);
      if (meter_.stopped()) return false;
      if (!contact) continue;
      scratch_->rows.push_back({pairs[i].mover, polygon.id(), *contact});
      if (!meter_.SpendRows(1)) return false;
    }
    scratch_->pairs.clear();
    return true;
  }

  // Ends the items of a window: the rows of each by ascending id.
  void AppendRows(size_t begin, size_t count) {
    auto row = scratch_->rows.begin();
    for (size_t k = 0; k < count; ++k) {
      const auto first = row;
      while (row != scratch_->rows.end() && row->mover == k) ++row;
      std::sort(first, row, [](const Row& a, const Row& b) { return a.id < b.id; });
      const size_t i = begin + k;
      out_.counts[i] = static_cast<uint32_t>(row - first);
      for (auto at = first; at != row; ++at) {
        out_.polygon_ids.push_back(at->id);
        out_.contacts.push_back(at->contact);
        if (columns_.mass.empty()) continue;
        out_.splits.push_back(SplitByMass(at->contact, columns_.polygon_mass[i], columns_.mass[i]));
      }
    }
  }

  static void Prefetch(const IndexedPolygon& fixed) {
    const auto* const block = static_cast<const char*>(fixed.polygon().memory());
    __builtin_prefetch(block);
    __builtin_prefetch(block + 64);
    __builtin_prefetch(block + 128);
  }

  const Scene& scene_;
  const ContactColumns& columns_;
  const ContactOptions& options_;
  ContactAnswers& out_;
  WorkMeter& meter_;
  internal::ThreadScratch<Scratch> scratch_;
};

}  // namespace

void ContactAnswers::Clear() {
  counts.clear();
  polygon_ids.clear();
  contacts.clear();
  splits.clear();
  errors.clear();
}

std::optional<Contact> Collide(const Shape& fixed, const Shape& mover) {
  if (IsHollow(fixed) || IsHollow(mover)) return std::nullopt;
  WorkMeter meter;
  internal::MovingShape a(fixed);
  internal::MovingShape b(mover);
  if (a.hull() != nullptr && b.hull() != nullptr) {
    return internal::ConvexContact(*a.hull(), *b.hull(), meter);
  }
  return internal::FeatureContact(a.RingView(), b.RingView(), meter);
}

SplitTranslation SplitByMass(const Contact& contact, double fixed_mass, double mover_mass) {
  const auto along = [&](double length) {
    return Vec2{contact.normal.x * length + 0.0, contact.normal.y * length + 0.0};
  };
  return {along(-contact.depth * Share(fixed_mass, mover_mass)),
          along(contact.depth * Share(mover_mass, fixed_mass))};
}

bool FindContacts(const Scene& scene, const ContactColumns& columns, const ContactOptions& options,
                  ContactAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(columns.size(), 0);
  return ContactBatch(scene, columns, options, out, meter).Run();
}

}  // namespace carom
