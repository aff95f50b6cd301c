// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/pieces.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "wire/parts.h"

namespace carom::wire {
namespace {

// Returns whether a ring must end with a duplicate of its first vertex, which `Polygon::Create`
// drops; see `EncodeRing` in geometry.cc.
bool Closes(std::span<const Vec2> ring, bool open) {
  return !open && ring.size() >= 2 && ring.front() == ring.back();
}

// Writes the vertices [first, first + count) of a ring. The index `ring.size()` stands for one more
// vertex, equal to the first one, that closes the ring.
void EncodeSlice(std::span<const Vec2> ring, size_t first, size_t count, v1::Ring& message) {
  message.mutable_x()->Reserve(static_cast<int>(count));
  message.mutable_y()->Reserve(static_cast<int>(count));
  for (size_t i = first; i < first + count; ++i) {
    const Vec2 vertex = i < ring.size() ? ring[i] : ring.front();
    message.add_x(vertex.x);
    message.add_y(vertex.y);
  }
}

// Returns the number of x coordinates in the message of a piece. When the piece is decoded,
// `DecodeSpec` checks that there are as many y coordinates.
size_t VertexCount(const v1::Polygon& message) {
  size_t count = 0;
  for (const v1::Ring& ring : message.rings()) count += static_cast<size_t>(ring.x_size());
  return count;
}

// A large polygon is sent in pieces, one in each chunk (message of a stream). Returns whether the
// message of a piece has only rings and an id. Every piece of a polygon except the first must be
// so.
bool HasRingsAlone(const v1::Polygon& message) {
  return message.fill_rule() == v1::FILL_RULE_UNSPECIFIED &&
         message.solidity() == v1::SOLIDITY_UNSPECIFIED && !message.has_category() &&
         message.user_data().empty();
}

// Returns `status` with field paths that begin with `path`, the path of a polygon.
absl::Status At(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  ViolationList violation_list;
  violation_list.AddPart(path, status);
  return violation_list.status();
}

// Returns the error for a ring without vertices. A ring may be empty only at a border between two
// pieces of a polygon: as the last ring of a piece that another piece follows, and as the first
// ring of the following piece.
absl::Status EmptyRing(const std::string& path) {
  return InvalidField(absl::StrCat(path, ".rings"), "must have at least one vertex each");
}

}  // namespace

// Writes one piece (the part of a large polygon that one chunk of a stream has). `PolygonJoiner`
// appends the first ring of a piece to the last ring of the preceding piece; so if a piece after
// the first begins at the start of a ring, this function writes an empty ring before that ring.
bool EncodePiece(const Polygon& polygon, size_t max_vertices, PieceStart& start,
                 v1::Polygon& message) {
  message.Clear();
  message.set_id(polygon.id());
  size_t room = max_vertices;
  if (start.is_first()) {
    EncodeHead(polygon, message);
  } else if (start.vertex == 0) {
    message.add_rings();
    --room;
  }
  for (; start.ring < polygon.ring_count() && room >= 2; ++start.ring, start.vertex = 0) {
    const std::span<const Vec2> ring = polygon.ring(start.ring);
    const bool open = polygon.is_open(start.ring);
    const size_t size = ring.size() + (Closes(ring, open) ? 1 : 0);
    const size_t count = std::min(room - 1, size - start.vertex);
    v1::Ring& slice = *message.add_rings();
    if (start.vertex == 0) slice.set_open(open);
    EncodeSlice(ring, start.vertex, count, slice);
    room -= count + 1;
    start.vertex += count;
    if (start.vertex < size) return false;
  }
  if (start.ring < polygon.ring_count()) return false;
  start = {};
  return true;
}

// A scene is sent as a stream of chunks. A chunk has polygons (`messages`); a large polygon is sent
// in pieces, at the end of one chunk and the beginning of the next. The first of `messages` may be
// the last piece of a polygon that earlier chunks began, and the last of `messages` the first piece
// of a polygon that later chunks continue. If there is only one message, it may be a piece between
// two others. All messages between the first and the last are whole polygons.
absl::Status PolygonJoiner::Add(const google::protobuf::RepeatedPtrField<v1::Polygon>& messages,
                                bool continues, ChargeFunction charge, std::vector<Polygon>& out) {
  const size_t first = out.size();
  if (messages.empty()) {
    if (pending_.has_value())
      return InvalidField("continues", "must have been false: the next chunk has no polygon");
    return continues ? InvalidField("continues", "must be false in a chunk without a polygon")
                     : absl::OkStatus();
  }
  ViolationList violation_list;
  for (int i = 0; i < messages.size(); ++i) {
    const std::string place = absl::StrCat("polygons[", first + static_cast<size_t>(i), "]");
    const bool is_last = !continues || i + 1 < messages.size();
    checkpoint_();
    if (pending_.has_value() || !is_last) {
      if (!violation_list.empty()) break;
      absl::Status status = Take(messages[i], place, is_last, charge);
      if (status.ok() && is_last) status = Complete(place, out);
      if (!status.ok()) return status;
    } else if (absl::StatusOr<Polygon> polygon = DecodePolygon(messages[i], limits_);
               polygon.ok()) {
      out.push_back(*std::move(polygon));
    } else {
      violation_list.AddPart(place, polygon.status());
    }
  }
  return violation_list.empty() ? absl::OkStatus() : violation_list.status();
}

// A piece is the part of a large polygon that one chunk (message of a stream) has. Checks, before
// any part of the piece is decoded, that the piece has the id of the incomplete polygon and only
// the fields that a piece may have, and that user data and vertices are within the limits of a
// polygon, which bound the memory.
absl::Status PolygonJoiner::CheckPiece(const v1::Polygon& piece, const std::string& path) const {
  const bool begins = !pending_.has_value();
  if (begins && piece.rings().empty()) {
    return InvalidField(absl::StrCat(path, ".rings"),
                        "must have a ring that the next chunk continues");
  }
  if (!begins && piece.id() != pending_->id) {
    return InvalidField(absl::StrCat(path, ".id"),
                        "must be that of the polygon that this piece continues");
  }
  if (!begins && !HasRingsAlone(piece)) {
    return InvalidField(path, "must have only rings and an id, as it continues a polygon");
  }
  if (piece.user_data().size() > limits_.max_user_data_bytes) {
    return Refused(absl::StatusCode::kResourceExhausted, absl::StrCat(path, ".user_data"),
                   absl::StrCat("must be at most ", limits_.max_user_data_bytes,
                                " bytes (user data a polygon)"));
  }
  const size_t before = begins ? 0 : vertices_;
  if (VertexCount(piece) > limits_.max_vertices - std::min(before, limits_.max_vertices)) {
    return Refused(absl::StatusCode::kResourceExhausted, absl::StrCat(path, ".rings"),
                   absl::StrCat("must have at most ", limits_.max_vertices,
                                " vertices in all (vertices a polygon)"));
  }
  return absl::OkStatus();
}

// Appends a piece (the part of a large polygon that one chunk of the stream has) to the incomplete
// polygon, or begins a polygon with the piece. Each ring but the last must have a vertex, so the
// limit of vertices also bounds the number of rings.
absl::Status PolygonJoiner::Take(const v1::Polygon& piece, const std::string& path, bool is_last,
                                 ChargeFunction charge) {
  if (absl::Status status = CheckPiece(piece, path); !status.ok()) return status;
  const bool begins = !pending_.has_value();
  vertices_ = VertexCount(piece) + (begins ? 0 : vertices_);
  const size_t rings =
      static_cast<size_t>(piece.rings_size()) + (begins ? 0 : pending_->rings.size());
  if (absl::Status status = charge(rings, vertices_); !status.ok()) return status;
  absl::StatusOr<PolygonSpec> decoded = DecodeSpec(piece);
  if (!decoded.ok()) return At(path, decoded.status());
  const std::vector<RingSpec> added = std::exchange(decoded->rings, {});
  if (begins) pending_ = *std::move(decoded);
  for (size_t i = 0; i < added.size(); ++i) {
    std::vector<RingSpec>& whole = pending_->rings;
    if (i != 0 || begins) {
      if (!whole.empty() && whole.back().vertices.empty()) return EmptyRing(path);
      whole.push_back(added[i]);
    } else if (added[i].open && !whole.back().open) {
      return InvalidField(absl::StrCat(path, ".rings[0].open"),
                          "must be as in the first piece of the ring");
    } else {
      std::vector<Vec2>& ring = whole.back().vertices;
      ring.insert(ring.end(), added[i].vertices.begin(), added[i].vertices.end());
    }
  }
  if (is_last && pending_->rings.back().vertices.empty()) return EmptyRing(path);
  return absl::OkStatus();
}

// Creates the polygon from its joined pieces and appends it to `out`. `Polygon::Create` refuses
// invalid polygons, such as coordinates out of range.
absl::Status PolygonJoiner::Complete(const std::string& path, std::vector<Polygon>& out) {
  absl::StatusOr<Polygon> polygon = Polygon::Create(*std::move(pending_), limits_);
  pending_.reset();
  if (!polygon.ok()) return At(path, polygon.status());
  out.push_back(*std::move(polygon));
  return absl::OkStatus();
}

absl::Status PolygonJoiner::Finish() const {
  if (!pending_.has_value()) return absl::OkStatus();
  return InvalidField("continues", "must be false in the last chunk");
}

}  // namespace carom::wire
