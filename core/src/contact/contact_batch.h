// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Implements `FindContacts` by two paths with the same answers: a fast path for small convex
// polygons (docs/adr/0016-contacts-in-lanes.md), and the general path for all shapes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/contact.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom::internal {

// FAST takes the fast path where the shapes suit it. GENERAL takes the general path for every pair,
// and finds the polygons by the trees.
enum class ContactBatchPath : uint8_t { kFast, kGeneral };

// Counts pairs of a polygon and a mover with boxes that meet, by the path that decided them.
struct ContactCounts {
  size_t pairs = 0;
  size_t axes = 0;       // pairs with an axis that the fast path left to the general path
  size_t undecided = 0;  // contacts that the fast path left to the general path
  size_t not_fast = 0;   // pairs that do not suit the fast path
};

// Returns whether the shape is a hollow polygon, which gives no contact.
bool IsHollow(const Shape& shape);

// The input of `RunContacts`: a scene, the items, and the path to take.
struct ContactRun {
  const Scene& scene;
  const ContactColumns& columns;
  const ContactOptions& options;
  ContactBatchPath path = ContactBatchPath::kFast;
};

// Appends the contacts of all items to `out`, which must be empty but for `out.counts`, a 0 for
// each item. Stores in `counts`, unless it is null, which path decided the pairs. Returns false
// once `meter` stops.
bool RunContacts(const ContactRun& run, ContactAnswers& out, WorkMeter& meter,
                 ContactCounts* counts = nullptr);

}  // namespace carom::internal
