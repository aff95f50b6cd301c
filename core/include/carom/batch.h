// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do all batch functions share: columns, scopes, errors of single items?
//
// Batch functions read columns (structures of arrays, as they arrive in a frame) and are total: an
// item with a number out of range is answered with an `ItemError`, and the other items are answered
// as if that item were not in the batch. The columns of a batch have equal length; the caller
// checks this (`CheckGroup` of carom/group.h does).
//
//   const double x[] = {1, NAN}, y[] = {4, 4};
//   LocateAnswers out;
//   WorkMeter meter;
//   LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
//   // out.counts: 1, 0; out.errors[0]: index 1, column kX, fault kNotAccepted
//
// The unit of each column is given where the column is declared. Cost: O(1). Thread-safe. More
// powerful: carom/status.h, for errors of a whole request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace carom {

// The mask that considers every polygon of a category other than 0.
inline constexpr uint64_t kEveryCategory = std::numeric_limits<uint64_t>::max();

// What the items of a batch are tested against: the polygons of the scene, the bodies of the group
// (carom/bodies.h), or both.
enum class Against : uint8_t { kScene, kBodies, kBoth };

// What each item of a batch considers. By default, every item considers the polygons of the scene,
// by the mask of the options.
struct Scope {
  Against against = Against::kScene;
  // mask[i] replaces the mask of the options for item i; for bodies, it is compared with the
  // category of each body. Empty: the mask of the options holds for all items.
  std::span<const uint64_t> mask = {};
  // Item i ignores the bodies of the owner ignore_owner[i]: for a bullet, the bodies of the
  // shooter. 0 ignores no body. Empty: 0 for all items.
  std::span<const uint32_t> ignore_owner = {};
  // Item i considers the bodies as they were at the moment as_of[i], in ticks of the history of the
  // group (carom/body_history.h), which `EvaluateGroup` requires. A moment that is not kept is an
  // error of the item there. Empty: the newest tick.
  std::span<const double> as_of = {};
};

// The reason why an item was not answered.
enum class ItemFault : uint8_t {
  kNotAccepted,        // NaN, infinite, or a magnitude above 2^53
  kNegativeRadius,     // a radius below 0
  kNotARotation,       // |c^2 + s^2 - 1| > 1e-6
  kAngleOutOfRange,    // an angle that is NaN or above 2^20 in magnitude
  kUnknownShape,       // an index outside the shape table
  kPlacedOutOfRange,   // a placed vertex above 2^53 in magnitude
  kZeroDirection,      // a ray's direction of length 0
  kNotARange,          // not 0 <= t_min < t_max, or not from < to <= from + 2 pi, or NaN
  kEmptyBox,           // a minimum above its maximum
  kNegativeLength,     // a distance, a duration or a range below 0, or a range of 0 of an area
  kNotAMass,           // a mass that is not above 0, or both masses infinite
  kToleranceTooSmall,  // a tolerance below the resolution of the motion
  kTooManyBeams,       // beams of a fan outside [1, 65536]
  kUnknownTracker,     // an index or a handle without a tracker
  kNoInterior,         // a shape without interior under a blocking policy
  kNotSimple,          // a polygon that is not one simple ring under a blocking policy
  kTooManyPushes,      // displacements of a slide outside [1, 4]
  kUnknownBody,        // an index without a body
  kTooManyBounces,     // bounces of a ray outside [1, 16]
  kNotKept,            // a moment that the history does not keep
};

// The column that holds the faulty value of an item.
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
  kFrom,
  kTo,
  kAsOf,
};
inline constexpr int kItemColumnCount = static_cast<int>(ItemColumn::kAsOf) + 1;

// Reports that item `index` of a batch was not answered: all of its answer columns are empty.
struct ItemError {
  uint32_t index = 0;
  ItemColumn column = ItemColumn::kX;
  ItemFault fault = ItemFault::kNotAccepted;

  friend bool operator==(const ItemError&, const ItemError&) = default;
};

// Returns the name of the column in the wire format, such as "ax".
const char* Name(ItemColumn column);
// Returns which values are allowed, in words for people, such as "must be finite and at most 2^53
// in magnitude".
const char* Description(ItemFault fault);

}  // namespace carom
