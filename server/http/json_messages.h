// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Converts protobuf messages between their wire format and protobuf's JSON
// (https://protobuf.dev/programming-guides/json).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"

namespace carom::server {

// Returns the wire format of the message of type `type` that `json` describes. 64-bit integers may
// be numbers or strings, names of fields may be in camel case or as in the .proto file.
// Thread-safe.
//
// Errors: INVALID_ARGUMENT if `json` is no JSON, is nested deeper than 100 levels, or does not fit
// the type: an unknown field, a wrong type or a number out of range.
absl::StatusOr<std::string> JsonToBytes(const google::protobuf::Descriptor& type,
                                        absl::string_view json);

// Returns `bytes`, the wire format of a message of type `type`, as JSON: names in camel case,
// 64-bit integers as strings, fields with their default value left out. Thread-safe.
//
// Errors: INTERNAL if `bytes` are no message of the type.
absl::StatusOr<std::string> BytesToJson(const google::protobuf::Descriptor& type,
                                        const std::string& bytes);

// An upper bound of the bytes that a conversion of `bytes` bytes takes, for the memory account: a
// number of two characters of JSON (`0,`) takes eight bytes on the wire, and an answer of eight
// bytes up to 25 characters.
constexpr size_t ConversionBytes(size_t bytes) { return 6 * bytes; }

}  // namespace carom::server
