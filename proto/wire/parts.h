// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The parts of a request, and what is wrong with them. Private to this folder.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "carom/polygon.h"
#include "carom/shape.h"
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

// Where a part stands in a message: `list[index]member`.
struct Place {
  absl::string_view list;
  size_t index = 0;
  absl::string_view member;
};

// What `decoded` holds; nothing, and what is wrong with it in `offences`, if it was refused.
template <class T>
std::optional<T> PartAt(const Place& place, absl::StatusOr<T> decoded, Offences& offences) {
  if (decoded.ok()) return *std::move(decoded);
  offences.AddPart(absl::StrCat(place.list, "[", place.index, "]", place.member), decoded.status());
  return std::nullopt;
}

inline absl::StatusOr<Polygon> DecodeOne(const v1::Polygon& message, const PolygonLimits& limits) {
  return DecodePolygon(message, limits);
}
inline absl::StatusOr<Shape> DecodeOne(const v1::Shape& message, const PolygonLimits& limits) {
  return DecodeShape(message, limits);
}

// Appends the parts of a list to `out`, and what is wrong with others to `offences`.
template <class Message, class T>
void DecodeEach(const google::protobuf::RepeatedPtrField<Message>& messages, absl::string_view path,
                size_t first_index, const PolygonLimits& limits, std::vector<T>& out,
                Offences& offences) {
  for (const Message& message : messages) {
    std::optional<T> part =
        PartAt(Place{path, first_index++, ""}, DecodeOne(message, limits), offences);
    if (part.has_value()) out.push_back(*std::move(part));
  }
}

}  // namespace carom::wire
