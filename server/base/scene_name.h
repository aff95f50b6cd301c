// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which names may scenes have, and under which keys does the store keep them?
//
// The name of a scene is `scenes/{scene}` with {scene} matching [a-z0-9-]{1,63}, and is unique
// within a tenant. The store has one key space for all tenants: the key of a scene is its name for
// the tenant `default`, and `TENANT:NAME` for any other tenant. Names and tenants contain no colon,
// so that keys of different tenants differ. Pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// Returns whether `name` is `scenes/{scene}` with {scene} matching [a-z0-9-]{1,63}.
bool IsSceneName(absl::string_view name);

// Returns OK if `name` is a valid scene name, else INVALID_ARGUMENT naming `field`.
absl::Status CheckSceneName(absl::string_view field, absl::string_view name);

// the tenant of all clients of a server that requires no credentials
inline constexpr char kDefaultTenant[] = "default";

// Returns whether `tenant` matches [a-z0-9-]{1,63}.
bool IsTenantName(absl::string_view tenant);

// Returns the prefix with which the keys of all scenes of `tenant` begin; no key of a scene of
// another tenant begins with it.
std::string KeyPrefix(absl::string_view tenant);
// Returns the key of the scene `name` of `tenant`.
std::string SceneKey(absl::string_view tenant, absl::string_view name);
// `TenantOfKey` returns the tenant in a key of the store, and `NameOfKey` the name of the scene.
// The results point into `key` or to a constant.
absl::string_view TenantOfKey(absl::string_view key);
absl::string_view NameOfKey(absl::string_view key);

}  // namespace carom::server
