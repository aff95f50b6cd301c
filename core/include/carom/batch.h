// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do columns go in, and how does one bad item stay small?
//
// Batch functions read columns (structures of arrays, as they arrive in a frame) and are total: an
// item that holds a number out of range is answered with an `ItemError`, the others are answered as
// if it were not there. Columns of one batch have equal length; whoever builds them checks that
// (`carom::Group` does, carom/group.h).
//
//   const double x[] = {1, NAN}, y[] = {4, 4};
//   LocateAnswers out;
//   WorkMeter meter;
//   LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
//   // out.counts: 1, 0; out.errors[0]: index 1, column kX, fault kNotAccepted
//
// Each column has its unit where it is declared. Cost: O(1). Thread-safe. Richer: carom/status.h,
// for what is wrong with a whole request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace carom {

// Considers every polygon.
inline constexpr uint64_t kEveryCategory = std::numeric_limits<uint64_t>::max();

// What a batch is asked of: the polygons of the scene, the bodies of the group (carom/bodies.h), or
// both.
enum class Against : uint8_t { kScene, kBodies, kBoth };

// What the items of a batch consider. The default is the scene, by the mask of the options.
struct Scope {
  Against against = Against::kScene;
  // Of item i, in place of the mask of the options; of a body it is compared with the body's own
  // category. Empty: the mask of the options for all items.
  std::span<const uint64_t> mask = {};
  // Of item i, the owner whose bodies are passed over: those of the shooter, for a bullet. 0 passes
  // over none. Empty: none.
  std::span<const uint32_t> ignore_owner = {};
};

// What is wrong with an item.
enum class ItemFault : uint8_t {
  kNotAccepted,        // NaN, infinite, or a magnitude above 2^53
  kNegativeRadius,     // a radius below 0
  kNotARotation,       // |c^2 + s^2 - 1| > 1e-6
  kAngleOutOfRange,    // an angle that is NaN or above 2^20 in magnitude
  kUnknownShape,       // an index outside the shape table
  kPlacedOutOfRange,   // a placed vertex above 2^53 in magnitude
  kZeroDirection,      // a ray's direction of length 0
  kNotARange,          // not 0 <= t_min < t_max, or NaN
  kEmptyBox,           // a minimum above its maximum
  kNegativeLength,     // a distance, a duration or a range below 0
  kNotAMass,           // a mass that is not above 0, or two that are infinite
  kToleranceTooSmall,  // a tolerance below what the motion can be resolved to
  kTooManyBeams,       // beams of a fan outside [1, 65536]
  kUnknownTracker,     // an index or a handle that no tracker has
  kNoInterior,         // a shape without interior under a blocking policy
  kNotSimple,          // a polygon that is not one simple ring under a blocking policy
  kTooManyPushes,      // displacements of a slide outside [1, 4]
  kUnknownBody,        // an index that no body has
  kTooManyBounces,     // bounces of a ray outside [1, 16]
};

// The column in which an item is wrong.
enum class ItemColumn : uint8_t {
  kAx,
  kAy,
  kBx,
  kBy,
  kX,
  kY,
  kRadius,
  kShape,
  kC,
  kS,
  kAngle,
  kDx,
  kDy,
  kTMin,
  kTMax,
  kMinX,
  kMinY,
  kMaxX,
  kMaxY,
  kMaxDistance,
  kMass,
  kPolygonMass,
  kToX,
  kToY,
  kToC,
  kToS,
  kToAngle,
  kTolerance,
  kVx,
  kVy,
  kDuration,
  kStep,
  kRange,
  kBeams,
  kTracker,
  kFromX,
  kFromY,
  kFromC,
  kFromS,
  kFromAngle,
  kSkin,
  kPushes,
  kBody,
  kMaxBounces,
};
inline constexpr int kItemColumnCount = static_cast<int>(ItemColumn::kMaxBounces) + 1;

// Item `index` of a batch was not answered; all of its answer columns are empty.
struct ItemError {
  uint32_t index = 0;
  ItemColumn column = ItemColumn::kX;
  ItemFault fault = ItemFault::kNotAccepted;

  friend bool operator==(const ItemError&, const ItemError&) = default;
};

// The column's name in the wire format, such as "ax".
const char* Name(ItemColumn column);
// What is allowed there, for people, such as "must be finite and at most 2^53 in magnitude".
const char* Description(ItemFault fault);

}  // namespace carom
