// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a scene called?
//
// `scenes/{scene}` with {scene} matching [a-z0-9-]{1,63}, within a tenant. In the store all scenes
// of all tenants have keys: the name itself for the tenant `default`, `TENANT:NAME` for another
// one. No name and no tenant has a colon, so keys of two tenants differ. Pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace carom::server {

bool IsSceneName(absl::string_view name);

// OK, or INVALID_ARGUMENT naming `field`.
absl::Status CheckSceneName(absl::string_view field, absl::string_view name);

// Whose scenes are those of a client that no credential is asked of.
inline constexpr char kDefaultTenant[] = "default";

// [a-z0-9-]{1,63}
bool IsTenantName(absl::string_view tenant);

// What the keys of a tenant begin with, and those of no other tenant.
std::string KeyPrefix(absl::string_view tenant);
std::string SceneKey(absl::string_view tenant, absl::string_view name);
// The parts of a key, which they point into or are constant.
absl::string_view TenantOfKey(absl::string_view key);
absl::string_view NameOfKey(absl::string_view key);

}  // namespace carom::server
