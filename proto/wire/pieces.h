// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Polygons in parts of a stream: how is one sent that is larger than a message?
//
// `EncodePiece` cuts a polygon into messages, and `PolygonJoiner` puts them together again. Which
// piece goes on is said beside it, by `continues` of the part (proto/carom/v1/scene_service.proto).
// Thread-safe but for `PolygonJoiner`.
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

// What a stream of the server sends of a polygon at once: 256 KiB, which a client of any language
// takes with the limits that it has by default.
inline constexpr size_t kPieceVertices = 16384;

// Where the next piece of a polygon begins: a vertex of a ring, as they are on the wire.
struct PieceStart {
  size_t ring = 0;
  size_t vertex = 0;

  bool is_first() const { return ring == 0 && vertex == 0; }
};

// Writes the piece of `polygon` that begins at `start` and has at most `max_vertices`, at least 4;
// a ring counts as one more. True: it is the last one, and `start` is that of the first again; else
// that of the next. Cost: O(vertices of the piece).
bool EncodePiece(const Polygon& polygon, size_t max_vertices, PieceStart& start,
                 v1::Polygon& message);

// Polygons from the parts of one stream. Not thread-safe.
class PolygonJoiner {
 public:
  // Of what a polygon has, as far as it has come: asked before memory is taken for it.
  using Hold = absl::FunctionRef<absl::Status(size_t rings, size_t vertices)>;

  // `between` is called between two polygons, such as to let another thread have the processor.
  explicit PolygonJoiner(
      const PolygonLimits& limits, std::function<void()> between = [] {})
      : limits_(limits), between_(std::move(between)) {}

  // Appends the polygons that are complete with this part. Field paths begin with `polygons[i]`, i
  // counted over all of `out`; a polygon that goes on has the place that it will have.
  //
  // Errors: the first 16 offences of `DecodePolygon` and their number; INVALID_ARGUMENT for a piece
  // that does not fit the one before, or naming `continues` where there is nothing to go on;
  // RESOURCE_EXHAUSTED over the limits, before the polygon is complete; those of `hold`. After an
  // error, what is appended means nothing, and the stream is over.
  absl::Status Add(const google::protobuf::RepeatedPtrField<v1::Polygon>& messages, bool continues,
                   Hold hold, std::vector<Polygon>& out);

  // At the end of a stream: INVALID_ARGUMENT naming `continues` if the last part said that it goes
  // on.
  absl::Status Finish() const;

  // Forgets what is not complete.
  void Clear() { pending_.reset(); }

 private:
  // Whether `piece` may begin a polygon that goes on, or go on with it.
  absl::Status CheckPiece(const v1::Polygon& piece, const std::string& path) const;
  // Makes `piece` a part of the polygon that goes on.
  absl::Status Take(const v1::Polygon& piece, const std::string& path, bool is_last, Hold hold);
  absl::Status Complete(const std::string& path, std::vector<Polygon>& out);

  const PolygonLimits limits_;
  const std::function<void()> between_;
  std::optional<PolygonSpec> pending_;  // the polygon that goes on, as far as it has come
  size_t vertices_ = 0;                 // of that
};

}  // namespace carom::wire
