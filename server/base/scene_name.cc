// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/scene_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "carom/status.h"

namespace carom::server {

bool IsTenantName(absl::string_view tenant) {
  return !tenant.empty() && tenant.size() <= 63 &&
         std::all_of(tenant.begin(), tenant.end(), [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

// Applies `IsTenantName` to the part after `scenes/`: that part and the name of a tenant match one
// pattern, [a-z0-9-]{1,63}.
bool IsSceneName(absl::string_view name) {
  return absl::ConsumePrefix(&name, "scenes/") && IsTenantName(name);
}

std::string KeyPrefix(absl::string_view tenant) {
  return tenant == kDefaultTenant ? "scenes/" : absl::StrCat(tenant, ":");
}

std::string SceneKey(absl::string_view tenant, absl::string_view name) {
  return tenant == kDefaultTenant ? std::string(name) : absl::StrCat(tenant, ":", name);
}

absl::string_view TenantOfKey(absl::string_view key) {
  const size_t colon = key.find(':');
  return colon == key.npos ? absl::string_view(kDefaultTenant) : key.substr(0, colon);
}

absl::string_view NameOfKey(absl::string_view key) {
  const size_t colon = key.find(':');
  return colon == key.npos ? key : key.substr(colon + 1);
}

absl::Status CheckSceneName(absl::string_view field, absl::string_view name) {
  if (IsSceneName(name)) return absl::OkStatus();
  return InvalidField(field, "must be scenes/{scene}, {scene} matching [a-z0-9-]{1,63}");
}

}  // namespace carom::server
