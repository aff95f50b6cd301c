// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Can a server listen there?
//
// gRPC answers that with lines of log and no reason, and takes a Unix socket from a server that
// listens on it. This asks the system first.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// UNAVAILABLE with the reason if a server certainly cannot listen on `address`, `HOST:PORT` or
// `unix:PATH`: another process does, the port needs privileges, or the host is not of this machine.
// OK says less: the address may be taken between this and the server's start, and host names that
// do not resolve are left to gRPC. Connects to a Unix socket, binds a TCP socket and closes it.
absl::Status CheckCanListen(absl::string_view address);

}  // namespace carom::server
