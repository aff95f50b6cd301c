// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/frames.h"

#include <google/protobuf/io/coded_stream.h>

#include <bit>
#include <cassert>
#include <cstring>

#include "carom/frame.h"
#include "carom/v1/query_service.pb.h"
#include "client/src/frame_codec.h"
#include "wire/encode.h"

namespace carom::load {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr uint64_t kHandle = 1;  // handle of the scene on every stream
static_assert(std::endian::native == std::endian::little, "columns are copied as they are");

// One-byte protobuf tags: field number << 3 | wire type, which is 2 for length-delimited fields and
// 0 for the varint fields `scene_handle` and `seq`.
constexpr char LengthTag(int field) { return static_cast<char>(field << 3 | 2); }
constexpr char kFrameTag = LengthTag(v1::StreamRequest::kFrameFieldNumber);
constexpr char kGroupsTag = LengthTag(v1::Frame::kGroupsFieldNumber);
constexpr char kSegmentsTag = LengthTag(v1::Group::kSegmentsFieldNumber);
constexpr char kSeqTag = v1::Frame::kSeqFieldNumber << 3;
constexpr char kHandleTag = v1::Group::kSceneHandleFieldNumber << 3;

// Appends `value` as a varint: seven bits a byte, lowest bits first, at most ten bytes.
void AppendVarint(uint64_t value, std::string& out) {
  uint8_t bytes[10];
  const uint8_t* end = CodedOutputStream::WriteVarint64ToArray(value, bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes));
}

// Appends the tag of the length-delimited field with the number `field`, which takes two bytes if
// the number is 16 or above.
void AppendTag(int field, std::string& out) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | 2, out);
}

// Returns the encoded size of a length-delimited field with a tag of one byte and `size` bytes of
// content.
size_t FieldSize(size_t size) {
  return 1 + CodedOutputStream::VarintSize32(static_cast<uint32_t>(size)) + size;
}

}  // namespace

// All numbers in the columns of `questions` are exactly representable as float, so `EncodeGroup`
// encodes the columns as floats, in half the bytes.
Frames::Frames(const Questions& questions, const std::string& scene) : questions_(questions) {
  carom::Frame opening;
  opening.bindings.push_back({kHandle, scene});
  if (questions.trackers() > 0) opening.trackers.push_back(questions.definitions());
  v1::StreamRequest request;
  EncodeFrame(opening, *request.mutable_frame());
  const grpc::Slice slice(request.SerializeAsString());
  first_ = grpc::ByteBuffer(&slice, 1);

  for (uint32_t i = 0; i < questions.window_count(); ++i) {
    Group group;
    group.segments = questions.Window(i);
    group.cast_options = questions.cast_options();
    v1::Group message;
    wire::EncodeGroup(group, message);
    const std::string segments = message.segments().SerializeAsString();
    std::string field(1, kSegmentsTag);
    AppendVarint(segments.size(), field);
    windows_.push_back(field + segments);
  }

  if (questions.trackers() > 0) MakeMovesBegin();
}

// `moves_begin_` is the start of the serialized field `moves` (tracker moves) of a group, which all
// frames share. It contains the tag and length of the field, the options of TrackerMoves
// (`first_tracker` is 0 and so absent), and the start of the field `floats`, which follows the
// options because it has the highest field number, up to the values of the packed column x.
void Frames::MakeMovesBegin() {
  const double zero = 0;
  Group group;
  group.moves.x = group.moves.y = {&zero, 1};
  v1::Group message;
  wire::EncodeGroup(group, message);
  message.mutable_moves()->clear_floats();
  std::string moves = message.moves().SerializeAsString();
  const size_t column = questions_.trackers() * sizeof(float);
  const size_t floats_size = 2 * FieldSize(column);
  AppendTag(v1::TrackerMoves::kFloatsFieldNumber, moves);
  AppendVarint(floats_size, moves);
  AppendTag(v1::Group::kMovesFieldNumber, moves_begin_);
  AppendVarint(moves.size() + floats_size, moves_begin_);
  moves_size_ = moves_begin_.size() + moves.size() + floats_size;
  AppendTag(v1::FloatPoses::kXFieldNumber, moves);
  AppendVarint(column, moves);
  moves_begin_ += moves;
}

grpc::Slice Frames::Moves(uint32_t stream, uint64_t tick) const {
  const size_t count = questions_.trackers();
  // Each thread that builds frames reuses the memory of its own columns.
  thread_local std::vector<float> x, y;
  x.resize(count);
  y.resize(count);
  questions_.Poses(stream, tick, x, y);
  grpc::Slice slice(moves_size_);
  // removes const, because gRPC offers no other way to fill a slice without a copy
  auto* out = const_cast<uint8_t*>(slice.begin());
  const auto append = [&](const void* bytes, size_t size) {
    std::memcpy(out, bytes, size);
    out += size;
  };
  append(moves_begin_.data(), moves_begin_.size());
  append(x.data(), count * sizeof(float));
  *out++ = static_cast<uint8_t>(LengthTag(v1::FloatPoses::kYFieldNumber));
  out = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(count * sizeof(float)), out);
  append(y.data(), count * sizeof(float));
  assert(out == slice.end());
  return slice;
}

// A frame has up to three slices: the head with `seq` and the lengths of the following fields; the
// segments of one window (list of bullets), whose bytes are shared by all frames with this window;
// and the tracker moves. gRPC copies the bytes of the slices when it writes them to the socket.
grpc::ByteBuffer Frames::Frame(uint32_t stream, uint64_t tick) const {
  const uint64_t seq = tick + 1;
  const std::string* window =
      windows_.empty() ? nullptr : &windows_[questions_.WindowOf(stream, tick)];
  const bool has_group = window != nullptr || questions_.trackers() > 0;
  const size_t group =
      2 + (window != nullptr ? window->size() : 0) + (questions_.trackers() > 0 ? moves_size_ : 0);
  const size_t seq_size = 1 + CodedOutputStream::VarintSize64(seq);
  uint8_t head[32];
  uint8_t* out = head;
  *out++ = kFrameTag;
  out = CodedOutputStream::WriteVarint32ToArray(
      static_cast<uint32_t>(seq_size + (has_group ? FieldSize(group) : 0)), out);
  *out++ = kSeqTag;
  out = CodedOutputStream::WriteVarint64ToArray(seq, out);
  grpc::Slice slices[3];
  size_t count = 1;
  if (has_group) {
    *out++ = kGroupsTag;
    out = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(group), out);
    *out++ = kHandleTag;
    *out++ = kHandle;
  }
  slices[0] = grpc::Slice(head, static_cast<size_t>(out - head));
  if (window != nullptr) {
    slices[count++] = grpc::Slice(window->data(), window->size(), grpc::Slice::STATIC_SLICE);
  }
  if (questions_.trackers() > 0) slices[count++] = Moves(stream, tick);
  return {slices, count};
}

}  // namespace carom::load
