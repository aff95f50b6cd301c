// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Contacts with bodies, and of bodies with each other.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/work_meter.h"
#include "index/body_set.h"

namespace carom::internal {

// The contact of a body, the fixed shape, and a mover; nothing where they share no point, or one is
// hollow. Meaningless once `meter` has stopped.
std::optional<Contact> ContactOfBody(Body& fixed, MovingShape& mover, WorkMeter& meter);

// `FindContacts` for batches that consider bodies. Clears `out`. Returns false once `meter` stops.
bool FindContactsOfBodies(const World& world, const ContactColumns& columns,
                          const ContactOptions& options, ContactAnswers& out, WorkMeter& meter);

}  // namespace carom::internal
