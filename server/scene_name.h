// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is a scene called?
//
// `scenes/{scene}` with {scene} matching [a-z0-9-]{1,63}. Pure functions.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace carom::server {

bool IsSceneName(absl::string_view name);

// OK, or INVALID_ARGUMENT naming `field`.
absl::Status CheckSceneName(absl::string_view field, absl::string_view name);

}  // namespace carom::server
