// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/batch.h"

#include <cstddef>

namespace carom {
namespace {

// The names of the columns of a batch, in the order of `ItemColumn`. The names equal the names of
// the fields of a request, because clients find an invalid value by its field.
constexpr const char* kNames[kItemColumnCount] = {
    "ax",       "ay",           "bx",        "by",          "x",
    "y",        "radius",       "shape",     "c",           "s",
    "angle",    "dx",           "dy",        "t_min",       "t_max",
    "min_x",    "min_y",        "max_x",     "max_y",       "max_distance",
    "mass",     "polygon_mass", "to_x",      "to_y",        "to_c",
    "to_s",     "to_angle",     "tolerance", "vx",          "vy",
    "duration", "step",         "range",     "beams",       "tracker",
    "from_x",   "from_y",       "from_c",    "from_s",      "from_angle",
    "skin",     "pushes",       "body",      "max_bounces", "from",
    "to",       "as_of"};

}  // namespace

const char* Name(ItemColumn column) { return kNames[static_cast<size_t>(column)]; }

// Each text states which values of a field are accepted. In an error message, the text follows the
// name of the field; a text never repeats the value that was given. The switch has no default case,
// so that the compiler reports a fault without a text.
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
    case ItemFault::kZeroDirection:
      return "must not be 0 together with dy";
    case ItemFault::kNotARange:
      return "must satisfy 0 <= t_min < t_max, t_min finite, or from < to <= from + 2 pi";
    case ItemFault::kEmptyBox:
      return "must be at most the box's maximum";
    case ItemFault::kNegativeLength:
      return "must not be negative, nor 0 as the range of an area";
    case ItemFault::kNotAMass:
      return "must be above 0, and infinite for at most one of the two";
    case ItemFault::kToleranceTooSmall:
      return "must be at least the resolution of the motion";
    case ItemFault::kTooManyBeams:
      return "must be in [1, 65536]";
    case ItemFault::kUnknownTracker:
      return "must name a tracker";
    case ItemFault::kNoInterior:
      return "must be of a shape that has an interior where it is placed";
    case ItemFault::kNotSimple:
      return "must be of a circle, a capsule or one ring that does not touch itself";
    case ItemFault::kTooManyPushes:
      return "must be in [1, 4]";
    case ItemFault::kUnknownBody:
      return "must be an index into the bodies";
    case ItemFault::kTooManyBounces:
      return "must be in [1, 16]";
    case ItemFault::kNotKept:
      return "must be a moment that the body set keeps";
  }
  return "";
}

}  // namespace carom
