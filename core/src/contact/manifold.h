// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where two convex shapes touch along their axis.
#pragma once

#include <optional>

#include "carom/contact.h"
#include "carom/work_meter.h"
#include "contact/separating_axis.h"
#include "shape/convex_core.h"

namespace carom::internal {

// The unit vector from a to b, which differ; each component within 1 ulp. Never -0.
Vec2 UnitVector(Vec2 a, Vec2 b);

// The contact of two convex shapes; nothing if they share no point (exact). Counts on `meter` as it
// goes; meaningless once that has stopped.
//
// Its points: under an EDGE axis the other core's edge at the support vertex (of two, the one more
// nearly parallel to the reference edge, then the lower index) is cut to the reference edge's side
// planes, and ends of it that are not below the reference surface are dropped. What is left has one
// end or two; each is a vertex of one core facing an edge of the other, and the point lies midway
// between the surfaces. Two points are in the order of the normal turned counter-clockwise by a
// right angle.
std::optional<Contact> ConvexContact(const ConvexCore& fixed, const ConvexCore& mover,
                                     WorkMeter& meter);

}  // namespace carom::internal
