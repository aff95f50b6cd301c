// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Encodes and decodes body sets (bodies that the server keeps, with their poses by tick) and the
// poses of a tick.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "carom/status.h"
#include "wire/columns.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/parts.h"

namespace carom::wire {
namespace {

// The columns of poses, in doubles (`Message` is BodyPoses) or in floats (FloatBodyPoses).
template <class Message>
constexpr auto PoseColumnsOf() {
  using C = PoseColumns;
  return std::tuple{Column(&C::x, &Message::x, &Message::mutable_x),
                    Column(&C::y, &Message::y, &Message::mutable_y),
                    Column(&C::c, &Message::c, &Message::mutable_c),
                    Column(&C::s, &Message::s, &Message::mutable_s),
                    Column(&C::angle, &Message::angle, &Message::mutable_angle)};
}

// Calls f(column) for each column of poses.
template <class Message, class F>
void ForEachPoseColumn(F f) {
  std::apply([&](const auto&... column) { (f(column), ...); }, PoseColumnsOf<Message>());
}

// Returns whether every number of the column is exactly a float.
bool AreFloats(std::span<const double> column) {
  return std::all_of(column.begin(), column.end(), [](double value) {
    return std::abs(value) <= std::numeric_limits<float>::max() &&
           static_cast<double>(static_cast<float>(value)) == value;
  });
}

template <class T, class Values>
std::vector<T> Copied(const Values& values) {
  return {values.begin(), values.end()};
}

}  // namespace

absl::StatusOr<BodyDefinition> DecodeBodySet(const v1::BodySet& message) {
  BodyDefinition definition;
  ViolationList violation_list;
  DecodeEach(message.shapes(), ListPath{"shapes", ""}, DecodeShape, definition.shapes,
             violation_list);
  if (!violation_list.empty()) return violation_list.status();
  definition.shape = Copied<uint32_t>(message.shape());
  definition.category = Copied<uint64_t>(message.category());
  definition.owner = Copied<uint32_t>(message.owner());
  if (message.keep_ticks() != 0) definition.keep_ticks = message.keep_ticks();
  return definition;
}

absl::Status DecodePoses(const v1::BodyPoses& message, DecodedPoses& out) {
  out.poses = {};
  out.poses.tick = message.tick();
  ViewColumns(message, PoseColumnsOf<v1::BodyPoses>(), out.poses);
  out.poses.alive = View(message.alive());
  out.poses.teleported = View(message.teleported());
  if (!message.has_floats()) return absl::OkStatus();
  bool twice = false;
  size_t count = 0;
  ForEachPoseColumn<v1::FloatBodyPoses>([&](const auto& column) {
    twice = twice || !(out.poses.*column.core).empty();
    count += static_cast<size_t>((message.floats().*column.read)().size());
  });
  if (twice) {
    return InvalidField("floats", "must not be given together with the columns of doubles");
  }
  out.floats.clear();
  out.floats.reserve(count);  // spans point into it
  ForEachPoseColumn<v1::FloatBodyPoses>([&](const auto& column) {
    const auto& floats = (message.floats().*column.read)();
    const size_t first = out.floats.size();
    out.floats.insert(out.floats.end(), floats.begin(), floats.end());
    out.poses.*column.core = {out.floats.data() + first, out.floats.size() - first};
  });
  return absl::OkStatus();
}

void DecodeUseOfBodySet(const v1::Group& message, const BodyHistory* history, Group& group,
                        ViolationList& violation_list) {
  group.body_history = message.has_body_set() ? history : nullptr;
  ReadEnum(message.body_set_rotation(), "", "body_set_rotation", group.body_rotation,
           violation_list);
  if (message.has_body_set() && history == nullptr) {
    violation_list.Add("body_set", "must be the handle of a body set of this stream");
  }
}

// Omits NEAREST, as an absent field means NEAREST.
void EncodeUseOfBodySet(const Group& group, v1::Group& message) {
  message.clear_body_set_rotation();
  if (group.body_rotation == BodyRotation::kNearest) return;
  message.set_body_set_rotation(static_cast<v1::BodyRotation>(EnumToWire(group.body_rotation)));
}

void EncodeBodySet(const BodyDefinition& definition, v1::BodySet& message) {
  message.clear_shapes();
  for (const Shape& shape : definition.shapes) EncodeShape(shape, *message.add_shapes());
  CopyColumn(definition.shape, message.mutable_shape());
  CopyColumn(definition.category, message.mutable_category());
  CopyColumn(definition.owner, message.mutable_owner());
  message.set_keep_ticks(definition.keep_ticks);
}

// Absent columns are written out, since each has a meaning (`BodyDefinition`).
std::string BodySetBytes(const BodyDefinition& definition) {
  v1::BodySet message;
  EncodeBodySet(definition, message);
  const auto bodies = static_cast<int>(definition.size());
  for (int i = message.shape_size(); i < bodies; ++i) message.add_shape(static_cast<uint32_t>(i));
  for (int i = message.category_size(); i < bodies; ++i) message.add_category(1);
  for (int i = message.owner_size(); i < bodies; ++i) message.add_owner(0);
  return message.SerializeAsString();
}

void EncodePoses(const PoseColumns& poses, v1::BodyPoses& message) {
  message.Clear();
  message.set_tick(poses.tick);
  CopyColumn(poses.alive, message.mutable_alive());
  CopyColumn(poses.teleported, message.mutable_teleported());
  bool are_floats = true;
  ForEachPoseColumn<v1::BodyPoses>(
      [&](const auto& column) { are_floats = are_floats && AreFloats(poses.*column.core); });
  if (are_floats) {
    EncodeColumns(poses, PoseColumnsOf<v1::FloatBodyPoses>(), *message.mutable_floats());
  } else {
    EncodeColumns(poses, PoseColumnsOf<v1::BodyPoses>(), message);
  }
}

}  // namespace carom::wire
