// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scene_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "carom/status.h"

namespace carom::server {

bool IsSceneName(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "scenes/")) return false;
  return !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
  });
}

absl::Status CheckSceneName(absl::string_view field, absl::string_view name) {
  if (IsSceneName(name)) return absl::OkStatus();
  return InvalidField(field, "must be scenes/{scene}, {scene} matching [a-z0-9-]{1,63}");
}

}  // namespace carom::server
