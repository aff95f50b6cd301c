// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The parts of a request, and what is wrong with them. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "carom/polygon.h"
#include "carom/status.h"
#include "google/protobuf/repeated_field.h"
#include "wire/decode.h"
#include "wire/enums.h"

namespace carom::wire {

// The offences of a message with many parts, whose codes may differ: INVALID_ARGUMENT if any is,
// else the first code that is seen.
class Offences {
 public:
  void Add(absl::string_view field, absl::string_view description) {
    code_ = absl::StatusCode::kInvalidArgument;
    refusal_.Add(field, description);
  }

  // The violations of `status`, which is not OK, as those of the part at `path`.
  void AddPart(absl::string_view path, const absl::Status& status) {
    if (refusal_.empty() || status.code() == absl::StatusCode::kInvalidArgument) {
      code_ = status.code();
    }
    const std::vector<Violation> violations = Violations(status);
    if (violations.empty()) refusal_.Add(path, status.message());
    for (const Violation& violation : violations) {
      const char* dot = violation.field.empty() ? "" : ".";
      refusal_.Add(absl::StrCat(path, dot, violation.field), violation.description);
    }
    refusal_.AddUnlisted(ViolationCount(status) - violations.size());
  }

  bool empty() const { return refusal_.empty(); }
  absl::Status status() const { return refusal_.status(code_); }

 private:
  Refusal refusal_;
  absl::StatusCode code_ = absl::StatusCode::kInvalidArgument;
};

// Reads the wire value of the field `<batch>.<name>` (or `<name>` if there is no batch) into `out`.
// An unknown one is an offence, and reads as absent.
template <class Core>
void ReadEnum(int wire, absl::string_view batch, absl::string_view name, Core& out,
              Offences& offences) {
  const bool known = IsKnown<Core>(wire);
  out = EnumFromWire<Core>(known ? wire : 0);
  if (known) return;
  offences.Add(absl::StrCat(batch, batch.empty() ? "" : ".", name),
               absl::StrCat("must be an enum value in [0, ", kEnumSize<Core> - 1, "]"));
}

// Where a list stands in a message: part i is at `<parent><list>[first_index + i]`. Paths are put
// together for offences only.
struct ListPath {
  absl::string_view parent;
  absl::string_view list;
  size_t first_index = 0;

  std::string Of(size_t i, absl::string_view member = "") const {
    return absl::StrCat(parent, list, "[", first_index + i, "]", member);
  }
};

// What a message says of a polygon, its form checked: enum values, and columns of equal length.
absl::StatusOr<PolygonSpec> DecodeSpec(const v1::Polygon& message);

// All of a polygon but its rings.
void EncodeHead(const Polygon& polygon, v1::Polygon& message);

// A polygon that moves. How many vertices it may have is not a limit of polygons: `CheckGroup` and
// `TrackerTable::Define` know it. Those of a message are below 2^27, at 16 bytes each.
inline absl::StatusOr<Polygon> DecodeMovingPolygon(const v1::Polygon& message) {
  PolygonLimits limits;
  limits.max_vertices = std::numeric_limits<uint32_t>::max();
  return DecodePolygon(message, limits);
}

// Appends the parts of a list to `out`, and what is wrong with others to `offences`. `decode` takes
// a message to its part or to an error.
template <class Message, class Decode, class T>
void DecodeEach(const google::protobuf::RepeatedPtrField<Message>& messages, const ListPath& path,
                Decode decode, std::vector<T>& out, Offences& offences) {
  for (int i = 0; i < messages.size(); ++i) {
    absl::StatusOr<T> part = decode(messages[i]);
    if (part.ok()) {
      out.push_back(*std::move(part));
    } else {
      offences.AddPart(path.Of(static_cast<size_t>(i)), part.status());
    }
  }
}

}  // namespace carom::wire
