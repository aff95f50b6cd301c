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

// Whether a ring needs the duplicate at its end that `Polygon::Create` drops: see `EncodeRing`.
bool Closes(std::span<const Vec2> ring, bool open) {
  return !open && ring.size() >= 2 && ring.front() == ring.back();
}

// Vertices [first, first + count) of a ring, the closing duplicate among them.
void EncodeSlice(std::span<const Vec2> ring, size_t first, size_t count, v1::Ring& message) {
  message.mutable_x()->Reserve(static_cast<int>(count));
  message.mutable_y()->Reserve(static_cast<int>(count));
  for (size_t i = first; i < first + count; ++i) {
    const Vec2 vertex = i < ring.size() ? ring[i] : ring.front();
    message.add_x(vertex.x);
    message.add_y(vertex.y);
  }
}

// As many as `x` has; whether `y` has as many is checked when the piece is decoded.
size_t VertexCount(const v1::Polygon& message) {
  size_t count = 0;
  for (const v1::Ring& ring : message.rings()) count += static_cast<size_t>(ring.x_size());
  return count;
}

// Whether a message has nothing that only the first piece of a polygon may have.
bool HasRingsAlone(const v1::Polygon& message) {
  return message.fill_rule() == v1::FILL_RULE_UNSPECIFIED &&
         message.solidity() == v1::SOLIDITY_UNSPECIFIED && !message.has_category() &&
         message.user_data().empty();
}

// `status` as that of the polygon at `path`.
absl::Status At(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  Offences offences;
  offences.AddPart(path, status);
  return offences.status();
}

// A ring may be empty at the end of a piece that goes on, and at the beginning of the next one.
absl::Status EmptyRing(const std::string& path) {
  return InvalidField(absl::StrCat(path, ".rings"), "must have at least one vertex each");
}

}  // namespace

// A piece that begins with a ring begins with an empty one, which goes to the ring before.
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

// The first piece may be the end of a polygon, the last one a beginning; both may be one piece, in
// the middle of a polygon. Those between are whole.
absl::Status PolygonJoiner::Add(const google::protobuf::RepeatedPtrField<v1::Polygon>& messages,
                                bool continues, Hold hold, std::vector<Polygon>& out) {
  const size_t first = out.size();
  if (messages.empty()) {
    if (pending_.has_value())
      return InvalidField("continues", "must have been false: nothing came");
    return continues ? InvalidField("continues", "must be false without a polygon")
                     : absl::OkStatus();
  }
  Offences offences;
  for (int i = 0; i < messages.size(); ++i) {
    const std::string place = absl::StrCat("polygons[", first + static_cast<size_t>(i), "]");
    const bool is_last = !continues || i + 1 < messages.size();
    between_();
    if (pending_.has_value() || !is_last) {
      if (!offences.empty()) break;
      absl::Status status = Take(messages[i], place, is_last, hold);
      if (status.ok() && is_last) status = Complete(place, out);
      if (!status.ok()) return status;
    } else if (absl::StatusOr<Polygon> polygon = DecodePolygon(messages[i], limits_);
               polygon.ok()) {
      out.push_back(*std::move(polygon));
    } else {
      offences.AddPart(place, polygon.status());
    }
  }
  return offences.empty() ? absl::OkStatus() : offences.status();
}

// What bounds memory comes before anything of the piece is decoded.
absl::Status PolygonJoiner::CheckPiece(const v1::Polygon& piece, const std::string& path) const {
  const bool begins = !pending_.has_value();
  if (begins && piece.rings().empty()) {
    return InvalidField(absl::StrCat(path, ".rings"), "must have a ring that goes on");
  }
  if (!begins && piece.id() != pending_->id) {
    return InvalidField(absl::StrCat(path, ".id"), "must be that of the polygon that goes on");
  }
  if (!begins && !HasRingsAlone(piece)) {
    return InvalidField(path, "must have rings alone, as the polygon goes on");
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

// Each ring that is complete has a vertex, so that their number is bounded as that of vertices is.
absl::Status PolygonJoiner::Take(const v1::Polygon& piece, const std::string& path, bool is_last,
                                 Hold hold) {
  if (absl::Status status = CheckPiece(piece, path); !status.ok()) return status;
  const bool begins = !pending_.has_value();
  vertices_ = VertexCount(piece) + (begins ? 0 : vertices_);
  const size_t rings =
      static_cast<size_t>(piece.rings_size()) + (begins ? 0 : pending_->rings.size());
  if (absl::Status status = hold(rings, vertices_); !status.ok()) return status;
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
      return InvalidField(absl::StrCat(path, ".rings[0].open"), "must be as the ring began");
    } else {
      std::vector<Vec2>& ring = whole.back().vertices;
      ring.insert(ring.end(), added[i].vertices.begin(), added[i].vertices.end());
    }
  }
  if (is_last && pending_->rings.back().vertices.empty()) return EmptyRing(path);
  return absl::OkStatus();
}

// Coordinates, and what else the core refuses, are checked once the polygon is there.
absl::Status PolygonJoiner::Complete(const std::string& path, std::vector<Polygon>& out) {
  absl::StatusOr<Polygon> polygon = Polygon::Create(*std::move(pending_), limits_);
  pending_.reset();
  if (!polygon.ok()) return At(path, polygon.status());
  out.push_back(*std::move(polygon));
  return absl::OkStatus();
}

absl::Status PolygonJoiner::Finish() const {
  if (!pending_.has_value()) return absl::OkStatus();
  return InvalidField("continues", "must be false in the last part");
}

}  // namespace carom::wire
