// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Implements `FindContacts` by two paths that give the same answers: a fast path for small convex
// polygons in SIMD lanes (docs/adr/0016-contacts-in-lanes.md), and the general path for all shapes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/contact.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom::internal {

// kFast computes contacts of small convex polygons in SIMD lanes (the fast path), and all other
// contacts by the general path. kGeneral computes every contact by the general path, and finds the
// polygons near a moving shape by the scene's bounding-box trees only, not by its grid.
enum class ContactBatchPath : uint8_t { kFast, kGeneral };

// Counts pairs of a polygon of the scene and a moving shape with bounding boxes that meet: all such
// pairs, and those that the fast path (SIMD, for small convex polygons) did not decide.
struct ContactCounts {
  size_t pairs = 0;
  size_t axes = 0;       // pairs with a contact axis (normal) that the fast path left undecided
  size_t undecided = 0;  // contacts with numbers that the fast path could not certainly round
  size_t not_fast = 0;   // pairs with a shape that the fast path does not support
};

// Returns whether the shape is a hollow polygon (a boundary without interior), which gives no
// contact.
bool IsHollow(const Shape& shape);

// The input of `RunContacts`: a scene, the batch of moving shapes, the options, and which of the
// two paths (fast or general) computes the contacts.
struct ContactRun {
  const Scene& scene;
  const ContactColumns& columns;
  const ContactOptions& options;
  ContactBatchPath path = ContactBatchPath::kFast;
};

// Appends the contacts of all items (moving shapes) to `out`, which must be empty except for
// `out.counts`, which must have a 0 for each item. Unless `counts` is null, stores in `counts` the
// number of pairs and how many of them the fast path did not decide. Returns false once `meter`
// stops the work.
bool RunContacts(const ContactRun& run, ContactAnswers& out, WorkMeter& meter,
                 ContactCounts* counts = nullptr);

}  // namespace carom::internal
