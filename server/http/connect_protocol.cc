// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/connect_protocol.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "carom/status.h"
#include "carom/v1/query_service.pb.h"
#include "carom/v1/scene_service.pb.h"
#include "google/protobuf/unknown_field_set.h"
#include "wire/errors.h"

namespace carom::server {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;
using json = nlohmann::ordered_json;

constexpr size_t kEnvelopeBytes = 5;
constexpr uint8_t kCompressed = 1;
constexpr size_t kMaxTimeoutDigits = 10;

// A code's name in Connect and its HTTP status, in the order of gRPC's codes.
struct Code {
  const char* name;
  unsigned http;
};
constexpr std::array<Code, 17> kCodes = {{{"ok", 200},
                                          {"canceled", 499},
                                          {"unknown", 500},
                                          {"invalid_argument", 400},
                                          {"deadline_exceeded", 504},
                                          {"not_found", 404},
                                          {"already_exists", 409},
                                          {"permission_denied", 403},
                                          {"resource_exhausted", 429},
                                          {"failed_precondition", 400},
                                          {"aborted", 409},
                                          {"out_of_range", 400},
                                          {"unimplemented", 501},
                                          {"internal", 500},
                                          {"unavailable", 503},
                                          {"data_loss", 500},
                                          {"unauthenticated", 401}}};

const Code& CodeOf(grpc::StatusCode code) {
  const auto index = static_cast<size_t>(code);
  return kCodes[index < kCodes.size() ? index : static_cast<size_t>(grpc::StatusCode::UNKNOWN)];
}

absl::Status ToStatus(const grpc::Status& status) {
  return wire::StatusFromDetails(static_cast<absl::StatusCode>(status.error_code()),
                                 status.error_message(), status.error_details());
}

// Returns the readable form of one detail: what protobuf's JSON of its type would be.
json DebugOf(absl::string_view type, const absl::Status& status) {
  json debug = json::object();
  if (absl::EndsWith(type, "BadRequest")) {
    for (const Violation& violation : Violations(status)) {
      debug["fieldViolations"].push_back(
          {{"field", violation.field}, {"description", violation.description}});
    }
  } else if (const uint64_t delay_us = RetryDelay(status); delay_us != 0) {
    debug["retryDelay"] = absl::StrCat(static_cast<double>(delay_us) / 1e6, "s");
  }
  return debug;
}

// Returns the details of a google.rpc.Status: its field 3 has messages of type google.protobuf.Any,
// with the type URL in field 1 and the bytes in field 2.
json DetailsOf(const grpc::Status& status) {
  json details = json::array();
  UnknownFieldSet fields;
  if (!fields.ParseFromString(status.error_details())) return details;
  const absl::Status read = ToStatus(status);
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    UnknownFieldSet any;
    if (field.number() != 3 || field.type() != UnknownField::TYPE_LENGTH_DELIMITED ||
        !any.ParseFromString(field.length_delimited())) {
      continue;
    }
    std::string type;
    std::string value;
    for (int j = 0; j < any.field_count(); ++j) {
      if (any.field(j).type() != UnknownField::TYPE_LENGTH_DELIMITED) continue;
      (any.field(j).number() == 1 ? type : value) = any.field(j).length_delimited();
    }
    type = type.substr(type.rfind('/') + 1);
    std::string base64 = absl::Base64Escape(value);
    base64.erase(base64.find_last_not_of('=') + 1);  // Connect leaves the padding out
    details.push_back({{"type", type}, {"value", base64}, {"debug", DebugOf(type, read)}});
  }
  return details;
}

json ErrorOf(const grpc::Status& status) {
  json error = {{"code", CodeOf(status.error_code()).name}, {"message", status.error_message()}};
  if (json details = DetailsOf(status); !details.empty()) error["details"] = std::move(details);
  return error;
}

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::optional<ConnectCodec> CodecOf(absl::string_view content_type) {
  const std::string lower = absl::AsciiStrToLower(content_type);
  const size_t end = std::min(lower.find(';'), lower.size());
  // The only parameter in use is the character set of JSON, which is always UTF-8.
  if (lower.find("charset", end) != std::string::npos &&
      lower.find("utf-8", end) == std::string::npos) {
    return std::nullopt;
  }
  const absl::string_view name =
      absl::StripAsciiWhitespace(absl::string_view(lower).substr(0, end));
  if (name == "application/json") return ConnectCodec{.is_json = true};
  if (name == "application/proto") return ConnectCodec{};
  if (name == "application/connect+json")
    return ConnectCodec{.is_json = true, .is_streaming = true};
  if (name == "application/connect+proto") return ConnectCodec{.is_streaming = true};
  return std::nullopt;
}

absl::string_view ContentTypeOf(const ConnectCodec& codec) {
  if (codec.is_streaming) {
    return codec.is_json ? "application/connect+json" : "application/connect+proto";
  }
  return codec.is_json ? "application/json" : "application/proto";
}

const google::protobuf::MethodDescriptor* FindMethod(absl::string_view path) {
  if (!absl::ConsumePrefix(&path, "/")) return nullptr;
  const size_t slash = path.find('/');
  if (slash == absl::string_view::npos) return nullptr;
  for (const auto* file :
       {v1::EvaluateRequest::descriptor()->file(), v1::CreateSceneRequest::descriptor()->file()}) {
    const auto* const service = file->service(0);
    if (service->full_name() == path.substr(0, slash)) {
      return service->FindMethodByName(std::string(path.substr(slash + 1)));
    }
  }
  return nullptr;
}

absl::StatusOr<std::optional<std::chrono::milliseconds>> TimeoutOf(absl::string_view header) {
  if (header.empty()) return std::nullopt;
  uint64_t milliseconds = 0;
  const bool is_number = header.find_first_not_of("0123456789") == absl::string_view::npos &&
                         header.size() <= kMaxTimeoutDigits;
  if (!is_number || !absl::SimpleAtoi(header, &milliseconds)) {
    return InvalidField("Connect-Timeout-Ms", "must be a number of at most 10 digits");
  }
  return std::chrono::milliseconds(milliseconds);
}

unsigned HttpStatusOf(grpc::StatusCode code) { return CodeOf(code).http; }

std::string ErrorJson(const grpc::Status& status) { return Dump(ErrorOf(status)); }

HttpResponse ErrorResponse(const grpc::Status& status) {
  HttpResponse response{.status = HttpStatusOf(status.error_code()),
                        .headers = {{"Content-Type", "application/json"}},
                        .body = ErrorJson(status)};
  if (const uint64_t delay_us = RetryDelay(ToStatus(status)); delay_us != 0) {
    response.headers.emplace_back("Retry-After", absl::StrCat((delay_us + 999999) / 1000000));
  }
  if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

std::string Envelope(uint8_t flags, absl::string_view message) {
  const auto size = static_cast<uint32_t>(message.size());
  std::string envelope(1, static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8) {
    envelope.push_back(static_cast<char>(size >> shift & 0xFF));
  }
  envelope.append(message.data(), message.size());
  return envelope;
}

absl::StatusOr<absl::string_view> OpenEnvelope(absl::string_view body) {
  size_t size = 0;
  if (body.size() >= kEnvelopeBytes) {
    for (size_t i = 1; i < kEnvelopeBytes; ++i) size = size << 8 | static_cast<uint8_t>(body[i]);
  }
  if (body.size() < kEnvelopeBytes || body.size() != kEnvelopeBytes + size) {
    return absl::InvalidArgumentError("the body must be one message in an envelope of 5 bytes");
  }
  if ((static_cast<uint8_t>(body[0]) & kCompressed) != 0) {
    return absl::InvalidArgumentError("the message must not be compressed");
  }
  return body.substr(kEnvelopeBytes);
}

std::string EndOfStream(const grpc::Status& status) {
  json end = json::object();
  if (!status.ok()) end["error"] = ErrorOf(status);
  return Envelope(kEndOfStream, Dump(end));
}

}  // namespace carom::server
