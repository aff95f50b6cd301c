// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The answers of every kind as text: what kinds_test.cc decodes, encodes and spoils.
#pragma once

namespace carom::wire {

// Three items: one with two rows, one with an error, one with one row. Columns differ.
inline constexpr char kError[] =
    R"(errors { index: 1 code: 3 field: "COLUMN" message: "must not be negative, nor 0 as the range of an area"
                fault: ITEM_FAULT_NEGATIVE_LENGTH })";
inline constexpr char kCastRows[] = R"(
  counts: [2, 0, 1] truncated: 0
  errors { index: 1 code: 3 field: "dx" message: "must not be 0 together with dy"
           fault: ITEM_FAULT_ZERO_DIRECTION }
  polygon_id: [8, 9, 10] ring: [1, 2, 0] edge: [3, 4, 0]
  feature: [FEATURE_EDGE, FEATURE_VERTEX, FEATURE_UNSPECIFIED]
  fraction: [1.5, 2.5, 3.5] point_x: [1, 2, 3] point_y: [4, 5, 6]
  normal_x: [-1, 0, 0] normal_y: [0, -1, 0]
  starts_inside: [true, false, false] ends_inside: [false, true, false]
  exit_fraction: [4.5, 5.5, 6.5] has_exit_edge: [true, false, true]
  exit_ring: [5, 0, 6] exit_edge: [7, 0, 8] exit_normal_x: [1, 0, 0] exit_normal_y: [0, 0, 1]
  reflection_x: [11, 12, 13] reflection_y: [14, 15, 16])";
inline constexpr char kTouches[] = R"(
  counts: [2, 0, 1]
  errors { index: 1 code: 3 field: "radius" message: "must be in [0, 2^53]"
           fault: ITEM_FAULT_NEGATIVE_RADIUS }
  polygon_id: [1, 2, 3] touching: [true, false, true]
  edge_counts: [1, 0, 2] ring: [0, 1, 1] edge: [5, 6, 7])";
inline constexpr char kBoxRows[] = R"(
  counts: [2, 0, 1]
  errors { index: 1 code: 3 field: "min_y" message: "must be at most the box's maximum"
           fault: ITEM_FAULT_EMPTY_BOX }
  polygon_id: [1, 2, 3])";
inline constexpr char kDistanceRows[] = R"(
  counts: [2, 0, 1] ERROR(max_distance) polygon_id: [1, 2, 3] distance: [0.5, 1.5, 2.5]
  point_x: [1, 2, 3] point_y: [4, 5, 6] mover_point_x: [7, 8, 9] mover_point_y: [10, 11, 12]
  has_edge: [true, false, true] ring: [1, 0, 2] edge: [3, 0, 4])";
inline constexpr char kContactRows[] = R"(
  counts: [2, 0, 1]
  errors { index: 1 code: 3 field: "polygon_mass"
           message: "must be above 0, and infinite for at most one of the two"
           fault: ITEM_FAULT_NOT_A_MASS }
  polygon_id: [1, 2, 3]
  kind: [CONTACT_KIND_CONVEX, CONTACT_KIND_FEATURE, CONTACT_KIND_CONVEX]
  normal_x: [1, 0, -1] normal_y: [0, 1, 0] depth: [0.5, 1.5, 2.5] point_counts: [2, 1, 2]
  point_x: [1, 2, 3, 4, 5] point_y: [6, 7, 8, 9, 10] point_depth: [11, 12, 13, 14, 15]
  polygon_feature: [16, 17, 18, 19, 20] mover_feature: [21, 22, 23, 24, 25]
  fixed_x: [31, 32, 33] fixed_y: [34, 35, 36] mover_x: [37, 38, 39] mover_y: [40, 41, 42])";
inline constexpr char kDepenetrateRows[] = R"(
  x: [1, 0, 2] y: [3, 0, 4] finished: [true, false, false] steps: [5, 0, 64]
  errors { index: 1 code: 3 field: "shape" message: "must be an index into shapes"
           fault: ITEM_FAULT_UNKNOWN_SHAPE })";
inline constexpr char kSweepRows[] = R"(
  counts: [2, 0, 1] truncated: [0, 2] ERROR(to_y) polygon_id: [1, 2, 3] fraction: [0.25, 0.5, 0]
  starts_inside: [false, false, true] has_edge: [true, true, false] ring: [1, 2, 0] edge: [3, 4, 0]
  point_x: [5, 6, 7] point_y: [8, 9, 10] normal_x: [1, 0, 0] normal_y: [0, 1, 0]
  ties: [false, true, false])";
inline constexpr char kRotatingRows[] = R"(
  counts: [1, 0, 1]
  errors { index: 1 code: 3 field: "tolerance"
           message: "must be at least the resolution of the motion"
           fault: ITEM_FAULT_TOLERANCE_TOO_SMALL }
  polygon_id: [1, 2] low: [0.25, 0] high: [0.5, 0.75])";
inline constexpr char kArcRows[] = R"(
  counts: [2, 0, 1] truncated: 0 ERROR(duration) polygon_id: [1, 2, 3] time: [10, 20, 30]
  starts_inside: [false, false, true] has_edge: [true, true, false] ring: [1, 2, 0] edge: [3, 4, 0]
  point_x: [5, 6, 7] point_y: [8, 9, 10] normal_x: [1, 0, 0] normal_y: [0, 1, 0])";
inline constexpr char kSlideRows[] = R"(
  x: [1, 0, 3] y: [4, 0, 6] left_x: [0, 0, 1] left_y: [0, 0, 2] counts: [1, 0, 2]
  errors { index: 1 code: 3 field: "pushes" message: "must be in [1, 4]"
           fault: ITEM_FAULT_TOO_MANY_PUSHES }
  from_x: [1, 2, 3] from_y: [4, 5, 6] dx: [7, 8, 9] dy: [10, 11, 12] has_hit: [false, true, true]
  polygon_id: [0, 2, 3] fraction: [0, 0.5, 0.25] starts_inside: [false, false, true]
  has_edge: [false, true, false] ring: [0, 2, 0] edge: [0, 4, 0]
  point_x: [0, 6, 7] point_y: [0, 9, 10] normal_x: [0, 1, 0] normal_y: [0, 0, 0]
  is_body: [false, false, true])";
inline constexpr char kBounceRows[] = R"(
  counts: [1, 0, 2] ERROR(bx) stuck: [2]
  ax: [1, 2, 3] ay: [4, 5, 6] bx: [7, 8, 9] by: [10, 11, 12] has_hit: [false, true, true]
  polygon_id: [0, 2, 3] fraction: [0, 0.5, 0.25] starts_inside: [false, false, true]
  ends_inside: [false, false, true] ring: [0, 2, 0] edge: [0, 4, 0]
  feature: [FEATURE_UNSPECIFIED, FEATURE_EDGE, FEATURE_UNSPECIFIED]
  point_x: [0, 6, 7] point_y: [0, 9, 10] normal_x: [0, 1, 0] normal_y: [0, 0, 0])";
inline constexpr char kRayBounceRows[] = R"(
  counts: [1, 0, 2] stuck: [2]
  errors { index: 1 code: 3 field: "max_bounces" message: "must be in [1, 16]"
           fault: ITEM_FAULT_TOO_MANY_BOUNCES }
  x: [1, 2, 3] y: [4, 5, 6] dx: [7, 8, 9] dy: [10, 11, 12] t_max: [inf, 5, 4]
  has_hit: [false, true, true]
  polygon_id: [0, 2, 3] fraction: [0, 1.5, 0.25] starts_inside: [false, false, true]
  ends_inside: [false, false, true] ring: [0, 2, 0] edge: [0, 4, 0]
  feature: [FEATURE_UNSPECIFIED, FEATURE_EDGE, FEATURE_UNSPECIFIED]
  point_x: [0, 6, 7] point_y: [0, 9, 10] normal_x: [0, 1, 0] normal_y: [0, 0, 0])";
inline constexpr char kAreaRows[] = R"(
  counts: [2, 0, 1] truncated: [2] ERROR(range)
  kind: [AREA_PIECE_KIND_EDGE, AREA_PIECE_KIND_SIGHT, AREA_PIECE_KIND_EDGE]
  polygon_id: [1, 0, 3] ring: [2, 0, 4] edge: [5, 0, 6] start_x: [1, 2, 3] start_y: [4, 5, 6]
  area: [1.5, 0, 2.5] starts_inside: [false, false, true] is_body: [false, false, true])";
inline constexpr char kSeeRows[] = R"(
  counts: [2, 0, 65] ERROR(range) seen: [5, 0, 0, 0, 0xffffffffffffffff, 0x8]
  starts_inside: [false, false, true])";
inline constexpr char kSightRows[] = R"(
  visible: [true, false, false]
  errors { index: 1 code: 3 field: "bx" message: "must be finite and at most 2^53 in magnitude"
           fault: ITEM_FAULT_NOT_ACCEPTED })";
inline constexpr char kFanRows[] = R"(
  counts: [2, 0, 1]
  errors { index: 1 code: 3 field: "beams" message: "must be in [1, 65536]"
           fault: ITEM_FAULT_TOO_MANY_BEAMS }
  hit: [true, false, true] distance: [1, 2, 3] polygon_id: [4, 0, 5])";

}  // namespace carom::wire
