// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "abi/call.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace carom::abi {
namespace {

// The least size of a struct: the member `struct_size` and one more.
constexpr uint32_t kLeastSize = 8;
// The largest size of a struct of a later version.
constexpr uint32_t kLargestSize = 1 << 16;

// Copies as much of `text` as fits with a null character.
template <size_t kSize>
void Copy(absl::string_view text, char (&out)[kSize]) {
  const size_t length = std::min(text.size(), kSize - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

}  // namespace

uint32_t Report(const absl::Status& result, carom_status* out) {
  const auto code = static_cast<uint32_t>(result.raw_code());
  if (out == nullptr || reinterpret_cast<uintptr_t>(out) % alignof(carom_status) != 0 ||
      out->struct_size < kLeastSize) {
    return code;
  }
  carom_status written{};
  written.struct_size = out->struct_size;
  written.code = code;
  if (!result.ok()) {
    const std::vector<Violation> violations = Violations(result);
    written.violation_count = static_cast<uint32_t>(ViolationCount(result));
    Copy(violations.empty() ? "" : violations[0].field, written.field);
    Copy(violations.empty() ? result.message() : violations[0].description, written.message);
  }
  std::memcpy(out, &written, std::min<size_t>(out->struct_size, sizeof(written)));
  return code;
}

absl::Status CheckStruct(const void* given, size_t size, size_t alignment, const char* name) {
  if (given == nullptr) return InvalidField(name, "must not be null");
  if (reinterpret_cast<uintptr_t>(given) % alignment != 0) {
    return InvalidField(name, absl::StrCat("must be aligned to ", alignment, " bytes"));
  }
  uint32_t given_size = 0;
  std::memcpy(&given_size, given, sizeof(given_size));
  // A size that is no multiple of the alignment would cut a pointer.
  if (given_size < kLeastSize || given_size > kLargestSize || given_size % alignment != 0) {
    return InvalidField(absl::StrCat(name, ".struct_size"), "must be the size of the struct");
  }
  const auto* const bytes = static_cast<const char*>(given);
  for (size_t i = size; i < given_size; ++i) {
    if (bytes[i] != 0) {
      return InvalidField(name, "has members that this version of the library does not have");
    }
  }
  return absl::OkStatus();
}

}  // namespace carom::abi

uint32_t carom_abi_version() { return CAROM_ABI_VERSION; }

const char* carom_code_name(uint32_t code) {
  switch (code) {
    case CAROM_OK:
      return "OK";
    case CAROM_INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case CAROM_DEADLINE_EXCEEDED:
      return "DEADLINE_EXCEEDED";
    case CAROM_NOT_FOUND:
      return "NOT_FOUND";
    case CAROM_ALREADY_EXISTS:
      return "ALREADY_EXISTS";
    case CAROM_RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case CAROM_FAILED_PRECONDITION:
      return "FAILED_PRECONDITION";
    case CAROM_INTERNAL:
      return "INTERNAL";
    case CAROM_DATA_LOSS:
      return "DATA_LOSS";
    default:
      return "UNKNOWN";
  }
}
