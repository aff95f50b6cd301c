// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `FindContacts`, by two ways with the same answers: a short one for small convex polygons
// (docs/adr/0016-contacts-in-lanes.md), and the general path for all shapes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/contact.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom::internal {

// GENERAL takes the general path alone, for polygons from the trees.
enum class ContactWay : uint8_t { kShort, kGeneral };

// How many pairs of a polygon and a mover whose boxes meet took which way.
struct ContactCounts {
  size_t pairs = 0;
  size_t axes = 0;       // of these, axes that the general path found for the fast path
  size_t left = 0;       // of these, contacts left to the general path
  size_t not_plain = 0;  // pairs that are not for the fast path
};

// Hollow polygons give no contact.
bool IsHollow(const Shape& shape);

// What is asked, and how.
struct ContactRun {
  const Scene& scene;
  const ContactColumns& columns;
  const ContactOptions& options;
  ContactWay way = ContactWay::kShort;
};

// Appends to answers that are clear but for their counts, which are 0. Returns false once `meter`
// stops.
bool RunContacts(const ContactRun& run, ContactAnswers& out, WorkMeter& meter,
                 ContactCounts* counts = nullptr);

}  // namespace carom::internal
