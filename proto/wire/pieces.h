// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a polygon sent that is larger than a message?
//
// A scene is sent as a stream of chunks (messages), and a large polygon in pieces, one piece per
// chunk. `EncodePiece` splits a polygon into pieces, and `PolygonJoiner` joins the pieces again.
// The field `continues` of a chunk is true if the last polygon of the chunk continues in the next
// chunk (proto/carom/v1/scene_service.proto). Thread-safe except for `PolygonJoiner`.
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

// The most vertices of a piece (part of a polygon, one message) that the server sends. With 16
// bytes per vertex a piece has 256 KiB, a message size that a client of any language accepts with
// its default limits.
inline constexpr size_t kPieceVertices = 16384;

// Where the next piece of a polygon begins: at the vertex with the index `vertex` of the ring with
// the index `ring`. A ring in messages may have one vertex more than the ring of the `Polygon`: a
// copy of the first vertex at the end.
struct PieceStart {
  size_t ring = 0;
  size_t vertex = 0;

  bool is_first() const { return ring == 0 && vertex == 0; }
};

// Writes the piece of `polygon` that begins at `start`. The number of vertices plus the number of
// rings of the piece is at most `max_vertices`, which must be at least 4. If the piece is the last
// one of the polygon, resets `start` and returns true. Otherwise sets `start` to the beginning of
// the next piece and returns false. Cost: O(vertices of the piece).
bool EncodePiece(const Polygon& polygon, size_t max_vertices, PieceStart& start,
                 v1::Polygon& message);

// Decodes the polygons of a scene that is sent as a stream of chunks, and joins the pieces of large
// polygons. Not thread-safe.
class PolygonJoiner {
 public:
  // A function that charges the memory of the incomplete polygon, which after the next piece has at
  // most `rings` rings and `vertices` vertices. `Add` calls the function before it allocates the
  // memory; an error refuses the piece.
  using ChargeFunction = absl::FunctionRef<absl::Status(size_t rings, size_t vertices)>;

  // `Add` calls `checkpoint` before each message, for example to yield the processor to another
  // thread.
  explicit PolygonJoiner(
      const PolygonLimits& limits, std::function<void()> checkpoint = [] {})
      : limits_(limits), checkpoint_(std::move(checkpoint)) {}

  // Decodes `messages`, the polygons and pieces of one chunk, and appends each polygon that is
  // complete to `out`. `continues` is the field of the chunk: true if its last polygon continues in
  // the next chunk. Field paths of errors begin with `polygons[i]`, where i is the index in `out`
  // that the polygon has or gets when its last piece is added.
  //
  // Errors: the first 16 violations of `DecodePolygon` and the number of all violations;
  // INVALID_ARGUMENT if a piece does not match the piece before it; INVALID_ARGUMENT naming
  // `continues` if the chunk has no polygon that could continue; RESOURCE_EXHAUSTED as soon as the
  // pieces of a polygon exceed `limits`; the errors of `charge`. After an error the content of
  // `out` beyond its former end is unspecified, and `Add` must not be called again.
  absl::Status Add(const google::protobuf::RepeatedPtrField<v1::Polygon>& messages, bool continues,
                   ChargeFunction charge, std::vector<Polygon>& out);

  // Must be called after the last chunk (message of the stream). Returns INVALID_ARGUMENT for the
  // field `continues` of the chunk if a polygon is incomplete, that is, its last piece is missing.
  absl::Status Finish() const;

  // Deletes the incomplete polygon, if there is one.
  void Clear() { pending_.reset(); }

 private:
  // Returns OK if `piece` may begin a polygon or continue the incomplete one, within `limits_`.
  absl::Status CheckPiece(const v1::Polygon& piece, const std::string& path) const;
  // Appends `piece` to the incomplete polygon, or begins one with it if there is none. `is_last`:
  // the polygon has no further piece.
  absl::Status Take(const v1::Polygon& piece, const std::string& path, bool is_last,
                    ChargeFunction charge);
  // Creates the polygon whose last piece has been appended, and adds it to `out`.
  absl::Status Complete(const std::string& path, std::vector<Polygon>& out);

  const PolygonLimits limits_;
  const std::function<void()> checkpoint_;
  std::optional<PolygonSpec> pending_;  // the pieces of the incomplete polygon so far
  size_t vertices_ = 0;                 // number of vertices of `pending_`
};

}  // namespace carom::wire
