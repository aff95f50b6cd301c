// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a polygon sent that is larger than a message?
//
// A stream sends a scene in chunks, and a large polygon in pieces, one piece per chunk.
// `EncodePiece` splits a polygon into pieces, and `PolygonJoiner` joins the pieces again. The field
// `continues` of a chunk is true if the last polygon of the chunk continues in the next chunk
// (proto/carom/v1/scene_service.proto). Thread-safe except for `PolygonJoiner`.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "carom/polygon.h"
#include "carom/v1/geometry.pb.h"

namespace carom::wire {

// The most vertices of a piece that the server sends: 256 KiB, which a client of any language
// accepts with its default limits.
inline constexpr size_t kPieceVertices = 16384;

// Where the next piece of a polygon begins: a vertex of a ring, with rings as they are on the wire.
struct PieceStart {
  size_t ring = 0;
  size_t vertex = 0;

  bool is_first() const { return ring == 0 && vertex == 0; }
};

// Writes the piece of `polygon` that begins at `start` and has at most `max_vertices` vertices;
// each ring counts as one more vertex, and `max_vertices` is at least 4. Returns true if the piece
// is the last one, and resets `start`. Returns false otherwise, and sets `start` to the next piece.
// Cost: O(vertices of the piece).
bool EncodePiece(const Polygon& polygon, size_t max_vertices, PieceStart& start,
                 v1::Polygon& message);

// Decodes the polygons of a stream of chunks. Not thread-safe.
class PolygonJoiner {
 public:
  // Charges the memory of an incomplete polygon, which has `rings` and `vertices` so far; called
  // before the memory is allocated.
  using ChargeFunction = absl::FunctionRef<absl::Status(size_t rings, size_t vertices)>;

  // Calls `checkpoint` before each polygon, for example to yield the processor to another thread.
  explicit PolygonJoiner(
      const PolygonLimits& limits, std::function<void()> checkpoint = [] {})
      : limits_(limits), checkpoint_(std::move(checkpoint)) {}

  // Decodes `messages`, the polygons of one chunk, and appends the polygons that are complete to
  // `out`; `continues` is the field of the chunk. Field paths begin with `polygons[i]`, i counted
  // over all of `out`; an incomplete polygon has the index that it will have.
  //
  // Errors: the first 16 violations of `DecodePolygon` and their number; INVALID_ARGUMENT if a
  // piece does not match the piece before it, or naming `continues` if the chunk has no polygon to
  // continue; RESOURCE_EXHAUSTED over the limits, before the polygon is complete; the errors of
  // `charge`. After an error the appended polygons are unspecified, and nothing more may be added.
  absl::Status Add(const google::protobuf::RepeatedPtrField<v1::Polygon>& messages, bool continues,
                   ChargeFunction charge, std::vector<Polygon>& out);

  // Checks the end of the stream: INVALID_ARGUMENT naming `continues` if the last polygon is
  // incomplete.
  absl::Status Finish() const;

  // Deletes the incomplete polygon, if there is one.
  void Clear() { pending_.reset(); }

 private:
  // Checks whether `piece` may begin or continue the incomplete polygon, within the limits.
  absl::Status CheckPiece(const v1::Polygon& piece, const std::string& path) const;
  // Appends `piece` to the incomplete polygon.
  absl::Status Take(const v1::Polygon& piece, const std::string& path, bool is_last,
                    ChargeFunction charge);
  // Creates the polygon whose last piece has been appended, and adds it to `out`.
  absl::Status Complete(const std::string& path, std::vector<Polygon>& out);

  const PolygonLimits limits_;
  const std::function<void()> checkpoint_;
  std::optional<PolygonSpec> pending_;  // the pieces so far of the incomplete polygon
  size_t vertices_ = 0;                 // of `pending_`
};

}  // namespace carom::wire
