// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Can given files of certificates and keys be used for TLS?
//
// gRPC does not report a file that it cannot use: connections merely fail. These functions report
// which file is unusable, and why, before gRPC reads the files. The functions keep no part of the
// files in memory, and no error contains text from a file.
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

// A file and the option that names it: a flag or a member of an options struct.
struct NamedFile {
  std::string option;
  std::string path;
};

// Returns the bytes of a file, at most 1 MiB. Returns INVALID_ARGUMENT naming the file's option if
// the file cannot be read or is larger.
absl::StatusOr<std::string> ReadNamedFile(const NamedFile& file);

// Identifies the content of a file: device, inode, size, and the times (seconds and nanoseconds) of
// the last change of the content and of the last change of the attributes. If a file is changed or
// replaced, its state differs; a missing file has all zeros.
using FileState = std::tuple<dev_t, ino_t, off_t, time_t, long, time_t, long>;
// Returns the state of the file at `path`.
FileState StateOf(const std::string& path);

// Returns OK if the file `certificate` begins with a certificate that has not expired, and the file
// `key` has the private key of that certificate; both may be one file. Does not check further
// certificates in the file `certificate`, such as those of the authorities that signed the first
// one. Otherwise returns INVALID_ARGUMENT naming the option of the faulty file: it cannot be read,
// is not PEM, has a key with a passphrase or an expired certificate, or the key does not match the
// certificate.
absl::Status CheckKeyPair(const NamedFile& certificate, const NamedFile& key);

// Returns when the first certificate in `pem` expires, or `InfinitePast` if `pem` has no
// certificate.
absl::Time ExpiryOf(absl::string_view pem);

// Returns OK if the file `authorities`, a file of certificate authorities, begins with a
// certificate in PEM, and otherwise INVALID_ARGUMENT naming the option of the file.
absl::Status CheckAuthorities(const NamedFile& authorities);

}  // namespace carom::wire
