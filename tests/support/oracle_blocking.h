// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What blocks a translating ring, by definition, in exact rationals: the interiors are looked into
// point by point, at every fraction at which a vertex meets an edge and half-way between.
#pragma once

#include <optional>

#include "tests/support/exact.h"
#include "tests/support/oracle.h"

namespace carom::testing {

/// Whether the interior of `moving`, one simple ring, displaced by t * d meets `fixed`.
bool OverlapsInMoreThanTouch(const OracleShape& fixed, const OracleShape& moving, Xy d,
                             const Rational& t);

/// The fractions at which they overlap so: whether 0 is one, the greatest lower bound of all, and,
/// where 0 is one, that of those after the first component.
struct OracleBlocked {
  bool starts_inside = false;
  std::optional<Rational> begin;
  std::optional<Rational> begin_after_leaving;
};

OracleBlocked BlockedBy(const OracleShape& fixed, const OracleShape& moving, Xy d);

}  // namespace carom::testing
