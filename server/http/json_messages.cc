// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/json_messages.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver.h"
#include "google/protobuf/util/type_resolver_util.h"

namespace carom::server {
namespace {

constexpr char kUrlPrefix[] = "type.googleapis.com";

google::protobuf::util::TypeResolver& Resolver() {
  static auto& resolver = *google::protobuf::util::NewTypeResolverForDescriptorPool(
      kUrlPrefix, google::protobuf::DescriptorPool::generated_pool());
  return resolver;
}

std::string UrlOf(const google::protobuf::Descriptor& type) {
  return absl::StrCat(kUrlPrefix, "/", type.full_name());
}

}  // namespace

absl::StatusOr<std::string> JsonToBytes(const google::protobuf::Descriptor& type,
                                        absl::string_view json) {
  std::string bytes;
  const auto status = google::protobuf::util::JsonToBinaryString(
      &Resolver(), UrlOf(type), {json.data(), json.size()}, &bytes, {});
  if (status.ok()) return bytes;
  // The message quotes the request on several lines; a long message is cut.
  const std::string why(status.message().data(), std::min<size_t>(status.message().size(), 200));
  const auto words = absl::StrSplit(why, absl::ByAnyChar("\r\n\t "), absl::SkipEmpty());
  return absl::InvalidArgumentError(absl::StrCat(
      "the message is not valid JSON of ", type.full_name(), ": ", absl::StrJoin(words, " ")));
}

absl::StatusOr<std::string> BytesToJson(const google::protobuf::Descriptor& type,
                                        const std::string& bytes) {
  std::string json;
  const auto status =
      google::protobuf::util::BinaryToJsonString(&Resolver(), UrlOf(type), bytes, &json, {});
  if (status.ok()) return json;
  return absl::InternalError(absl::StrCat("the answer is no ", type.full_name()));
}

}  // namespace carom::server
