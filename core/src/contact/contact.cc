// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/contact.h"

#include <cmath>
#include <optional>

#include "contact/body_contacts.h"
#include "contact/contact_batch.h"
#include "contact/feature_contact.h"
#include "contact/manifold.h"
#include "edges/placed_shape.h"

namespace carom {
namespace {

// Returns the share of a translation, in [0, 1], by which a body of mass `own_mass` moves when it
// is separated from a body of mass `other_mass`. Only quotients of the masses are computed, so
// nothing overflows.
double Share(double own_mass, double other_mass) {
  if (std::isinf(own_mass)) return 0;
  if (std::isinf(other_mass)) return 1;
  if (other_mass >= own_mass) return 1 / (1 + own_mass / other_mass);
  return (other_mass / own_mass) / (1 + other_mass / own_mass);
}

}  // namespace

void ContactAnswers::Clear() {
  counts.clear();
  polygon_ids.clear();
  is_body.clear();
  contacts.clear();
  splits.clear();
  errors.clear();
}

std::optional<Contact> Collide(const Shape& fixed, const Shape& mover) {
  if (internal::IsHollow(fixed) || internal::IsHollow(mover)) return std::nullopt;
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

bool FindContacts(const World& world, const ContactColumns& columns, const ContactOptions& options,
                  ContactAnswers& out, WorkMeter& meter) {
  if (columns.movers.scope.against != Against::kScene) {
    return internal::FindContactsOfBodies(world, columns, options, out, meter);
  }
  out.Clear();
  out.counts.assign(columns.size(), 0);
  return internal::RunContacts({world.scene, columns, options}, out, meter);
}

}  // namespace carom
