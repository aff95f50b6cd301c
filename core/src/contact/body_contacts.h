// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Computes the contacts of moving shapes with the bodies of a world (placed shapes that exist for
// one group of queries), and of the bodies with each other.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/work_meter.h"
#include "index/body_set.h"

namespace carom::internal {

// Returns the contact of `fixed`, a body of the world that counts as the fixed shape, and the
// moving shape `mover`; nullopt if they share no point, or if either is hollow (a boundary without
// interior). The result is meaningless once `meter` has stopped the work.
std::optional<Contact> ContactOfBody(Body& fixed, MovingShape& mover, WorkMeter& meter);

// Implements `FindContacts` for batches that search for contacts with bodies of the world, with or
// without the polygons of the scene. Replaces the contents of `out`. Returns false once `meter`
// stops the work.
bool FindContactsOfBodies(const World& world, const ContactColumns& columns,
                          const ContactOptions& options, ContactAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
