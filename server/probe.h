// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Asks a running caromd whether it is ready, for images without an HTTP client (`caromd --probe`).
#pragma once

#include <string>

#include "absl/status/status.h"

namespace carom::server {

// Sends `GET /readyz` to the admin port at `address` (`HOST:PORT` or `unix:PATH`) and waits at most
// 5 s. Returns OK if the answer is 200; UNAVAILABLE with the reason that the server gives, or with
// the reason why there is no answer; INVALID_ARGUMENT if `address` is `off`.
absl::Status Probe(const std::string& address);

}  // namespace carom::server
