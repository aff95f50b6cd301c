// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What can a user do about a server that cannot be reached?
//
// gRPC reports a server that is not there and one that speaks TLS to a client in plain text with
// the same code, so `AdviceAbout` connects once more, and looks at the first bytes of the server.
#pragma once

#include <cstdint>
#include <string>

#include "client/cli/server_options.h"

namespace carom::cli {

enum class Speech : uint8_t {
  kNone,       // the address refuses connections
  kUnknown,    // neither TLS nor HTTP/2, or nothing within a second
  kPlaintext,  // HTTP/2 without TLS, as caromd speaks it
  kTls,
};

// Returns what the server at `address`, `HOST:PORT` or `unix:PATH`, speaks. Takes up to two
// seconds for each address of the host.
Speech SpeechOf(const std::string& address);

// Returns a line that says what to do after a call of the server `called` failed with UNAVAILABLE:
// how to start a server, or the flags about TLS. Returns "" if there is nothing to say.
std::string AdviceAbout(const ServerOptions& called);

}  // namespace carom::cli
