// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/batch.h"

namespace carom {

const char* Name(ItemColumn column) {
  switch (column) {
    case ItemColumn::kAx:
      return "ax";
    case ItemColumn::kAy:
      return "ay";
    case ItemColumn::kBx:
      return "bx";
    case ItemColumn::kBy:
      return "by";
    case ItemColumn::kX:
      return "x";
    case ItemColumn::kY:
      return "y";
    case ItemColumn::kRadius:
      return "radius";
    case ItemColumn::kShape:
      return "shape";
    case ItemColumn::kC:
      return "c";
    case ItemColumn::kS:
      return "s";
    case ItemColumn::kAngle:
      return "angle";
  }
  return "";
}

const char* Description(ItemFault fault) {
  switch (fault) {
    case ItemFault::kNotAccepted:
      return "must be finite and at most 2^53 in magnitude";
    case ItemFault::kNegativeRadius:
      return "must be in [0, 2^53]";
    case ItemFault::kNotARotation:
      return "must satisfy |c*c + s*s - 1| <= 1e-6";
    case ItemFault::kAngleOutOfRange:
      return "must be in [-2^20, 2^20] radians";
    case ItemFault::kUnknownShape:
      return "must be an index into shapes";
    case ItemFault::kPlacedOutOfRange:
      return "places a vertex above 2^53 in magnitude";
  }
  return "";
}

}  // namespace carom
