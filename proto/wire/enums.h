// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which wire value (number in a message) does each value of a core enum have? One table per enum
// serves encoding and decoding. Private to this folder.
#pragma once

#include <cstddef>
#include <iterator>

#include "carom/area.h"
#include "carom/batch.h"
#include "carom/body_history.h"
#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/distance.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/polygon.h"
#include "carom/rotating_sweep.h"
#include "carom/tracker.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// The table of an enum of the geometry core: kValues[w] is the core's value for the wire value w,
// the number of the value in a message. kValues[0] is the value that an absent field means;
// `kFirstAnswer` is the least wire value that a server sends in answers.
template <class Core>
struct EnumTable;

template <>
struct EnumTable<FillRule> {
  static constexpr FillRule kValues[] = {FillRule::kEvenOdd, FillRule::kEvenOdd,
                                         FillRule::kNonZero};
  static_assert(std::size(kValues) == v1::FillRule_ARRAYSIZE);
};

template <>
struct EnumTable<Solidity> {
  static constexpr Solidity kValues[] = {Solidity::kSolid, Solidity::kSolid, Solidity::kBoundary};
  static_assert(std::size(kValues) == v1::Solidity_ARRAYSIZE);
};

template <>
struct EnumTable<Against> {
  static constexpr Against kValues[] = {Against::kScene, Against::kScene, Against::kBodies,
                                        Against::kBoth};
  static_assert(std::size(kValues) == v1::Against_ARRAYSIZE);
};

template <>
struct EnumTable<BodyRotation> {
  static constexpr BodyRotation kValues[] = {BodyRotation::kNearest, BodyRotation::kNearest,
                                             BodyRotation::kLinear};
  static_assert(std::size(kValues) == v1::BodyRotation_ARRAYSIZE);
};

template <>
struct EnumTable<CastMode> {
  static constexpr CastMode kValues[] = {CastMode::kClosest, CastMode::kAny, CastMode::kClosest,
                                         CastMode::kAll, CastMode::kAllPassages};
  static_assert(std::size(kValues) == v1::CastMode_ARRAYSIZE);
};

template <>
struct EnumTable<InsidePolicy> {
  static constexpr InsidePolicy kValues[] = {
      InsidePolicy::kReportStart, InsidePolicy::kReportStart, InsidePolicy::kIgnore,
      InsidePolicy::kExit,        InsidePolicy::kBlocking,    InsidePolicy::kBlockingLeave};
  static_assert(std::size(kValues) == v1::InsidePolicy_ARRAYSIZE);
};

template <>
struct EnumTable<CastTarget> {
  static constexpr CastTarget kValues[] = {CastTarget::kPolygons, CastTarget::kPolygons,
                                           CastTarget::kBounds};
  static_assert(std::size(kValues) == v1::CastTarget_ARRAYSIZE);
};

template <>
struct EnumTable<CastDetail> {
  static constexpr CastDetail kValues[] = {CastDetail::kExit, CastDetail::kFraction,
                                           CastDetail::kNormal, CastDetail::kEdge,
                                           CastDetail::kExit};
  static_assert(std::size(kValues) == v1::CastDetail_ARRAYSIZE);
};

template <>
struct EnumTable<OverlapDetail> {
  static constexpr OverlapDetail kValues[] = {OverlapDetail::kIds, OverlapDetail::kIds,
                                              OverlapDetail::kEdges};
  static_assert(std::size(kValues) == v1::OverlapDetail_ARRAYSIZE);
};

template <>
struct EnumTable<Coherence> {
  static constexpr Coherence kValues[] = {Coherence::kOn, Coherence::kOn, Coherence::kOff};
  static_assert(std::size(kValues) == v1::Coherence_ARRAYSIZE);
};

template <>
struct EnumTable<DistanceMode> {
  static constexpr DistanceMode kValues[] = {DistanceMode::kNearest, DistanceMode::kNearest,
                                             DistanceMode::kAll, DistanceMode::kWithin,
                                             DistanceMode::kNearestK};
  static_assert(std::size(kValues) == v1::DistanceMode_ARRAYSIZE);
};

template <>
struct EnumTable<StartPolicy> {
  static constexpr StartPolicy kValues[] = {StartPolicy::kReportStart, StartPolicy::kReportStart,
                                            StartPolicy::kIgnore};
  static_assert(std::size(kValues) == v1::StartPolicy_ARRAYSIZE);
};

template <>
struct EnumTable<Feature> {
  static constexpr Feature kValues[] = {Feature::kNone, Feature::kCollinear, Feature::kVertex,
                                        Feature::kEdge};
  static_assert(std::size(kValues) == v1::Feature_ARRAYSIZE);
  static constexpr int kFirstAnswer = v1::FEATURE_UNSPECIFIED;
};

template <>
struct EnumTable<Location> {
  static constexpr Location kValues[] = {Location::kOutside, Location::kBoundary,
                                         Location::kInside};
  static_assert(std::size(kValues) == v1::Location_ARRAYSIZE);
  static constexpr int kFirstAnswer = v1::LOCATION_BOUNDARY;
};

template <>
struct EnumTable<ContactKind> {
  static constexpr ContactKind kValues[] = {ContactKind::kConvex, ContactKind::kConvex,
                                            ContactKind::kFeature};
  static_assert(std::size(kValues) == v1::ContactKind_ARRAYSIZE);
  static constexpr int kFirstAnswer = v1::CONTACT_KIND_CONVEX;
};

template <>
struct EnumTable<AreaPieceKind> {
  static constexpr AreaPieceKind kValues[] = {AreaPieceKind::kEdge, AreaPieceKind::kEdge,
                                              AreaPieceKind::kArc, AreaPieceKind::kSight};
  static_assert(std::size(kValues) == v1::AreaPieceKind_ARRAYSIZE);
  static constexpr int kFirstAnswer = v1::AREA_PIECE_KIND_EDGE;
};

template <>
struct EnumTable<ItemFault> {
  static constexpr ItemFault kValues[] = {
      ItemFault::kNotAccepted,       ItemFault::kNotAccepted,     ItemFault::kNegativeRadius,
      ItemFault::kNotARotation,      ItemFault::kAngleOutOfRange, ItemFault::kUnknownShape,
      ItemFault::kPlacedOutOfRange,  ItemFault::kZeroDirection,   ItemFault::kNotARange,
      ItemFault::kEmptyBox,          ItemFault::kNegativeLength,  ItemFault::kNotAMass,
      ItemFault::kToleranceTooSmall, ItemFault::kTooManyBeams,    ItemFault::kUnknownTracker,
      ItemFault::kNoInterior,        ItemFault::kNotSimple,       ItemFault::kTooManyPushes,
      ItemFault::kUnknownBody,       ItemFault::kTooManyBounces,  ItemFault::kNotKept};
  static_assert(std::size(kValues) == v1::ItemFault_ARRAYSIZE);
};

template <class Core>
inline constexpr int kEnumSize = static_cast<int>(std::size(EnumTable<Core>::kValues));

// Returns whether the table of `Core` has an entry for the wire value `wire`.
template <class Core>
constexpr bool IsKnown(int wire) {
  return wire >= 0 && wire < kEnumSize<Core>;
}

// Returns the geometry core's value for the wire value `wire`, for which `IsKnown` holds.
template <class Core>
constexpr Core EnumFromWire(int wire) {
  return EnumTable<Core>::kValues[wire];
}

// Returns the wire value of `value`: the last index at which `kValues` has `value`. The last index,
// because in most enums the value that an absent field means has index 0 and again an index of its
// own.
template <class Core>
constexpr int EnumToWire(Core value) {
  int wire = kEnumSize<Core> - 1;
  while (wire > 0 && EnumTable<Core>::kValues[wire] != value) --wire;
  return wire;
}

}  // namespace carom::wire
