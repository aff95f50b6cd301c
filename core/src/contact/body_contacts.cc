// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/body_contacts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "contact/contact_batch.h"
#include "contact/feature_contact.h"
#include "contact/manifold.h"
#include "index/placed_items.h"
#include "shape/meets_box.h"

namespace carom {
namespace internal {
namespace {

// Returns whether the shape is a hollow polygon (a boundary without interior), which has no depth
// and hence no contact.
bool IsHollowShape(MovingShape& shape) {
  return shape.capsule() == nullptr && shape.polygon().polygon().solidity() == Solidity::kBoundary;
}

}  // namespace

// Two convex shapes get a CONVEX contact, along the axis of minimum penetration; all other pairs
// get a FEATURE contact (`ContactKind`). A body (a placed shape that exists for one group of
// queries) keeps its convex hull and its edge index, so that both are built once per body, not once
// per mover (the moving shape of a query).
std::optional<Contact> ContactOfBody(Body& fixed, MovingShape& mover, WorkMeter& meter) {
  MovingShape& body = fixed.shape();
  if (IsHollowShape(body) || IsHollowShape(mover)) return std::nullopt;
  if (!meter.Spend(body.vertex_count() + mover.vertex_count())) return std::nullopt;
  const ConvexCore* const a = body.hull();
  const ConvexCore* const b = mover.hull();
  if (a != nullptr && b != nullptr) return ConvexContact(*a, *b, meter);
  return FeatureContact(body.RingView(), mover.RingView(), meter);
}

// Finds the contacts with polygons of the scene by `RunContacts`, then the contacts with bodies
// (placed shapes beside the scene), and lists for each item (moving shape) the polygons before the
// bodies.
bool FindContactsOfBodies(const World& world, const ContactColumns& columns,
                          const ContactOptions& options, ContactAnswers& out, WorkMeter& meter) {
  ContactAnswers scene;
  scene.counts.assign(columns.size(), 0);
  if (!RunContacts({world.scene, columns, options}, scene, meter)) return false;
  out.Clear();
  out.counts.assign(columns.size(), 0);
  out.errors = std::move(scene.errors);
  MovingShape mover;
  std::vector<std::pair<uint32_t, Contact>> rows;
  std::vector<ItemError> ignored;
  size_t row = 0;
  size_t next_error = 0;  // index of the next error in `out.errors`, which is sorted by item
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    const auto add = [&](uint64_t id, bool is_body, const Contact& contact) {
      out.polygon_ids.push_back(id);
      out.is_body.push_back(is_body ? 1 : 0);
      out.contacts.push_back(contact);
      ++out.counts[i];
      if (columns.mass.empty()) return;
      out.splits.push_back(SplitByMass(contact, columns.polygon_mass[i], columns.mass[i]));
    };
    for (const size_t end = row + scene.counts[i]; row < end; ++row) {
      add(scene.polygon_ids[row], false, scene.contacts[row]);
    }
    if (next_error < out.errors.size() && out.errors[next_error].index == i) {
      ++next_error;
      continue;
    }
    ItemChecker check(i, ignored);
    if (!PlaceItem(columns.movers, i, check, meter, mover)) {
      if (meter.stopped()) return false;
      continue;
    }
    rows.clear();
    const auto query_filter = QueryFilter::Of(columns.movers.scope, i, options.mask);
    VisitBodies(world, query_filter, meter, MeetsBox{mover.bounds()}, [&](Body& body) {
      const std::optional<Contact> contact = ContactOfBody(body, mover, meter);
      if (!contact || meter.stopped()) return !meter.stopped();
      rows.emplace_back(body.index(), *contact);
      return meter.SpendRows(1);
    });
    if (meter.stopped()) return false;
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [index, contact] : rows) add(index, true, contact);
  }
  return true;
}

namespace {

// Returns how far each of two bodies (placed shapes beside the scene) moves to end their contact:
// each body takes a share of the translation that is proportional to the mass of the other body. A
// fixed mass that is not above 0 counts as infinite. If both masses are infinite, neither body
// moves; the contact keeps its normal and depth.
SplitTranslation SplitOf(const Contact& contact, double fixed_mass, double mover_mass) {
  if (!(fixed_mass > 0)) fixed_mass = HUGE_VAL;
  if (std::isinf(fixed_mass) && std::isinf(mover_mass)) return {};
  return SplitByMass(contact, fixed_mass, mover_mass);
}

}  // namespace
}  // namespace internal

// Each item of `columns` names a body, a placed shape that exists for one group of queries. The
// rows of the item are the contacts of this body with bodies of a lower index, so that each pair of
// bodies is reported once. The rows of an item are sorted by the index of the other body.
bool FindBodyContacts(const World& world, const BodyContactColumns& columns,
                      const ContactOptions& options, ContactAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(columns.size(), 0);
  internal::BodySet* const bodies = world.bodies != nullptr ? &world.bodies->set() : nullptr;
  const internal::QueryFilter query_filter{false, true, options.mask, 0};
  std::vector<std::pair<uint32_t, Contact>> rows;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const uint32_t index = columns.body[i];
    if (bodies == nullptr || index >= bodies->size()) {
      check.Fail(ItemColumn::kBody, ItemFault::kUnknownBody);
      continue;
    }
    const double mass = columns.mass.empty() ? 1 : columns.mass[index];
    if (!(mass > 0)) {
      check.Fail(ItemColumn::kMass, ItemFault::kNotAMass);
      continue;
    }
    internal::Body& mover = bodies->BodyAt(index, query_filter, meter);
    rows.clear();
    bodies->Traverse(query_filter, meter, internal::MeetsBox{mover.bounds()},
                     [&](internal::Body& fixed) {
                       if (fixed.index() >= index) return true;
                       const auto contact = internal::ContactOfBody(fixed, mover.shape(), meter);
                       if (!contact || meter.stopped()) return !meter.stopped();
                       rows.emplace_back(fixed.index(), *contact);
                       return meter.SpendRows(1);
                     });
    if (meter.stopped()) return false;
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    out.counts[i] = static_cast<uint32_t>(rows.size());
    for (const auto& [fixed, contact] : rows) {
      out.polygon_ids.push_back(fixed);
      out.is_body.push_back(1);
      out.contacts.push_back(contact);
      if (columns.mass.empty()) continue;
      out.splits.push_back(internal::SplitOf(contact, columns.mass[fixed], mass));
    }
  }
  return true;
}

}  // namespace carom
