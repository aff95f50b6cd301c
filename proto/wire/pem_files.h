// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Can these files be used for TLS?
//
// gRPC says of a file that it cannot use nothing but that connections fail. These functions say
// which file it is, and why, before gRPC has it. They read files and keep nothing of them. No text
// of a file is in an error.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace carom::wire {

// A file, and what the user calls it: a flag or the member of an options struct.
struct NamedFile {
  std::string option;
  std::string path;
};

// The bytes of a file, at most 1 MiB. INVALID_ARGUMENT naming its option if it cannot be read, or
// has more.
absl::StatusOr<std::string> ReadNamedFile(const NamedFile& file);

// Which version of a file is there: it is another one if any of these is. All zero for none.
using FileState = std::tuple<dev_t, ino_t, off_t, time_t, long, time_t, long>;
FileState StateOf(const std::string& path);

// OK if a file has a certificate, that is not expired, first and what signed it after it, and the
// other one the key of that certificate; they may be one file. INVALID_ARGUMENT naming the option
// at fault: it cannot be read, is not PEM, needs a passphrase, has expired, or does not match.
absl::Status CheckKeyPair(const NamedFile& certificate, const NamedFile& key);

// When a certificate in PEM expires; in the past if it is none.
absl::Time ExpiryOf(absl::string_view pem);

// OK if a file has certificates of authorities. INVALID_ARGUMENT as above.
absl::Status CheckAuthorities(const NamedFile& authorities);

}  // namespace carom::wire
