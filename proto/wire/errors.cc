// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes and reads the google.rpc messages field by field through UnknownFieldSet: few of their
// fields are needed, and the build does not have their .proto files.

#include "wire/errors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "carom/status.h"
#include "google/protobuf/unknown_field_set.h"

namespace carom::wire {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// The most bytes of a status in a message, as `v1.Status` or as google.rpc.Status. gRPC clients
// refuse more than 8 KiB of trailing metadata, in which base64 turns 4 KiB into about 5.4 KiB.
constexpr size_t kMaxStatusBytes = 4096;
// A client ignores a google.rpc.Status of more bytes than this.
constexpr size_t kMaxDetailsReadBytes = 65536;

// The most bytes of a violation on the wire: its field and its description have a tag byte and a
// length byte each, the violation itself a tag byte and two length bytes.
constexpr size_t kMaxViolationBytes = 2 * (2 + Refusal::kMaxTextBytes) + 3;
static_assert(Refusal::kMaxTextBytes < 128);
// The bytes of a google.rpc.Status without the text of its message and without its violations: code
// 2, header (tag and length) of the message 3; for BadRequest the headers of Any and of its two
// members 3 + 2 + 3 and type_url 41; for RetryInfo three headers 2 + 2 + 2, type_url 40, and
// Duration with header 2 and two varints of 11 with their tags.
constexpr size_t kFramingBytes = 2 + 3 + (3 + 2 + 3 + 41) + (2 + 2 + 2 + 40 + 2 + 2 * 11);
static_assert(Refusal::kMaxListed * kMaxViolationBytes + kFramingBytes < kMaxStatusBytes);

constexpr char kBadRequestUrl[] = "type.googleapis.com/google.rpc.BadRequest";
constexpr char kBadRequestSuffix[] = "/google.rpc.BadRequest";
static_assert(sizeof(kBadRequestUrl) - 1 == 41);
constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";
constexpr char kRetryInfoSuffix[] = "/google.rpc.RetryInfo";
static_assert(sizeof(kRetryInfoUrl) - 1 == 40);

// The field numbers of google.rpc.Status, google.protobuf.Any, google.rpc.BadRequest, its
// FieldViolation, and google.rpc.RetryInfo.
constexpr int kStatusCode = 1;
constexpr int kStatusMessage = 2;
constexpr int kStatusDetails = 3;
constexpr int kAnyTypeUrl = 1;
constexpr int kAnyValue = 2;
constexpr int kBadRequestViolations = 1;
constexpr int kViolationField = 1;
constexpr int kViolationDescription = 2;
constexpr int kRetryInfoDelay = 1;
// The field numbers of google.protobuf.Duration.
constexpr int kSeconds = 1;
constexpr int kNanos = 2;

constexpr uint64_t kMicrosPerSecond = 1000000;
// The longest retry delay that is sent or accepted: one day; a longer delay is reduced to a day.
constexpr uint64_t kMaxRetryDelayUs = 86400 * kMicrosPerSecond;

// Returns the length of the well-formed UTF-8 sequence at the front of `text`, which is not empty,
// or 0 if there is no such sequence.
size_t SequenceLength(absl::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  uint32_t code_point = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    code_point = code_point << 6 | (next & 0x3f);
  }
  const bool overlong = code_point < (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
  const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
  return overlong || surrogate || code_point > 0x10ffff ? 0 : length;
}

// Returns the first characters of `text`, at most `max_bytes` bytes and only whole UTF-8 sequences,
// with `?` in place of each byte that is not UTF-8. A proto3 string accepts the result.
std::string Utf8(absl::string_view text, size_t max_bytes) {
  std::string result;
  result.reserve(std::min(text.size(), max_bytes));
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const size_t step = std::max<size_t>(length, 1);
    if (result.size() + step > max_bytes) break;
    result.append(length == 0 ? "?" : text.data(), step);
    text.remove_prefix(step);
  }
  return result;
}

// The content of a status that a message can carry: valid UTF-8, of bounded size.
struct WireStatus {
  int code = 0;
  std::string message;
  std::vector<Violation> violations;
  uint64_t retry_delay_us = 0;
};

// Returns the code, message, violations and retry delay of `status`, which together have at most
// `kMaxStatusBytes` in a message. Cuts the message to the bytes that the violations leave.
WireStatus Bounded(const absl::Status& status) {
  WireStatus result;
  result.code = static_cast<int>(status.code());
  size_t room = kMaxStatusBytes - kFramingBytes;
  std::vector<Violation> violations = Violations(status);
  violations.resize(std::min(violations.size(), Refusal::kMaxListed));
  for (Violation& violation : violations) {
    violation.field = Utf8(violation.field, Refusal::kMaxTextBytes);
    violation.description = Utf8(violation.description, Refusal::kMaxTextBytes);
    room -= violation.field.size() + violation.description.size() +
            (kMaxViolationBytes - 2 * Refusal::kMaxTextBytes);
  }
  result.violations = std::move(violations);
  result.retry_delay_us = std::min(RetryDelay(status), kMaxRetryDelayUs);
  result.message = Utf8(status.message(), room);
  return result;
}

// Returns `code` if it is an error code of the canonical list, else UNKNOWN. 0 is UNKNOWN, too,
// since an encoded status is never OK.
absl::StatusCode ErrorCode(int code) {
  constexpr int kLast = static_cast<int>(absl::StatusCode::kUnauthenticated);
  return code > 0 && code <= kLast ? static_cast<absl::StatusCode>(code)
                                   : absl::StatusCode::kUnknown;
}

// Adds a field `number` with the string `value`, unless the string is empty: proto3 omits empty
// strings.
void AddString(int number, const std::string& value, UnknownFieldSet& fields) {
  if (!value.empty()) fields.AddLengthDelimited(number, value);
}

std::string Serialized(const UnknownFieldSet& fields) {
  std::string bytes;
  fields.SerializeToString(&bytes);
  return bytes;
}

std::string SerializedBadRequest(const std::vector<Violation>& violations) {
  UnknownFieldSet request;
  for (const Violation& violation : violations) {
    UnknownFieldSet fields;
    AddString(kViolationField, violation.field, fields);
    AddString(kViolationDescription, violation.description, fields);
    request.AddLengthDelimited(kBadRequestViolations, Serialized(fields));
  }
  return Serialized(request);
}

bool Parse(absl::string_view bytes, UnknownFieldSet& fields) {
  return fields.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Returns the content of the last field with the number `number` in `fields` that is a string,
// bytes or a message; null if there is none.
const std::string* Find(const UnknownFieldSet& fields, int number) {
  const std::string* result = nullptr;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() == number && field.type() == UnknownField::TYPE_LENGTH_DELIMITED) {
      result = &field.length_delimited();
    }
  }
  return result;
}

// Appends the violations of a serialized google.rpc.BadRequest to `violations`, up to
// `Refusal::kMaxListed` in all. Stops at the first violation that cannot be parsed.
void ParseBadRequest(absl::string_view bytes, std::vector<Violation>& violations) {
  UnknownFieldSet request;
  if (!Parse(bytes, request)) return;
  for (int i = 0; i < request.field_count(); ++i) {
    const UnknownField& member = request.field(i);
    if (violations.size() >= Refusal::kMaxListed) return;
    if (member.number() != kBadRequestViolations) continue;
    if (member.type() != UnknownField::TYPE_LENGTH_DELIMITED) continue;
    UnknownFieldSet fields;
    if (!Parse(member.length_delimited(), fields)) return;
    const std::string* field = Find(fields, kViolationField);
    const std::string* description = Find(fields, kViolationDescription);
    violations.push_back(
        {field == nullptr ? "" : *field, description == nullptr ? "" : *description});
  }
}

// Returns the value of the last field with the number `number` in `fields` that is a varint; 0 if
// there is none.
uint64_t FindNumber(const UnknownFieldSet& fields, int number) {
  uint64_t result = 0;
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.number() == number && field.type() == UnknownField::TYPE_VARINT) {
      result = field.varint();
    }
  }
  return result;
}

std::string SerializedRetryInfo(uint64_t delay_us) {
  UnknownFieldSet duration;
  duration.AddVarint(kSeconds, delay_us / kMicrosPerSecond);
  duration.AddVarint(kNanos, delay_us % kMicrosPerSecond * 1000);
  UnknownFieldSet info;
  info.AddLengthDelimited(kRetryInfoDelay, Serialized(duration));
  return Serialized(info);
}

// Returns the delay of a serialized google.rpc.RetryInfo in microseconds, at most a day; 0 if the
// bytes cannot be parsed.
uint64_t ParseRetryInfo(absl::string_view bytes) {
  UnknownFieldSet info, duration;
  if (!Parse(bytes, info)) return 0;
  const std::string* delay = Find(info, kRetryInfoDelay);
  if (delay == nullptr || !Parse(*delay, duration)) return 0;
  const uint64_t seconds = FindNumber(duration, kSeconds);
  const uint64_t nanos = FindNumber(duration, kNanos);
  if (seconds >= kMaxRetryDelayUs / kMicrosPerSecond) return kMaxRetryDelayUs;
  return seconds * kMicrosPerSecond + std::min<uint64_t>(nanos / 1000, kMicrosPerSecond);
}

// The violations (refused fields) and the retry delay that a client reads from the details of a
// google.rpc.Status.
struct Details {
  std::vector<Violation> violations;
  uint64_t retry_delay_us = 0;
};

void AddDetail(absl::string_view url, const std::string& value, UnknownFieldSet& status) {
  UnknownFieldSet any;
  any.AddLengthDelimited(kAnyTypeUrl, std::string(url));
  any.AddLengthDelimited(kAnyValue, value);
  status.AddLengthDelimited(kStatusDetails, Serialized(any));
}

// Returns the violations of all BadRequest messages and the delay of the last RetryInfo in a
// serialized google.rpc.Status; nothing if the bytes are too long or cannot be parsed.
Details ParseDetails(absl::string_view bytes) {
  Details details;
  UnknownFieldSet status;
  if (bytes.size() > kMaxDetailsReadBytes || !Parse(bytes, status)) return details;
  for (int i = 0; i < status.field_count(); ++i) {
    const UnknownField& detail = status.field(i);
    if (detail.number() != kStatusDetails) continue;
    if (detail.type() != UnknownField::TYPE_LENGTH_DELIMITED) continue;
    UnknownFieldSet any;
    if (!Parse(detail.length_delimited(), any)) continue;
    const std::string* type_url = Find(any, kAnyTypeUrl);
    const std::string* value = Find(any, kAnyValue);
    if (type_url == nullptr || value == nullptr) continue;
    if (absl::EndsWith(*type_url, kBadRequestSuffix)) ParseBadRequest(*value, details.violations);
    if (absl::EndsWith(*type_url, kRetryInfoSuffix)) {
      details.retry_delay_us = ParseRetryInfo(*value);
    }
  }
  return details;
}

}  // namespace

void EncodeStatus(const absl::Status& status, v1::Status& message) {
  WireStatus wire = Bounded(status);
  message.Clear();
  message.set_code(wire.code);
  message.set_message(std::move(wire.message));
  message.set_retry_delay_us(wire.retry_delay_us);
  for (Violation& violation : wire.violations) {
    v1::FieldViolation& encoded = *message.add_violations();
    encoded.set_field(std::move(violation.field));
    encoded.set_description(std::move(violation.description));
  }
}

absl::Status DecodeStatus(const v1::Status& message) {
  std::vector<Violation> violations;
  for (const v1::FieldViolation& violation : message.violations()) {
    if (violations.size() >= Refusal::kMaxListed) break;
    violations.push_back({violation.field(), violation.description()});
  }
  return WithRetryDelay(
      WithViolations(absl::Status(ErrorCode(message.code()), message.message()), violations),
      message.retry_delay_us());
}

std::string SerializeDetails(const absl::Status& status) {
  const WireStatus wire = Bounded(status);
  if (wire.violations.empty() && wire.retry_delay_us == 0) return {};
  UnknownFieldSet fields;
  fields.AddVarint(kStatusCode, static_cast<uint64_t>(wire.code));
  AddString(kStatusMessage, wire.message, fields);
  if (!wire.violations.empty()) {
    AddDetail(kBadRequestUrl, SerializedBadRequest(wire.violations), fields);
  }
  if (wire.retry_delay_us != 0) {
    AddDetail(kRetryInfoUrl, SerializedRetryInfo(wire.retry_delay_us), fields);
  }
  return Serialized(fields);
}

absl::Status StatusFromDetails(absl::StatusCode code, absl::string_view message,
                               absl::string_view details) {
  if (code == absl::StatusCode::kOk) return absl::OkStatus();
  const Details parsed = ParseDetails(details);
  return WithRetryDelay(
      WithViolations(absl::Status(ErrorCode(static_cast<int>(code)), message), parsed.violations),
      parsed.retry_delay_us);
}

}  // namespace carom::wire
