// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/contact.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "convex_core.h"
#include "feature_contact.h"
#include "manifold.h"
#include "placed_items.h"
#include "scene_traversal.h"

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

using Row = std::pair<uint64_t, Contact>;

// Ends an item's answer: rows by ascending id.
void AppendRows(size_t item, std::vector<Row>& rows, const ContactColumns& columns,
                ContactAnswers& out) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.first < b.first; });
  for (const auto& [id, contact] : rows) {
    out.polygon_ids.push_back(id);
    out.contacts.push_back(contact);
    if (!columns.mass.empty()) {
      out.splits.push_back(SplitByMass(contact, columns.polygon_mass[item], columns.mass[item]));
    }
  }
  out.counts[item] = static_cast<uint32_t>(rows.size());
}

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
  if (internal::IsConvexShape(fixed) && internal::IsConvexShape(mover)) {
    return internal::ConvexContact(internal::CoreOf(fixed), internal::CoreOf(mover), meter);
  }
  const IndexedPolygon indexed_fixed(internal::PolygonOf(fixed), IndexUse::kOneQuery);
  const IndexedPolygon indexed_mover(internal::PolygonOf(mover), IndexUse::kOneQuery);
  return internal::FeatureContact({indexed_fixed, internal::RadiusOf(fixed)},
                                  {indexed_mover, internal::RadiusOf(mover)}, meter);
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
  std::vector<Row> rows;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const std::optional<Shape> placed = internal::PlacedItem(columns.movers, i, check, meter);
    if (meter.stopped()) return false;
    if (!placed || !CheckMasses(columns, i, check) || IsHollow(*placed)) continue;
    if (!meter.Spend(placed->vertex_count())) return false;
    const size_t shape = columns.movers.shape.empty() ? i : columns.movers.shape[i];
    const internal::ContactMover mover(*placed,
                                       internal::IsConvexShape(columns.movers.shapes[shape]));
    const Box reach = placed->bounds();
    rows.clear();
    internal::VisitPolygons(
        scene, options.mask, meter, [&](const Box& box) { return reach.Intersects(box); },
        [&](const IndexedPolygon& fixed) {
          if (fixed.polygon().solidity() == Solidity::kBoundary) return true;
          const std::optional<Contact> contact = internal::ContactOf(fixed, mover, meter);
          if (meter.stopped()) return false;
          if (!contact) return true;
          rows.push_back({fixed.polygon().id(), *contact});
          return meter.SpendRows(1);
        });
    if (meter.stopped()) return false;
    AppendRows(i, rows, columns, out);
  }
  return true;
}

}  // namespace carom
