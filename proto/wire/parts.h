// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the elements of a repeated field decoded and their violations reported? Private to this
// folder.
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

// The violations (refused fields) of a message with many elements (entries of repeated fields). The
// errors of the elements may have different codes; `status` has the code INVALID_ARGUMENT if any of
// the errors has it, else the code of the first error.
class ViolationList {
 public:
  void Add(absl::string_view field, absl::string_view description) {
    code_ = absl::StatusCode::kInvalidArgument;
    refusal_.Add(field, description);
  }

  // Adds the violations of `status`, the error of one element, with field paths that begin with
  // `path`, the path of the element.
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

// Sets `out` to the geometry core's value for `wire`, the number of an enum value in a message. The
// field is `<batch>.<name>`, or `<name>` if `batch` is empty. For an unknown number, adds a
// violation of the field and sets `out` as for an absent field.
template <class Core>
void ReadEnum(int wire, absl::string_view batch, absl::string_view name, Core& out,
              ViolationList& violation_list) {
  const bool known = IsKnown<Core>(wire);
  out = EnumFromWire<Core>(known ? wire : 0);
  if (known) return;
  violation_list.Add(absl::StrCat(batch, batch.empty() ? "" : ".", name),
                     absl::StrCat("must be an enum value in [0, ", kEnumSize<Core> - 1, "]"));
}

// The path of a repeated field in a message: the path of its element i is
// `<parent><list>[first_index + i]`. `Of` builds the path of an element only when a violation needs
// it.
struct ListPath {
  absl::string_view parent;
  absl::string_view list;
  size_t first_index = 0;

  std::string Of(size_t i, absl::string_view member = "") const {
    return absl::StrCat(parent, list, "[", first_index + i, "]", member);
  }
};

// Returns the polygon of a message as a `PolygonSpec`. Checks only the form: enum values, and
// columns of equal length.
absl::StatusOr<PolygonSpec> DecodeSpec(const v1::Polygon& message);

// Writes all members of a polygon except its rings.
void EncodeHead(const Polygon& polygon, v1::Polygon& message);

// Decodes the polygon of a moving shape, without a limit of vertices: `CheckGroup` and
// `TrackerTable::Define` later check that there are at most `kMaxMovingVertices`. A message, which
// is below 2^31 bytes, has fewer than 2^27 vertices of 16 bytes.
inline absl::StatusOr<Polygon> DecodeMovingPolygon(const v1::Polygon& message) {
  PolygonLimits limits;
  limits.max_vertices = std::numeric_limits<uint32_t>::max();
  return DecodePolygon(message, limits);
}

// Decodes each of `messages`, the repeated field at `path`, with `decode`, which returns the
// element or an error. Appends the valid elements to `out`, and the violations of the invalid ones
// to `violation_list`.
template <class Message, class Decode, class T>
void DecodeEach(const google::protobuf::RepeatedPtrField<Message>& messages, const ListPath& path,
                Decode decode, std::vector<T>& out, ViolationList& violation_list) {
  for (int i = 0; i < messages.size(); ++i) {
    absl::StatusOr<T> part = decode(messages[i]);
    if (part.ok()) {
      out.push_back(*std::move(part));
    } else {
      violation_list.AddPart(path.Of(static_cast<size_t>(i)), part.status());
    }
  }
}

// Sets the history of the bodies of `group` to `history` if the message names a body set, and the
// rotation between ticks. Adds a violation if there is no such set.
void DecodeUseOfBodySet(const v1::Group& message, const BodyHistory* history, Group& group,
                        ViolationList& violation_list);
// Writes the rotation between ticks of the body set of `group`.
void EncodeUseOfBodySet(const Group& group, v1::Group& message);

}  // namespace carom::wire
