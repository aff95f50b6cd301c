// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which columns (repeated fields) of a message carry each kind of query? Each list of columns
// serves encoding and decoding. Private to this folder.
#pragma once

#include <tuple>

#include "carom/group.h"
#include "carom/v1/query_service.pb.h"
#include "wire/columns.h"

namespace carom::wire {

// The columns (repeated fields) of segments. `Message` is SegmentCasts, Sights or Bounces.
template <class Message>
constexpr auto ColumnsOf(const SegmentColumns&) {
  using C = SegmentColumns;
  return std::tuple{Column(&C::ax, &Message::ax, &Message::mutable_ax),
                    Column(&C::ay, &Message::ay, &Message::mutable_ay),
                    Column(&C::bx, &Message::bx, &Message::mutable_bx),
                    Column(&C::by, &Message::by, &Message::mutable_by)};
}

template <class Message>
constexpr auto ColumnsOf(const RayColumns&) {
  using C = RayColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::dx, &Message::dx, &Message::mutable_dx),
                    Column(&C::dy, &Message::dy, &Message::mutable_dy),
                    Column(&C::t_min, &Message::t_min, &Message::mutable_t_min),
                    Column(&C::t_max, &Message::t_max, &Message::mutable_t_max)};
}

template <class Message>
constexpr auto ColumnsOf(const RayBounceColumns&) {
  using C = RayBounceColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::dx, &Message::dx, &Message::mutable_dx),
                    Column(&C::dy, &Message::dy, &Message::mutable_dy),
                    Column(&C::t_max, &Message::t_max, &Message::mutable_t_max),
                    Column(&C::max_bounces, &Message::max_bounces, &Message::mutable_max_bounces)};
}

template <class Message>
constexpr auto ColumnsOf(const ArcColumns&) {
  using C = ArcColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::vx, &Message::vx, &Message::mutable_vx),
                    Column(&C::vy, &Message::vy, &Message::mutable_vy),
                    Column(&C::ax, &Message::ax, &Message::mutable_ax),
                    Column(&C::ay, &Message::ay, &Message::mutable_ay),
                    Column(&C::duration, &Message::duration, &Message::mutable_duration)};
}

template <class Message>
constexpr auto ColumnsOf(const FanColumns&) {
  using C = FanColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::angle, &Message::angle, &Message::mutable_angle),
                    Column(&C::step, &Message::step, &Message::mutable_step),
                    Column(&C::range, &Message::range, &Message::mutable_range),
                    Column(&C::beams, &Message::beams, &Message::mutable_beams)};
}

template <class Message>
constexpr auto ColumnsOf(const AreaColumns&) {
  using C = AreaColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::range, &Message::range, &Message::mutable_range),
                    Column(&C::from, &Message::from, &Message::mutable_from),
                    Column(&C::to, &Message::to, &Message::mutable_to),
                    Column(&C::eye, &Message::eye, &Message::mutable_eye)};
}

template <class Message>
constexpr auto ColumnsOf(const PointColumns&) {
  using C = PointColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y)};
}

template <class Message>
constexpr auto ColumnsOf(const CircleColumns&) {
  using C = CircleColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::radius, &Message::radius, &Message::mutable_radius)};
}

template <class Message>
constexpr auto ColumnsOf(const CapsuleColumns&) {
  using C = CapsuleColumns;
  return std::tuple{Column(&C::ax, &Message::ax, &Message::mutable_ax),
                    Column(&C::ay, &Message::ay, &Message::mutable_ay),
                    Column(&C::bx, &Message::bx, &Message::mutable_bx),
                    Column(&C::by, &Message::by, &Message::mutable_by),
                    Column(&C::radius, &Message::radius, &Message::mutable_radius)};
}

template <class Message>
constexpr auto ColumnsOf(const BoxColumns&) {
  using C = BoxColumns;
  return std::tuple{Column(&C::min_x, &Message::min_x, &Message::mutable_min_x),
                    Column(&C::min_y, &Message::min_y, &Message::mutable_min_y),
                    Column(&C::max_x, &Message::max_x, &Message::mutable_max_x),
                    Column(&C::max_y, &Message::max_y, &Message::mutable_max_y)};
}

// The columns (repeated fields) of placed shapes: the index of each shape, its position and
// rotation, but not the shapes. `Message` is PolygonOverlaps or PlacedShapes.
template <class Message, class S>
constexpr auto ColumnsOf(const PlacedColumns<S>&) {
  using C = PlacedColumns<S>;
  return std::tuple{Column(&C::shape, &Message::shape, &Message::mutable_shape),
                    Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::c, &Message::c, &Message::mutable_c),
                    Column(&C::s, &Message::s, &Message::mutable_s),
                    Column(&C::angle, &Message::angle, &Message::mutable_angle)};
}

// The following functions list the columns (repeated fields) that a kind of query has besides those
// of its moving shapes, which the field `movers` of the message has.
template <class Message>
constexpr auto ColumnsOf(const DistanceColumns&) {
  using C = DistanceColumns;
  return std::tuple{
      Column(&C::max_distance, &Message::max_distance, &Message::mutable_max_distance)};
}

template <class Message>
constexpr auto ColumnsOf(const ContactColumns&) {
  using C = ContactColumns;
  return std::tuple{
      Column(&C::mass, &Message::mass, &Message::mutable_mass),
      Column(&C::polygon_mass, &Message::polygon_mass, &Message::mutable_polygon_mass)};
}

template <class Message>
constexpr auto ColumnsOf(const SweepColumns&) {
  using C = SweepColumns;
  return std::tuple{Column(&C::to_x, &Message::to_x, &Message::mutable_to_x),
                    Column(&C::to_y, &Message::to_y, &Message::mutable_to_y),
                    Column(&C::dx, &Message::dx, &Message::mutable_dx),
                    Column(&C::dy, &Message::dy, &Message::mutable_dy),
                    Column(&C::skin, &Message::skin, &Message::mutable_skin)};
}

template <class Message>
constexpr auto ColumnsOf(const SlideColumns&) {
  using C = SlideColumns;
  return std::tuple{Column(&C::dx, &Message::dx, &Message::mutable_dx),
                    Column(&C::dy, &Message::dy, &Message::mutable_dy),
                    Column(&C::pushes, &Message::pushes, &Message::mutable_pushes),
                    Column(&C::skin, &Message::skin, &Message::mutable_skin)};
}

template <class Message>
constexpr auto ColumnsOf(const RotatingSweepColumns&) {
  using C = RotatingSweepColumns;
  return std::tuple{Column(&C::to_x, &Message::to_x, &Message::mutable_to_x),
                    Column(&C::to_y, &Message::to_y, &Message::mutable_to_y),
                    Column(&C::to_c, &Message::to_c, &Message::mutable_to_c),
                    Column(&C::to_s, &Message::to_s, &Message::mutable_to_s),
                    Column(&C::to_angle, &Message::to_angle, &Message::mutable_to_angle),
                    Column(&C::tolerance, &Message::tolerance, &Message::mutable_tolerance)};
}

template <class Message>
constexpr auto ColumnsOf(const MoveColumns&) {
  using C = MoveColumns;
  return std::tuple{Column(&C::tracker, &Message::tracker, &Message::mutable_tracker),
                    Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::c, &Message::c, &Message::mutable_c),
                    Column(&C::s, &Message::s, &Message::mutable_s),
                    Column(&C::angle, &Message::angle, &Message::mutable_angle),
                    Column(&C::from_x, &Message::from_x, &Message::mutable_from_x),
                    Column(&C::from_y, &Message::from_y, &Message::mutable_from_y),
                    Column(&C::from_c, &Message::from_c, &Message::mutable_from_c),
                    Column(&C::from_s, &Message::from_s, &Message::mutable_from_s),
                    Column(&C::from_angle, &Message::from_angle, &Message::mutable_from_angle)};
}

template <class Message>
constexpr auto ColumnsOf(const BodyContactColumns&) {
  using C = BodyContactColumns;
  return std::tuple{Column(&C::body, &Message::body, &Message::mutable_body),
                    Column(&C::mass, &Message::mass, &Message::mutable_mass)};
}

// The columns that a client may send as floats instead of doubles, in the order of the fields of
// the message with the floats, such as v1.FloatSegments.
constexpr auto FloatColumnsOf(const SegmentColumns&) {
  using C = SegmentColumns;
  using M = v1::FloatSegments;
  return std::tuple{Column(&C::ax, &M::ax, &M::mutable_ax), Column(&C::ay, &M::ay, &M::mutable_ay),
                    Column(&C::bx, &M::bx, &M::mutable_bx), Column(&C::by, &M::by, &M::mutable_by)};
}

constexpr auto FloatColumnsOf(const MoveColumns&) {
  using C = MoveColumns;
  using M = v1::FloatPoses;
  return std::tuple{Column(&C::x, &M::x, &M::mutable_x), Column(&C::y, &M::y, &M::mutable_y),
                    Column(&C::c, &M::c, &M::mutable_c), Column(&C::s, &M::s, &M::mutable_s),
                    Column(&C::angle, &M::angle, &M::mutable_angle)};
}

}  // namespace carom::wire
